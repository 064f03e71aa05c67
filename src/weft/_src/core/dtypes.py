"""Element types. One `DType` object per type, so inside Weft comparing them is an `is`.

A tensor's dtype is that of its array, so each type has a NumPy dtype of its own. Of the quantized
ones that is a record with one field, as in TensorFlow: `np.dtype([("qint8", np.int8)])`.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

_BY_NAME: dict[str, DType] = {}
_BY_NUMPY: dict[np.dtype[Any], DType] = {}
_BY_ENUM: dict[int, DType] = {}
_SAFE = 60000  # whole numbers up to this fit every floating dtype but the small ones


class DType:
    """The type of a tensor's elements.

    >>> tf.float32.size, tf.float32.is_floating, tf.int8.max
    (4, True, 127)
    >>> tf.as_dtype("float64") == np.float64
    True
    """

    __slots__ = (
        "_enum",
        "_safe",
        "as_numpy_dtype",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_integer",
        "is_quantized",
        "is_unsigned",
        "name",
        "numpy_dtype",
        "size",
    )

    def __init__(self, name: str, enum: int, numpy_type: Any, kind: str, is_small: bool) -> None:
        self.name: str = name
        self._enum = enum
        # The scalar type, as `tf.float32.as_numpy_dtype` is in TensorFlow; `numpy_dtype` is the
        # np.dtype instance that Weft's own code wants. Resources have no NumPy form but `object`.
        # (Quantized types have no scalar type: both are the np.dtype instance.)
        self.as_numpy_dtype: Any = numpy_type
        self.numpy_dtype: np.dtype[Any] = np.dtype(numpy_type)
        self.size: int = 1 if kind in "SV" else self.numpy_dtype.itemsize
        self.is_floating: bool = kind == "f"
        self.is_complex: bool = kind == "c"
        self.is_integer: bool = kind in "iu"
        self.is_unsigned: bool = kind == "u"
        self.is_bool: bool = kind == "b"
        self.is_quantized: bool = kind == "q"
        # Variables by their handles, and stacks too. Small floats are what others are rounded to.
        self.is_differentiable: bool = kind in "fcV" and not is_small
        self._safe: int = -1 if is_small else _SAFE  # whole numbers up to this are finite in it

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers of a usual size, or quantized ones."""
        return self in NUMERIC or self.is_quantized

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether values of this type can be NumPy arrays."""
        return self not in (resource, variant)

    @property
    def base_dtype(self) -> DType:
        """The type itself; kept for code written when reference types existed."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of a complex number's parts; any other type itself."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def as_datatype_enum(self) -> int:
        """The number this type has in TensorFlow's DataType enum."""
        return self._enum

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._range()[0]

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._range()[1]

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of brightness in images: (0, 1) for floating types, else (0, max)."""
        if self in SMALL or self.is_quantized:
            raise ValueError(f"{self!r} is no dtype of images, so it has no limits.")
        return (0, 1) if self.is_floating else (self._range()[0] and 0, self.max)

    def _range(self) -> tuple[Any, Any]:
        if self.is_bool:
            return False, True
        if self.is_integer:
            return _integer_range(self)
        if self.is_floating:
            finfo = ml_dtypes.finfo(self.numpy_dtype)
            return self.as_numpy_dtype(finfo.min), self.as_numpy_dtype(finfo.max)
        raise TypeError(f"{self!r} has no smallest or largest value.")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value of type `other` can be used where this type is expected.

        Args:
          other: a dtype, or what `tf.as_dtype` turns into one.

        Returns:
          A bool: whether both are the same dtype.

        Raises:
          TypeError: if `other` is no dtype.

        >>> tf.float32.is_compatible_with("float32"), tf.float32.is_compatible_with(tf.float64)
        (True, False)
        """
        return self is as_dtype(other)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __int__(self) -> int:
        return self._enum

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


def _define(name: str, enum: int, numpy_type: Any, kind: str, is_small: bool = False) -> DType:
    dtype = DType(name, enum, numpy_type, kind, is_small)
    _BY_NAME[name] = dtype
    _BY_ENUM[enum] = dtype
    if kind != "V":
        _BY_NUMPY[dtype.numpy_dtype] = dtype
    return dtype


def stored_as(dtype: DType) -> DType:
    """The integers that quantized numbers are stored as; any other type itself."""
    return _BY_NAME[dtype.name.removeprefix("q")] if dtype.is_quantized else dtype


def _quantized(name: str, enum: int, numpy_type: Any) -> DType:
    return _define(name, enum, np.dtype([(name, numpy_type)]), "q")


def _small(enum: int, numpy_type: Any, kind: str) -> DType:
    return _define(numpy_type.__name__, enum, numpy_type, kind, is_small=True)


float32: DType = _define("float32", 1, np.float32, "f")
float64: DType = _define("float64", 2, np.float64, "f")
int32: DType = _define("int32", 3, np.int32, "i")
uint8: DType = _define("uint8", 4, np.uint8, "u")
int16: DType = _define("int16", 5, np.int16, "i")
int8: DType = _define("int8", 6, np.int8, "i")
string: DType = _define("string", 7, np.object_, "S")
complex64: DType = _define("complex64", 8, np.complex64, "c")
int64: DType = _define("int64", 9, np.int64, "i")
bool_: DType = _define("bool", 10, np.bool_, "b")
bfloat16: DType = _define("bfloat16", 14, ml_dtypes.bfloat16, "f")
uint16: DType = _define("uint16", 17, np.uint16, "u")
complex128: DType = _define("complex128", 18, np.complex128, "c")
float16: DType = _define("float16", 19, np.float16, "f")
resource: DType = _define("resource", 20, np.object_, "V")
variant: DType = _define("variant", 21, np.object_, "V")
uint32: DType = _define("uint32", 22, np.uint32, "u")
uint64: DType = _define("uint64", 23, np.uint64, "u")
double, half = float64, float16

# Integers that stand for real numbers, by a scale that somebody else knows.
qint8: DType = _quantized("qint8", 11, np.int8)
quint8: DType = _quantized("quint8", 12, np.uint8)
qint32: DType = _quantized("qint32", 13, np.int32)
qint16: DType = _quantized("qint16", 15, np.int16)
quint16: DType = _quantized("quint16", 16, np.uint16)

# Types to store numbers in, one byte for each. Nothing is computed in them.
float8_e5m2: DType = _small(24, ml_dtypes.float8_e5m2, "f")
float8_e4m3fn: DType = _small(25, ml_dtypes.float8_e4m3fn, "f")
float8_e4m3fnuz: DType = _small(26, ml_dtypes.float8_e4m3fnuz, "f")
float8_e4m3b11fnuz: DType = _small(27, ml_dtypes.float8_e4m3b11fnuz, "f")
float8_e5m2fnuz: DType = _small(28, ml_dtypes.float8_e5m2fnuz, "f")
int4: DType = _small(29, ml_dtypes.int4, "i")
uint4: DType = _small(30, ml_dtypes.uint4, "u")
int2: DType = _small(31, ml_dtypes.int2, "i")
uint2: DType = _small(32, ml_dtypes.uint2, "u")
float4_e2m1fn: DType = _small(33, ml_dtypes.float4_e2m1fn, "f")

_BY_NAME |= {"half": float16, "float": float32, "double": float64}
_BY_PYTHON: dict[type, DType] = {
    bool: bool_,
    int: int32,
    float: float32,
    complex: complex128,
    str: string,
    bytes: string,
}

FLOATING = frozenset({float16, bfloat16, float32, float64})
COMPLEX = frozenset({complex64, complex128})
SIGNED = frozenset({int8, int16, int32, int64})
UNSIGNED = frozenset({uint8, uint16, uint32, uint64})
INTEGER = SIGNED | UNSIGNED
REAL = FLOATING | INTEGER
INEXACT = FLOATING | COMPLEX
NUMERIC = REAL | COMPLEX
BOOL = frozenset({bool_})
STRING = frozenset({string})
INDEX = frozenset({int32, int64})
RESOURCE = frozenset({resource})
PLAIN = NUMERIC | BOOL | STRING
QUANTIZED = frozenset({qint8, quint8, qint16, quint16, qint32})
SMALL_FLOATING = frozenset(
    {
        float8_e5m2,
        float8_e4m3fn,
        float8_e4m3fnuz,
        float8_e4m3b11fnuz,
        float8_e5m2fnuz,
        float4_e2m1fn,
    }
)
SMALL_INTEGER = frozenset({int4, uint4, int2, uint2})
SMALL = SMALL_FLOATING | SMALL_INTEGER
DATA = PLAIN | SMALL | QUANTIZED  # what can be moved, joined and picked from
ANY = DATA | RESOURCE | frozenset({variant})


_INTEGERS = {d.numpy_dtype: stored_as(d).numpy_dtype for d in QUANTIZED}
# What `value.dtype` is where a value is no array that users may see as it is.
UNUSUAL: frozenset[Any] = frozenset({resource, variant, *_INTEGERS})


def plain(array: Any) -> Any:
    """An array of quantized numbers as one of integers, in the same memory; any other itself.

    >>> from weft._src.core.dtypes import plain
    >>> plain(np.array([(1,), (-2,)], tf.qint8.as_numpy_dtype))
    array([ 1, -2], dtype=int8)
    """
    integers = _INTEGERS.get(array.dtype)
    return array if integers is None else array.view(integers)


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The `DType` of a NumPy dtype; byte order is not part of it, text and bytes are strings."""
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "SUT":
        return string
    found = _BY_NUMPY.get(dtype.newbyteorder("="))
    if found is None:
        raise TypeError(f"NumPy dtype {dtype} has no Weft equivalent. Cast the array first.")
    return found


def as_dtype(type_value: Any) -> DType:
    """Turns a name, a NumPy dtype or type, a Python type or a `DType` into a `DType`.

    Args:
      type_value: a `DType`, its name or its number in TensorFlow's protocol buffers, a NumPy dtype
        or type, a Python type such as `float` (float32), or something that has a `DType` as
        attribute `dtype`.

    Returns:
      The `DType`. Text and bytes of NumPy are `tf.string`.

    Raises:
      TypeError: if it is no dtype that Weft has.

    >>> tf.as_dtype("float32"), tf.as_dtype(np.int64), tf.as_dtype(bool)
    (tf.float32, tf.int64, tf.bool)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, int) and not isinstance(type_value, bool):
        found = _BY_ENUM.get(type_value)
    elif isinstance(type_value, type):
        found = _BY_PYTHON.get(type_value)
    else:
        inner = getattr(type_value, "dtype", None)
        if isinstance(inner, DType):
            return inner
        found = None
    if found is not None:
        return found
    try:
        return from_numpy(np.dtype(type_value))
    except TypeError as e:
        raise TypeError(
            f"Cannot turn {type_value!r} into a dtype. Use one like tf.float32, its name "
            "('float32') or a NumPy dtype."
        ) from e


@functools.cache
def _integer_range(dtype: DType) -> tuple[int, int]:
    info = ml_dtypes.iinfo(dtype.numpy_dtype)
    return int(info.min), int(info.max)


def check_fits(value: int, dtype: DType) -> None:
    """Refuses a Python int that the integer dtype cannot hold, instead of wrapping it."""
    low, high = _integer_range(dtype)
    if not low <= value <= high:
        raise ValueError(
            f"The value {value} does not fit {dtype.name}, whose range is {low}..{high}."
        )
