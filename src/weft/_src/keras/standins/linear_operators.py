"""`tensorflow.python.ops.linalg.linear_operator`, `linear_operator_addition`: the base class, a
decorator for others, and sums.
"""

from __future__ import annotations

from typing import Any

import weft as tf

LinearOperator = tf.linalg.LinearOperator


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """The class itself: operators are modules, and their tensors are found as those of modules."""
    return cls


def add_operators(operators: Any, **kwargs: Any) -> list[Any]:
    """The sum of operators as a list of one: a diagonal one if all are, or else a full matrix."""
    found = list(operators)
    if all(isinstance(x, tf.linalg.LinearOperatorDiag) for x in found):
        return [tf.linalg.LinearOperatorDiag(sum(x.diag for x in found))]
    hints: Any = {
        hint: True
        for hint in ("is_self_adjoint", "is_positive_definite")
        if all(getattr(x, hint) for x in found)
    }
    dense = sum(x.to_dense() for x in found)
    return [tf.linalg.LinearOperatorFullMatrix(dense, is_square=True, **hints)]
