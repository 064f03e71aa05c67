"""Lines of comma-separated values: `decode_csv`, and what readers of CSV files share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes, xp
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import STRING, DType, float32, float64, int32, int64, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import ArgumentError, InvalidArgumentError, ShapeError
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op, each
from weft._src.ops.strings import in_bulk, packed
from weft._src.ops.strings.elements import as_array, string_tensor
from weft._src.ops.strings.number_text import float_in, int_in, plain_numbers
from weft._src.ops.strings.packed import Packed

COLUMN_DTYPES = frozenset({float32, float64, int32, int64, string})


class Format(NamedTuple):
    """How a line is divided into fields."""

    delimiter: bytes = b","
    quotes: bool = True
    na_value: bytes = b""


def split_line(line: bytes, form: Format) -> list[bytes]:
    """The fields of a line; InvalidArgumentError saying what is wrong with its quotes."""
    if not form.quotes or b'"' not in line:
        return line.split(form.delimiter) if line else []
    out: list[bytes] = []
    at, n = 0, len(line)
    while True:
        if at < n and line[at : at + 1] == b'"':
            field, at = _quoted(line, at + 1)
            if at < n and line[at : at + 1] != form.delimiter:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"CSV: in {line!r} a quote inside of a quoted field must be doubled.",
                )
            out.append(field)
        else:
            end = line.find(form.delimiter, at)
            end = n if end < 0 else end
            if b'"' in line[at:end]:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"CSV: in {line!r} a field that holds a quote must be quoted itself.",
                )
            out.append(line[at:end])
            at = end
        if at >= n:
            return out
        at += 1  # the delimiter
        if at == n:
            out.append(b"")
            return out


def _quoted(line: bytes, at: int) -> tuple[bytes, int]:
    parts = []
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise InvalidArgumentError(None, None, f"CSV: in {line!r} a quoted field has no end.")
        parts.append(line[at:end])
        if line[end + 1 : end + 2] != b'"':
            return b"".join(parts), end + 1
        parts.append(b'"')
        at = end + 2


def converted(field: bytes, dtype: DType, where: str) -> Any:
    """A field as a value; InvalidArgumentError naming the field if it is none."""
    if dtype is string:
        return field
    number = float_in(field) if dtype.is_floating else int_in(field, dtype)
    if number is None:
        raise InvalidArgumentError(
            None, None, f"CSV: {where} is {field!r}, which is no {dtype.name}."
        )
    return number


class Column(NamedTuple):
    """A column: its number, dtype, and whether it must be there."""

    place: int
    dtype: DType
    required: bool


def column_value(column: Column, fields: Sequence[bytes], default: Any, form: Format,
                 record: int) -> Any:  # fmt: skip
    """The value of a column in a line that has been split."""
    field = fields[column.place]
    if field in (b"", form.na_value):
        if column.required:
            raise InvalidArgumentError(
                None,
                None,
                f"CSV: field {column.place} is empty in record {record}, but is required: it has "
                "no default.",
            )
        return default
    return converted(field, column.dtype, f"field {column.place} in record {record}")


# --- decode_csv ----------------------------------------------------------------------------------


def _decode_infer(
    records: TensorSpec, *defaults: TensorSpec, columns: tuple[Column, ...], width: int | None,
    form: Format,
) -> tuple[TensorSpec, ...]:  # fmt: skip
    return tuple([records.with_dtype(column.dtype) for column in columns])


def _decode_kernel(
    xp: ArrayNamespace, records: TensorLike, *defaults: Any,
    columns: tuple[Column, ...], width: int | None, form: Format,
) -> tuple[Any, ...]:  # fmt: skip
    records = as_array(records)
    fallback = [as_array(d).reshape(-1)[0] if as_array(d).size else None for d in defaults]
    if records.size < packed.WORTH_PACKING:
        few = _columns_of_few(records.reshape(-1).tolist(), columns, width, form)
        if few is not None:
            return tuple([array.reshape(records.shape) for array in few])
    if packed.pays(records.size * len(columns)):
        at_once = columns_in_bulk(packed.pack(records), columns, fallback, width, form)
        if at_once is not None:
            return tuple([array.reshape(records.shape) for array in at_once])
    lines: list[bytes] = records.reshape(-1).tolist()
    out = [np.empty(len(lines), column.dtype.numpy_dtype) for column in columns]
    for i, line in enumerate(lines):
        found = split_line(line, form)
        check_width(found, columns, width, i)
        for array, column, default in zip(out, columns, fallback, strict=True):
            array[i] = column_value(column, found, default, form, i)
    return tuple([array.reshape(records.shape) for array in out])


def _columns_of_few(
    lines: list[bytes], columns: Sequence[Column], width: int | None, form: Format
) -> list[Array] | None:
    """The columns of plain lines without gaps, as vectors; None for what is to be looked at."""
    if not lines or b"" in lines:
        return None
    if form.quotes and any(b'"' in line for line in lines):
        return None
    rows = [line.split(form.delimiter) for line in lines]
    count = len(rows[0])
    least = width if width is not None else max([c.place for c in columns], default=-1) + 1
    if {*map(len, rows)} != {count} or count < least or count != (width or count):
        return None
    out = []
    for column in columns:
        fields = [row[column.place] for row in rows]
        if b"" in fields or form.na_value in fields:
            return None
        found: Array | None
        if column.dtype is string:
            found = xp.as_strings(fields, (len(fields),))
        else:
            found = plain_numbers(fields, column.dtype)
        if found is None:
            return None
        out.append(found)
    return out


def columns_in_bulk(
    lines: Packed, columns: Sequence[Column], defaults: Sequence[Any], width: int | None,
    form: Format,
) -> list[Array] | None:  # fmt: skip
    """The columns of many lines at once, as vectors.

    None if they are not all alike, hold quotes, or something is wrong with one: those are read, and
    told, line by line.
    """
    data, starts, sizes = lines
    has_quotes = form.quotes and bool((data == ord('"')).any())
    if len(starts) == 0 or has_quotes or len(form.delimiter) != 1:
        return None
    is_cut = data == ord(form.delimiter)
    cuts, passed = np.flatnonzero(is_cut), in_bulk.before(is_cut)
    fields = passed[starts + sizes] - passed[starts] + 1
    count = int(fields[0])
    least = width if width is not None else max(column.place for column in columns) + 1
    if (fields != count).any() or not sizes.all() or count < least or count != (width or count):
        return None
    between = cuts.reshape(len(starts), count - 1)
    begins = np.concatenate([starts[:, None], between + 1], axis=1)
    ends = np.concatenate([between, (starts + sizes)[:, None]], axis=1)
    out = []
    for column, default in zip(columns, defaults, strict=True):
        begin, end = begins[:, column.place], ends[:, column.place]
        found = _column_in_bulk(Packed(data, begin, end - begin), column, default, form)
        if found is None:
            return None
        out.append(found)
    return out


def _column_in_bulk(fields: Packed, column: Column, default: Any, form: Format) -> Array | None:
    """A column, None if a field is no such value, or a required one is missing."""
    missing = fields.sizes == 0
    texts = None
    if form.na_value or column.dtype is string:
        texts = fields.strings(fields.sizes.shape)
        if form.na_value:
            missing |= texts == form.na_value
    if column.required and missing.any():
        return None
    if texts is not None and column.dtype is string:
        if not column.required:
            texts[missing] = default
        return texts
    values, fine = in_bulk.decimal_numbers(fields, column.dtype.is_integer)
    if column.dtype.is_integer:
        fine &= (values >= column.dtype.min) & (values <= column.dtype.max)
    out = np.where(fine, values, 0).astype(column.dtype.numpy_dtype)
    if not column.required:
        out[missing] = default
    rest = np.flatnonzero(~fine & ~missing)  # exponents, spaces and the like
    pieces = Packed(fields.data, fields.starts[rest], fields.sizes[rest]).strings(rest.shape)
    for i, text in zip(rest.tolist(), pieces.tolist(), strict=True):
        is_float = column.dtype.is_floating
        number = float_in(text) if is_float else int_in(text, column.dtype)
        if number is None:
            return None
        out[i] = number
    return out


def check_width(
    found: Sequence[bytes], columns: Sequence[Column], width: int | None, record: int
) -> None:
    """InvalidArgumentError unless a line has as many fields as there must be."""
    least = width if width is not None else max([c.place for c in columns], default=-1) + 1
    if len(found) < least or (width is not None and len(found) != width):
        raise InvalidArgumentError(
            None, None, f"CSV: {least} fields are expected, record {record} has {len(found)}."
        )


decode_csv_op = define_op(
    "DecodeCSV",
    args("records", STRING) + each("*record_defaults", COLUMN_DTYPES),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """The columns of lines of comma-separated values.

    A default says the dtype of its column and what an empty field stands for; an empty list (or a
    dtype) makes the column required.

    Args:
      records: the lines, strings of any shape.
      record_defaults: a list with an item for each column that is read: a value (or a list of one),
        an empty list, or a dtype. Columns are float32, float64, int32, int64 or string.
      field_delim: the character between fields.
      use_quote_delim: whether fields may stand in double quotes.
      na_value: a text that counts as an empty field.
      select_cols: the numbers of the columns that are read, in increasing order; None is all.
      name: the name of the node in a graph.

    Returns:
      A list of tensors, one for each column, of the shape of `records`.

    Raises:
      tf.errors.InvalidArgumentError: if a line has another number of fields, a field cannot be
        converted, or a required one is empty.
      ValueError: if `record_defaults` is no list or empty, `field_delim` is not one character, or
        `select_cols` is not in order or of another length.
      TypeError: if a column has another dtype, or `na_value` or `use_quote_delim` are no text and
        bool.
      ShapeError: if a default holds more than one value.

    >>> numbers, words = tf.io.decode_csv(["1,a", ",b"], [[7], [""]])
    >>> numbers.numpy(), words.numpy()
    (array([1, 7], dtype=int32), array([b'a', b'b'], dtype=object))
    """
    form = checked_format("decode_csv", field_delim, use_quote_delim, na_value)
    columns, defaults = checked_columns("decode_csv", record_defaults, select_cols)
    width = len(columns) if select_cols is None else None
    out: Sequence[Tensor] = decode_csv_op(
        string_tensor(records), *defaults, columns=columns, width=width, form=form, name=name
    )
    return list(out)


def checked_format(op: str, field_delim: Any, use_quote_delim: Any, na_value: Any) -> Format:
    """The arguments that say how lines are divided."""
    if not isinstance(field_delim, (str, bytes)) or len(field_delim) != 1:
        raise ValueError(f"{op}: field_delim must be one character, got {field_delim!r}.")
    if not isinstance(na_value, (str, bytes)):
        raise TypeError(f"{op}: na_value must be text, got {na_value!r}.")
    if not isinstance(use_quote_delim, bool):
        raise TypeError(f"{op}: use_quote_delim must be True or False, got {use_quote_delim!r}.")
    delimiter = field_delim.encode() if isinstance(field_delim, str) else field_delim
    missing = na_value.encode() if isinstance(na_value, str) else na_value
    return Format(delimiter, use_quote_delim, missing)


def checked_columns(
    op: str, record_defaults: Any, select_cols: Sequence[int]
) -> tuple[tuple[Column, ...], list[Tensor]]:
    """The columns to be read, and a tensor for each that is its default (or empty)."""
    if not isinstance(record_defaults, (list, tuple)) or not record_defaults:
        raise ArgumentError(
            f"{op}: record_defaults must be a list with an item for each column, got "
            f"{record_defaults!r}."
        )
    defaults = [_default(op, i, item) for i, item in enumerate(record_defaults)]
    if select_cols is None:
        numbers = list(range(len(defaults)))
    else:
        numbers = column_numbers(op, select_cols, "select_cols")
    if len(numbers) != len(defaults):
        raise ArgumentError(
            f"{op}: select_cols has {len(numbers)} columns, record_defaults {len(defaults)}."
        )
    columns = tuple([
        Column(number, default.dtype, default.shape.num_elements() == 0)
        for number, default in zip(numbers, defaults, strict=True)
    ])  # fmt: skip
    return columns, defaults


def column_numbers(op: str, columns: Sequence[int], argument: str) -> list[int]:
    """Numbers of columns, of the argument of that name, which must ascend from 0 on."""
    try:
        numbers = [int(c) for c in columns]
    except (TypeError, ValueError):
        raise TypeError(
            f"{op}: {argument} must be a list of column numbers, got {columns!r}."
        ) from None
    if any(b <= a for a, b in pairwise(numbers)) or min(numbers, default=0) < 0:
        raise ArgumentError(
            f"{op}: {argument} must be numbers from 0 on in increasing order, got {numbers}."
        )
    return numbers


def _default(op: str, i: int, item: Any) -> Tensor:
    if isinstance(item, (DType, type)) or (isinstance(item, str) and item in _DTYPE_NAMES):
        dtype = dtypes.as_dtype(item)
        tensor: Tensor = EagerTensor(np.empty(0, dtype.numpy_dtype))
    else:
        try:
            tensor = convert_to_tensor(item)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{op}: record_defaults[{i}]: {error}") from None
    if tensor.dtype not in COLUMN_DTYPES:
        raise TypeError(
            f"{op}: record_defaults[{i}] has dtype {tensor.dtype.name}; columns are float32, "
            "float64, int32, int64 or string."
        )
    if tensor.shape.rank not in (None, 0, 1) or (tensor.shape.num_elements() or 0) > 1:
        raise ShapeError(
            f"{op}: record_defaults[{i}] must hold at most one value, got shape {tensor.shape}."
        )
    return tensor


_DTYPE_NAMES = frozenset({"float32", "float64", "int32", "int64"})
