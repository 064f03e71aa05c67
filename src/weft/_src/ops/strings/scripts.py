"""`tf.strings.unicode_script`: to which script each code point belongs."""

from __future__ import annotations

import functools

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import int32
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings.script_runs import RUNS

_LAST = 0x10FFFF
_NO_CODE_POINT = -1


@functools.cache
def _runs() -> tuple[Array, Array]:
    """Where runs of code points of one script begin, and which it is."""
    words = [word.split(":") for word in RUNS.split()]
    starts = np.cumsum([int(gap, 36) for gap, _ in words])
    return starts.astype(np.int32), np.array([script for _, script in words], np.int32)


def _script_kernel(xp: ArrayNamespace, x: Array) -> Array:
    starts, scripts = _runs()
    found = scripts[xp.searchsorted(starts, xp.clip(x, 0, _LAST), side="right") - 1]
    return xp.where((x < 0) | (x > _LAST), xp.int32(_NO_CODE_POINT), found)


script_op = define_op(
    "UnicodeScript",
    args("input", {int32}),
    infer=rules.same,
    kernel=_script_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    elementwise=True,
)


def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of the script of each code point, as ICU counts them.

    Args:
      input: int32 code points, a tensor of any shape.

    Returns:
      An int32 tensor of the same shape: 25 is Latin, 14 Greek, 8 Cyrillic, 0 common to several; -1
      stands for what is no code point.

    Raises:
      DTypeError: if `input` has another dtype.

    >>> tf.strings.unicode_script([ord("a"), ord("ж"), ord("1")]).numpy()
    array([25,  8,  0], dtype=int32)
    """
    return script_op(convert_to_tensor(input, dtype_hint=int32), name=name)
