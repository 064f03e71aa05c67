"""`TensorProto`: a tensor in the form in which TensorFlow's files hold it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import DTypeLike
from weft._src.core.convert import array_from
from weft._src.core.dtypes import (
    BOOL,
    QUANTIZED,
    SMALL_FLOATING,
    SMALL_INTEGER,
    STRING,
    DType,
)
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import DTypeError, ParseError, ShapeError
from weft._src.messages.tensors import TensorProto, TensorShapeProto, shape_message
from weft._src.messages.wire import read_varint

Array = np.ndarray[Any, Any]

# Which field holds single values of a dtype.
_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "int16": "int_val",
    "int8": "int_val",
    "uint16": "int_val",
    "uint8": "int_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    **{dtype.name: "int_val" for dtype in QUANTIZED | SMALL_INTEGER},
    **{dtype.name: "float8_val" for dtype in SMALL_FLOATING},
}
_LISTED = BOOL | STRING | SMALL_INTEGER  # are never written as bytes
_DTYPES = {dtypes.as_dtype(name).as_datatype_enum: dtypes.as_dtype(name) for name in _FIELDS}
_LOW64 = 2**64 - 1
_MOST_AXES = 64  # that an array of NumPy can have


def proto_of(dtype: DType, shape: Any, **content: Any) -> TensorProto:
    """The message of a tensor; `content` is the field that holds its values."""
    number = dtype.as_datatype_enum
    return TensorProto(dtype=number, tensor_shape=shape_message(shape), **content)


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
    if found not in _LISTED and array.size == size > 1:
        return proto_of(found, dims, tensor_content=array.tobytes())
    return proto_of(found, dims, **{_FIELDS[found.name]: _listed(array, found)})


def _listed(array: Array, dtype: DType) -> list[Any] | bytes:
    flat = np.ravel(dtypes.plain(array))
    if dtype in SMALL_FLOATING:
        return flat.tobytes()
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
    values = _from_list(getattr(tensor, _FIELDS[dtype.name]), dtype)
    size = math.prod(shape)
    if len(values) > size or (size and not len(values)):
        raise ShapeError(f"make_ndarray: shape {shape} has {size} elements, got {len(values)}.")
    return _filled_up(values, shape, dtype)


def _shape_and_dtype(proto: TensorProto) -> tuple[list[int], DType]:
    dtype = _DTYPES.get(proto.dtype)
    if dtype is None:
        raise ParseError(f"A TensorProto has dtype number {proto.dtype}, which no tensor has.")
    shape = [dim.size for dim in proto.tensor_shape.dim]
    _check_shape(shape, dtype)
    return shape, dtype


def array_of(proto: TensorProto) -> Array:
    """The array of a message from elsewhere; ParseError if it holds none.

    Values that are missing are the last one (or zeros), and there may be more than are needed.
    """
    shape, dtype = _shape_and_dtype(proto)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, shape, dtype)
    values = _from_list(getattr(proto, _FIELDS[dtype.name]), dtype)
    return _filled_up(values, shape, dtype)


# What stands in front of the length and the bytes of the field that holds numbers, the last one.
CONTENT = TensorProto(tensor_content=b"-").SerializeToString()[:-2]
_DTYPE, _SHAPE = (
    TensorProto(dtype=1).SerializeToString()[0],
    TensorProto(tensor_shape=TensorShapeProto()).SerializeToString()[0],
)
_ONE_BYTE = 128  # numbers below are one byte


def array_in(data: bytes) -> Array:
    """The array of a serialized message; ParseError if it holds none.

    In front of the numbers mostly stand dtype and shape and nothing else, and those of the last
    messages are known.
    """
    if len(data) > 4 and data[0] == _DTYPE and data[2] == _SHAPE and max(data[1:4]) < _ONE_BYTE:
        head = 4 + data[3]
        if data[head : head + 1] == CONTENT:
            try:
                length, at = read_varint(data, head + 1)
            except IndexError:  # which the general way says in its words
                length, at = 0, 0
            if length and at + length == len(data):
                return _from_content(data[at:], *_kind_of(data[:head]))
    return array_of(TensorProto.FromString(data))


@functools.lru_cache(maxsize=256)
def _kind_of(head: bytes) -> tuple[list[int], DType]:
    return _shape_and_dtype(TensorProto.FromString(head))


def _check_shape(shape: list[int], dtype: DType) -> None:
    """ParseError for a shape that no array can have, ResourceExhaustedError for a huge one."""
    largest = max([math.prod([size for size in shape if size]), *shape, 0]) * dtype.size
    if min(shape, default=0) < 0 or len(shape) > _MOST_AXES or largest >= 2**63:
        raise ParseError(f"A TensorProto says shape {shape}, which no tensor can have.")
    memory.check("TensorProto", shape, dtype.numpy_dtype)


def _from_content(content: bytes, shape: list[int], dtype: DType) -> Array:
    if dtype is dtypes.string:
        out = np.empty(math.prod(shape), object)
        out[:] = pieces_of(content, out.size)
        return out.reshape(shape)
    expected = math.prod(shape) * dtype.size
    if len(content) != expected:
        raise ParseError(
            f"A TensorProto of dtype {dtype.name} and shape {shape} holds {len(content)} bytes, "
            f"expected {expected}."
        )
    if dtype.is_bool and content.translate(None, b"\0\1"):
        raise ParseError("A TensorProto of dtype bool holds bytes that are neither 0 nor 1.")
    return _from_bytes(content, dtype).reshape(shape)


def pieces_of(content: bytes, count: int) -> list[bytes]:
    """Strings (or variants) that lie one behind the other, after the lengths of all of them."""
    lengths, at = [], 0
    try:
        for _ in range(count):
            length, at = read_varint(content, at)
            lengths.append(length)
    except IndexError:
        lengths.append(len(content))  # the error below
    if at + sum(lengths) != len(content):
        raise ParseError(f"A TensorProto does not hold the {count} strings that its shape says.")
    ends = [at + end for end in itertools.accumulate(lengths)]
    return [content[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def _from_bytes(content: bytes, dtype: DType) -> Array:
    """Numbers that lie one behind the other; of four bits, the upper half of a byte is ignored."""
    if dtype in SMALL_INTEGER:
        return np.frombuffer(content, np.uint8).astype(dtype.numpy_dtype)
    if dtype is dtypes.float4_e2m1fn:
        return (np.frombuffer(content, np.uint8) & 15).view(dtype.numpy_dtype)
    return np.frombuffer(content, dtype.numpy_dtype).copy()


def _from_list(values: Sequence[Any], dtype: DType) -> Array:
    """The values of a list as an array; integers that are too large lose their upper bits."""
    if dtype in SMALL_FLOATING:
        return _from_bytes(bytes(values), dtype)
    if dtype.is_quantized:
        return _from_list(values, dtypes.stored_as(dtype)).view(dtype.numpy_dtype)
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
    missing = b"" if dtype is dtypes.string else np.zeros((), dtype.numpy_dtype)
    out = np.full(size, values[-1] if len(values) else missing, dtype.numpy_dtype)
    out[: len(values)] = values
    return out.reshape(shape)
