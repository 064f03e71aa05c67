"""Assertions about values: assert_equal, assert_less, assert_positive, assert_near, ..."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import REAL
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError
from weft._src.ops.elementwise import arithmetic, comparison, unary
from weft._src.ops.elementwise.operands import operands, zero
from weft._src.ops.host.requiring import prefix, require
from weft._src.ops.registry import Op


def _compare(
    function: str,
    op: Op,
    sign: str,
    x: Any,
    y: Any,
    message: str | None,
    summarize: int | None,
    name: Any,
) -> None:
    text = f"{prefix(function, message)}x {sign} y does not hold"
    x, y = operands(x, y)
    require(op, [x, y], text, ("x", "y"), summarize=summarize, name=name or function)


def _compare_with_zero(
    function: str, op: Op, sign: str, x: Any, message: str | None, summarize: int | None, name: Any
) -> None:
    text = f"{prefix(function, message)}x {sign} 0 does not hold"
    x = convert_to_tensor(x)
    if x.dtype not in REAL:
        raise DTypeError(f"{function}: x must hold real numbers, got dtype {x.dtype.name}.")

    def condition(x: Tensor) -> Tensor:
        return op(x, zero(x))

    require(condition, [x], text, ("x",), summarize=summarize, name=name or function)


def assert_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x == y, element by element.

    Args:
      x: a tensor of numbers, truth values or strings.
      y: another one of the same dtype; the two are broadcast together.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_equal([1, 2], [1, 3], message="the sizes")
    Traceback (most recent call last):
    weft.errors.InvalidArgumentError: assert_equal: the sizes. x == y does not hold at [1]: x = [1 2] y = [1 3]
    """  # noqa: E501
    _compare("assert_equal", comparison.equal_op, "==", x, y, message, summarize, name)


def assert_none_equal(
    x: TensorLike,
    y: TensorLike,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x != y, for every element.

    Args:
      x: a tensor of numbers, truth values or strings.
      y: another one of the same dtype; the two are broadcast together.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.
      message: a string that the error begins with; None means none.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_none_equal([1, 2], 3)
    """
    _compare("assert_none_equal", comparison.not_equal_op, "!=", x, y, message, summarize, name)


def assert_less(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x < y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; the two are broadcast together.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_less([1, 2], 3)
    """
    _compare("assert_less", comparison.less_op, "<", x, y, message, summarize, name)


def assert_less_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x <= y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; the two are broadcast together.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_less_equal([1, 2], 2)
    """
    _compare("assert_less_equal", comparison.less_equal_op, "<=", x, y, message, summarize, name)


def assert_greater(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x > y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; the two are broadcast together.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_greater([1, 2], 0)
    """
    _compare("assert_greater", comparison.greater_op, ">", x, y, message, summarize, name)


def assert_greater_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless x >= y, element by element.

    Args:
      x: a tensor of real numbers.
      y: another one of the same dtype; the two are broadcast together.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if the dtypes differ, or are others than these.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_greater_equal([1, 2], 1)
    """
    op = comparison.greater_equal_op
    _compare("assert_greater_equal", op, ">=", x, y, message, summarize, name)


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """InvalidArgumentError unless every element is above 0.

    Args:
      x: a tensor of real numbers.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if `x` holds anything else.

    >>> tf.debugging.assert_positive([1, 2])
    """
    _compare_with_zero("assert_positive", comparison.greater_op, ">", x, message, summarize, name)


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """InvalidArgumentError unless every element is below 0.

    Args:
      x: a tensor of real numbers.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if `x` holds anything else.

    >>> tf.debugging.assert_negative([-1, -2])
    """
    _compare_with_zero("assert_negative", comparison.less_op, "<", x, message, summarize, name)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """InvalidArgumentError if an element is below 0.

    Args:
      x: a tensor of real numbers.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if `x` holds anything else.

    >>> tf.debugging.assert_non_negative([0, 2])
    """
    op = comparison.greater_equal_op
    _compare_with_zero("assert_non_negative", op, ">=", x, message, summarize, name)


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """InvalidArgumentError if an element is above 0.

    Args:
      x: a tensor of real numbers.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      DTypeError: if `x` holds anything else.

    >>> tf.debugging.assert_non_positive([0, -2])
    """
    op = comparison.less_equal_op
    _compare_with_zero("assert_non_positive", op, "<=", x, message, summarize, name)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """InvalidArgumentError unless abs(x - y) <= atol + rtol * abs(y), element by element.

    Both tolerances are ten times the spacing of the dtype's numbers at 1 unless given.

    Args:
      x: a tensor of floating or complex numbers.
      y: another one of the same dtype; the two are broadcast together.
      rtol: the tolerance relative to `y`; None means ten times the spacing.
      atol: the absolute tolerance; None means ten times the spacing.
      message: a string that the error begins with; None means none.
      summarize: how many elements at each end the error shows; None means 3, -1 all of them.

    Raises:
      InvalidArgumentError: if it does not hold: at once if the values are known, else when it runs.
      ValueError: if the dtypes differ, or are neither floating nor complex.
      ShapeError: if the shapes cannot be broadcast together.

    >>> tf.debugging.assert_near([1.0, 2.0], [1.0, 2.0000002])
    """
    text = f"{prefix('assert_near', message)}x and y are not near each other"
    x, y = operands(x, y)
    if x.dtype is not y.dtype:
        raise ValueError(
            f"assert_near: x has dtype {x.dtype.name}, but y has dtype {y.dtype.name}. Convert one "
            "with tf.cast."
        )
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(
            f"assert_near: x and y must be floating or complex, got {x.dtype.name}. Compare "
            "integers with assert_equal."
        )
    real = x.dtype.real_dtype
    default = 10 * float(ml_dtypes.finfo(real.numpy_dtype).eps)
    rtol = convert_to_tensor(default if rtol is None else rtol, dtype=real)
    atol = convert_to_tensor(default if atol is None else atol, dtype=real)

    def condition(x: Tensor, y: Tensor, rtol: Tensor, atol: Tensor) -> Tensor:
        distance = unary.abs(arithmetic.subtract(x, y))
        return comparison.less_equal(distance, atol + rtol * unary.abs(y))

    names = ("x", "y", "rtol", "atol")
    require(condition, [x, y, rtol, atol], text, names, summarize=summarize, name=name)
