"""Functions of arrays element by element, and products."""

from __future__ import annotations

import math
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import FLOATING
from weft._src.experimental.numpy.promotion import (
    Binary,
    Unary,
    asarray,
    binary,
    float_binary,
    float_unary,
    floating,
    logical,
    opposite,
    promoted,
    unary,
    whole,
)
from weft._src.ops import rules


def _bools_as_ints(op: Any, for_bools: Any) -> Any:
    """An op of numbers that is another one for truth values."""
    return lambda x, y: for_bools(x, y) if x.dtype is tf.bool else op(x, y)


def _either_part(test: Any) -> Any:
    """A question about numbers; of a complex one it is asked about both parts."""

    def ask(x: Any) -> Any:
        if not x.dtype.is_complex:
            return test(x)
        return test(tf.math.real(x)) | test(tf.math.imag(x))

    return ask


def _bools_as_numbers(op: Any) -> Any:
    """An op of numbers for which truth values are int8."""
    return lambda x, y: op(*[tf.cast(v, tf.int8) if v.dtype is tf.bool else v for v in (x, y)])


def _widest(x: tf.Tensor) -> tf.Tensor:
    """A number with all the digits there are."""
    return tf.cast(x, tf.complex128 if x.dtype.is_complex else tf.float64)


def _real(function: str, x: tf.Tensor) -> tf.Tensor:
    """DTypeError for complex numbers."""
    rules.check_dtype(function, x.dtype, FLOATING)
    return x


add: Binary = binary("add", _bools_as_ints(tf.add, tf.logical_or))
subtract: Binary = binary("subtract", tf.subtract)
multiply: Binary = binary("multiply", _bools_as_ints(tf.multiply, tf.logical_and))
true_divide: Binary = float_binary("true_divide", tf.divide)
divide: Binary = true_divide
floor_divide: Binary = binary("floor_divide", _bools_as_numbers(tf.math.floordiv))
remainder: Binary = binary("remainder", _bools_as_numbers(tf.math.floormod))
mod: Binary = remainder
power: Binary = binary("power", tf.pow)
float_power: Binary = float_binary("float_power", lambda x, y: tf.pow(_widest(x), _widest(y)))
maximum: Binary = binary("maximum", _bools_as_ints(tf.maximum, tf.logical_or))
minimum: Binary = binary("minimum", _bools_as_ints(tf.minimum, tf.logical_and))
hypot: Binary = float_binary("hypot", lambda x, y: tf.sqrt(x * x + y * y))
arctan2: Binary = float_binary("arctan2", tf.atan2)
logaddexp: Binary = float_binary(
    "logaddexp", lambda x, y: tf.reduce_logsumexp(tf.stack(_spread(x, y)), 0)
)
nextafter: Binary = float_binary("nextafter", tf.math.nextafter)
heaviside: Binary = float_binary(
    "heaviside", lambda x, h: tf.where(x == 0, h, tf.cast(x > 0, x.dtype))
)
logaddexp2: Binary = float_binary(
    "logaddexp2", lambda x, y: logaddexp(x * math.log(2), y * math.log(2)) / math.log(2)
)
gcd: Binary = binary("gcd", lambda x, y: _greatest_divisor(*_spread(x, y)))
lcm: Binary = binary("lcm", lambda x, y: _least_multiple(*_spread(x, y)))
equal: Binary = binary("equal", tf.equal)
not_equal: Binary = binary("not_equal", tf.not_equal)
greater: Binary = binary("greater", _bools_as_numbers(tf.greater))
greater_equal: Binary = binary("greater_equal", _bools_as_numbers(tf.greater_equal))
less: Binary = binary("less", _bools_as_numbers(tf.less))
less_equal: Binary = binary("less_equal", _bools_as_numbers(tf.less_equal))
logical_and: Binary = logical("logical_and", tf.logical_and)
logical_or: Binary = logical("logical_or", tf.logical_or)
logical_xor: Binary = logical("logical_xor", tf.math.logical_xor)
logical_not: Unary = opposite("logical_not", tf.logical_not)
bitwise_and: Binary = binary("bitwise_and", lambda x, y: x & y)
bitwise_or: Binary = binary("bitwise_or", lambda x, y: x | y)
bitwise_xor: Binary = binary("bitwise_xor", lambda x, y: x ^ y)
bitwise_not: Unary = unary("bitwise_not", lambda x: ~x)

absolute: Unary = unary("absolute", lambda x: x if x.dtype is tf.bool else tf.abs(x))
abs: Unary = absolute
negative: Unary = unary("negative", tf.negative)
positive: Unary = unary("positive", tf.identity)
sign: Unary = unary("sign", tf.sign)
square: Unary = unary("square", tf.square)
reciprocal: Unary = float_unary("reciprocal", tf.math.reciprocal)
sqrt: Unary = float_unary("sqrt", tf.sqrt)
cbrt: Unary = float_unary("cbrt", lambda x: tf.sign(x) * tf.abs(x) ** (1 / 3))
exp: Unary = float_unary("exp", tf.exp)
exp2: Unary = float_unary("exp2", lambda x: 2**x)
expm1: Unary = float_unary("expm1", tf.math.expm1)
log: Unary = float_unary("log", tf.math.log)
log2: Unary = float_unary("log2", lambda x: tf.math.log(x) / math.log(2))
log10: Unary = float_unary("log10", lambda x: tf.math.log(x) / math.log(10))
log1p: Unary = float_unary("log1p", tf.math.log1p)
sin: Unary = float_unary("sin", tf.sin)
cos: Unary = float_unary("cos", tf.cos)
tan: Unary = float_unary("tan", tf.tan)
arcsin: Unary = float_unary("arcsin", tf.asin)
arccos: Unary = float_unary("arccos", tf.acos)
arctan: Unary = float_unary("arctan", tf.atan)
sinh: Unary = float_unary("sinh", tf.sinh)
cosh: Unary = float_unary("cosh", tf.cosh)
tanh: Unary = float_unary("tanh", tf.tanh)
arcsinh: Unary = float_unary("arcsinh", tf.asinh)
arccosh: Unary = float_unary("arccosh", tf.acosh)
arctanh: Unary = float_unary("arctanh", tf.atanh)
deg2rad: Unary = float_unary("deg2rad", lambda x: x * (math.pi / 180))
rad2deg: Unary = float_unary("rad2deg", lambda x: x * (180 / math.pi))
floor: Unary = float_unary("floor", tf.floor)
ceil: Unary = float_unary("ceil", tf.math.ceil)
fix: Unary = float_unary("fix", lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)))
isnan: Unary = float_unary("isnan", _either_part(tf.math.is_nan))
isinf: Unary = float_unary("isinf", _either_part(tf.math.is_inf))
isfinite: Unary = float_unary("isfinite", lambda x: ~(isnan(x) | isinf(x)))
fabs: Unary = float_unary("fabs", lambda x: tf.abs(_real("fabs", x)))
sinc: Unary = float_unary("sinc", lambda x: _sine_over(math.pi * x))
conjugate: Unary = unary("conjugate", tf.math.conj)
conj: Unary = conjugate


def real(val: TensorLike) -> tf.Tensor:
    """The real part.

    Args:
      val: an array, number or (nested) list.

    Returns:
      A tensor of the shape of `val`: of its dtype, of complex numbers that of their parts.

    Raises:
      DTypeError: if the elements are bools.

    >>> tf.experimental.numpy.real(1 + 2j).numpy()
    np.float64(1.0)
    """
    return tf.math.real(asarray(val))


def imag(val: TensorLike) -> tf.Tensor:
    """The imaginary part; 0 of real numbers.

    Args:
      val: an array, number or (nested) list.

    Returns:
      A tensor of the shape of `val`: of its dtype, of complex numbers that of their parts.

    Raises:
      DTypeError: if the elements are bools.

    >>> tf.experimental.numpy.imag(1 + 2j).numpy()
    np.float64(2.0)
    """
    return tf.math.imag(asarray(val))


def angle(z: TensorLike, deg: bool = False) -> tf.Tensor:
    """The angle of complex numbers, from -pi to pi; 0 or pi of real ones.

    Args:
      z: an array, number or (nested) list.
      deg: whether angles are in degrees, instead of radians.

    Returns:
      A tensor of the shape of `z`: of its dtype if that is floating, that of the parts if it is
      complex, else float64.

    >>> tf.experimental.numpy.angle([1j, -1], deg=True).numpy()
    array([ 90., 180.])
    """
    found = tf.math.angle(floating(asarray(z)))
    return found * (180 / math.pi) if deg else found


def _spread(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
    shape = tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))
    return [tf.broadcast_to(x, shape), tf.broadcast_to(y, shape)]


def _sine_over(x: tf.Tensor) -> tf.Tensor:
    # Twice where, so that the gradient at 0 is 0 and not 0 / 0.
    at_zero = x == 0
    return tf.where(at_zero, 1, tf.sin(x) / tf.where(at_zero, 1, x))


def _greatest_divisor(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Euclid's algorithm on all pairs at once, until every remainder is 0."""
    if not x.dtype.is_integer:
        raise TypeError(f"gcd and lcm take integers, got {x.dtype.name}.")

    def step(a: TensorLike, b: TensorLike) -> Any:
        divisor = tf.where(b == 0, 1, b)
        return tf.where(b == 0, a, b), tf.where(b == 0, 0, a % divisor)

    if not x.dtype.is_unsigned:
        x, y = tf.abs(x), tf.abs(y)
    return tf.while_loop(lambda a, b: tf.reduce_any(b != 0), step, (x, y))[0]


def _least_multiple(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    divisor = _greatest_divisor(x, y)
    product = x // tf.where(divisor == 0, 1, divisor) * y
    return product if x.dtype.is_unsigned else tf.abs(product)


def divmod(x1: TensorLike, x2: TensorLike) -> tuple[tf.Tensor, tf.Tensor]:
    """The quotient, rounded down, and the remainder.

    Args:
      x1: the dividends, an array, number or (nested) list.
      x2: the divisors, which broadcast with `x1`.

    Returns:
      A pair of tensors of the shape that both broadcast to, of their common dtype.

    Raises:
      tf.errors.InvalidArgumentError: if an integer is divided by zero.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.divmod([7, -7], 3)]
    [[2, -3], [1, 2]]
    """
    return floor_divide(x1, x2), remainder(x1, x2)


def polyval(p: TensorLike, x: TensorLike) -> tf.Tensor:
    """The value of a polynomial whose coefficients are given, that of the highest power first.

    Args:
      p: the coefficients, a vector.
      x: where the polynomial is evaluated, an array, number or (nested) list.

    Returns:
      A tensor of the shape of `x`, of the common dtype.

    Raises:
      ValueError: if `p` is no vector.

    >>> tf.experimental.numpy.polyval([1, 0, 2], [0, 3]).numpy()
    array([ 2, 11])
    """
    coefficients, at = promoted(p, x)
    if coefficients.ndim != 1:
        raise ValueError(f"polyval: p must be a vector, got shape {coefficients.shape}.")
    return tf.foldl(lambda out, c: out * at + c, coefficients, tf.zeros_like(at))


def around(a: TensorLike, decimals: int = 0) -> tf.Tensor:
    """Numbers rounded to a number of decimals, halves to the even one.

    Args:
      a: an array, number or (nested) list.
      decimals: how many digits are kept behind the point; negative ones round to tens, hundreds,
        ...

    Returns:
      A tensor of the shape and dtype of `a`.

    Raises:
      TypeError: if `decimals` is no integer.
      ValueError: if it is not between -300 and 300.

    >>> tf.experimental.numpy.around([1.25, 2.349], 1).numpy()
    array([1.2, 2.3])
    """
    x = asarray(a)
    if x.dtype.is_integer and decimals >= 0:
        return x
    scale = 10.0 ** whole("around", "decimals", decimals, -300, 300)
    return tf.cast(tf.round(floating(x) * scale) / scale, x.dtype)


round = around


def clip(a: TensorLike, a_min: TensorLike, a_max: TensorLike) -> tf.Tensor:
    """Numbers cut to bounds, of which one may be None.

    Args:
      a: an array, number or (nested) list.
      a_min: the least values, which broadcast with `a`; None is no bound.
      a_max: the largest values, which broadcast with `a`; None is no bound.

    Returns:
      A tensor of the common shape and dtype. Where `a_min` is above `a_max`, it holds `a_max`.

    >>> tf.experimental.numpy.clip([1, 5, 9], 2, 8).numpy()
    array([2, 5, 8])
    """
    out = asarray(a)
    if a_min is not None:
        out = maximum(out, a_min)
    return out if a_max is None else minimum(out, a_max)


def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> tf.Tensor:
    """Whether numbers differ by at most `atol + rtol * |b|`.

    Args:
      a: an array, number or (nested) list.
      b: the one to compare with, which broadcasts with `a`.
      rtol: the tolerance relative to `|b|`.
      atol: the tolerance that does not depend on the size of the numbers.
      equal_nan: whether two NaN count as close.

    Returns:
      A bool tensor of the shape that both broadcast to.

    >>> tf.experimental.numpy.isclose([1.0, 2.0], [1.0, 2.1]).numpy()
    array([ True, False])
    """
    x, y = [floating(v) for v in promoted(a, b)]
    distance = tf.abs(x - y)
    close = tf.equal(x, y) | (distance <= tf.cast(atol + rtol * tf.abs(y), distance.dtype))
    return close | (isnan(x) & isnan(y)) if equal_nan else close


def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> tf.Tensor:
    """Whether all numbers are close.

    Args:
      a: an array, number or (nested) list.
      b: the one to compare with, which broadcasts with `a`.
      rtol: the tolerance relative to `|b|`.
      atol: the tolerance that does not depend on the size of the numbers.
      equal_nan: whether two NaN count as close.

    Returns:
      A bool scalar: whether `isclose` is true everywhere.

    >>> bool(tf.experimental.numpy.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]))
    True
    """
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))
