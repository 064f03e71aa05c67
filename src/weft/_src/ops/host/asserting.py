"""`tf.Assert`: a condition that must hold each time the graph runs."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import BOOL, DATA
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xla_rules import Lowered
from weft._src.errors import AssertionFailedError
from weft._src.ops import batching, rules, static
from weft._src.ops.host.formatting import format_array
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op, each


def _assert_infer(condition: TensorSpec, *data: TensorSpec, summarize: int) -> tuple[()]:
    rules.check_rank("Assert", condition, 0, name="condition")
    return ()


def _assert_kernel(xp: ArrayNamespace, condition: Any, *data: Array, summarize: int) -> tuple[()]:
    if not condition:
        shown = " ".join(format_array(xp.asarray(value), summarize) for value in data)
        raise AssertionFailedError(f"assertion failed: {shown}")
    return ()


assert_op = define_op(
    "Assert",
    args("condition", BOOL) + each("*data", DATA),
    infer=_assert_infer,
    kernel=_assert_kernel,
    native=HOST_ONLY,
    xla=Lowered("assert"),
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
    computes=False,
    guards=True,
    batch=batching.asserted,
)


def Assert(  # noqa: N802 - TensorFlow's name
    condition: TensorLike, data: TensorLike, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError with the data if the condition does not hold.

    Args:
      condition: a scalar bool.
      data: a list of tensors, numbers and strings that the error shows.
      summarize: how many elements at each end of an axis are shown; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if the condition does not hold, in a graph when it runs.
      TypeError: if `data` is no list.
      ShapeError: if the condition is no scalar.

    >>> tf.Assert(tf.constant(2) > 1, ["expected more than", 1])
    """
    tensors = [convert_to_tensor(value) for value in items_of("Assert", data, "data")]
    limit = static.static_int("Assert", 3 if summarize is None else summarize, "summarize")
    assert_op(convert_to_tensor(condition), *tensors, summarize=limit, name=name)
