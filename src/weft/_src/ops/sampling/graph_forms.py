"""How random numbers are written with TensorFlow's ops (`ops/graph_forms.py` says what rules are).

The state of Weft is [counter, counter, key], the algorithm Philox. What a seed gives is the same in
TensorFlow, number by number. A stream goes on behind all that was drawn from it, but where an op of
TensorFlow takes no state, what follows are other numbers of the same distribution.
"""

from __future__ import annotations

from typing import Any

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
