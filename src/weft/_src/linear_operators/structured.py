"""Operators of a known form: reflections, permutations, Toeplitz and tridiagonal matrices."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator


class LinearOperatorHouseholder(LinearOperator):
    """Reflections at the hyperplane to which a vector is perpendicular.

    >>> operator = tf.linalg.LinearOperatorHouseholder([1.0, 0.0])
    >>> operator.matvec([2.0, 3.0]).numpy()
    array([-2.,  3.], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"reflection_axis": 1}

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        parameters = {"reflection_axis": reflection_axis, "name": name}
        if is_self_adjoint is False or is_square is False or is_non_singular is False:
            raise ValueError("LinearOperatorHouseholder: a reflection is its own inverse.")
        if is_positive_definite:
            raise ValueError("LinearOperatorHouseholder: a reflection is not positive definite.")
        self._axis = tf.convert_to_tensor(reflection_axis)
        if self._axis.shape.rank == 0:
            raise ValueError("LinearOperatorHouseholder: reflection_axis must have rank 1 or more.")
        super().__init__(self._axis.dtype, None, True, True, False, True, name, parameters)

    @property
    def reflection_axis(self) -> Any:
        """The vectors."""
        return self._axis

    def _shape(self) -> tf.TensorShape:
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._axis)
        return tf.concat([shape, shape[-1:]], 0)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        axis = tf.math.l2_normalize(self._axis, -1)[..., tf.newaxis]
        return x - 2 * axis * tf.reduce_sum(tf.math.conj(axis) * x, -2, keepdims=True)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs)

    def _to_dense(self) -> Any:
        axis = tf.math.l2_normalize(self._axis, -1)
        square = axis[..., :, tf.newaxis] * tf.math.conj(axis)[..., tf.newaxis, :]
        return tf.eye(tf.shape(axis)[-1], dtype=self.dtype) - 2 * square

    def _diag_part(self) -> Any:
        axis = tf.math.l2_normalize(self._axis, -1)
        return 1 - 2 * axis * tf.math.conj(axis)

    def _trace(self) -> Any:
        size = tf.cast(self.domain_dimension_tensor(), self.dtype)
        return (size - 2) * tf.ones(self.batch_shape_tensor(), self.dtype)

    def _determinant(self) -> Any:
        return -tf.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _eigvals(self) -> Any:
        ones = tf.ones_like(self._axis)
        return tf.concat([-ones[..., :1], ones[..., 1:]], -1)

    def _cond(self) -> Any:
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self) -> Any:
        return tf.no_op()

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, f"{self.name} is a reflection.")

    def _linop_inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(LinearOperator):
    """Permutations: row i of the product is row perm[i] of what it is applied to.

    >>> tf.linalg.LinearOperatorPermutation([1, 0]).matvec([3.0, 4.0]).numpy()
    array([4., 3.], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"perm": 1}

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = tf.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        parameters = {
            "perm": perm, "dtype": dtype, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "name": name,
        }  # fmt: skip
        if is_non_singular is False or is_square is False:
            raise ValueError("LinearOperatorPermutation: permutations can be inverted.")
        self._perm = tf.convert_to_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"LinearOperatorPermutation: perm must be integers, got {perm!r}.")
        if self._perm.shape.rank == 0:
            raise ValueError("LinearOperatorPermutation: perm must have rank 1 or more.")
        known = tf.get_static_value(self._perm)
        if known is not None and (np.sort(known) != np.arange(known.shape[-1])).any():
            raise ValueError(f"LinearOperatorPermutation: {perm!r} is no permutation.")
        super().__init__(
            dtype, None, True, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def perm(self) -> Any:
        """The numbers of the rows."""
        return self._perm

    def _shape(self) -> tf.TensorShape:
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._perm)
        return tf.concat([shape, shape[-1:]], 0)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        perm = tf.argsort(self._perm, axis=-1) if adjoint else self._perm
        if self._perm.shape.rank == 1:
            return tf.gather(x, perm, axis=-2)
        wide, rows = batches.with_equal_batches(x, perm[..., tf.newaxis])
        rank = wide.shape.rank - 2
        return tf.gather(wide, tf.squeeze(rows, -1), axis=-2, batch_dims=rank)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Any:
        return tf.one_hot(self._perm, tf.shape(self._perm)[-1], dtype=self.dtype)

    def _diag_part(self) -> Any:
        places = tf.range(tf.shape(self._perm)[-1], dtype=self._perm.dtype)
        return tf.cast(tf.equal(self._perm, places), self.dtype)

    def _determinant(self) -> Any:
        # Each pair that stands in the wrong order changes the sign.
        perm = self._perm
        wrong = perm[..., :, tf.newaxis] > perm[..., tf.newaxis, :]
        above = tf.linalg.band_part(tf.cast(wrong, tf.int32), 0, -1)
        return tf.cast(1 - 2 * (tf.reduce_sum(above, [-2, -1]) % 2), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self) -> Any:
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self) -> Any:
        return tf.no_op()

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorPermutation(tf.argsort(self._perm, axis=-1), self.dtype)

    _linop_adjoint = _linop_inverse


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with one number along each diagonal, from a first column and a first row.

    >>> tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense().numpy()
    array([[1., 3.],
           [2., 1.]], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"col": 1, "row": 1}

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = {
            "col": col, "row": row, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        if is_square is False:
            raise ValueError("LinearOperatorToeplitz: only square ones are there.")
        self._col = tf.convert_to_tensor(col)
        self._row = tf.convert_to_tensor(row, self._col.dtype)
        super().__init__(
            self._col.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True,
            name, parameters,
        )  # fmt: skip

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows; their first elements do not count."""
        return self._row

    def _shape(self) -> tf.TensorShape:
        both = tf.broadcast_static_shape(self._col.shape, self._row.shape)
        return both.concatenate(both[-1:])

    def _shape_tensor(self) -> Any:
        both = tf.broadcast_dynamic_shape(tf.shape(self._col), tf.shape(self._row))
        return tf.concat([both, both[-1:]], 0)

    def _circle(self, adjoint: bool) -> Any:
        """The first column of a circulant matrix of twice the size, in which this one stands."""
        col, row = batches.with_equal_batches(
            self._col[..., tf.newaxis], self._row[..., tf.newaxis]
        )
        if adjoint:  # the element that both share is the column's
            first = tf.concat([col[..., :1, :], row[..., 1:, :]], -2)
            col, row = tf.math.conj(first), tf.math.conj(col)
        middle = tf.zeros_like(col[..., :1, :])
        return tf.concat([col, middle, tf.reverse(row[..., 1:, :], [-2])], -2)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        wide = tf.complex64 if self.dtype in (tf.float32, tf.complex64) else tf.complex128
        circle = tf.cast(self._circle(adjoint), wide)
        x, circle = batches.with_equal_batches(tf.cast(x, wide), circle)
        padded = tf.concat([x, tf.zeros_like(x)], -2)
        spectrum = _fft_of_rows(circle, tf.signal.fft) * _fft_of_rows(padded, tf.signal.fft)
        found = _fft_of_rows(spectrum, tf.signal.ifft)[..., : tf.shape(x)[-2], :]
        return tf.cast(found if self.dtype.is_complex else tf.math.real(found), self.dtype)

    def _to_dense(self) -> Any:
        circle = tf.squeeze(self._circle(False), -1)
        size = self.domain_dimension_tensor()
        rows, columns = tf.meshgrid(tf.range(size), tf.range(size), indexing="ij")
        return tf.gather(circle, (rows - columns) % (2 * size), axis=-1)

    def _diag_part(self) -> Any:
        size = tf.shape(self._row)[-1]
        return self._col[..., :1] * tf.ones([size], self.dtype)

    def _trace(self) -> Any:
        return tf.cast(tf.shape(self._row)[-1], self.dtype) * self._col[..., 0]


def _fft_of_rows(x: tf.Tensor, transform: Any) -> Any:
    """A transform along the last axis but one."""
    return tf.linalg.matrix_transpose(transform(tf.linalg.matrix_transpose(x)))


_FORMATS = ("matrix", "sequence", "compact")


class LinearOperatorTridiag(LinearOperator):
    """Square matrices with a diagonal and one more on each of its sides.

    `diagonals` are compact: a tensor [..., 3, n] of the upper, the main and the lower one, whose
    last and first element do not count; a sequence of the three; or the matrix.

    >>> operator = tf.linalg.LinearOperatorTridiag([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
    >>> operator.to_dense().numpy()
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"diagonals": 2}

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        if diagonals_format not in _FORMATS:
            raise ValueError(
                f"LinearOperatorTridiag: diagonals_format must be one of {_FORMATS}, got "
                f"{diagonals_format!r}."
            )
        if is_square is False:
            raise ValueError("LinearOperatorTridiag: tridiagonal operators are square.")
        self._given = diagonals
        self._format = diagonals_format
        self._compact = _compact(diagonals, diagonals_format)
        parameters = {
            "diagonals": self._compact, "diagonals_format": "compact",
            "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square, "name": name,
        }  # fmt: skip
        super().__init__(
            self._compact.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
            True, name, parameters,
        )  # fmt: skip

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._given

    @property
    def diagonals_format(self) -> str:
        """How they were given."""
        return self._format

    def _shape(self) -> tf.TensorShape:
        shape = self._compact.shape
        return shape[:-2].concatenate([shape[-1], shape[-1]])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._compact)
        return tf.concat([shape[:-2], shape[-1:], shape[-1:]], 0)

    def _turned(self, adjoint: bool) -> Any:
        """The diagonals, or those of the adjoint: sides change, and move by one."""
        if not adjoint:
            return self._compact
        upper, main, lower = tf.unstack(tf.math.conj(self._compact), axis=-2)
        return tf.stack([tf.roll(lower, -1, -1), main, tf.roll(upper, 1, -1)], -2)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        diagonals, right = batches.with_equal_batches(self._turned(adjoint), x)
        return tf.linalg.tridiagonal_matmul(diagonals, right, diagonals_format="compact")

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        diagonals, right = batches.with_equal_batches(self._turned(adjoint), rhs)
        return tf.linalg.tridiagonal_solve(diagonals, right, diagonals_format="compact")

    def _to_dense(self) -> Any:
        return tf.linalg.diag(self._compact, k=(-1, 1), align="LEFT_RIGHT")

    def _diag_part(self) -> Any:
        return self._compact[..., 1, :]

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorTridiag(
            self._turned(True), is_non_singular=self.is_non_singular,
            is_positive_definite=self.is_positive_definite,
        )  # fmt: skip


def _compact(diagonals: Any, form: str) -> Any:
    if form == "sequence":
        upper, main, lower = [tf.convert_to_tensor(x) for x in diagonals]
        shape = batches.broadcast_dynamic([tf.shape(x) for x in (upper, main, lower)])
        return tf.stack([tf.broadcast_to(x, shape) for x in (upper, main, lower)], -2)
    given = tf.convert_to_tensor(diagonals)
    if form == "matrix":
        return tf.linalg.diag_part(given, k=(-1, 1), align="LEFT_RIGHT")
    return given
