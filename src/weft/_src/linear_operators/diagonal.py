"""Operators that are diagonal: any diagonal, the identity and its multiples, and zeros."""

from __future__ import annotations

from typing import Any, ClassVar

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator


class LinearOperatorDiag(LinearOperator):
    """Square matrices that are 0 beside their diagonals.

    >>> tf.linalg.LinearOperatorDiag([1.0, -2.0]).to_dense().numpy()
    array([[ 1.,  0.],
           [ 0., -2.]], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"diag": 1}

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        parameters = {
            "diag": diag, "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square, "name": name,
        }  # fmt: skip
        self._diag = diag if isinstance(diag, tf.Variable) else tf.convert_to_tensor(diag)
        if self._diag.shape.rank == 0:
            raise ValueError(f"LinearOperatorDiag: diag must have rank 1 or more, got {diag!r}.")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("LinearOperatorDiag: a real diagonal operator is self-adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("LinearOperatorDiag: a diagonal operator is square.")
        super().__init__(
            self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True,
            name, parameters,
        )  # fmt: skip

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> tf.TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:]) if shape.rank is not None else shape

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._diag)
        return tf.concat([shape, shape[-1:]], 0)

    def _factors(self, adjoint: bool) -> Any:
        return tf.math.conj(self._diag) if adjoint else tf.convert_to_tensor(self._diag)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factors(adjoint)[..., tf.newaxis] * x

    def _matvec(self, x: tf.Tensor, adjoint: bool = False) -> Any:
        return self._factors(adjoint) * x

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return rhs / self._factors(adjoint)[..., tf.newaxis]

    def _to_dense(self) -> Any:
        return tf.linalg.diag(self._diag)

    def _diag_part(self) -> Any:
        return tf.convert_to_tensor(self._diag)

    def _add_to_tensor(self, x: tf.Tensor) -> Any:
        wide, dense = batches.with_equal_batches(x, self._to_dense())
        return wide + dense

    def _determinant(self) -> Any:
        return tf.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Any:
        found = tf.reduce_sum(tf.math.log(tf.abs(self._diag)), -1)
        return tf.cast(found, self.dtype)

    def _eigvals(self) -> Any:
        return tf.convert_to_tensor(self._diag)

    def _cond(self) -> Any:
        sizes = tf.abs(self._diag)
        return tf.cast(tf.reduce_max(sizes, -1) / tf.reduce_min(sizes, -1), self.dtype)

    def _assert_non_singular(self) -> Any:
        return tf.debugging.assert_none_equal(
            tf.abs(self._diag), tf.zeros([], self.dtype.real_dtype),
            message=f"{self.name} is singular: there is a 0 on its diagonal",
        )  # fmt: skip

    def _assert_positive_definite(self) -> Any:
        return tf.debugging.assert_positive(
            tf.math.real(self._diag), message=f"{self.name} is not positive definite"
        )

    def _assert_self_adjoint(self) -> Any:
        return tf.debugging.assert_equal(
            tf.math.imag(self._diag), tf.zeros([], self.dtype.real_dtype),
            message=f"{self.name} is not self-adjoint",
        )  # fmt: skip

    def _hints(self) -> dict[str, Any]:
        return {
            "is_non_singular": self.is_non_singular, "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite, "is_square": True,
        }  # fmt: skip

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(tf.math.conj(self._diag), **self._hints())

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1 / self._diag, **self._hints())

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(
            tf.sqrt(self._diag), is_non_singular=True, is_self_adjoint=True,
            is_positive_definite=True,
        )  # fmt: skip


class _Multiple(LinearOperator):
    """What the identity, its multiples and zeros share: a size, and a shape of the batch."""

    def _set_sizes(
        self, num_rows: TensorLike, num_columns: TensorLike, batch_shape: TensorLike | None
    ) -> None:
        self._sizes = [self._size(num_rows, "num_rows"), self._size(num_columns, "num_columns")]
        self._batch = tf.convert_to_tensor([] if batch_shape is None else batch_shape, tf.int32)
        if self._batch.shape.rank not in (None, 1):
            raise ValueError(f"{self.name}: batch_shape must be a vector, got {batch_shape!r}.")

    def _size(self, size: TensorLike, name: str) -> Any:
        tensor = tf.convert_to_tensor(size)
        if tensor.shape.rank not in (None, 0):
            raise ValueError(f"{self.name}: {name} must be a scalar, got {size!r}.")
        if not tensor.dtype.is_integer:
            raise TypeError(f"{self.name}: {name} must be an integer, got {size!r}.")
        static = tf.get_static_value(tensor)
        if static is not None and static < 0:
            raise ValueError(f"{self.name}: {name} must not be negative, got {size!r}.")
        return tf.cast(tensor, tf.int32)

    def _shape(self) -> tf.TensorShape:
        sizes = [tf.get_static_value(size) for size in self._sizes]
        batch = tf.get_static_value(self._batch)
        leading = (
            tf.TensorShape(None).with_rank(self._batch.shape[0])
            if batch is None
            else tf.TensorShape(batch.tolist())
        )
        return leading.concatenate([None if n is None else int(n) for n in sizes])

    def _shape_tensor(self) -> Any:
        return batches.concat_shape(self._batch, *self._sizes)

    def _repeated(self, x: tf.Tensor) -> Any:
        """A matrix for each of the batch."""
        batch = batches.broadcast_dynamic([self._batch_dynamic(), tf.shape(x)[:-2]])
        out = tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[-2:]], 0))
        out.set_shape(batches.broadcast_static([self.batch_shape, x.shape[:-2]])
                      .concatenate(x.shape[-2:]))  # fmt: skip
        return out

    def _batch_dynamic(self) -> Any:
        return self.shape_tensor()[:-2]


class LinearOperatorIdentity(_Multiple):
    """The identity, for any number of rows, and for a batch.

    >>> tf.linalg.LinearOperatorIdentity(2).matvec([3.0, 4.0]).numpy()
    array([3., 4.], dtype=float32)
    """

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        parameters = {
            "num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype, "name": name,
        }  # fmt: skip
        if not (is_non_singular and is_self_adjoint and is_positive_definite and is_square):
            raise ValueError("LinearOperatorIdentity: the identity has all of the hints.")
        super().__init__(
            tf.float32 if dtype is None else dtype, None, True, True, True, True, name, parameters
        )
        self._set_sizes(num_rows, num_rows, batch_shape)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._repeated(x)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._repeated(rhs)

    def _ones(self, sizes: Any) -> Any:
        return tf.ones(tf.concat([self._batch, sizes], 0), self.dtype)

    def _to_dense(self) -> Any:
        return tf.eye(self._sizes[0], batch_shape=self._batch, dtype=self.dtype)

    def _diag_part(self) -> Any:
        return self._ones([self._sizes[0]])

    def _trace(self) -> Any:
        return tf.cast(self._sizes[0], self.dtype) * self._ones(tf.constant([], tf.int32))

    def _determinant(self) -> Any:
        return self._ones(tf.constant([], tf.int32))

    def _log_abs_determinant(self) -> Any:
        return tf.zeros(self._batch, self.dtype)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        return self._ones(tf.constant([], tf.int32))

    def _assert_non_singular(self) -> Any:
        return tf.no_op()

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _linop_inverse(self) -> LinearOperator:
        return self

    _linop_cholesky = _linop_inverse


class LinearOperatorScaledIdentity(_Multiple):
    """A multiple of the identity, another one for each of a batch.

    >>> tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0).determinant().numpy()
    np.float32(9.0)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"multiplier": 0}

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = {
            "num_rows": num_rows, "multiplier": multiplier, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        self._multiplier = tf.convert_to_tensor(multiplier)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("LinearOperatorScaledIdentity: a real multiple is self-adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("LinearOperatorScaledIdentity: a multiple of the identity is square.")
        super().__init__(
            self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
            True, name, parameters,
        )  # fmt: skip
        self._set_sizes(num_rows, num_rows, None)

    @property
    def multiplier(self) -> Any:
        """The factors of the batch."""
        return self._multiplier

    def _shape(self) -> tf.TensorShape:
        return self._multiplier.shape.concatenate(super()._shape()[-2:])

    def _shape_tensor(self) -> Any:
        return batches.concat_shape(tf.shape(self._multiplier), *self._sizes)

    def _factor(self, adjoint: bool) -> Any:
        found = tf.math.conj(self._multiplier) if adjoint else self._multiplier
        return found[..., tf.newaxis, tf.newaxis]

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factor(adjoint) * x

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return rhs / self._factor(adjoint)

    def _diag_part(self) -> Any:
        ones = tf.ones([self._sizes[0]], self.dtype)
        return self._multiplier[..., tf.newaxis] * ones

    def _to_dense(self) -> Any:
        return tf.linalg.diag(self._diag_part())

    def _trace(self) -> Any:
        return self._multiplier * tf.cast(self._sizes[0], self.dtype)

    def _determinant(self) -> Any:
        return self._multiplier ** tf.cast(self._sizes[0], self.dtype)

    def _log_abs_determinant(self) -> Any:
        size = tf.cast(self._sizes[0], self.dtype)
        return size * tf.cast(tf.math.log(tf.abs(self._multiplier)), self.dtype)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        is_zero = tf.equal(tf.abs(self._multiplier), tf.zeros([], self.dtype.real_dtype))
        ones = tf.ones_like(tf.abs(self._multiplier))
        return tf.cast(tf.where(is_zero, ones / 0, ones), self.dtype)

    def _assert_non_singular(self) -> Any:
        return tf.debugging.assert_positive(
            tf.abs(self._multiplier), message=f"{self.name} is singular"
        )

    def _assert_positive_definite(self) -> Any:
        return tf.debugging.assert_positive(
            tf.math.real(self._multiplier), message=f"{self.name} is not positive definite"
        )

    def _assert_self_adjoint(self) -> Any:
        return tf.debugging.assert_equal(
            tf.math.imag(self._multiplier), tf.zeros([], self.dtype.real_dtype),
            message=f"{self.name} is not self-adjoint",
        )  # fmt: skip

    def _like(self, multiplier: tf.Tensor, **hints: Any) -> LinearOperator:
        known = {
            "is_non_singular": self.is_non_singular, "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite, **hints,
        }  # fmt: skip
        return LinearOperatorScaledIdentity(self._sizes[0], multiplier, **known)

    def _linop_adjoint(self) -> LinearOperator:
        return self._like(tf.math.conj(self._multiplier))

    def _linop_inverse(self) -> LinearOperator:
        return self._like(1 / self._multiplier)

    def _linop_cholesky(self) -> LinearOperator:
        return self._like(tf.sqrt(self._multiplier))


class LinearOperatorZeros(_Multiple):
    """Matrices of zeros.

    >>> tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False).shape
    TensorShape([2, 3])
    """

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        parameters = {
            "num_rows": num_rows, "num_columns": num_columns, "batch_shape": batch_shape,
            "dtype": dtype, "is_self_adjoint": is_self_adjoint, "is_square": is_square,
            "name": name,
        }  # fmt: skip
        if is_non_singular or is_positive_definite:
            raise ValueError("LinearOperatorZeros: zeros are singular.")
        super().__init__(
            tf.float32 if dtype is None else dtype, None, False, is_self_adjoint, False, is_square,
            name, parameters,
        )  # fmt: skip
        self._set_sizes(num_rows, num_rows if num_columns is None else num_columns, batch_shape)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rows = self._sizes[1] if adjoint else self._sizes[0]
        batch = batches.broadcast_dynamic([self._batch, tf.shape(x)[:-2]])
        return tf.zeros(batches.concat_shape(batch, rows, tf.shape(x)[-1]), self.dtype)

    def _to_dense(self) -> Any:
        return tf.zeros(self._shape_tensor(), self.dtype)

    def _diag_part(self) -> Any:
        least = tf.minimum(*self._sizes)
        return tf.zeros(tf.concat([self._batch, [least]], 0), self.dtype)

    def _trace(self) -> Any:
        return tf.zeros(self._batch, self.dtype)

    def _determinant(self) -> Any:
        return tf.zeros(self._batch, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return tf.math.log(tf.zeros(self._batch, self.dtype))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        raise tf.errors.InvalidArgumentError(None, None, f"{self.name} is singular: it is 0.")

    _assert_positive_definite = _assert_non_singular

    def _assert_self_adjoint(self) -> Any:
        return tf.debugging.assert_equal(
            self._sizes[0], self._sizes[1], message=f"{self.name} is not self-adjoint"
        )

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorZeros(
            self._sizes[1], self._sizes[0], self._batch, self.dtype, is_square=self.is_square,
            is_self_adjoint=self.is_self_adjoint,
        )  # fmt: skip
