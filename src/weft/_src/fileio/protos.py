"""`tf.io.decode_proto` and `encode_proto`: fields of any message, known by its descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import DATA, STRING, DType, int32, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import (
    DataLossError,
    InvalidArgumentError,
    ParseError,
    ShapeError,
    UnsupportedError,
)
from weft._src.messages import descriptors
from weft._src.messages.descriptors import FieldInfo
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op, each
from weft._src.ops.strings.elements import as_array, string_tensor

# The dtypes that the values of a field may have, the usual one first.
_DTYPES = {
    "double": "float64", "float": "float32 float64", "int64": "int64", "sint64": "int64",
    "sfixed64": "int64", "uint64": "uint64", "fixed64": "uint64", "int32": "int32 int64",
    "sint32": "int32 int64", "sfixed32": "int32 int64", "uint32": "uint32 uint64",
    "fixed32": "uint32 uint64", "enum": "int32", "bool": "bool", "string": "string",
    "bytes": "string", "message": "string",
}  # fmt: skip


class DecodeProtoV2(NamedTuple):
    """How many values each field has, and the values."""

    sizes: Tensor
    values: list[Tensor]


def _fields(op: str, names: Sequence[str], message_type: str, source: bytes) -> list[FieldInfo]:
    if not isinstance(message_type, str):
        raise TypeError(f"{op}: message_type must be a string, got {message_type!r}.")
    known = descriptors.message(op, message_type, source)
    for name in names:
        if name not in known:
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: the message {message_type} has no field {name!r}; it has "
                f"{', '.join(sorted(known)) or 'none'}.",
            )
    return [known[name] for name in names]


def _check_type(op: str, field: FieldInfo, dtype: DType) -> None:
    allowed = _DTYPES[field.type].split()
    if dtype.name not in allowed:
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: the field {field.name!r} is of type {field.type}, and its values "
            f"{' or '.join(allowed)}, not {dtype.name}.",
        )


def _names(op: str, field_names: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(field_names, (list, tuple)) or not all(
        isinstance(name, (str, bytes)) for name in field_names
    ):
        raise TypeError(f"{op}: field_names must be a list of strings, got {field_names!r}.")
    return tuple([name if isinstance(name, str) else name.decode() for name in field_names])


def _listed(op: str, items: Any, name: str) -> list[Any]:
    if not isinstance(items, (list, tuple)):
        raise TypeError(f"{op}: {name} must be a list, got {items!r}.")
    return list(items)


def _source(op: str, descriptor_source: str | bytes) -> bytes:
    if not isinstance(descriptor_source, (str, bytes)):
        raise TypeError(
            f"{op}: descriptor_source must be a string or bytes, got {descriptor_source!r}."
        )
    text = descriptor_source
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


# --- reading -------------------------------------------------------------------------------------


def _decode_infer(
    x: TensorSpec,
    *,
    message_type: str,
    field_names: tuple[str, ...],
    output_types: tuple[DType, ...],
    descriptor_source: bytes,
) -> tuple[TensorSpec, ...]:
    dims = None if x.dims is None else (*x.dims, len(field_names))
    values = [
        TensorSpec.of(dtype, None if x.dims is None else (*x.dims, Dim())) for dtype in output_types
    ]
    return TensorSpec.of(int32, dims), *values


def _decode_kernel(
    xp: ArrayNamespace,
    x: Any,
    *,
    message_type: str,
    field_names: tuple[str, ...],
    output_types: tuple[DType, ...],
    descriptor_source: bytes,
) -> tuple[Array, ...]:
    op = "decode_proto"
    fields = _fields(op, field_names, message_type, descriptor_source)
    serialized = as_array(x)
    if not serialized.size:
        raise InvalidArgumentError(None, None, f"{op}: bytes must hold at least one message.")
    try:
        rows = [descriptors.read(data, fields) for data in serialized.reshape(-1).tolist()]
    except ParseError as error:
        raise DataLossError(
            None, None, f"{op}: bytes hold what is no serialized {message_type}."
        ) from error
    sizes = xp.array([[len(values) for values in row] for row in rows], xp.int32)
    out = [xp.reshape(sizes, (*serialized.shape, len(fields)))]
    for i, (field, dtype) in enumerate(zip(fields, output_types, strict=True)):
        found = descriptors.filled([row[i] for row in rows], field, dtype.numpy_dtype)
        out.append(xp.reshape(found, (*serialized.shape, found.shape[1])))
    return tuple(out)


decode_proto_op = define_op(
    "DecodeProtoV2",
    args("bytes", STRING),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
)


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[DTypeLike],
    descriptor_source: str | bytes = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> DecodeProtoV2:
    """Fields of serialized messages, as tensors.

    Args:
      bytes: serialized messages, a string tensor of any shape that is not empty.
      message_type: the full name of the message, such as "tensorflow.Feature".
      field_names: the names of the fields that are wanted.
      output_types: a dtype for each: that of the field, or for numbers of 32 bits that of 64. Enums
        are int32, messages in messages strings, which can be decoded again.
      descriptor_source: what says which fields a message has: the path of a file with a
        FileDescriptorSet (`protoc --descriptor_set_out`), or b"bytes://" and the bytes of one.
        "local://" knows the messages of Weft, such as `tf.train.Example`.
      message_format: "binary"; "text" is not supported.
      sanitize: accepted for compatibility: what is no message is always refused.

    Returns:
      A named tuple: `sizes`, int32 [..., fields], how many values each field has, and `values`, a
      list of tensors [..., most values]. What is missing is the default of the field.

    Raises:
      InvalidArgumentError: if there is no such message or field, or a dtype does not fit.
      DataLossError: if bytes are no such message.
      UnsupportedError: if messages are text.

    >>> features = [tf.train.Int64List(value=n).SerializeToString() for n in ([1, 2], [3])]
    >>> found = tf.io.decode_proto(features, "tensorflow.Int64List", ["value"], [tf.int64])
    >>> found.sizes.numpy().ravel(), found.values[0].numpy().tolist()
    (array([2, 1], dtype=int32), [[1, 2], [3, 0]])
    """
    op = "decode_proto"
    if not isinstance(message_format, str):
        raise TypeError(f"{op}: message_format must be a string, got {message_format!r}.")
    if message_format == "text":
        raise UnsupportedError(
            f"{op}: messages as text are not read. Parse them with google.protobuf.text_format, "
            "and pass what SerializeToString gives."
        )
    if message_format != "binary":
        raise InvalidArgumentError(
            None, None, f"{op}: message_format must be 'binary' or 'text', got {message_format!r}."
        )
    names, source = _names(op, field_names), _source(op, descriptor_source)
    types = tuple([dtypes.as_dtype(t) for t in _listed(op, output_types, "output_types")])
    if len(types) != len(names):
        raise InvalidArgumentError(
            None, None, f"{op}: there are {len(names)} field_names, but {len(types)} output_types."
        )
    for field, dtype in zip(_fields(op, names, message_type, source), types, strict=True):
        _check_type(op, field, dtype)
    sizes, *values = decode_proto_op(
        string_tensor(bytes), message_type=message_type, field_names=names, output_types=types,
        descriptor_source=source, name=name,
    )  # fmt: skip
    return DecodeProtoV2(sizes, list(values))


# --- writing -------------------------------------------------------------------------------------


def _encode_infer(
    sizes: TensorSpec,
    *values: TensorSpec,
    field_names: tuple[str, ...],
    message_type: str,
    descriptor_source: bytes,
) -> TensorSpec:
    op, dims = "encode_proto", sizes.dims
    rules.check_rank_at_least(op, sizes, 1, name="sizes")
    lead = None if dims is None else dims[:-1]
    if dims is not None:
        rules.unify(op, dims[-1], len(field_names), "the last size of sizes and the fields")
    for name, value in zip(field_names, values, strict=True):
        if value.dims is None:
            continue
        if len(value.dims) < 2:
            raise ShapeError(
                f"{op}: values of {name!r} must be at least a matrix, got shape {value.shape}."
            )
        lead = rules.merge_dims(op, lead, value.dims[:-1], "sizes and values without the last axis")
    return TensorSpec.of(string, lead)


def _encode_kernel(
    xp: ArrayNamespace,
    sizes: Array,
    *values: Any,
    field_names: tuple[str, ...],
    message_type: str,
    descriptor_source: bytes,
) -> Array:
    op = "encode_proto"
    fields = _fields(op, field_names, message_type, descriptor_source)
    rows = [as_array(value).reshape(-1, value.shape[-1]).tolist() for value in values]
    counts = sizes.reshape(-1, len(fields)).tolist()
    order = sorted(range(len(fields)), key=lambda i: fields[i].number)
    out = []
    for i, wanted in enumerate(counts):
        parts = []
        for k in order:
            if wanted[k] > len(rows[k][i]):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"{op}: sizes say {wanted[k]} values of {fields[k].name!r} in message {i}, "
                    f"there are {len(rows[k][i])}.",
                )
            parts.append(fields[k].written(rows[k][i][: max(wanted[k], 0)]))
        out.append(b"".join(parts))
    return xp.as_strings(out, sizes.shape[:-1])


encode_proto_op = define_op(
    "EncodeProto",
    args("sizes", frozenset({int32})) + each("*values", DATA),
    infer=_encode_infer,
    kernel=_encode_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str | bytes = "local://",
    name: str | None = None,
) -> Tensor:
    """Serialized messages, from the values of their fields.

    Args:
      sizes: int32 [..., fields], how many values of each field are written.
      values: a list of tensors [..., values], one for each field, of its dtype.
      field_names: the names of the fields.
      message_type: the full name of the message.
      descriptor_source: what says which fields a message has, as for `tf.io.decode_proto`.

    Returns:
      A string tensor of the shape of `sizes` without its last axis.

    Raises:
      InvalidArgumentError: if there is no such message or field, a dtype or shape does not fit, or
        there are fewer values than `sizes` says.

    >>> tf.io.encode_proto(
    ...     [[2], [1]], [tf.constant([[1, 2], [3, 0]], tf.int64)], ["value"], "tensorflow.Int64List"
    ... ).numpy()[0] == tf.train.Int64List(value=[1, 2]).SerializeToString()
    True
    """
    op = "encode_proto"
    names, source = _names(op, field_names), _source(op, descriptor_source)
    given = [convert_to_tensor(value) for value in _listed(op, values, "values")]
    if not names or len(given) != len(names):
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: values and field_names must have one length, at least 1, got {len(given)} and "
            f"{len(names)}.",
        )
    for field, value in zip(_fields(op, names, message_type, source), given, strict=True):
        _check_type(op, field, value.dtype)
    return encode_proto_op(
        of_dtype(op, sizes, int32, "sizes"), *given, field_names=names, message_type=message_type,
        descriptor_source=source, name=name,
    )  # fmt: skip
