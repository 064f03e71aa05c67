"""Calls with small and quantized numbers whose results were recorded with TensorFlow.

`checks/record_quantized_values.py` makes these calls with TensorFlow and writes down what they
give; `tests/ops/test_quantization_recorded.py` compares, bit by bit. So this file knows neither
library: it has names and plain arrays only.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).parent.parent / "ops/quantization_recorded.npz"
QUANTIZED = ("qint8", "quint8", "qint16", "quint16", "qint32")
FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class Stored(NamedTuple):
    """A tensor of another dtype, from an array by its bits or by a cast."""

    array: np.ndarray
    dtype: str
    how: str = "bitcast"


class Type(NamedTuple):
    """A dtype as an argument."""

    name: str


class Call(NamedTuple):
    """A function by its path, its arguments by position, and by name; or its gradients."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    label: str
    gradients: int = 0  # of how many arguments


def some(count: int, seed: int = 1) -> np.ndarray:
    """Numbers from 0 to 1 that are the same for ever: a congruential generator, scrambled."""
    state = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed * 97)
    state = (state ^ (state >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(1 << 32)
    return (state >> np.uint64(8)).astype(np.float64) / (1 << 24)


# --- casts -------------------------------------------------------------------------------------


def _floats(dtype: str) -> np.ndarray:
    """Numbers at and beside the ties between neighbours in float8, and everything that is large."""
    grid = np.concatenate([np.arange(16, 33) / 16.0 * 2.0**e for e in range(-18, 17)])
    ties = (grid[1:] + grid[:-1]) / 2
    near = np.concatenate([grid, ties, ties * (1 + 2.0**-9), ties * (1 - 2.0**-30)])
    return np.concatenate([near, -near]).astype(dtype)


_PLAIN = np.array([0.0, -0.0, 0.4, 0.5, 1.5, -1.5, 2.5, 7.9, 100.7, 127.0, -128.0, 3e4, -2.5])
_SPECIAL = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-40])
_INTS = np.array([0, 1, 7, 8, 15, 16, 17, 127, 128, 255, 256, 300, 32767, 32768, 65535, 70000])


def _casts() -> list[Call]:
    out = []

    def add(x: Any, to: str, label: str) -> None:
        out.append(Call("cast", (x, Type(to)), {}, f"{label}-to-{to}"))

    for small in ("float8_e5m2", "float8_e4m3fn"):
        for dtype in ("float32", "float64"):
            with np.errstate(over="ignore"):
                special = _SPECIAL.astype(dtype)
            add(np.concatenate([_floats(dtype), special]), small, dtype)
        for dtype in ("float16", "bfloat16"):
            add(Stored(_floats("float32"), dtype, "cast"), small, dtype)
        exact = Stored(np.concatenate([_PLAIN, _SPECIAL]).astype(np.float32), small, "cast")
        other = {"float8_e5m2": "float8_e4m3fn", "float8_e4m3fn": "float8_e5m2"}[small]
        for to in (*FLOATS, "int32", "int64", "uint64", "bool", "complex64", "qint32", other):
            add(exact, to, small)
    for q in QUANTIZED:
        stored = np.dtype(q.removeprefix("q"))
        inside = _INTS[np.iinfo(stored).max >= _INTS].astype(stored)
        for to in (*FLOATS, *WHOLE, *QUANTIZED, "bool", "complex64", "complex128", "int4", "uint4"):
            if to != q:
                add(Stored(inside, q), to, q)
        for dtype in WHOLE:
            limits = np.iinfo(dtype)
            near = np.concatenate([_INTS, -_INTS])
            near = near[(near >= limits.min) & (near <= limits.max)].astype(dtype)
            add(near, q, dtype)
        add(np.array([True, False]), q, "bool")
        limits = np.iinfo(stored)
        fits = np.array([x for x in _PLAIN if limits.min <= x <= limits.max])
        for dtype in ("float16", "float32", "float64"):
            add(fits.astype(dtype), q, dtype)
    for small in ("int4", "uint4"):
        for dtype in WHOLE:
            limits = np.iinfo(dtype)
            near = np.concatenate([_INTS, -_INTS])
            near = near[(near >= limits.min) & (near <= limits.max)].astype(dtype)
            add(near, small, dtype)
            add(Stored(np.arange(16, dtype=np.int32), small, "cast"), dtype, small)
    return out


# --- tf.quantization -----------------------------------------------------------------------------

RANGES = [
    (-6, 6),
    (0, 6),
    (-1, 0),
    (-0.1, 5.3),
    (0.5, 6),
    (-7, -2),
    (-1e-3, 2e-3),
    (0, 0),
    (-3, 1e4),
]


def _numbers(low: float, high: float, count: int = 40, dtype: str = "float32") -> np.ndarray:
    """Numbers inside and outside of a range, on levels and between them."""
    wide = (some(count, 3) * 3 - 1) * (high - low) + low
    levels = np.linspace(low, high, 31)
    return np.concatenate([wide, levels, [np.inf, -np.inf, 0.0, -0.0]]).astype(dtype)


def _fake() -> list[Call]:
    out = []
    name = "quantization.fake_quant_with_min_max_"
    for bits, narrow in itertools.product((2, 3, 5, 8, 13, 16), (False, True)):
        form = {"num_bits": bits, "narrow_range": narrow}
        for low, high in [*RANGES, (1, 1), (2, -2)]:
            x = np.append(_numbers(low, high), np.float32(np.nan))
            label = f"{bits}-{narrow}-{low}-{high}"
            ranges = np.float32(low), np.float32(high)
            out.append(Call(name + "vars", (x, *ranges), form, label))
            g = some(x.size, 7).astype(np.float32) - 0.25
            if low <= high:
                out.append(Call(name + "vars_gradient", (g, x, *ranges), form, label))
            if low < high:
                given = {"min": low, "max": high, **form}
                out.append(Call(name + "args", (x,), given, label))
                out.append(Call(name + "args_gradient", (g, x), given, label))
        lows = np.array([-6, 0, -0.1, 0, 0.5], np.float32)
        highs = np.array([6, 3, 5.3, 0, 6], np.float32)
        for shape in ((5,), (7, 5), (3, 2, 5), (2, 3, 2, 5)):
            x = (some(int(np.prod(shape)), 5) * 16 - 8).astype(np.float32).reshape(shape)
            label = f"{bits}-{narrow}-{len(shape)}"
            out.append(Call(name + "vars_per_channel", (x, lows, highs), form, label))
            g = (some(x.size, 7).astype(np.float32) - 0.25).reshape(shape)
            gradient = (g, x, lows, highs)
            out.append(Call(name + "vars_per_channel_gradient", gradient, form, label))
    x = _numbers(-6, 6)
    out.append(Call(name + "vars", (x, np.float32(-6), np.float32(6)), {}, "gradients", 3))
    out.append(Call(name + "args", (x,), {}, "gradients", 1))
    x = (some(35, 5) * 16 - 8).astype(np.float32).reshape(7, 5)
    out.append(Call(name + "vars_per_channel", (x, lows, highs), {}, "gradients", 3))
    return out


def _there_and_back() -> list[Call]:
    out = []
    name = "quantization.quantize_and_dequantize"
    options = itertools.product(
        (2, 3, 8, 13, 31), (True, False), (False, True), ("HALF_TO_EVEN", "HALF_UP"), (True, False)
    )
    for i, (bits, signed, narrow, mode, given) in enumerate(options):
        form = {"num_bits": bits, "signed_input": signed, "narrow_range": narrow,
                "round_mode": mode, "range_given": given}  # fmt: skip
        dtype = ("float32", "float32", "float64")[i % 3]
        for low, high in RANGES[i % 2 :: 2]:
            x = _numbers(low, high, 20, dtype)
            x = x if given else x[np.isfinite(x)]
            limits = np.array(low, dtype)[()], np.array(high, dtype)[()]
            label = f"{bits}-{signed}-{narrow}-{mode}-{given}-{low}-{high}-{dtype}"
            out.append(Call(name + ("", "_v2")[i % 2], (x, *limits), form, label))
    x = (some(24, 5) * 16 - 8).astype(np.float32).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1):
        nothing = np.float32(0), np.float32(0)
        out.append(Call(name + "_v2", (x, *nothing), {"axis": axis}, f"axis-{axis}"))
    lows, highs = np.array([-6, -1, 0], np.float32), np.array([6, 0.5, 3], np.float32)
    given = {"input": x, "input_min": lows, "input_max": highs, "axis": 1}
    third = {**given, "num_bits": np.int32(5)}
    out.append(Call("raw_ops.QuantizeAndDequantizeV3", (), third, "axis"))
    masked = {**given, "gradients": x * 2}
    out.append(Call("raw_ops.QuantizeAndDequantizeV4Grad", (), masked, "axis"))
    limits = np.float32(-6), np.float32(6)
    x = _numbers(-6, 6)
    for function, count in ((name, 1), (name + "_v2", 3)):
        out.append(Call(function, (x, *limits), {"range_given": True}, "gradients", count))
    both = {"input": x, "input_min": limits[0], "input_max": limits[1]}
    versions = [f"raw_ops.QuantizeAndDequantize{version}" for version in ("V2", "V4")]
    return out + [Call(path, (), both, "raw") for path in versions]


def _stored(q: str, count: int = 30) -> Stored:
    dtype = np.dtype(q.removeprefix("q"))
    info = np.iinfo(dtype)
    # Not beyond what float32 can hold, where TensorFlow's qint32 turn negative.
    top = min(info.max, 2**31 - 128)
    drawn = (some(count, 11) * (top - info.min) + info.min).astype(np.int64)
    return Stored(np.concatenate([drawn, [info.min, top, 0, 1]]).astype(dtype), q)


def _storing() -> list[Call]:
    out = []
    for q, mode, narrow in itertools.product(
        QUANTIZED, ("MIN_COMBINED", "MIN_FIRST", "SCALED"), (False, True)
    ):
        rounds = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN") if mode == "SCALED" else (None,)
        for (low, high), rounding in itertools.product(RANGES, rounds):
            if mode == "SCALED" and q.startswith("qu") and high <= 0:
                continue  # nothing of the range can be represented
            x = _numbers(low, high, 20)
            if q == "qint32":  # the largest turns negative in TensorFlow
                x = x[x < high - abs(high) * 1e-3]
            limits = np.float32(low), np.float32(high)
            form: dict[str, Any] = {"mode": mode, "narrow_range": narrow}
            if rounding is not None:
                form["round_mode"] = rounding
            if narrow:
                form["ensure_minimum_range"] = 0.2
            label = f"{q}-{mode}-{narrow}-{rounding}-{low}-{high}"
            out.append(Call("quantization.quantize", (x, *limits, Type(q)), form, label))
            if rounding in (None, "HALF_TO_EVEN"):
                given = {"mode": mode, "narrow_range": narrow}
                arguments = (_stored(q), *limits)
                out.append(Call("quantization.dequantize", arguments, given, label))
    x = (some(24, 5) * 8 - 4).astype(np.float32).reshape(2, 3, 4)
    for axis, mode in itertools.product((0, 1, 2, -1), ("MIN_COMBINED", "SCALED")):
        size = x.shape[axis]
        limits = (
            np.linspace(-3, -1, size, dtype=np.float32),
            np.linspace(1, 2, size, dtype=np.float32),
        )
        form = {"axis": axis, "mode": mode}
        label = f"axis-{axis}-{mode}"
        out.append(Call("quantization.quantize", (x, *limits, Type("qint8")), form, label))
        numbers = Stored(((x + 4) * 30).astype(np.uint8), "quint8")
        out.append(Call("quantization.dequantize", (numbers, *limits), form, label))
    bf = {"dtype": Type("bfloat16")}
    out.append(Call("quantization.dequantize", (_stored("qint8"), -1.0, 2.0), bf, "bfloat16"))
    numbers = {"input": x, "min_range": np.float32(-2), "max_range": np.float32(3)}
    out.append(Call("raw_ops.QuantizeV2", (), {**numbers, "T": Type("quint8")}, "raw"))
    numbers["input"] = _stored("qint16")
    out.append(Call("raw_ops.Dequantize", (), numbers, "raw"))
    return out


def _joining() -> list[Call]:
    out = []
    for q in ("quint8", "qint32"):
        first = _stored(q, 20).array.reshape(2, 12)
        values = [Stored(first, q), Stored(first[:, ::-1].copy(), q)]
        for lows, highs in (((0, -1), (2, 3)), ((1, 0.5), (2, 2)), ((-1, -1), (1, 1))):
            limits = [np.float32(v) for v in lows], [np.float32(v) for v in highs]
            for axis in (0, 1):
                label = f"{q}-{lows}-{highs}-{axis}"
                given = (axis, values, *limits)
                out.append(Call("quantization.quantized_concat", given, {}, label))
    named = {"concat_dim": 0, "values": values, "input_mins": limits[0], "input_maxes": limits[1]}
    return [*out, Call("raw_ops.QuantizedConcat", (), named, "raw")]


def _fake_raw() -> list[Call]:
    x = _numbers(-2, 3)
    ends = {"min": np.float32(-2), "max": np.float32(3)}
    rows = {"min": np.array([-2, -1, 0], np.float32), "max": np.array([3, 1, 2], np.float32)}
    g, wide = some(x.size, 7).astype(np.float32) - 0.25, x[:60].reshape(20, 3)
    name = "raw_ops.FakeQuantWithMinMax"
    return [
        Call(name + "Args", (), {"inputs": x, "num_bits": 4}, "raw"),
        Call(name + "ArgsGradient", (), {"gradients": g, "inputs": x}, "raw"),
        Call(name + "Vars", (), {"inputs": x, **ends}, "raw"),
        Call(name + "VarsGradient", (), {"gradients": g, "inputs": x, **ends}, "raw"),
        Call(name + "VarsPerChannel", (), {"inputs": wide, **rows}, "raw"),
        Call(
            name + "VarsPerChannelGradient", (), {"gradients": wide, "inputs": wide, **rows}, "raw"
        ),
    ]


CALLS = [*_casts(), *_fake(), *_there_and_back(), *_storing(), *_joining(), *_fake_raw()]
RAW_OPS = {call.path.removeprefix("raw_ops.") for call in CALLS if call.path.startswith("raw_ops")}
KEYS = [f"{call.path} {call.label}" for call in CALLS]
assert len(set(KEYS)) == len(KEYS)


# --- making them ---------------------------------------------------------------------------------


def _argument(tf: Any, value: Any) -> Any:
    if isinstance(value, Type):
        return tf.as_dtype(value.name)
    if isinstance(value, Stored):
        change = tf.bitcast if value.how == "bitcast" else tf.cast
        return change(tf.constant(value.array), tf.as_dtype(value.dtype))
    if isinstance(value, list):
        return [_argument(tf, item) for item in value]
    return tf.constant(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _plain(x: Any) -> np.ndarray:
    """A tensor as an array of plain numbers, with the bits of its elements if they are small."""
    array = np.asarray(x.numpy())
    name = x.dtype.name
    if name in ("int4", "uint4"):
        return array.astype(np.int8)
    return array.view(f"u{array.itemsize}") if name.startswith(("float8", "bfloat16")) else array


def made(tf: Any, call: Call) -> list[tuple[str, np.ndarray]]:
    """What a call gives with a library: names of dtypes, and arrays."""
    function = tf
    for part in call.path.split("."):
        function = getattr(function, part)
    args = [_argument(tf, value) for value in call.args]
    kwargs = {key: _argument(tf, value) for key, value in call.kwargs.items()}
    if call.gradients:
        wanted = args[: call.gradients]
        with tf.GradientTape() as tape:
            tape.watch(wanted)
            y = function(*args, **kwargs)
        weights = tf.constant(
            (some(int(np.prod(y.shape)), 9) - 0.3).reshape(y.shape).astype(np.float32)
        )
        out = tape.gradient(y, wanted, weights)
    else:
        out = function(*args, **kwargs)
    results = out if isinstance(out, (tuple, list)) else [out]
    return [(x.dtype.name, _plain(x)) for x in results]
