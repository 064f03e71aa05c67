"""`TensorProto`: a tensor in the form in which TensorFlow's files hold it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import DTypeLike
from weft._src.core.convert import array_from
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    bytes_field,
    contents,
    fields,
    packed_floats,
    packed_integers,
    signed,
    varint,
)
from weft._src.errors import DTypeError, ParseError, ShapeError
from weft._src.graph.message import Message

Array = np.ndarray[Any, Any]

# Which field holds single values of a dtype, and the number of that field.
_FIELDS = {
    "float32": ("float_val", 5),
    "float64": ("double_val", 6),
    "int32": ("int_val", 7),
    "int16": ("int_val", 7),
    "int8": ("int_val", 7),
    "uint16": ("int_val", 7),
    "uint8": ("int_val", 7),
    "string": ("string_val", 8),
    "complex64": ("scomplex_val", 9),
    "int64": ("int64_val", 10),
    "bool": ("bool_val", 11),
    "complex128": ("dcomplex_val", 12),
    "float16": ("half_val", 13),
    "bfloat16": ("half_val", 13),
    "uint32": ("uint32_val", 16),
    "uint64": ("uint64_val", 17),
}
_STORED_AS = {5: "<f4", 6: "<f8", 9: "<f4", 12: "<f8"}  # all others are integers
_DTYPES = {dtypes.as_dtype(name).as_datatype_enum: dtypes.as_dtype(name) for name in _FIELDS}
_LOW64 = 2**64 - 1
_MOST_AXES = 64  # that an array of NumPy can have


class TensorShapeProto(Message):
    """A shape: `dim` is a list of sizes."""

    class Dim(Message):
        """One size."""

        def __init__(self, size: int = 0) -> None:
            self.size = size

    def __init__(self, dim: Any = ()) -> None:
        self.dim = [self.Dim(size) for size in dim]


class TensorProto(Message):
    """A dtype (as a number), a shape, and the values: as bytes, or in a list by their kind."""

    def __init__(self, dtype: int = 0, shape: Any = ()) -> None:
        self.dtype = dtype
        self.tensor_shape = TensorShapeProto(shape)
        self.tensor_content = b""
        for field, _ in _FIELDS.values():
            setattr(self, field, [])

    def SerializeToString(self) -> bytes:  # noqa: N802 - the name protocol buffers give it
        """The message as bytes."""
        dims = b"".join(
            [
                bytes_field(2, b"\x08" + varint(d.size) if d.size else b"")
                for d in self.tensor_shape.dim
            ]
        )
        out = b"\x08" + varint(self.dtype) + bytes_field(2, dims)
        if self.tensor_content:
            out += bytes_field(4, self.tensor_content)
        for field, number in sorted(set(_FIELDS.values()), key=lambda item: item[1]):
            values = getattr(self, field)
            if field == "string_val":
                out += b"".join([bytes_field(8, value) for value in values])
            elif values and number in _STORED_AS:
                out += bytes_field(number, np.array(values, _STORED_AS[number]).tobytes())
            elif values:
                out += bytes_field(number, b"".join([varint(int(v)) for v in values]))
        return out

    @classmethod
    def FromString(cls, data: bytes) -> TensorProto:  # noqa: N802
        """The message that `SerializeToString` turned into bytes; ParseError if there is none."""
        out = cls()
        names = {number: field for field, number in _FIELDS.values()}
        for number, stored, value in fields(data, "TensorProto"):
            if number == 1 and stored == VARINT:
                out.dtype = value
            elif number == 2 and stored == BYTES:
                dims = contents(value, 2, "TensorProto")
                out.tensor_shape = TensorShapeProto([_size_of(dim) for dim in dims])
            elif number == 4 and stored == BYTES:
                out.tensor_content = value
            elif number in names:
                getattr(out, names[number]).extend(_values(number, stored, value))
        return out


def _size_of(dim: bytes) -> int:
    sizes = [v for n, stored, v in fields(dim, "TensorProto") if n == 1 and stored == VARINT]
    return signed(sizes[-1]) if sizes else 0


def _values(number: int, stored: int, content: Any) -> Sequence[Any]:
    """The values in a field; none if it is stored in another way than values of this kind are."""
    if number == 8:
        return [content] if stored == BYTES else []
    if number in _STORED_AS:
        letter, alone = ("f", FIXED32) if _STORED_AS[number] == "<f4" else ("d", FIXED64)
        return packed_floats(content, letter, "TensorProto") if stored in (BYTES, alone) else []
    if stored == VARINT:
        return [signed(content)]
    return packed_integers(content, "TensorProto") if stored == BYTES else []


# --- public ------------------------------------------------------------------------------------


def make_tensor_proto(
    values: Any,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """A value as a `TensorProto`; one that is short of a shape repeats its last element.

    Args:
      values: a number, string, array, (nested) list or eager tensor.
      dtype: the dtype; None lets the values decide.
      shape: the shape, fully known; None is that of the values.
      verify_shape: whether the values must have exactly this shape.
      allow_broadcast: accepted for compatibility; values may always be short of the shape.

    Returns:
      A `TensorProto`, Weft's own class.

    Raises:
      TypeError: if `values` is a tensor of a graph, or has another shape where that is verified.
      ShapeError: if the shape is not known, or there are more values than it has elements, or none.
      DTypeError: if the values are of another dtype or kind.
      ValueError: if they cannot become a tensor.

    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[2, 1])).tolist()
    [[1], [2]]
    """
    if isinstance(values, Tensor) and not isinstance(values, EagerTensor):
        raise TypeError("make_tensor_proto: values must be known, got a tensor of a graph.")
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    array = values._value if isinstance(values, EagerTensor) else array_from(values, wanted)
    found = dtypes.from_numpy(array.dtype)
    if wanted not in (None, found):
        raise DTypeError(f"make_tensor_proto: values have dtype {found.name}, not {wanted.name}.")
    dims: Any = array.shape if shape is None else tuple(TensorShape(shape).as_list())
    if None in dims:
        raise ShapeError(f"make_tensor_proto: shape must be known, got {list(dims)}.")
    size = int(np.prod(dims, dtype=np.int64))
    if verify_shape and dims != array.shape:
        raise TypeError(f"make_tensor_proto: shape is {list(dims)}, but values have {array.shape}.")
    if array.size > size or (not array.size and size):
        raise ShapeError(
            f"make_tensor_proto: shape {list(dims)} has {size} elements, but values {array.size}."
        )
    proto = TensorProto(found.as_datatype_enum, dims)
    if found is not dtypes.string and not found.is_bool and array.size == size > 1:
        proto.tensor_content = array.tobytes()
    else:
        setattr(proto, _FIELDS[found.name][0], _listed(array, found))
    return proto


def _listed(array: Array, dtype: DType) -> list[Any]:
    flat = np.ravel(array)
    if dtype.is_complex:
        return [part for value in flat.tolist() for part in (value.real, value.imag)]
    if dtype in (dtypes.float16, dtypes.bfloat16):
        flat = flat.view(np.uint16)
    values: list[Any] = flat.tolist()
    return values


def make_ndarray(tensor: Any) -> Array:
    """The array that a `TensorProto` (Weft's own, or a protocol buffer message) holds.

    Args:
      tensor: the message.

    Returns:
      A NumPy array; strings are bytes in an array of objects.

    Raises:
      TypeError: if it is no such message, or its dtype is unknown.
      ParseError: if the content does not fit dtype and shape.
      ShapeError: if there are more values than the shape has elements, or none.

    >>> tf.make_ndarray(tf.make_tensor_proto(1.5, shape=[2]))
    array([1.5, 1.5], dtype=float32)
    """
    try:
        dtype = _DTYPES[int(tensor.dtype)]
        shape = [int(dim.size) for dim in tensor.tensor_shape.dim]
        content = bytes(tensor.tensor_content)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError(
            f"make_ndarray: tensor must be a TensorProto, got {tensor!r} of type "
            f"{type(tensor).__name__}."
        ) from None
    _check_shape(shape, dtype)
    if content:
        return _from_content(content, shape, dtype)
    values = _from_list(list(getattr(tensor, _FIELDS[dtype.name][0])), dtype)
    size = math.prod(shape)
    if len(values) > size or (size and not len(values)):
        raise ShapeError(f"make_ndarray: shape {shape} has {size} elements, got {len(values)}.")
    return _filled_up(values, shape, dtype)


def array_of(proto: TensorProto) -> Array:
    """The array of a message from elsewhere; ParseError if it holds none.

    Values that are missing are the last one (or zeros), and there may be more than are needed.
    """
    dtype = _DTYPES.get(proto.dtype)
    if dtype is None:
        raise ParseError(f"A TensorProto has dtype number {proto.dtype}, which no tensor has.")
    shape = [dim.size for dim in proto.tensor_shape.dim]
    _check_shape(shape, dtype)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, shape, dtype)
    values = _from_list(getattr(proto, _FIELDS[dtype.name][0]), dtype)
    return _filled_up(values, shape, dtype)


def _check_shape(shape: list[int], dtype: DType) -> None:
    """ParseError for a shape that no array can have, ResourceExhaustedError for a huge one."""
    largest = max([math.prod([size for size in shape if size]), *shape, 0]) * dtype.size
    if min(shape, default=0) < 0 or len(shape) > _MOST_AXES or largest >= 2**63:
        raise ParseError(f"A TensorProto says shape {shape}, which no tensor can have.")
    memory.check("TensorProto", shape, dtype.numpy_dtype)


def _from_content(content: bytes, shape: list[int], dtype: DType) -> Array:
    expected = math.prod(shape) * dtype.size
    if dtype is dtypes.string or len(content) != expected:
        raise ParseError(
            f"A TensorProto of dtype {dtype.name} and shape {shape} holds {len(content)} bytes, "
            f"expected {expected}."
        )
    if dtype.is_bool and content.translate(None, b"\0\1"):
        raise ParseError("A TensorProto of dtype bool holds bytes that are neither 0 nor 1.")
    return np.frombuffer(content, dtype.numpy_dtype).copy().reshape(shape)


def _from_list(values: list[Any], dtype: DType) -> Array:
    """The values of a list as an array; integers that are too large lose their upper bits."""
    if dtype is dtypes.string:
        out = np.empty(len(values), object)
        out[:] = values
        return out
    if dtype.is_complex:
        whole = len(values) // 2 * 2  # half a number is none
        parts = np.array(values[:whole], np.float64)
        return (parts[::2] + 1j * parts[1::2]).astype(dtype.numpy_dtype)
    if dtype.is_floating and dtype.size > 2:
        return np.array(values, dtype.numpy_dtype)
    numbers = np.array([value & _LOW64 for value in values], np.uint64)
    if dtype.is_bool:
        return numbers != 0
    if dtype.is_integer:
        return numbers.astype(dtype.numpy_dtype)
    return numbers.astype(np.uint16).view(dtype.numpy_dtype)


def _filled_up(values: Array, shape: list[int], dtype: DType) -> Array:
    size = math.prod(shape)
    values = values[:size]
    if len(values) == size:
        return values.reshape(shape)
    missing = b"" if dtype is dtypes.string else 0
    out = np.full(size, values[-1] if len(values) else missing, dtype.numpy_dtype)
    out[: len(values)] = values
    return out.reshape(shape)
