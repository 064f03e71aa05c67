"""Operators from one other: its adjoint, and its inverse."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.linear_operators.base import LinearOperator


def _agreed(kind: str, hint: str, ours: bool | None, theirs: bool | None) -> bool | None:
    """A hint from two sources; ValueError if they contradict each other."""
    if ours is not None and theirs is not None and ours != theirs:
        raise ValueError(f"{kind}: {hint} is said to be {ours}, and the operator says {theirs}.")
    return theirs if ours is None else ours


class _OfOne(LinearOperator):
    """What both share: another operator, whose hints hold for this one, too."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        hints = {
            "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square,
        }  # fmt: skip
        kind = type(self).__name__
        agreed = {
            hint: _agreed(kind, hint, ours, getattr(operator, hint)) for hint, ours in hints.items()
        }
        self._operator = operator
        parameters = {"operator": operator, **hints, "name": name}
        super().__init__(
            operator.dtype, name=name or f"{operator.name}_{kind.removeprefix('LinearOperator')}",
            parameters=parameters, **agreed,
        )  # fmt: skip

    @property
    def operator(self) -> LinearOperator:
        """The other operator."""
        return self._operator


class LinearOperatorAdjoint(_OfOne):
    """The adjoint of another operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy()
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """

    def _shape(self) -> tf.TensorShape:
        shape = self._operator.shape
        return shape if shape.rank is None else shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        shape = self._operator.shape_tensor()
        return tf.concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint)

    def _to_dense(self) -> Any:
        return tf.linalg.adjoint(self._operator.to_dense())

    def _diag_part(self) -> Any:
        return tf.math.conj(self._operator.diag_part())

    def _determinant(self) -> Any:
        return tf.math.conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Any:
        return tf.math.conj(self._operator.trace())

    def _eigvals(self) -> Any:
        return tf.math.conj(self._operator.eigvals())

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator

    def _linop_inverse(self) -> LinearOperator:
        return self._operator.inverse().adjoint()


class LinearOperatorInversion(_OfOne):
    """The inverse of another operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """

    def _shape(self) -> tf.TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator.shape_tensor()

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1 / self._operator.eigvals()

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _linop_inverse(self) -> LinearOperator:
        return self._operator
