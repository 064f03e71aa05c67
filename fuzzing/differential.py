"""One call in every mode: eager, reference, NumPy plans, machine code, gradients, and a judge.

The judge is NumPy or SciPy where a call brings such a function along, else the same call with wider
numbers; so float32 is held against float64.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

import weft as tf
from fuzzing import variation
from fuzzing.corpus import Call
from weft import nest
from weft._src.core.dtypes import FLOATING, plain
from weft._src.core.flags import flags
from weft._src.execution import reference
from weft._src.execution.native import verify
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace

TIERS = (
    "eager", "reference", "plan", "unknown sizes", "unknown rank", "native", "gradient", "judge",
)  # fmt: skip
# How far a result may be from one computed with wider numbers, relative to the largest.
_ROUGH = {"float16": 4e-2, "bfloat16": 2e-1, "float32": 2e-3, "complex64": 2e-3}
# Of 16 bits nothing is left in a result so large: inputs are small, so something was divided by
# what rounding left of a difference (systems of equations that are banded, say).
_GROWN = 1e12
_OF_BITS = (
    "Fingerprint", "Bitcast", "bitcast", "fingerprint", "stateless-", "scaled-",
    # Cut down to whole numbers, or chosen by comparisons, after rounding.
    "image.convert_image_dtype", "convert_image_dtype", "image.non_max", "non_max", "NonMax",
    "image.combined", "combined_non_max", "CombinedNonMax", "Dilation2DBackprop",
    "FakeQuant", "Quantize", "Dequantize", "quantization",
)  # fmt: skip
_OF_COLUMNS = ("qr", "linalg.qr")  # decompositions of matrices that need not be square
# Vectors that are given up to a sign, or a phase.
_UP_TO_PHASES = ("EighTridiagonal", "eigh_tridiagonal")
# On one side of the negative numbers they are another's conjugates.
_WITH_A_CUT = ("MatrixSquareRoot", "MatrixLogarithm", "sqrtm", "logm")
# Their judges hold for arrays of the sizes they have in the tables.
_OF_THEIR_SIZES = ("softmax-2x0-", "pool-", "reverse_sequence-")  # not of numbers
_REFUSALS = (TypeError, ValueError, tf.errors.OpError, NotImplementedError, OverflowError)


class Disagreement(Exception):  # noqa: N818 - a finding, no error of this program
    """Two modes gave different results."""


class Refused(Exception):  # noqa: N818 - most variations are refused, and that is right
    """The call does not work with these arrays, in no mode."""


def check(call: Call, arrays: list[Any]) -> list[str]:
    """The tiers on which the call was compared; raises Disagreement, or Refused."""
    tensors = [tf.constant(a) for a in arrays]
    with np.errstate(all="ignore"):
        return ["eager", *_tiers(call, tensors), *_beyond(call, arrays, tensors)]


def _eager(function: Callable[..., Any], tensors: list[Any]) -> Any:
    try:
        return _flat(function(*tensors))
    except _REFUSALS as error:
        return error


def _flat(result: Any) -> list[Any]:
    leaves = nest.flatten(result, expand_composites=True)
    return [np.asarray(tf.convert_to_tensor(x)._value) for x in leaves if x is not None]


def _specs(tensors: list[Any]) -> dict[str, list[tf.TensorSpec]]:
    return {
        "plan": [tf.TensorSpec(t.shape, t.dtype) for t in tensors],
        "unknown sizes": [tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors],
        "unknown rank": [tf.TensorSpec(None, t.dtype) for t in tensors],
    }


def _tiers(call: Call, tensors: list[Any]) -> Iterator[str]:
    eager = _eager(call.function, tensors)
    refused = isinstance(eager, Exception)
    for name, specs in _specs(tensors).items():
        try:
            graph = trace(call.function, specs)
        except _REFUSALS as error:
            if not refused and name == "plan":
                raise Disagreement(
                    f"eager gives {eager}, tracing raises {_short(error)}"
                ) from error
            continue  # something has to be known while tracing
        values = [t._value for t in (*tensors, *[outer for outer, _ in graph.captures])]
        runs: dict[str, Callable[[], Any]] = {name: lambda g=graph, v=values: _plan(g, v)}
        if name == "plan":
            runs["reference"] = lambda g=graph, v=values: reference.run(g, v)
        for tier, run in runs.items():
            _compare_runs(tier, run, eager)
            yield tier
        if name == "plan" and not refused and _natively(graph, values):
            yield "native"
    if refused:
        raise Refused(_short(eager))


def _plan(graph: Any, values: list[Any]) -> Any:
    return NumpyPlan(optimize(graph))(*values)


def _compare_runs(tier: str, run: Callable[[], Any], eager: Any) -> None:
    try:
        got = run()
    except _REFUSALS as error:
        # As in TensorFlow, of arrays that nobody wrote to.
        if "would have is unknown" in str(error):
            return
        if not isinstance(eager, Exception):
            raise Disagreement(f"eager gives {eager}, {tier} raises {_short(error)}") from error
        return
    if isinstance(eager, Exception):
        raise Disagreement(f"eager raises {_short(eager)}, {tier} gives {got}")
    if len(got) != len(eager):
        raise Disagreement(f"eager gives {len(eager)} results, {tier} {len(got)}")
    for a, b in zip(got, eager, strict=True):
        if not same(np.asarray(a), b):
            raise Disagreement(f"eager gives {b!r}, {tier} {a!r}")


def _natively(graph: Any, values: list[Any]) -> bool:
    flags.guard_pages = "end"
    try:
        return verify.check(graph, values)
    except verify.TierDifferenceError as difference:
        raise Disagreement(f"native: {difference}") from difference
    finally:
        flags.guard_pages = ""


def same(a: Any, b: Any) -> bool:
    """Bit by bit, but for the last places of floats, in which vector and scalar loops differ."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == object:
        return bool(a.tolist() == b.tolist())
    a, b = plain(a), plain(b)
    if a.dtype.kind in "biu":
        return np.array_equal(a, b)
    rtol = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-5, "complex64": 1e-5}
    tolerance = rtol.get(a.dtype.name, 1e-12)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    scale = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    return bool(np.allclose(a, b, tolerance, tolerance * min(scale, 1.0) / 10, equal_nan=True))


# --- wider numbers and gradients ------------------------------------------------------------------


def _beyond(call: Call, arrays: list[Any], tensors: list[Any]) -> Iterator[str]:
    if not all(_is_tame(a) for a in arrays):
        return
    eager = _flat(call.function(*tensors))
    wanted = _judged(call, arrays)
    up_to_phases = any(name in call.name for name in _UP_TO_PHASES)
    if wanted is not None:
        if up_to_phases:
            eager, wanted = [np.abs(x) for x in eager], [np.abs(x) for x in wanted]
        _compare_with_judge(eager, wanted, "the judge")
        yield "judge"
    floating = [i for i, t in enumerate(tensors) if t.dtype in FLOATING]
    if floating and any(t.dtype.kind == "f" for t in eager) and not up_to_phases:
        yield from _gradients(call, arrays, tensors, floating)


def _is_tame(array: Any) -> bool:
    """Whether rounding errors stay what they are: no specials, nothing huge."""
    if array.dtype == object or not array.size or array.dtype.kind == "b":
        return True
    wide = plain(array).astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return bool(np.isfinite(wide).all() and np.abs(wide).max() < 1e4)


def _squares_fit(array: Any) -> bool:
    """Whether squares and their reciprocals, of which gradients are made, have digits in its type.

    In 16 bits they are soon too large or too small, in TensorFlow as here; float64 knows no such
    bounds.
    """
    if array.dtype.name not in ("float16", "bfloat16"):
        return True
    size = np.abs(array.astype(np.float64))
    return bool(((size == 0) | ((size >= 2**-7) & (size <= 2**7))).all())


def _widened(array: Any) -> Any:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if variation.is_floating(array) else array


def _judged(call: Call, arrays: list[Any]) -> list[Any] | None:
    wide = [_widened(a) for a in arrays]
    if any(a.dtype.kind in "iu" and a.dtype.itemsize < 4 for a in arrays):
        return None  # NumPy's sums do not wrap around where those of small integers do
    if any(map(_is_nearly_singular, arrays)):
        return None
    if any(name in call.name for name in _WITH_A_CUT) and any(map(_is_near_a_cut, arrays)):
        return None
    if call.judge is not None and _is_for(call, arrays) and _looks_at_its_arrays(call):
        return _verdict(call, wide)
    if all(w.dtype == a.dtype for w, a in zip(wide, arrays, strict=True)) or _is_of_bits(call):
        return None
    try:
        return _flat(call.function(*[tf.constant(a) for a in wide]))
    except _REFUSALS:
        return None  # not there for float64


def _is_for(call: Call, arrays: list[Any]) -> bool:
    """Whether the judge of a row was written for numbers of such a kind."""
    kinds = [[_kind(a) for a in some] for some in (arrays, call.arrays)]
    if call.name.startswith(_OF_THEIR_SIZES) and _sizes(arrays) != _sizes(call.arrays):
        return False
    return kinds[0] == kinds[1] and not _is_of_bits(call)


def _sizes(arrays: Sequence[Any]) -> list[tuple[int, ...]]:
    return [a.shape for a in arrays]


def _kind(array: Any) -> str:
    return "f" if variation.is_floating(array) else str(array.dtype.kind).replace("u", "i")


def _is_of_bits(call: Call) -> bool:
    return call.name.startswith(_OF_BITS)


def _is_nearly_singular(array: Any) -> bool:
    """Of such a matrix, inverses and roots have no digits in common with those of another type.

    How nearly depends on the digits that the type has. Some ops read one triangle only.
    """
    if array.dtype.kind == "V" or array.ndim < 2 or not array.size:
        return False
    wide = _widened(array)
    if wide.dtype.kind not in "fc" or array.shape[-1] != array.shape[-2]:
        return False
    most = _ROUGH.get(array.dtype.name, 1e-7) / float(ml_dtypes.finfo(array.dtype).eps) / 2
    return any((np.linalg.cond(part) > most).any() for part in (wide, np.tril(wide), np.triu(wide)))


def _is_nearly_dependent(array: Any) -> bool:
    """Whether columns of any matrix are so, which gradients of its decomposition divide by."""
    if array.ndim < 2 or not array.size or not variation.is_floating(array):
        return False
    most = _ROUGH.get(array.dtype.name, 1e-7) / float(ml_dtypes.finfo(array.dtype).eps) / 2
    return bool((np.linalg.cond(_widened(array)) > most).any())


def _is_near_a_cut(matrix: Any) -> bool:
    """Whether rounding decides on which side of the negative numbers an eigenvalue is."""
    found = np.linalg.eigvals(_widened(matrix))
    return bool(((found.real < 0) & (np.abs(found.imag) < 1e-3 * np.abs(found.real))).any())


def _verdict(call: Call, arrays: list[Any]) -> list[Any] | None:
    assert call.judge is not None
    try:
        return [np.asarray(x) for x in nest.flatten(call.judge(*arrays))]
    except Exception:  # noqa: BLE001 - written for other arrays: it has nothing to say
        return None


@functools.cache
def _looks_at_its_arrays(call: Call) -> bool:
    """Whether a judge computes; some rows of the tables just hold the numbers they expect."""
    known = [_widened(a) for a in call.arrays]
    rng = np.random.default_rng(0)
    other = [variation.redrawn(np.resize(a, [n + 1 for n in a.shape]), rng) for a in known]
    first, second = _verdict(call, known), _verdict(call, other)
    if first is None or second is None:
        return False
    return all(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(first, second))


def _compare_with_judge(got: list[Any], wanted: list[Any], who: str) -> None:
    if len(got) != len(wanted):
        return  # a judge of some of the results
    for a, b in zip(map(plain, got), map(plain, wanted), strict=True):
        if a.dtype == object or b.dtype == object or a.dtype.kind == "b":
            continue  # decided by rounding, or compared between tiers
        if a.shape != b.shape:
            raise Disagreement(f"shape {a.shape}, {who} has {b.shape}")
        if a.dtype.kind in "iu":
            if b.dtype.kind in "iu" and not np.array_equal(a, b.astype(a.dtype)):
                raise Disagreement(f"gives {a!r}, {who} {b!r}")
            continue
        if (a.dtype.kind == "c") == (b.dtype.kind == "c"):
            _compare_rough(a, b, who)


def _compare_rough(a: Any, b: Any, who: str) -> None:
    tolerance = _ROUGH.get(a.dtype.name, 1e-7)
    wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    b = b.astype(a.dtype).astype(wide)  # what is too large for it is infinite
    x = a.astype(wide)
    finite = np.isfinite(x) & np.isfinite(b)
    if a.dtype.itemsize == 2 and np.abs(b[~np.isnan(b)]).max(initial=0.0) > _GROWN:
        return
    # What should be 0 is made of larger numbers; sums of rounded ones of much larger ones.
    least = 0.1 if who.startswith("the gradient") and a.dtype.itemsize == 2 else 1e-2
    scale = np.abs(b[finite]).max(initial=least)
    if not np.allclose(x[finite], b[finite], tolerance, tolerance * scale):
        raise Disagreement(f"gives {a!r}, {who} {b!r}")
    # The functions in the tables do not care about a division by zero that they never meet.
    if (np.isnan(x) & ~np.isnan(b)).any() or (
        who != "the judge" and np.isnan(b[~np.isnan(x)]).any()
    ):
        raise Disagreement(f"gives {a!r}, {who} {b!r}: NaN")


def _gradients(
    call: Call, arrays: list[Any], tensors: list[Any], floating: list[int]
) -> Iterator[str]:
    def gradient(*xs: Any) -> Any:
        watched = [xs[i] for i in floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            y = call.function(*xs)
        found = tape.gradient(y, watched, unconnected_gradients="zero")
        return [tf.convert_to_tensor(g) for g in found]

    try:
        eager = _eager(gradient, tensors)
    except LookupError:  # TensorFlow's, too: there is no gradient
        return
    if isinstance(eager, Exception):
        return
    graph = trace(gradient, _specs(tensors)["plan"])
    values = [t._value for t in (*tensors, *[outer for outer, _ in graph.captures])]
    _compare_runs("plan of the gradient", lambda: _plan(graph, values), eager)
    _natively(graph, values)
    yield "gradient"
    wide = [_widened(a) for a in arrays]
    if _is_of_bits(call) or any(map(_is_nearly_singular, arrays)):
        return
    if call.name.lower().startswith(_OF_COLUMNS) and any(map(_is_nearly_dependent, arrays)):
        return
    if not all(map(_squares_fit, arrays)):
        return
    if any(w.dtype != a.dtype for w, a in zip(wide, arrays, strict=True)):
        wanted = _eager(gradient, [tf.constant(a) for a in wide])
        if not isinstance(wanted, Exception):
            _compare_with_judge(eager, wanted, "the gradient in float64")


def _short(error: Any) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
