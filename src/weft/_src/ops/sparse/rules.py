"""What ops mean for sparse tensors: the table the dispatcher asks.

Functions that are 0 at 0 apply to the values; a product or quotient with a tensor is taken where
the sparse tensor has elements. Everything else refuses, and says what to do instead.
"""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import int64
from weft._src.core.location import called_function
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.dispatch import composite_rules
from weft._src.ops.elementwise import arithmetic, casting, comparison, unary
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import reductions
from weft._src.ops.reduce import counting, products
from weft._src.ops.registry import Op
from weft._src.ops.sparse import places
from weft._src.ops.sparse.tensor import SparseTensor


def apply(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    """An op of which at least one input is sparse."""
    x = next(x for x in inputs if isinstance(x, SparseTensor))
    if op.zero_at_zero:
        return x.with_values(op(x.values, name=name, **attrs))
    if op in (arithmetic.mul_op, arithmetic.real_div_op):
        return _with_tensor(op, inputs, name)
    if op is shapes.shape_op:
        return casting.cast(x.dense_shape, attrs["out_type"])
    if op is shapes.size_op:
        return casting.cast(products.reduce_prod(x.dense_shape), attrs["out_type"])
    if op is shapes.rank_op:
        return shapes.size(x.dense_shape)
    if op is counting.bincount_op and x is inputs[0]:
        return _bincount(x, *inputs[1:], **attrs)
    raise x.refusal(f"{called_function()} (op {op.name})")


def _bincount(x: SparseTensor, size: Tensor, weights: Any, *, binary_output: bool) -> Tensor:
    """How often each number occurs among the elements of each row."""
    if x.shape.rank not in (1, 2):
        raise ShapeError(f"bincount: a SparseTensor must have rank 1 or 2, got shape {x.shape}.")
    if isinstance(weights, SparseTensor):
        places.check_same("bincount", x, weights, "arr and weights")
        weights = weights.values
    if x.shape.rank == 1:
        return counting.bincount_op(x.values, size, weights, binary_output=binary_output)
    height = x.dense_shape[0]
    ids = x.indices[:, 0]
    return reductions.counted_in_rows(x.values, ids, height, size, weights, binary_output)


def _with_tensor(op: Op, inputs: tuple[Any, ...], name: str | None) -> SparseTensor:
    """A product or quotient with a tensor that is broadcast to the shape of the sparse one."""
    x, y = inputs
    if isinstance(y, SparseTensor) and (
        op is arithmetic.real_div_op or isinstance(x, SparseTensor)
    ):
        raise y.refusal(f"{called_function()} (op {op.name}), as its second operand,")
    sp, other = (y, x) if isinstance(y, SparseTensor) else (x, y)
    factors = _picked(sp, other)
    pair = (factors, sp.values) if sp is y else (sp.values, factors)
    return sp.with_values(op(*pair, name=name))


def _picked(sp: SparseTensor, x: Tensor) -> Tensor:
    """The element of a tensor that goes with each element of the sparse one."""
    rank, own = x.shape.rank, sp.shape.rank
    if rank == 0:
        return x
    if rank is None or own is None or rank > own:
        raise ShapeError(
            f"{called_function()}: a tensor of shape {x.shape} does not broadcast to the shape of "
            f"a SparseTensor, {sp.shape}."
        )
    shape = shapes.shape_op(x, out_type=int64)
    text = f"{called_function()}: a tensor next to a SparseTensor must broadcast to its shape"
    require(_broadcasts, [shape, sp.dense_shape[own - rank :]], text, ("shape", "dense_shape"))
    # An axis of size one has its only element everywhere.
    places = arithmetic.minimum(sp.indices[:, own - rank :], shape - 1)
    return gathering.gather_nd(x, places)


def _broadcasts(shape: Tensor, wanted: Tensor) -> Tensor:
    return comparison.logical_or(comparison.equal(shape, wanted), comparison.equal(shape, 1))


def _refuse_addition(self: SparseTensor, other: Any) -> Any:
    raise TypeError("A SparseTensor has no + and -: use tf.sparse.add(a, b), or to_dense first.")


def _install_operators() -> None:
    for name, function in (("mul", arithmetic.multiply), ("truediv", arithmetic.truediv)):
        setattr(SparseTensor, f"__{name}__", function)
        setattr(SparseTensor, f"__r{name}__", lambda self, other, f=function: f(other, self))
    others: dict[str, Any] = {"__neg__": arithmetic.negative, "__abs__": unary.abs}
    others |= dict.fromkeys(("__add__", "__radd__", "__sub__", "__rsub__"), _refuse_addition)
    for name, method in others.items():
        setattr(SparseTensor, name, method)


composite_rules[SparseTensor] = apply
_install_operators()
