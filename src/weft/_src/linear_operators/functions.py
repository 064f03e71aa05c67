"""What functions of matrices (`tf.linalg.det` and others) mean for linear operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as tf


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    **hints: Any,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("matmul: a linear operator has an adjoint only, use adjoint_a, adjoint_b.")
    if hints.get("output_type") is not None:
        raise ValueError("matmul: a linear operator has a dtype of its own, not output_type.")
    if isinstance(a, tf.linalg.LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return tf.linalg.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, tf.linalg.LinearOperator):
        matrix = tf.linalg.LinearOperatorFullMatrix(matrix)
    return matrix.solve(rhs, adjoint=adjoint)


def _inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


def _diag_part(input: Any, name: str | None = None, **others: Any) -> Any:
    if others:
        raise ValueError("diag_part: of a linear operator there is the main diagonal only.")
    return input.diag_part()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "adjoint": lambda matrix, name=None: matrix.adjoint(),
    "cholesky": lambda input, name=None: input.cholesky(),
    "det": lambda input, name=None: input.determinant(),
    "diag_part": _diag_part,
    "inv": _inv,
    "logdet": lambda matrix, name=None: matrix.log_abs_determinant(),
    "matmul": _matmul,
    "solve": _solve,
    "trace": lambda x, name=None: x.trace(),
}
