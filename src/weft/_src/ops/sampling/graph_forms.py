"""How random numbers are written with TensorFlow's ops (`ops/graph_forms.py` says what rules are).

The state of Weft is [counter, counter, key], the algorithm Philox. What a seed gives is the same in
TensorFlow, number by number. A stream goes on behind all that was drawn from it, but where an op of
TensorFlow takes no state, what follows are other numbers of the same distribution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, float64, int32, int64, uint64
from weft._src.ops.graph_forms import FormBody, NoForm, Written, axes_of, cast

_PHILOX, _COUNTERS_PER_NUMBER = 1, 256  # the number of the algorithm, and what it uses up
KEY_COUNTER = "StatelessRandomGetKeyCounter"


def key_counter(b: FormBody, seed: Any) -> Any:
    """The state that a seed gives."""
    key, counter = b.add(KEY_COUNTER, seed)
    return b.add("Bitcast", b.add("ConcatV2", [counter, key], b.const(0)), type=int64)


def _parts(b: FormBody, state: Written) -> tuple[Any, Any, Any]:
    counter, key = b.add("SplitV", state, b.const([2, 1]), b.const(0), num_split=2)
    return (
        b.add("Bitcast", key, type=uint64),
        b.add("Bitcast", counter, type=uint64),
        b.const(_PHILOX),
    )


def drawn(b: FormBody, shape: Written, state: Written, *more: Any, **attrs: Any) -> Any:
    """Numbers for a state."""
    return b.add(b.name, shape, *_parts(b, state), *more, **attrs)


def categories(
    b: FormBody, logits: Written, count: Written, state: Written, *, dtype: DType
) -> Any:
    """Classes: of a seed by the op for it, of a stream by where numbers fall among sums."""
    seed = b.made_from(KEY_COUNTER, 2)
    count = cast(b, count, int32)
    if seed is not None:
        return b.add("StatelessMultinomial", logits, count, seed, output_dtype=dtype)
    sums = b.add("Cumsum", b.add("Softmax", cast(b, logits, float64)), b.const(1))
    rows, classes = b.add("Unpack", b.add("Shape", logits), num=2, axis=0)
    shape = b.add("Pack", [rows, count], axis=0)
    places = b.add("StatelessRandomUniformV2", shape, *_parts(b, state), dtype=float64)
    last = b.add("Sub", classes, b.const(1))
    whole = b.add("ExpandDims", b.add("GatherV2", sums, last, b.const(1)), b.const(1))
    found = b.add("UpperBound", sums, b.add("Mul", places, whole), out_type=dtype)
    return b.add("Minimum", found, cast(b, last, dtype))  # the product may round up to the sum


def shuffled(b: FormBody, value: Written, state: Written, *, inverse: bool) -> Any:
    """Rows in another order."""
    if inverse:
        raise NoForm("gradients of shuffling cannot be written")
    return b.add("StatelessShuffle", value, *_parts(b, state))


def skipped(b: FormBody, variable: Any, delta: Any, *, step: int) -> Any:
    """The state of a generator, which goes on behind as many numbers as are drawn."""
    count = b.add("Prod", cast(b, delta, int64), axes_of(b, delta, None), keep_dims=False)
    if step != _COUNTERS_PER_NUMBER:  # TensorFlow skips whole numbers
        used = b.add("Mul", count, b.const(step, int64))
        up = b.add("AddV2", used, b.const(_COUNTERS_PER_NUMBER - 1, int64))
        count = b.add("FloorDiv", up, b.const(_COUNTERS_PER_NUMBER, int64))
    return b.add("RngReadAndSkip", variable, b.const(_PHILOX), cast(b, count, uint64))


_SAMPLERS = {
    "all": "AllCandidateSampler",
    "uniform": "UniformCandidateSampler",
    "log_uniform": "LogUniformCandidateSampler",
    "weighted": "FixedUnigramCandidateSampler",
}


def candidates(
    b: FormBody,
    true_classes: Written,
    state: Written,
    weights: Written,
    *,
    kind: str,
    count: int,
    range_max: int,
    op: str,
    **attrs: Any,
) -> Any:
    """Classes for losses of few of them: other ones than here, as TensorFlow's op has no state."""
    more: dict[str, Any] = {} if kind == "all" else {"range_max": range_max}
    if kind == "weighted":
        known = b.constant(2)
        if known is None:
            raise NoForm(f"the weights of {op} must be constants")
        more["unigrams"] = known.tolist()
    return b.add(_SAMPLERS[kind], true_classes, num_sampled=count, **attrs, **more)


def pooling_sequence(
    b: FormBody, size: Written, state: Written, *, op: str, ratio: float, pseudo_random: bool
) -> Any:
    """Where the regions of fractional pooling end: other ones than here, of the same kind."""

    def number(value: float) -> Any:
        return b.const(np.float64(value), float64)

    inputs = cast(b, cast(b, size, int64), float64)
    outputs = b.add("Floor", b.add("RealDiv", inputs, number(ratio)))
    places = b.add("Range", number(0), outputs, number(1))
    if not pseudo_random:
        shortest = b.add("Floor", b.add("RealDiv", inputs, outputs))
        rest = b.add("Sub", inputs, b.add("Mul", shortest, outputs))
        longer = cast(b, b.add("Less", places, rest), float64)
        steps = b.add("StatelessShuffle", b.add("AddV2", shortest, longer), *_parts(b, state))
        ends = b.add("Cumsum", steps, b.const(0))
        zero = b.const(np.zeros(1), float64)
        return cast(b, b.add("ConcatV2", [zero, ends], b.const(0)), int64)
    alpha = b.add("RealDiv", inputs, outputs)
    shortest = b.add("Floor", alpha)
    one = number(1)
    first = b.add("Sub", b.add("RealDiv", b.add("AddV2", shortest, number(2)), alpha), one)
    left = b.add("RealDiv", b.add("Sub", b.add("AddV2", inputs, one), shortest), alpha)
    most = b.add("Minimum", first, b.add("Sub", left, b.add("Sub", outputs, one)))
    none = b.const(np.zeros(0, np.int32))
    drawn_number = b.add("StatelessRandomUniformV2", none, *_parts(b, state), dtype=float64)
    start = b.add("Mul", b.add("Sub", one, drawn_number), most)  # above 0
    inner = b.add("Ceil", b.add("Mul", alpha, b.add("AddV2", places, start)))
    # The first of these is that of place 0, which is 0; the last region ends where the axis does.
    known = b.add("Sub", inner, one)
    zeroth = b.add("Equal", places, number(0))
    ends = b.add("SelectV2", zeroth, number(0), known)
    whole = b.add("ExpandDims", inputs, b.const(0))
    return cast(b, b.add("ConcatV2", [ends, whole], b.const(0)), int64)
