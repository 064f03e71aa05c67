"""Tensors as bytes: `serialize_tensor`, `parse_tensor`, `decode_raw`, `decode_compressed`."""

from __future__ import annotations

import base64
import binascii
import functools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, PLAIN, STRING, DType, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError, ParseError
from weft._src.fileio.streams import WINDOW_BITS, compression_name
from weft._src.graph.tensor_proto import CONTENT, array_in, proto_of
from weft._src.messages.tensors import TensorProto
from weft._src.messages.wire import varint
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.strings import making, packed
from weft._src.ops.strings.elements import as_array, mapped, string_tensor

Array = np.ndarray[Any, Any]

# --- serialize_tensor and parse_tensor -----------------------------------------------------------


def to_message(array: Array) -> TensorProto:
    """An array as a TensorProto, its numbers as bytes."""
    found = dtypes.from_numpy(array.dtype)
    if found is string:
        return proto_of(found, array.shape, string_val=array.reshape(-1).tolist())
    return proto_of(found, array.shape, tensor_content=_little(array).tobytes())


def _little(array: Array) -> Array:
    """The numbers as they stand in messages."""
    numbers = dtypes.plain(array)
    little = numbers.dtype.newbyteorder("<") if numbers.dtype.kind in "iufc" else numbers.dtype
    return numbers.astype(little, copy=False)


@functools.lru_cache(maxsize=256)
def _head_of(dtype: DType, shape: tuple[int, ...]) -> bytes:
    """What stands in front of the numbers."""
    return proto_of(dtype, shape).SerializeToString() + CONTENT


def _serialize_kernel(xp: ArrayNamespace, tensor: Any) -> Array:
    array = np.asarray(tensor)
    found = dtypes.from_numpy(array.dtype)
    if found is string or not array.size:
        return np.array(to_message(array).SerializeToString(), object)
    # What `to_message` makes, without copies of the numbers for each message around them.
    content = np.ascontiguousarray(_little(array)).reshape(-1).view(np.uint8)
    parts: list[Any] = [_head_of(found, array.shape), varint(content.size), content.data]
    return np.array(b"".join(parts), object)


serialize_tensor_op = define_op(
    "SerializeTensor",
    args("tensor", DATA),
    infer=lambda tensor: TensorSpec.of(string, ()),
    kernel=_serialize_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The tensor as bytes (a serialized TensorProto), which `parse_tensor` reads.

    Args:
      tensor: a tensor, or what can become one.
      name: the name of the node in a graph.

    Returns:
      A string scalar.

    Raises:
      TypeError: if it is a ragged or sparse tensor.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor([[1, 2], [3, 4]]), tf.int32).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return serialize_tensor_op(convert_to_tensor(tensor), name=name)


def _scalar_infer(what: str, x: TensorSpec) -> None:
    if x.rank not in (None, 0):
        raise InvalidArgumentError(
            None, None, f"{what}: serialized must be one string, got shape {x.shape}."
        )


def _parse_infer(serialized: TensorSpec, *, out_type: DType) -> TensorSpec:
    _scalar_infer("parse_tensor", serialized)
    return TensorSpec.of(out_type, None)


def _parse_kernel(xp: ArrayNamespace, serialized: TensorLike, *, out_type: DType) -> Array:
    data = bytes(as_array(serialized)[()])
    try:
        array = array_in(data)
    except ParseError as error:
        raise InvalidArgumentError(
            None, None, f"parse_tensor: these {len(data)} bytes are no serialized tensor: {error}"
        ) from error
    found = dtypes.from_numpy(array.dtype)
    if found is not out_type:
        raise InvalidArgumentError(
            None,
            None,
            f"parse_tensor: the serialized tensor has dtype {found.name}, out_type is "
            f"{out_type.name}.",
        )
    return array


parse_tensor_op = define_op(
    "ParseTensor",
    args("serialized", STRING),
    infer=_parse_infer,
    kernel=_parse_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that `serialize_tensor` turned into bytes; its dtype must be said.

    Args:
      serialized: one string.
      out_type: the dtype that the tensor had.
      name: the name of the node in a graph.

    Returns:
      A tensor of that dtype; while tracing, its shape is unknown.

    Raises:
      tf.errors.InvalidArgumentError: if the string is no serialized tensor, the tensor has another
        dtype, or there is more than one string.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor("hello"), tf.string).numpy()
    b'hello'
    """
    wanted = dtypes.as_dtype(out_type)
    return parse_tensor_op(string_tensor(serialized), out_type=wanted, name=name)


# --- decode_raw ----------------------------------------------------------------------------------

_RAW = frozenset(d for d in PLAIN if d is not string)


def _raw_infer(
    x: TensorSpec, *, out_type: DType, little_endian: bool, fixed_length: int | None
) -> TensorSpec:
    last = Dim() if fixed_length is None else fixed_length // out_type.size
    return TensorSpec.of(out_type, None if x.dims is None else (*x.dims, last))


def _raw_kernel(
    xp: ArrayNamespace, x: Any, *, out_type: DType, little_endian: bool, fixed_length: int | None
) -> Array:
    x = as_array(x)
    items: list[bytes] = x.reshape(-1).tolist()
    if fixed_length is not None:
        items = [item[:fixed_length].ljust(fixed_length, b"\0") for item in items]
    length = len(items[0]) if items else 0
    if len(set(map(len, items))) > 1:
        i = next(i for i, item in enumerate(items) if len(item) != length)
        raise InvalidArgumentError(
            None,
            None,
            f"decode_raw: all strings must have one length, the first has {length} bytes, "
            f"string {i} has {len(items[i])}. Give fixed_length to pad or cut them.",
        )
    if length % out_type.size:
        raise InvalidArgumentError(
            None,
            None,
            f"decode_raw: the strings have {length} bytes, which is no multiple of the "
            f"{out_type.size} bytes of {out_type.name}.",
        )
    if out_type.is_bool:
        numbers = np.frombuffer(b"".join(items), np.uint8) != 0
    else:
        numbers = np.frombuffer(b"".join(items), out_type.numpy_dtype)
    if not little_endian:
        numbers = numbers.byteswap()
    return np.array(numbers).reshape(*x.shape, length // out_type.size)


decode_raw_op = define_op(
    "DecodeRaw",
    args("input_bytes", STRING),
    infer=_raw_infer,
    kernel=_raw_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of strings read as numbers, along a new last axis.

    Args:
      input_bytes: strings of any shape, all of one length.
      out_type: the dtype of the numbers; bool and complex ones too.
      little_endian: whether the lowest byte of a number comes first.
      fixed_length: the length in bytes to which strings are cut, or padded with zeros; None takes
        them as they are.
      name: the name of the node in a graph.

    Returns:
      A tensor of the shape of `input_bytes` and one axis more.

    Raises:
      tf.errors.InvalidArgumentError: if lengths differ, or are no multiple of the size of a number.
      TypeError: if `out_type` is no numeric dtype, or another argument is no bool or integer.

    >>> tf.io.decode_raw(tf.constant([b"ab", b"cd"]), tf.uint8).numpy()
    array([[ 97,  98],
           [ 99, 100]], dtype=uint8)
    """
    wanted = dtypes.as_dtype(out_type)
    if not isinstance(little_endian, bool):
        raise TypeError(f"decode_raw: little_endian must be True or False, got {little_endian!r}.")
    if wanted not in _RAW:
        raise TypeError(f"decode_raw: out_type must be a numeric dtype, got {wanted.name}.")
    if fixed_length is not None:
        if isinstance(fixed_length, bool) or not isinstance(fixed_length, (int, np.integer)):
            raise TypeError(f"decode_raw: fixed_length must be an integer, got {fixed_length!r}.")
        if fixed_length <= 0 or fixed_length % wanted.size:
            raise InvalidArgumentError(
                None,
                None,
                f"decode_raw: fixed_length must be a positive multiple of the {wanted.size} bytes "
                f"of {wanted.name}, got {fixed_length}.",
            )
        fixed_length = int(fixed_length)
    return decode_raw_op(
        string_tensor(input_bytes), out_type=wanted, little_endian=little_endian,
        fixed_length=fixed_length, name=name,
    )  # fmt: skip


# --- decode_compressed, base64 -------------------------------------------------------------------

_PART = 2**26  # bytes
_GZIP_BEGIN = b"\x1f\x8b"


def _decompress(data: bytes, compression: str) -> bytes:
    if not compression:
        return data
    try:
        return b"".join(_decompressed_parts(data, WINDOW_BITS[compression]))
    except zlib.error as error:
        raise InvalidArgumentError(
            None, None, f"decode_compressed: these bytes are no {compression} data: {error}."
        ) from error


def _decompressed_parts(data: bytes, bits: int) -> Iterator[bytes]:
    """What streams, one behind the other, hold; what stands behind them is left alone.

    A thousand times the bytes that came in may come out, so memory is asked for on the way.
    """
    total = 0
    while True:
        stream = zlib.decompressobj(bits)
        while not stream.eof:
            part = stream.decompress(data, _PART)
            data = stream.unconsumed_tail
            if not part and not data and not stream.eof:
                raise zlib.error("it is cut short")
            total += len(part)
            memory.check_bytes("decode_compressed", 2 * total, f"of more than {total} bytes")
            yield part
        data = stream.unused_data
        if not data.startswith(_GZIP_BEGIN) or bits != WINDOW_BITS["GZIP"]:
            return


decode_compressed_op = define_op(
    "DecodeCompressed",
    args("bytes", STRING),
    infer=lambda bytes, *, compression_type: bytes,
    kernel=lambda xp, x, *, compression_type: mapped(
        xp, lambda data: _decompress(data, compression_type), x
    ),
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    elementwise=True,
)


def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Tensor:
    """Strings decompressed: "GZIP" or "ZLIB" data, or "" for none.

    Args:
      bytes: strings of any shape.
      compression_type: how they are compressed.
      name: the name of the node in a graph.

    Returns:
      Strings of the shape of `bytes`.

    Raises:
      tf.errors.InvalidArgumentError: if the data is damaged, or the type is another one.

    >>> import zlib
    >>> tf.io.decode_compressed(zlib.compress(b"hello"), "ZLIB").numpy()
    b'hello'
    """
    kind = compression_name("decode_compressed", compression_type)
    return decode_compressed_op(string_tensor(bytes), compression_type=kind, name=name)


def _encode_base64(xp: ArrayNamespace, x: Any, *, pad: bool) -> Array:
    x = as_array(x)
    found = making.encoded(x, _BASE64, pad) if packed.pays(x.size, "making") else None
    return _encode_some(xp, x, pad) if found is None else found


_STANDARD, _WEB_SAFE = bytes.maketrans(b"-_", b"+/"), bytes.maketrans(b"+/", b"-_")


def _encode_some(xp: ArrayNamespace, x: Array, pad: bool) -> Array:
    """One by one, but for the letters that differ from those of ordinary base64."""
    if not x.size:
        return x
    encoded = [binascii.b2a_base64(data, newline=False) for data in x.reshape(-1).tolist()]
    text = b",".join(encoded).translate(_WEB_SAFE, b"" if pad else b"=")
    return xp.as_strings(text.split(b","), x.shape)


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_NUMBERS = bytes([_BASE64.find(letter) % 256 for letter in range(256)])


def _decode_base64(xp: ArrayNamespace, x: Any) -> Array:
    x = as_array(x)
    found = making.decoded(x, _NUMBERS) if packed.pays(x.size, "making") else None
    return _decode_some(xp, x) if found is None else found


def _decode_some(xp: ArrayNamespace, x: Array) -> Array:
    """All at once, if none is padded; else one by one, with what is wrong with one."""
    strings = x.reshape(-1).tolist()
    text = b",".join(strings)
    others = text.translate(None, _BASE64)
    if len(others) != x.size - 1 or others.strip(b",") or 1 in [len(s) % 4 for s in strings]:
        return mapped(xp, _decode_string, x)
    pieces = text.translate(_STANDARD).split(b",")
    return xp.as_strings([binascii.a2b_base64(piece + b"==") for piece in pieces], x.shape)


def _decode_string(data: bytes) -> bytes:
    bare = data.rstrip(b"=")
    padded = len(data) > len(bare)
    if (
        bare.translate(None, _BASE64)
        or len(bare) % 4 == 1
        or (padded and len(data) != len(bare) + -len(bare) % 4)
    ):
        raise InvalidArgumentError(None, None, f"decode_base64: {data!r} is no web-safe base64.")
    return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))


encode_base64_op = define_op(
    "EncodeBase64",
    args("input", STRING),
    infer=lambda x, *, pad: x,
    kernel=_encode_base64,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    elementwise=True,
)

decode_base64_op = define_op(
    "DecodeBase64",
    args("input", STRING),
    infer=lambda x: x,
    kernel=_decode_base64,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    elementwise=True,
)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in web-safe base64, padded with "=" if wanted.

    Args:
      input: strings of any shape.
      pad: whether results are filled up to a multiple of four characters.
      name: the name of the node in a graph.

    Returns:
      Strings of the shape of `input`.

    Raises:
      TypeError: if `pad` is no bool.
      DTypeError: if `input` is no string.

    >>> tf.io.encode_base64("hello").numpy()
    b'aGVsbG8'
    """
    if not isinstance(pad, bool):
        raise TypeError(f"encode_base64: pad must be True or False, got {pad!r}.")
    return encode_base64_op(string_tensor(input), pad=pad, name=name)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """The strings that `encode_base64` encoded.

    Args:
      input: strings of any shape, with or without padding.
      name: the name of the node in a graph.

    Returns:
      Strings of the shape of `input`.

    Raises:
      tf.errors.InvalidArgumentError: if a string is no web-safe base64.

    >>> tf.io.decode_base64("aGVsbG8").numpy()
    b'hello'
    """
    return decode_base64_op(string_tensor(input), name=name)
