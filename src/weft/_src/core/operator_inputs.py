"""Linear operators in place of matrices: `tf.linalg.det` of one is what the operator says itself.

An operator is no tensor. Where a function of matrices fails to make one of it, the operator answers
in its place. Calls with tensors pay nothing but one more Python call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class OperatorInput(ValueError):  # noqa: N818 - no error where a function takes operators
    """A linear operator was given where a tensor is wanted."""

    def __init__(self, message: str, operator: Any) -> None:
        super().__init__(message)
        self.operator = operator


def answer(error: OperatorInput, function: str, *args: Any, **kwargs: Any) -> Any:
    """What an operator says a function of matrices means for it.

    Args:
      error: what came of the attempt to make a tensor of the operator.
      function: the name of the public function.
      *args: the arguments of the call.
      **kwargs: those that were named.

    Returns:
      A tensor or an operator.
    """
    return error.operator._matrix_function(function, args, kwargs)


def takes_operators(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Makes a function of matrices take linear operators, too.

    Args:
      function: the public function; the operator is asked for what has its name.

    Returns:
      A function of the same signature.
    """

    @functools.wraps(function)
    def called(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except OperatorInput as found:
            return answer(found, function.__name__, *args, **kwargs)

    return called
