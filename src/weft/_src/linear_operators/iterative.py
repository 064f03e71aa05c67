"""Solving with an operator that is only applied: the method of conjugate gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.linear_operators.base import LinearOperator


class CGState(NamedTuple):
    """Where the method has come to: the number of steps, and the vectors of the last one."""

    i: Any
    x: tf.Tensor
    r: Any
    p: Any
    gamma: Any


def conjugate_gradient(
    operator: LinearOperator,
    rhs: TensorLike,
    preconditioner: LinearOperator | None = None,
    x: TensorLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solves A x = rhs by products with A alone, to a tolerance.

    Args:
      operator: A, self-adjoint and positive definite.
      rhs: vectors [..., n]; a batch goes on until all are solved.
      preconditioner: an operator that is close to the inverse of A; None for none.
      x: where to begin; None is 0.
      tol: how small the residual must become, as a part of `rhs`.
      max_iter: the most steps.

    Returns:
      A named tuple: `i` steps were made, `x` is the solution, `r` what is left, `p` the direction
      and `gamma` the product of residual and preconditioned residual.

    Raises:
      ValueError: if the operator is not said to be self-adjoint and positive definite.

    >>> matrix = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    >>> operator = tf.linalg.LinearOperatorFullMatrix(
    ...     matrix, is_self_adjoint=True, is_positive_definite=True
    ... )
    >>> tf.linalg.experimental.conjugate_gradient(operator, [1.0, 2.0]).x.numpy().round(4)
    array([0.0909, 0.6364], dtype=float32)
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError(
            f"conjugate_gradient: {operator.name} must be said to be self-adjoint and positive "
            "definite: is_self_adjoint=True, is_positive_definite=True."
        )
    right = tf.convert_to_tensor(rhs, operator.dtype)
    limit = tol * tf.norm(right, axis=-1)
    start = tf.zeros_like(right) if x is None else tf.convert_to_tensor(x, operator.dtype)
    residual = right - operator.matvec(start)

    def closer(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.matvec(r)

    def dot(a: tf.Tensor, b: tf.Tensor) -> Any:
        return tf.reduce_sum(tf.math.conj(a) * b, -1)

    def goes_on(state: CGState) -> Any:
        return (state.i < max_iter) & tf.reduce_any(tf.norm(state.r, axis=-1) > limit)

    def step(state: CGState) -> tuple[CGState]:
        through = operator.matvec(state.p)
        alpha = tf.math.divide_no_nan(state.gamma, dot(state.p, through))[..., tf.newaxis]
        moved, left = state.x + alpha * state.p, state.r - alpha * through
        toward = closer(left)
        gamma = dot(left, toward)
        beta = tf.math.divide_no_nan(gamma, state.gamma)[..., tf.newaxis]
        return (CGState(state.i + 1, moved, left, toward + beta * state.p, gamma),)

    first = closer(residual)
    begin = CGState(tf.constant(0), start, residual, first, dot(residual, first))
    (found,) = tf.while_loop(goes_on, step, (begin,))
    return found
