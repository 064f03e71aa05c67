"""Eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.blas import one_thread
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT, complex64, complex128, float64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, UnsupportedError
from weft._src.ops import batching, rules
from weft._src.ops.arrays import fill, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import casting, complex_parts, guarded
from weft._src.ops.elementwise.operands import conj
from weft._src.ops.linalg import diagonals, products, solvers
from weft._src.ops.reduce import extrema
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Op, args, define_op

Gradients = tuple[Tensor | None]


def _row(x: Tensor) -> Tensor:
    return shapes.expand_dims_op(x, axis=-2)


def _column(x: Tensor) -> Tensor:
    return shapes.expand_dims_op(x, axis=-1)


def _reciprocal(x: Tensor) -> Tensor:
    """1 / x, and 0 at 0: values that are equal do not turn their vectors into each other."""
    return guarded.div_no_nan_op(fill.ones_like(x), x)


def _lapack(xp: ArrayNamespace, function: str, op: str, *arrays: Array, **options: Any) -> Any:
    """A function of NumPy's linalg; InvalidArgumentError if it does not converge."""
    try:
        with one_thread(arrays[0].shape[-1]):
            return getattr(xp.linalg, function)(*arrays, **options)
    except xp.linalg.LinAlgError:
        raise InvalidArgumentError(
            None, None, f"{op}: the decomposition did not converge; does tensor hold NaN?"
        ) from None


# --- singular values ---------------------------------------------------------------------------


def _svd_infer(
    x: TensorSpec, *, compute_uv: bool, full_matrices: bool
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    rules.check_rank_at_least("svd", x, 2, name="tensor")
    real = x.with_dtype(x.dtype.real_dtype)
    if x.dims is None:
        return (
            real,
            x.with_dims(None if compute_uv else (0,)),
            x.with_dims(None if compute_uv else (0,)),
        )
    *lead, m, n = x.dims
    k = min(m, n) if isinstance(m, int) and isinstance(n, int) else Dim()
    values = real.with_dims((*lead, k))
    if not compute_uv:
        return values, x.with_dims((0,)), x.with_dims((0,))
    sizes = (m, n) if full_matrices else (k, k)
    u, v = [x.with_dims((*lead, a, b)) for a, b in zip((m, n), sizes, strict=True)]
    return values, u, v


def _svd_kernel(
    xp: ArrayNamespace, x: Array, *, compute_uv: bool, full_matrices: bool
) -> tuple[Array, Array, Array]:
    real = xp.real(x).dtype
    wide, finite = finite_matrices(xp, xp.widen(x))

    def result(part: Array, dtype: Any) -> Array:
        out = part.astype(dtype)
        out[~finite] = xp.nan
        return out

    if not compute_uv:
        s = _lapack(xp, "svd", "svd", wide, compute_uv=False)
        none = xp.zeros(0, x.dtype)
        return result(s, real), none, none
    u, s, vh = _lapack(xp, "svd", "svd", wide, full_matrices=full_matrices)
    v = xp.conjugate(xp.swapaxes(vh, -1, -2))
    return result(s, real), result(u, x.dtype), result(v, x.dtype)


def finite_matrices(xp: ArrayNamespace, x: Array) -> tuple[Array, Array]:
    """Matrices with zeros for those that hold NaN or infinity, and which of them are as they were.

    LAPACK finds no end on such numbers; the other matrices of a batch shall not suffer for it.
    """
    finite = xp.isfinite(x).all((-2, -1))
    if finite.all():
        return x, finite
    return xp.where(finite[..., None, None], x, x.dtype.type(0)), finite


def _svd_vjp(ctx: VjpContext, gs: Tensor | None, gu: Tensor | None, gv: Tensor | None) -> Gradients:
    x, full = ctx.inputs[0], ctx.attrs["full_matrices"]
    if not ctx.attrs["compute_uv"]:
        if gs is None:
            return (None,)
        _, u, v = svd_op(x, compute_uv=True, full_matrices=False)
        scaled = u * _row(casting.cast(gs, u.dtype))
        return (products.matmul(scaled, v, adjoint_b=True),)
    s, u, v = ctx.outputs
    rows, columns = (x.spec.dims or (0, 1))[-2:]
    if full and (gu is not None or gv is not None) and rows != columns:
        raise UnsupportedError(
            "svd: the gradient of full_matrices=True is only known for square matrices; use "
            "full_matrices=False."
        )
    if full:
        _, u, v = svd_op(x, compute_uv=True, full_matrices=False)
    scale = casting.cast(s, u.dtype)
    middle = diagonals.diag(casting.cast(gs, u.dtype)) if gs is not None else None
    squares = scale * scale
    gaps = _reciprocal(_row(squares) - _column(squares))
    inverse = _row(_reciprocal(scale))
    outside = None
    if gu is not None:
        turned = gaps * products.matmul(u, gu, adjoint_a=True)
        part = (turned + products.adjoint(turned)) * _row(scale)
        middle = part if middle is None else middle + part
        rest = gu - products.matmul(u, products.matmul(u, gu, adjoint_a=True))
        outside = products.matmul(rest * inverse, v, adjoint_b=True)
    if gv is not None:
        inner = products.matmul(v, gv, adjoint_a=True)
        turned = gaps * inner
        part = _column(scale) * (turned + products.adjoint(turned))
        if u.dtype.is_complex:  # the phases of u and v turn together
            phases = diagonals.diag_part(inner)
            part = part + diagonals.diag(_reciprocal(scale) * (conj(phases) - phases) / 2)
        middle = part if middle is None else middle + part
        rest = gv - products.matmul(v, inner)
        more = products.matmul(u, rest * inverse, adjoint_b=True)
        outside = more if outside is None else outside + more
    assert middle is not None  # a rule is asked if some gradient is there
    out = products.matmul(products.matmul(u, middle), v, adjoint_b=True)
    return (out if outside is None else out + outside,)


svd_op: Op = define_op(
    "Svd",
    args("tensor", INEXACT),
    infer=_svd_infer,
    kernel=_svd_kernel,
    native=NO_NATIVE,
    xla=Lowered("svd"),
    vjp=_svd_vjp,
    outputs=3,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values s, and vectors u and v with tensor = u @ diag(s) @ adjoint(v).

    Args:
      tensor: floating or complex matrices [..., m, n]. Those that hold NaN or infinity give NaN.
      full_matrices: whether u is [..., m, m] and v [..., n, n]; if not, [..., m, k] and [..., n, k]
        with k = min(m, n).
      compute_uv: whether the vectors are wanted.

    Returns:
      A tuple (s, u, v), or s alone without vectors. s is real, [..., k], and in descending order; u
      and v have the dtype of `tensor`.

    Raises:
      ShapeError: if the rank is below 2.
      DTypeError: if `tensor` has another dtype.

    >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> s.numpy()
    array([4., 3.], dtype=float32)
    """
    found = svd_op(
        convert_to_tensor(tensor),
        compute_uv=bool(compute_uv),
        full_matrices=bool(full_matrices),
        name=name,
    )
    return found if compute_uv else found[0]


def spectral_norm(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    """The largest singular value of the matrices along two axes."""
    rank = x.spec.rank
    if rank is None:
        raise UnsupportedError("norm: ord=2 of matrices needs a tensor of known rank.")
    rows, columns = rules.normalize_axes("norm", axes, rank)
    rest = [i for i in range(rank) if i not in (rows, columns)]
    values = svd(shapes.transpose_op(x, perm=(*rest, rows, columns)), compute_uv=False)
    out = extrema.reduce_max(values, axis=-1)
    if keepdims:
        for axis in sorted((rows, columns)):
            out = shapes.expand_dims_op(out, axis=axis)
    return out


# --- eigenvalues of symmetric matrices ---------------------------------------------------------


def _eigh_infer(x: TensorSpec, *, compute_v: bool) -> tuple[TensorSpec, TensorSpec]:
    dims = solvers.square_dims("eigh", x, "tensor")
    values = x.with_dims(None if dims is None else dims[:-1])
    return values, x.with_dims(dims if compute_v else (0,))


def _eigh_kernel(xp: ArrayNamespace, x: Array, *, compute_v: bool) -> tuple[Array, Array]:
    wide = xp.widen(x)
    _refuse_infinite(xp, "eigh", wide)
    if not compute_v:
        values = _lapack(xp, "eigvalsh", "eigvalsh", wide)
        return values.astype(x.dtype), xp.zeros(0, x.dtype)
    values, vectors = _lapack(xp, "eigh", "eigh", wide)
    return values.astype(x.dtype), vectors.astype(x.dtype)


def _refuse_infinite(xp: ArrayNamespace, op: str, x: Array) -> None:
    if not xp.isfinite(x).all():
        raise InvalidArgumentError(
            None, None, f"{op}: tensor holds NaN or infinity, so it has no eigenvalues."
        )


def _real(x: Tensor) -> Tensor:
    """The real part in the dtype of x."""
    return casting.cast(complex_parts.real(x), x.dtype) if x.dtype.is_complex else x


def _eigh_vjp(ctx: VjpContext, ge: Tensor | None, gv: Tensor | None) -> Gradients:
    x, (values, vectors) = ctx.inputs[0], ctx.outputs
    if not ctx.attrs["compute_v"]:
        if ge is None:
            return (None,)
        values, vectors = eigh_op(x, compute_v=True)
    middle = None
    if ge is not None:
        middle = diagonals.diag(_real(ge))  # eigenvalues are real, also as complex numbers
    if gv is not None and ctx.attrs["compute_v"]:
        gaps = _reciprocal(_row(values) - _column(values))
        part = gaps * products.matmul(vectors, gv, adjoint_a=True)
        middle = part if middle is None else middle + part
    assert middle is not None  # a rule is asked if some gradient is there
    full = products.matmul(products.matmul(vectors, middle), vectors, adjoint_b=True)
    # Only the lower triangle is read, so it gets the gradient of both.
    lower = diagonals.band_part(full + products.adjoint(full), -1, 0)
    return (diagonals.set_diag(lower, diagonals.diag_part(lower) / 2),)


eigh_op: Op = define_op(
    "SelfAdjointEigV2",
    args("tensor", INEXACT),
    infer=_eigh_infer,
    kernel=_eigh_kernel,
    native=NO_NATIVE,
    xla=Lowered("eigh"),
    vjp=_eigh_vjp,
    outputs=2,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors (as columns) of symmetric or Hermitian matrices.

    Args:
      tensor: floating or complex matrices [..., n, n], of which the lower triangle counts.

    Returns:
      The eigenvalues [..., n] and the eigenvectors [..., n, n], both of the dtype of `tensor`.

    Raises:
      InvalidArgumentError: if a matrix holds NaN or infinity.
      ShapeError: if the matrices are not square.

    >>> e, v = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> e.numpy()
    array([1., 2.], dtype=float32)
    """
    values, vectors = eigh_op(convert_to_tensor(tensor), compute_v=True, name=name)
    return values, vectors


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues, ascending, of symmetric or Hermitian matrices.

    Args:
      tensor: floating or complex matrices [..., n, n], of which the lower triangle counts.

    Returns:
      A tensor of shape [..., n] and the dtype of `tensor`.

    Raises:
      InvalidArgumentError: if a matrix holds NaN or infinity.
      ShapeError: if the matrices are not square.

    >>> tf.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).numpy()
    array([1., 3.], dtype=float32)
    """
    found: Tensor = eigh_op(convert_to_tensor(tensor), compute_v=False, name=name)[0]
    return found


# --- eigenvalues of any matrices ---------------------------------------------------------------


def _eig_infer(x: TensorSpec, *, compute_v: bool) -> tuple[TensorSpec, TensorSpec]:
    dims = solvers.square_dims("eig", x, "tensor")
    out = x.with_dtype(complex128 if x.dtype in (float64, complex128) else complex64)
    return (
        out.with_dims(None if dims is None else dims[:-1]),
        out.with_dims(dims if compute_v else (0,)),
    )


def _eig_kernel(xp: ArrayNamespace, x: Array, *, compute_v: bool) -> tuple[Array, Array]:
    wide = xp.widen(x)
    dtype = (
        xp.complex128 if wide.dtype.itemsize == 8 * (1 + (wide.dtype.kind == "c")) else xp.complex64
    )
    _refuse_infinite(xp, "eig", wide)
    if not compute_v:
        return _lapack(xp, "eigvals", "eigvals", wide).astype(dtype), xp.zeros(0, dtype)
    values, vectors = _lapack(xp, "eig", "eig", wide)
    return values.astype(dtype), vectors.astype(dtype)


def _eig_vjp(ctx: VjpContext, ge: Tensor | None, gv: Tensor | None) -> Gradients:
    x, (values, vectors) = ctx.inputs[0], ctx.outputs
    if not ctx.attrs["compute_v"]:
        if ge is None:
            return (None,)
        values, vectors = eig_op(x, compute_v=True)
    middle = None if ge is None else diagonals.diag(ge)
    if gv is not None and ctx.attrs["compute_v"]:
        gaps = conj(_reciprocal(_row(values) - _column(values)))
        inner = products.matmul(vectors, gv, adjoint_a=True)
        # Vectors have length 1: what would stretch them does not count.
        along = _real(diagonals.diag_part(inner))
        gram = products.matmul(vectors, vectors, adjoint_a=True)
        part = gaps * (inner - gram * _row(along))
        middle = part if middle is None else middle + part
    adjoint = products.adjoint(vectors)
    assert middle is not None  # a rule is asked if some gradient is there
    full = solvers.solve(adjoint, products.matmul(middle, adjoint))
    if x.dtype.is_complex:
        return (full,)
    return (casting.cast(complex_parts.real(full), x.dtype),)


eig_op: Op = define_op(
    "Eig",
    args("tensor", INEXACT),
    infer=_eig_infer,
    kernel=_eig_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=_eig_vjp,
    outputs=2,
    fresh=True,
    batch=batching.inexact(batching.leading),
)


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors (as columns, of length 1) of square matrices; both complex.

    Args:
      tensor: floating or complex matrices [..., n, n].

    Returns:
      The eigenvalues [..., n] and the eigenvectors [..., n, n]: complex128 for float64 and
      complex128, else complex64.

    Raises:
      InvalidArgumentError: if a matrix holds NaN or infinity.
      ShapeError: if the matrices are not square.

    >>> e, v = tf.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> np.sort_complex(e.numpy())
    array([0.-1.j, 0.+1.j], dtype=complex64)
    """
    values, vectors = eig_op(convert_to_tensor(tensor), compute_v=True, name=name)
    return values, vectors


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of square matrices, as complex numbers.

    Args:
      tensor: floating or complex matrices [..., n, n].

    Returns:
      A tensor of shape [..., n]: complex128 for float64 and complex128, else complex64.

    Raises:
      InvalidArgumentError: if a matrix holds NaN or infinity.
      ShapeError: if the matrices are not square.

    >>> tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy()
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    found: Tensor = eig_op(convert_to_tensor(tensor), compute_v=False, name=name)[0]
    return found
