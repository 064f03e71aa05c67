"""`TensorProto`: a tensor in the form in which TensorFlow's files hold it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.convert import array_from
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.core.tensor import EagerTensor, Tensor
from weft.core.wire import bytes_field, fields, read_varint, signed, varint
from weft.errors import DTypeError, ShapeError
from weft.graph.message import Message

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
        """The message that `SerializeToString` turned into bytes."""
        out = cls()
        names = {number: field for field, number in _FIELDS.values()}
        for number, value in fields(data, "TensorProto"):
            if number == 1:
                out.dtype = value
            elif number == 2:
                sizes = [
                    dict(fields(dim, "TensorProto")).get(1, 0)
                    for n, dim in fields(value, "TensorProto")
                    if n == 2
                ]
                out.tensor_shape = TensorShapeProto([signed(size) for size in sizes])
            elif number == 4:
                out.tensor_content = value
            elif number in names:
                getattr(out, names[number]).extend(_values(number, value))
        return out


def _values(number: int, content: Any) -> list[Any]:
    if number == 8:
        return [content]
    if isinstance(content, int):
        return [signed(content)]
    if number in _STORED_AS:
        width = int(_STORED_AS[number][-1])
        kind = {4: "f", 8: "d"}[width]
        return list(struct.unpack(f"<{len(content) // width}{kind}", content))
    out, at = [], 0
    while at < len(content):
        n, at = read_varint(content, at)
        out.append(signed(n))
    return out


# --- public ------------------------------------------------------------------------------------


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """A value as a `TensorProto`; one that is short of a shape repeats its last element.

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

    >>> tf.make_ndarray(tf.make_tensor_proto(1.5, shape=[2]))
    array([1.5, 1.5], dtype=float32)
    """
    try:
        dtype = dtypes.as_dtype(int(tensor.dtype))
        shape = [int(dim.size) for dim in tensor.tensor_shape.dim]
        content = bytes(tensor.tensor_content)
    except (AttributeError, TypeError, ValueError):
        raise TypeError(
            f"make_ndarray: tensor must be a TensorProto, got {tensor!r} of type "
            f"{type(tensor).__name__}."
        ) from None
    size = int(np.prod(shape, dtype=np.int64))
    if content:
        return np.frombuffer(content, dtype.numpy_dtype).copy().reshape(shape)
    values = list(getattr(tensor, _FIELDS[dtype.name][0]))
    if dtype.is_complex:
        values = [complex(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    if len(values) > size or (size and not values):
        raise ShapeError(f"make_ndarray: shape {shape} has {size} elements, got {len(values)}.")
    values += values[-1:] * (size - len(values))
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(values, np.uint16).view(dtype.numpy_dtype).reshape(shape)
    out = np.empty(size, dtype.numpy_dtype)
    out[:] = values
    return out.reshape(shape)
