"""An operator plus one of low rank."""

from __future__ import annotations

from typing import Any, ClassVar

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator
from weft._src.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, where U and V have few columns; solved by Woodbury's formula.

    >>> base = tf.linalg.LinearOperatorIdentity(2)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [0.0]])
    >>> operator.to_dense().numpy()
    array([[2., 0.],
           [0., 1.]], dtype=float32)
    """

    _parameter_ranks: ClassVar[dict[str, int]] = {"u": 2, "diag_update": 1, "v": 2}

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = {
            "base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v,
            "is_diag_update_positive": is_diag_update_positive,
            "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square, "name": name,
        }  # fmt: skip
        dtype = base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError("LinearOperatorLowRankUpdate: without diag_update D is positive.")
            is_diag_update_positive = True
        self._base = base_operator
        self._u = tf.convert_to_tensor(u, dtype)
        self._v = self._u if v is None else tf.convert_to_tensor(v, dtype)
        self._diag_update = None if diag_update is None else tf.convert_to_tensor(diag_update)
        self._is_diag_update_positive = is_diag_update_positive
        if v is None and base_operator.is_self_adjoint:
            is_real = diag_update is None or not dtype.is_complex
            is_self_adjoint = True if is_self_adjoint is None and is_real else is_self_adjoint
            if base_operator.is_positive_definite and is_diag_update_positive:
                is_positive_definite = True if is_positive_definite is None else (
                    is_positive_definite
                )  # fmt: skip
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
            parameters,
        )  # fmt: skip

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base

    @property
    def u(self) -> Any:
        """U."""
        return self._u

    @property
    def v(self) -> Any:
        """V, which is U if it was not given."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of D, None for the identity."""
        return self._diag_update

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonal of D is positive."""
        return self._is_diag_update_positive

    @property
    def diag_operator(self) -> LinearOperator:
        """D, as an operator."""
        if self._diag_update is None:
            return LinearOperatorIdentity(tf.shape(self._u)[-1], dtype=self.dtype)
        return LinearOperatorDiag(
            self._diag_update, is_positive_definite=self._is_diag_update_positive
        )

    def _shape(self) -> tf.TensorShape:
        leading = [self._base.batch_shape, self._u.shape[:-2], self._v.shape[:-2]]
        if self._diag_update is not None:
            leading.append(self._diag_update.shape[:-1])
        return batches.broadcast_static(leading).concatenate(self._base.shape[-2:])

    def _shape_tensor(self) -> Any:
        leading = [self._base.batch_shape_tensor(), tf.shape(self._u)[:-2], tf.shape(self._v)[:-2]]
        if self._diag_update is not None:
            leading.append(tf.shape(self._diag_update)[:-1])
        return tf.concat([batches.broadcast_dynamic(leading), self._base.shape_tensor()[-2:]], 0)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self.diag_operator.matmul(tf.linalg.matmul(right, x, adjoint_a=True), adjoint)
        return self._base.matmul(x, adjoint=adjoint) + tf.linalg.matmul(left, inner)

    def _capacitance(self, adjoint: bool = False) -> Any:
        """D^-1 + V^H L^-1 U, which is as small as the rank."""
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inside = tf.linalg.matmul(right, self._base.solve(left, adjoint=adjoint), adjoint_a=True)
        return self.diag_operator.inverse().adjoint().add_to_tensor(inside) if adjoint else (
            self.diag_operator.inverse().add_to_tensor(inside)
        )  # fmt: skip

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._base.is_non_singular is False:
            raise NotImplementedError(f"{self.name}.solve: its base operator is singular.")
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        solution = self._base.solve(rhs, adjoint=adjoint)
        seen = tf.linalg.matmul(right, solution, adjoint_a=True)
        inner = batches.solved(self._capacitance(adjoint), seen)
        return solution - self._base.solve(tf.linalg.matmul(left, inner), adjoint=adjoint)

    def _determinant(self) -> Any:
        small = tf.linalg.det(self._capacitance())
        return small * self.diag_operator.determinant() * self._base.determinant()

    def _log_abs_determinant(self) -> Any:
        small = tf.linalg.slogdet(self._capacitance())[1]
        return small + self.diag_operator.log_abs_determinant() + self._base.log_abs_determinant()

    def _diag_part(self) -> Any:
        scaled = self.diag_operator.matmul(tf.linalg.adjoint(self._v))
        product = tf.reduce_sum(self._u * tf.linalg.matrix_transpose(scaled), -1)
        return self._base.diag_part() + product
