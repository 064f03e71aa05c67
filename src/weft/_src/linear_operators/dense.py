"""Operators from matrices that are written out: full, and lower triangular."""

from __future__ import annotations

from typing import Any, ClassVar

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator


def _matrix(kind: str, name: str, value: TensorLike) -> Any:
    matrix = value if isinstance(value, tf.Variable) else tf.convert_to_tensor(value)
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"{kind}: {name} must have rank 2 or more, got shape {matrix.shape}.")
    return matrix


class LinearOperatorFullMatrix(LinearOperator):
    """Matrices as they are.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 1.0]])
    >>> operator.solvevec([2.0, 3.0]).numpy()
    array([1., 2.], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"matrix": 2}

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = {
            "matrix": matrix, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        self._matrix = _matrix(type(self).__name__, "matrix", matrix)
        super().__init__(
            self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name, parameters,
        )  # fmt: skip

    @property
    def matrix(self) -> Any:
        """The matrices."""
        return self._matrix

    def _shape(self) -> tf.TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return tf.shape(self._matrix)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tf.linalg.matmul(self._matrix, x, adjoint_a=adjoint)

    def _to_dense(self) -> Any:
        return tf.convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """Square matrices of which only the lower triangle counts.

    >>> tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]]).to_dense().numpy()
    array([[1., 0.],
           [2., 3.]], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"tril": 2}

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = {
            "tril": tril, "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square, "name": name,
        }  # fmt: skip
        if is_square is False:
            raise ValueError("LinearOperatorLowerTriangular: triangular operators are square.")
        self._tril = _matrix(type(self).__name__, "tril", tril)
        super().__init__(
            self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True,
            name, parameters,
        )  # fmt: skip

    @property
    def tril(self) -> Any:
        """The matrices, with what stands above their diagonals."""
        return self._tril

    def _lower(self) -> Any:
        return tf.linalg.band_part(self._tril, -1, 0)

    def _shape(self) -> tf.TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return tf.shape(self._tril)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tf.linalg.matmul(self._lower(), x, adjoint_a=adjoint)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return batches.solved_triangular(self._lower(), rhs, adjoint=adjoint)

    def _to_dense(self) -> Any:
        return self._lower()

    def _diag_part(self) -> Any:
        return tf.linalg.diag_part(self._tril)

    def _determinant(self) -> Any:
        return tf.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Any:
        found = tf.reduce_sum(tf.math.log(tf.abs(self._diag_part())), -1)
        return tf.cast(found, self.dtype)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        return tf.debugging.assert_none_equal(
            tf.abs(self._diag_part()), tf.zeros([], self.dtype.real_dtype),
            message=f"{self.name} is singular: there is a 0 on its diagonal",
        )  # fmt: skip
