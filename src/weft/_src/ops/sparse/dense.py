"""From sparse tensors to tensors and back; products of a sparse and a dense matrix."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, bool_, int64, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import comparison, complex_parts
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.programs import as_program, with_kernel
from weft._src.ops.reduce import sums, unsorted_segments as segments
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, args, define_op
from weft._src.ops.sparse import place_arrays, places
from weft._src.ops.sparse.tensor import SparseTensor, sparse

_INT64 = frozenset({int64})


def _to_dense_infer(
    indices: TensorSpec,
    shape: TensorSpec,
    values: TensorSpec,
    default: TensorSpec,
    *,
    validate_indices: bool,
) -> TensorSpec:
    rules.check_rank("sparse.to_dense", default, 0, name="default_value")
    return values.with_dims(rules.dims_from_value("sparse.to_dense", shape, name="dense_shape"))


def _to_dense_kernel(
    xp: ArrayNamespace,
    indices: Array,
    shape: Array,
    values: Array,
    default: Any,
    *,
    validate_indices: bool,
) -> Array:
    sizes = tuple(shape.tolist())
    flat = place_arrays.places_of(indices, shape)
    if flat is None:
        raise InvalidArgumentError(
            None,
            None,
            f"sparse.to_dense: indices of shape {list(indices.shape)} do not lead into a tensor of "
            f"shape {list(sizes)}: a column for each of its axes was expected.",
        )
    # What is below zero is a large number without a sign.
    if len(indices) and (indices.view(xp.uint64).max(0) >= shape.view(xp.uint64)).any():
        outside = ((indices < 0) | (indices >= shape)).any(1)
        row = indices[outside][0].tolist()
        raise InvalidArgumentError(
            None, None, f"sparse.to_dense: index {row} lies outside of shape {list(sizes)}."
        )
    if validate_indices and len(indices) > 1 and not (flat[1:] > flat[:-1]).all():
        row = indices[1:][flat[1:] <= flat[:-1]][0].tolist()
        raise InvalidArgumentError(
            None,
            None,
            f"sparse.to_dense: index {row} is out of order, or there twice. Use tf.sparse.reorder, "
            "or pass validate_indices=False.",
        )
    out = xp.empty(sizes, values.dtype)
    out[...] = default
    out.reshape(-1)[flat] = values
    return out


def _to_dense_vjp(ctx: VjpContext, g: Tensor) -> tuple[Any, ...]:
    indices = ctx.inputs[0]
    picked = gathering.gather_nd(g, indices)
    rest = sums.reduce_sum(g) - sums.reduce_sum(picked) if ctx.wants(3) else None
    return None, None, picked, rest


_values, _default = args("sparse_values default_value", DATA)

to_dense_op = define_op(
    "SparseToDense",
    (
        *args("sparse_indices", _INT64),
        *args("output_shape", _INT64, is_shape=True),
        _values,
        _default,
    ),
    infer=_to_dense_infer,
    kernel=_to_dense_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=_to_dense_vjp,
    fresh=True,
)


def to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The whole tensor, with the default value (zero) where nothing is held.

    Args:
      sp_input: a `tf.SparseTensor`.
      default_value: a scalar of its dtype; None means 0, False or "".
      validate_indices: whether it is an error if indices are out of order or occur twice.

    Returns:
      A tensor of the dense shape and dtype of `sp_input`.

    Raises:
      TypeError: if `sp_input` is not sparse.
      InvalidArgumentError: if an index lies outside of the shape, or is out of order.

    >>> sp = tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2])
    >>> tf.sparse.to_dense(sp, default_value=-1).numpy()
    array([[-1,  5],
           [ 6, -1]], dtype=int32)
    """
    sp = sparse("sparse.to_dense", sp_input, "sp_input")
    if default_value is None:
        default = convert_to_tensor(b"") if sp.dtype is string else fill.zeros([], sp.dtype)
    else:
        default = convert_to_tensor(default_value, dtype=sp.dtype)
    return to_dense_op(
        sp.indices,
        sp.dense_shape,
        sp.values,
        default,
        validate_indices=bool(validate_indices),
        name=name,
    )


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero (empty strings, False).

    Args:
      tensor: a tensor of numbers, truth values or strings, of rank 1 or more.

    Returns:
      A `tf.SparseTensor` of the shape and dtype of `tensor`, in row-major order.

    Raises:
      TypeError: for ragged and sparse tensors.
      ShapeError: for scalars.

    >>> tf.sparse.from_dense([[0, 5], [6, 0]]).indices.numpy()
    array([[0, 1],
           [1, 0]])
    """
    x = convert_to_tensor(tensor)
    if isinstance(x, CompositeTensor):
        raise TypeError(
            f"sparse.from_dense: tensor must be a tensor, got a {type(x).__name__}. A ragged one "
            "has the method to_sparse()."
        )
    indices, values = _present(x)
    return SparseTensor._of(indices, values, shapes.shape_op(x, out_type=int64))


@with_kernel(place_arrays.present)
def _present(x: Tensor) -> tuple[Tensor, Tensor]:
    """The indices and values of what is not zero."""
    if x.dtype is string:
        present = comparison.not_equal(x, b"")
    else:
        present = x if x.dtype is bool_ else comparison.not_equal(x, fill.zeros([], x.dtype))
    indices = masks.where_op(present)
    return indices, gathering.gather_nd(x, indices)


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same elements in row-major order.

    Args:
      sp_input: a `tf.SparseTensor`.

    Returns:
      A `tf.SparseTensor` of the same shape and dtype.

    Raises:
      TypeError: if `sp_input` is not sparse.

    >>> tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [6, 5], [2, 2])).values.numpy()
    array([5, 6], dtype=int32)
    """
    sp = sparse("sparse.reorder", sp_input, "sp_input")
    return places.in_order(sp)[1]


def sparse_dense_matmul(
    sp_a: SparseTensor,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse and a dense matrix; either may be the sparse one.

    Args:
      sp_a: a matrix of numbers, a `tf.SparseTensor`; a tensor if `b` is sparse.
      b: a matrix of the same dtype, a tensor; sparse if `sp_a` is none.
      adjoint_a: whether the conjugate transpose of `sp_a` is meant.
      adjoint_b: whether that of `b` is meant.

    Returns:
      A tensor, the matrix product.

    Raises:
      TypeError: if none is sparse.
      ShapeError: if one is no matrix.
      InvalidArgumentError: if the inner sizes differ.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
    >>> tf.sparse.sparse_dense_matmul(sp, [[1.0], [10.0]]).numpy()
    array([[50.],
           [ 0.],
           [ 6.]], dtype=float32)
    """
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        # a @ b is the adjoint of b' @ a'.
        a = convert_to_tensor(sp_a, dtype_hint=b.dtype)
        out = sparse_dense_matmul(b, a, not adjoint_b, not adjoint_a)
        return _adjoint(out)
    sp = sparse("sparse.sparse_dense_matmul", sp_a, "sp_a")
    dense = convert_to_tensor(b, dtype_hint=sp.dtype)
    for name_, shape in (("sp_a", sp.shape), ("b", dense.shape)):
        if shape.rank not in (None, 2):
            raise ShapeError(f"sparse_dense_matmul: {name_} must be a matrix, got shape {shape}.")
    dense = _adjoint(dense) if adjoint_b else dense
    _check_inner(sp, dense, 0 if adjoint_a else 1)
    product = _adjoint_product if adjoint_a else _product
    return product(sp.indices, sp.values, sp.dense_shape, dense)


def _check_inner(sp: SparseTensor, dense: Tensor, axis: int) -> None:
    """InvalidArgumentError unless an axis of `sp` is as long as the columns of `dense`."""
    known, dims = sp.shape.dims, dense.spec.dims
    if known is not None and dims is not None:
        size = known[axis]
        if isinstance(size, int) and size == dims[0]:
            return
    text = "sparse_dense_matmul: the inner sizes must be equal"
    have = shapes.shape_op(dense, out_type=int64)[0]
    names = ("inner size of sp_a", "rows of b")
    require(comparison.equal, [sp.dense_shape[axis], have], text, names)


@with_kernel(place_arrays.product)
@as_program(sizes=(2,))
def _product(indices: Tensor, values: Tensor, shape: Tensor, dense: Tensor) -> Tensor:
    rows, columns = joining.unstack(indices, 2, 1)
    return _sum_of_rows(rows, columns, values, joining.unstack(shape, 2)[0], dense)


@as_program(sizes=(2,))
def _adjoint_product(indices: Tensor, values: Tensor, shape: Tensor, dense: Tensor) -> Tensor:
    values = complex_parts.conj(values) if values.dtype.is_complex else values
    rows, columns = joining.unstack(indices, 2, 1)
    return _sum_of_rows(columns, rows, values, joining.unstack(shape, 2)[1], dense)


def _sum_of_rows(
    rows: Tensor, columns: Tensor, values: Tensor, count: Tensor, dense: Tensor
) -> Tensor:
    # The reshape stands for a product's gradient: a tensor, where that of picked rows is rows.
    dense = shapes.reshape(dense, shapes.shape_op(dense, out_type=int64))
    terms = shapes.expand_dims(values, 1) * gathering.gather(dense, columns)
    return segments.unsorted_segment_sum(terms, rows, count)


def _adjoint(x: Tensor) -> Tensor:
    out = shapes.transpose(x)
    return complex_parts.conj(out) if out.dtype.is_complex else out
