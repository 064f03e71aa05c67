"""Diagonals and bands of matrices.

Several diagonals are stored as the rows of a matrix, the highest one first. Shorter ones are
padded at the left or right end, as `align` says: first for those above the main diagonal, then
for those below.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import BOOL, DATA, INDEX, NUMERIC
from weft._src.core.native_rules import Special
from weft._src.core.operator_inputs import takes_operators
from weft._src.core.shapes import Dim, Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, SymbolicTensor, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import fill
from weft._src.ops.contexts import VjpContext
from weft._src.ops.linalg import computed_diagonals
from weft._src.ops.reduce import sums
from weft._src.ops.registry import Op, args, define_op

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(op: str, k: TensorLike, align: str) -> dict[str, Any]:
    """The attributes that say which diagonals are meant and how they are stored."""
    found = static.static_ints(op, k, "k")
    band = (found,) if isinstance(found, int) else tuple(found or ())
    lower, upper = (band or (0,))[0], (band or (0,))[-1]
    if len(band) not in (1, 2) or lower > upper:
        raise ShapeError(f"{op}: k must be a number or (lower, upper), got {k!r}.")
    if align not in _ALIGNMENTS:
        raise ValueError(f"{op}: align must be one of {', '.join(_ALIGNMENTS)}, got {align!r}.")
    return {"lower": lower, "upper": upper, "align": align}


def _is_computed(k: TensorLike) -> TypeGuard[SymbolicTensor]:
    """Whether the number of one diagonal is known only when the graph runs."""
    if not isinstance(k, SymbolicTensor) or k.spec.rank != 0:
        return False
    return static.static_value(k) is None


def _length(rows: Any, columns: Any, k: int) -> Any:
    return min(rows + min(k, 0), columns - max(k, 0))


def longest_diagonal(rows: Any, columns: Any, lower: int, upper: int) -> Any:
    """The number of elements on the longest of some diagonals."""
    return min(rows + min(upper, 0), columns - max(lower, 0))


def places(
    xp: ArrayNamespace, rows: int, columns: int, lower: int, upper: int, align: str
) -> Iterator[tuple[Any, Any]]:
    """For each diagonal: where its elements are in the matrix, and where in the stored form."""
    longest = longest_diagonal(rows, columns, lower, upper)
    above, below = align.split("_")
    for k in range(upper, lower - 1, -1):
        n = _length(rows, columns, k)
        i = xp.arange(n)
        start = longest - n if (above if k >= 0 else below) == "RIGHT" else 0
        part = slice(start, start + n)
        stored = (..., part) if lower == upper else (..., upper - k, part)
        yield (..., i + max(-k, 0), i + max(k, 0)), stored


def _check_band(op: str, rows: Size, columns: Size, lower: int, upper: int) -> None:
    """The band must touch the matrix."""
    for k in (lower, upper):
        low = isinstance(rows, int) and -k >= max(rows, 1)
        high = isinstance(columns, int) and k >= max(columns, 1)
        if (low or high) and k != 0:
            raise ShapeError(
                f"{op}: k = {k} is outside of a matrix with {rows} rows and {columns} columns."
            )


def _check_scalar(op: str, padding: Array) -> None:
    """What had an unknown rank while tracing: rows of it would be broadcast."""
    if padding.ndim:
        raise ShapeError(f"{op}: padding_value must be a scalar, got shape {padding.shape}.")


# --- taking diagonals --------------------------------------------------------------------------


def _diag_part_infer(
    x: TensorSpec, padding: TensorSpec, *, lower: int, upper: int, align: str
) -> TensorSpec:
    rules.check_rank_at_least("diag_part", x, 2, name="input")
    rules.check_rank("diag_part", padding, 0, name="padding_value")
    if x.dims is None:
        return x
    rows, columns = x.dims[-2:]
    _check_band("diag_part", rows, columns, lower, upper)
    known = isinstance(rows, int) and isinstance(columns, int)
    longest = longest_diagonal(rows, columns, lower, upper) if known else Dim()
    count = () if lower == upper else (upper - lower + 1,)
    return x.with_dims((*x.dims[:-2], *count, longest))


def _diag_part_kernel(
    xp: ArrayNamespace, x: Array, padding: Array, *, lower: int, upper: int, align: str
) -> Array:
    _check_scalar("diag_part", padding)
    rows, columns = x.shape[-2:]
    if lower == upper:
        return xp.diagonal(x, lower, -2, -1)
    longest = longest_diagonal(rows, columns, lower, upper)
    out = xp.full((*x.shape[:-2], upper - lower + 1, longest), padding, x.dtype)
    for place, stored in places(xp, rows, columns, lower, upper, align):
        out[stored] = x[place]
    return out


def _diag_part_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    return set_diag_op(fill.zeros_like(ctx.inputs[0]), g, **ctx.attrs), None


diag_part_op: Op = define_op(
    "MatrixDiagPartV3",
    args("input padding_value", DATA),
    infer=_diag_part_infer,
    kernel=_diag_part_kernel,
    native=Special("diag_part"),
    xla=Lowered("diag_part"),
    vjp=_diag_part_vjp,
    batch=batching.leading,
    graphdef=graph_forms.diagonal,
)


@takes_operators
def diag_part(
    input: TensorLike,
    name: str = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonal of matrices, or several diagonals as rows if k is (lower, upper).

    Args:
      input: a tensor of rank 2 or more; the matrices are along the last two axes.
      k: the number of the diagonal, 0 for the main one and positive above it, or (lower, upper).
      padding_value: a scalar that fills diagonals shorter than the longest.
      align: to which side diagonals above and below the main one are moved in their rows:
        "RIGHT_LEFT" moves those above (and the main one) to the right and those below to the left;
        also "LEFT_RIGHT", "LEFT_LEFT" and "RIGHT_RIGHT".

    Returns:
      A tensor of the same dtype without the last two axes, but with one for the elements of the
      longest diagonal, and one before it for the diagonals, from upper to lower, if `k` names two.

    Raises:
      ShapeError: if the rank is below 2, or `k` lies outside of the matrix or is no such number.
      ValueError: if there is no such alignment.

    >>> tf.linalg.diag_part([[1, 2, 3], [4, 5, 6]]).numpy()
    array([1, 5], dtype=int32)
    >>> tf.linalg.diag_part([[1, 2, 3], [4, 5, 6]], k=(0, 1)).numpy()
    array([[2, 6],
           [1, 5]], dtype=int32)
    """
    x = convert_to_tensor(input)
    if _is_computed(k):
        return computed_diagonals.diag_part(x, k)
    band = _band("diag_part", k, align)
    return diag_part_op(x, _padding(x, padding_value), **band, name=name)


def _padding(x: Tensor, value: TensorLike) -> Tensor:
    if isinstance(value, int) and value == 0:
        return fill.zeros((), x.dtype)
    return adopt(value, x.dtype)


# --- making matrices of diagonals --------------------------------------------------------------


def _diag_sizes(
    longest: Any, *, lower: int, upper: int, num_rows: int, num_cols: int
) -> tuple[Any, Any]:
    """The size of a matrix with these diagonals: as small as possible where it is not given."""
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    if num_rows == num_cols == -1:
        if isinstance(longest, Dim):
            size = Dim() if lower > 0 or upper < 0 else longest
            return size, size
        return (max(least_rows, least_columns),) * 2
    rows = least_rows if num_rows == -1 else num_rows
    columns = least_columns if num_cols == -1 else num_cols
    if isinstance(longest, int) and (
        rows < least_rows
        or columns < least_columns
        or (rows != least_rows and columns != least_columns)
    ):
        raise ShapeError(
            f"diag: diagonals {lower} to {upper} with {longest} elements need {least_rows} rows or "
            f"{least_columns} columns exactly, got num_rows={num_rows}, num_cols={num_cols}."
        )
    return rows, columns


def _diag_infer(
    diagonal: TensorSpec,
    padding: TensorSpec,
    *,
    lower: int,
    upper: int,
    align: str,
    num_rows: int,
    num_cols: int,
) -> TensorSpec:
    n_axes = 1 if lower == upper else 2
    rules.check_rank_at_least("diag", diagonal, n_axes, name="diagonal")
    rules.check_rank("diag", padding, 0, name="padding_value")
    dims = diagonal.dims
    if dims is None:
        return diagonal
    if n_axes > 1:
        rules.unify("diag", dims[-2], upper - lower + 1, "the number of rows and of diagonals in k")
    rows, columns = _diag_sizes(
        dims[-1], lower=lower, upper=upper, num_rows=num_rows, num_cols=num_cols
    )
    return diagonal.with_dims((*dims[:-n_axes], rows, columns))


def _diag_kernel(
    xp: ArrayNamespace,
    diagonal: Array,
    padding: Array,
    *,
    lower: int,
    upper: int,
    align: str,
    num_rows: int,
    num_cols: int,
) -> Array:
    _check_scalar("diag", padding)
    rows, columns = _diag_sizes(
        diagonal.shape[-1], lower=lower, upper=upper, num_rows=num_rows, num_cols=num_cols
    )
    lead = diagonal.shape[: -1 if lower == upper else -2]
    out = xp.full((*lead, rows, columns), padding, diagonal.dtype)
    for place, stored in places(xp, rows, columns, lower, upper, align):
        out[place] = diagonal[stored]
    return out


def _diag_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    band = {key: ctx.attrs[key] for key in ("lower", "upper", "align")}
    return diag_part_op(g, _padding(g, 0), **band), None


diag_op = define_op(
    "MatrixDiagV3",
    args("diagonal padding_value", DATA),
    infer=_diag_infer,
    kernel=_diag_kernel,
    native=Special("set_diag", is_new=True),
    xla=Lowered("set_diag", is_new=True),
    vjp=_diag_vjp,
    fresh=True,
    batch=batching.leading,
    graphdef=graph_forms.diagonal,
)


def diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the given diagonal (or diagonals, if k is (lower, upper)), else padding.

    Args:
      diagonal: a tensor; the last axis holds the elements of a diagonal, the one before it the
        diagonals, from upper to lower, if `k` names two.
      k: the number of the diagonal, 0 for the main one and positive above it, or (lower, upper).
      num_rows: the number of rows; -1 means as few as possible, and a square if `num_cols` is -1,
        too.
      num_cols: the number of columns; -1 means as few as possible.
      padding_value: a scalar that stands outside of the diagonals.
      align: how shorter diagonals lie in `diagonal`, as for `tf.linalg.diag_part`.

    Returns:
      A tensor of the same dtype, with the axes for rows and columns at the end.

    Raises:
      ShapeError: if the numbers of rows, columns and diagonals do not fit.
      ValueError: if there is no such alignment.

    >>> tf.linalg.diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = convert_to_tensor(diagonal)
    padding = _padding(x, padding_value)
    rows = static.static_ints("diag", num_rows, "num_rows")
    columns = static.static_ints("diag", num_cols, "num_cols")
    if _is_computed(k):
        return computed_diagonals.diag(x, k, rows, columns, padding)
    band = _band("diag", k, align)
    return diag_op(x, padding, **band, num_rows=rows, num_cols=columns, name=name)


# --- replacing diagonals -----------------------------------------------------------------------


def _set_diag_infer(
    x: TensorSpec, diagonal: TensorSpec, *, lower: int, upper: int, align: str
) -> TensorSpec:
    rules.check_rank_at_least("set_diag", x, 2, name="input")
    if x.dims is None or diagonal.dims is None:
        return x
    rows, columns = x.dims[-2:]
    _check_band("set_diag", rows, columns, lower, upper)
    known = isinstance(rows, int) and isinstance(columns, int)
    longest = longest_diagonal(rows, columns, lower, upper) if known else Dim()
    count = () if lower == upper else (upper - lower + 1,)
    wanted = (*x.dims[:-2], *count, longest)
    rules.merge_dims("set_diag", diagonal.dims, wanted, "diagonal and the diagonals of input")
    return x


def _set_diag_kernel(
    xp: ArrayNamespace, x: Array, diagonal: Array, *, lower: int, upper: int, align: str
) -> Array:
    out = xp.array(x)
    rows, columns = x.shape[-2:]
    for place, stored in places(xp, rows, columns, lower, upper, align):
        out[place] = diagonal[stored]
    return out


def _set_diag_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
    return (
        set_diag_op(g, fill.zeros_like(ctx.inputs[1]), **ctx.attrs) if ctx.wants(0) else None,
        diag_part_op(g, _padding(g, 0), **ctx.attrs) if ctx.wants(1) else None,
    )


set_diag_op: Op = define_op(
    "MatrixSetDiagV3",
    args("input diagonal", DATA),
    infer=_set_diag_infer,
    kernel=_set_diag_kernel,
    native=Special("set_diag"),
    xla=Lowered("set_diag"),
    vjp=_set_diag_vjp,
    fresh=True,
    batch=batching.inexact(batching.systems),
    graphdef=graph_forms.diagonal,
)


def set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str = "set_diag",
    k: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The matrices with another diagonal (or diagonals, if k is (lower, upper)).

    Args:
      input: a tensor of rank 2 or more; the matrices are along the last two axes.
      diagonal: the new diagonals, of the shape that `tf.linalg.diag_part` gives.
      k: the number of the diagonal, 0 for the main one and positive above it, or (lower, upper).
      align: how shorter diagonals lie in `diagonal`, as for `tf.linalg.diag_part`.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ShapeError: if `diagonal` has another shape, or `k` lies outside of the matrix.
      ValueError: if there is no such alignment.

    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy()
    array([[8, 2],
           [3, 9]], dtype=int32)
    """
    x = convert_to_tensor(input)
    new = adopt(diagonal, x.dtype)
    if _is_computed(k):
        return computed_diagonals.set_diag(x, new, k)
    return set_diag_op(x, new, **_band("set_diag", k, align), name=name)


# --- bands -------------------------------------------------------------------------------------


def _band_part_infer(x: TensorSpec, lower: TensorSpec, upper: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("band_part", x, 2, name="input")
    rules.check_rank("band_part", lower, 0, name="num_lower")
    rules.check_rank("band_part", upper, 0, name="num_upper")
    return x


def _band_part_kernel(xp: ArrayNamespace, x: Array, num_lower: Array, num_upper: Array) -> Array:
    rows, columns = x.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    for name, n, size in (("num_lower", lower, rows), ("num_upper", upper, columns)):
        if n > size:
            raise InvalidArgumentError(
                None, None, f"band_part: {name} must not be above {size}, the size, got {n}."
            )
    distance = xp.arange(columns) - xp.arange(rows)[:, None]
    inside = xp.ones((rows, columns), bool)
    if lower >= 0:
        inside &= distance >= -lower
    if upper >= 0:
        inside &= distance <= upper
    return xp.where(inside, x, x.dtype.type(0))


def _band_part_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None, None]:
    _, lower, upper = ctx.inputs
    return band_part_op(g, lower, upper), None, None


band_part_op: Op = define_op(
    "MatrixBandPart",
    args("input", NUMERIC | BOOL) + args("num_lower num_upper", INDEX),
    infer=_band_part_infer,
    kernel=_band_part_kernel,
    native=Special("band_part"),
    xla=Lowered("band_part"),
    vjp=_band_part_vjp,
    fresh=True,
    batch=batching.leading,
)


def band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """The matrices with zeros outside of a band around the diagonal; -1 keeps that whole side.

    Args:
      input: a tensor of numbers or truth values, of rank 2 or more.
      num_lower: how many diagonals below the main one are kept, an int32 or int64 scalar.
      num_upper: how many above it, of the same dtype.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      InvalidArgumentError: if a number is above the number of rows, or of columns.
      ShapeError: if the rank is below 2, or a number is no scalar.

    >>> tf.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, -1).numpy()
    array([[1, 2, 3],
           [0, 5, 6],
           [0, 0, 9]], dtype=int32)
    """
    lower = convert_to_tensor(num_lower)
    return band_part_op(convert_to_tensor(input), lower, adopt(num_upper, lower.dtype), name=name)


@takes_operators
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the main diagonal.

    Args:
      x: a tensor of numbers, of rank 2 or more; the matrices are along the last two axes.

    Returns:
      A tensor of the same dtype without the last two axes.

    Raises:
      ShapeError: if the rank is below 2.

    >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    return sums.sum_op(diag_part(convert_to_tensor(x)), axis=(-1,), keepdims=False, name=name)
