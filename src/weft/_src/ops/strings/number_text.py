"""Numbers as text and back."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import (
    DATA,
    STRING,
    DType,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError
from weft._src.ops import graph_forms
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.strings import in_bulk, making, packed
from weft._src.ops.strings.elements import as_array, mapped, string_tensor

_FILLS = ("", " ", "+", "-", "0", "#")


def _as_string_infer(x: TensorSpec, *, form: str) -> TensorSpec:
    return x.with_dtype(dtypes.string)


def _as_string_kernel(xp: ArrayNamespace, x: Any, *, form: str) -> Array:
    x = casting.widened(as_array(x))
    if x.dtype == object:
        return mapped(xp, lambda s: form.encode() % s, x)
    flat = x.reshape(-1)
    if x.dtype.kind == "b":
        return xp.as_strings([b"false", b"true"], (2,))[flat.astype(np.intp)].reshape(x.shape)
    if x.dtype.kind == "c":
        real, imag = [_number_texts(xp, part, form) for part in (flat.real, flat.imag)]
        return _pairs(xp, real, imag, x.shape)
    return _number_texts(xp, flat, form).reshape(x.shape)


def _pairs(xp: ArrayNamespace, real: Array, imag: Array, shape: tuple[int, ...]) -> Array:
    """Complex numbers from the texts of their parts."""
    if packed.pays(real.size, "making", costly=False):
        fixed = [xp.as_strings([text], (1,)) for text in (b"(", b",", b")")]
        found = making.joined([fixed[0], real, fixed[1], imag, fixed[2]], real.size, b"")
        if found is not None:
            return found.reshape(shape)
    texts = [b"(%b,%b)" % pair for pair in zip(real.tolist(), imag.tolist(), strict=True)]
    return xp.as_strings(texts, shape)


_WIDE = {"i": np.int64, "u": np.uint64}


def _number_texts(xp: ArrayNamespace, flat: Array, form: str) -> Array:
    wide = np.ascontiguousarray(flat, _WIDE.get(flat.dtype.kind, np.float64))
    if packed.pays(flat.size, "writing", costly=False):
        found = making.written(wide, form)
        if found is not None:
            out, others = found
            if len(others):
                texts = _formatted(wide[others].tolist(), form)
                out[others] = xp.as_strings(texts, others.shape)
            return out
    return xp.as_strings(_formatted(wide.tolist(), form), flat.shape)


def _formatted(values: list[Any], form: str) -> list[bytes]:
    if form.startswith("%0") and not all(map(math.isfinite, values)):
        # C does not fill up "inf" and "nan" with zeros, Python does.
        plain = form.replace("0", "", 1)
        return [(form if math.isfinite(v) else plain).encode() % v for v in values]
    # One formatting call for all of them is twice as fast as one for each.
    return (f"{form}\0".encode() * len(values) % tuple(values)).split(b"\0")[:-1]


as_string_op = define_op(
    "AsString",
    args("input", DATA),
    infer=_as_string_infer,
    kernel=_as_string_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    elementwise=True,
    graphdef=graph_forms.as_string,
)


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each element as text.

    Floats have six digits after the point, or `precision`; `scientific` gives them an exponent,
    `shortest` six significant digits and an exponent only if it is needed. `width` is the least
    length, filled up as `fill` says: spaces in front, zeros ("0"), spaces behind ("-"), or with a
    sign for positive numbers too ("+", " ").

    Args:
      input: a tensor of numbers (of any dtype), truth values or strings.
      precision: the digits after the point (significant ones with `shortest`); -1 means six.
      scientific: whether floats have an exponent.
      shortest: whether they have one only if needed.
      width: the least length; -1 means none.
      fill: "", " ", "+", "-", "0" or "#".

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if there is no such fill, `scientific` comes with `shortest`, or one of
        them or a precision with other than floating numbers.

    >>> tf.strings.as_string([3.14159, 2.0], precision=2).numpy()
    array([b'3.14', b'2.00'], dtype=object)
    >>> tf.strings.as_string([7, 42], width=5, fill="0").numpy()
    array([b'00007', b'00042'], dtype=object)
    """
    x = convert_to_tensor(input)
    form = _format_of(dtypes.stored_as(x.dtype), precision, scientific, shortest, width, fill)
    return as_string_op(x, form=form, name=name)


def _format_of(
    dtype: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> str:
    if fill not in _FILLS:
        raise InvalidArgumentError(
            None, None, f"as_string: fill must be one of {_FILLS}, got {fill!r}."
        )
    if scientific and shortest:
        raise InvalidArgumentError(
            None, None, "as_string: scientific and shortest cannot both be True."
        )
    is_float = dtype.is_floating or dtype.is_complex
    if not (is_float or dtype is dtypes.string) and (precision >= 0 or scientific or shortest):
        raise InvalidArgumentError(
            None,
            None,
            "as_string: precision, scientific and shortest are for floating dtypes, got "
            f"{dtype.name}.",
        )
    if dtype.is_unsigned and fill in ("+", " "):
        fill = ""  # no sign to show
    if is_float:
        kind = "e" if scientific else "g" if shortest else "f"
    else:
        kind = "d" if dtype.is_integer else "s"
        fill = fill.replace("#", "")
    digits = f".{precision}" if precision >= 0 and is_float else ""
    return f"%{fill}{width if width > 0 else ''}{digits}{kind}"


_NUMBER = re.compile(
    rb"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan(?:\(\w*\))?)", re.IGNORECASE
)
_HEX = re.compile(rb"[+-]?0x(?:[\da-f]+(?:\.[\da-f]*)?|\.[\da-f]+)(?:p[+-]?\d+)?", re.IGNORECASE)
# Zeros in front do not count; Python refuses to read numbers of thousands of digits.
_INTEGER = re.compile(rb"([+-]?)0*(\d{1,20})")
_MOST_LETTERS = 4000  # of some numbers together: fewer digits than Python refuses to read
_PARSED = (float32, float64, int32, int64, uint32, uint64)


def float_in(s: bytes) -> float | None:
    """The number that a string spells; None if it spells none."""
    text = s.strip()
    if _NUMBER.fullmatch(text):
        return float(text.partition(b"(")[0])
    if not _HEX.fullmatch(text):
        return None
    try:
        return float.fromhex(text.decode())
    except OverflowError:
        return -math.inf if text.startswith(b"-") else math.inf


def int_in(s: bytes, dtype: DType) -> int | None:
    """The integer that a string spells; None if it spells none that the dtype has."""
    found = _INTEGER.fullmatch(s.strip())
    if found is None:
        return None
    value = int(found[1] + found[2])
    return value if dtype.min <= value <= dtype.max else None


def _number_in(s: bytes, dtype: DType) -> float:
    value = int_in(s, dtype) if dtype.is_integer else float_in(s)
    if value is None:
        wanted = f"an integer of dtype {dtype.name}" if dtype.is_integer else "a number"
        raise InvalidArgumentError(None, None, f"to_number: the string {s!r} is not {wanted}.")
    return value


def _to_number_kernel(xp: ArrayNamespace, x: Any, *, out_type: DType) -> Array:
    x = as_array(x)
    if 1 < x.size < packed.WORTH_PACKING:
        found = plain_numbers(x.reshape(-1).tolist(), out_type)
        if found is not None:
            return found.reshape(x.shape)
    if packed.pays(x.size):
        return numbers_in(x.reshape(-1), out_type).reshape(x.shape)
    values = [_number_in(s, out_type) for s in x.reshape(-1).tolist()]
    return xp.array(values, out_type.numpy_dtype).reshape(x.shape)


def plain_numbers(strings: list[bytes], dtype: DType) -> Array | None:
    """The numbers that a few strings spell; None if one has other letters, or is none of those."""
    # Python reads more than TensorFlow does: white space, names, and digits in groups.
    text = b",".join(strings)
    is_integer = dtype.is_integer
    others = text.translate(None, b"0123456789-" if is_integer else b"0123456789.-+eE")
    if len(others) != len(strings) - 1 or others.strip(b",") or len(text) > _MOST_LETTERS:
        return None
    try:
        return np.array(list(map(int if is_integer else float, strings)), dtype.numpy_dtype)
    except (ValueError, OverflowError):
        return None


def numbers_in(strings: Array, dtype: DType) -> Array:
    """The numbers that many strings spell: those in plain decimals at once, others one by one."""
    values, fine = in_bulk.decimal_numbers(strings, dtype.is_integer)
    if dtype.is_integer and dtype is not int64:  # which has room for all that are read here
        fine &= (values >= dtype.min) & (values <= min(dtype.max, 2**63 - 1))
    if fine.all():
        return values.astype(dtype.numpy_dtype, copy=False)
    out = np.where(fine, values, 0).astype(dtype.numpy_dtype)
    for i in np.flatnonzero(~fine).tolist():
        out[i] = _number_in(strings[i], dtype)
    return out


to_number_op = define_op(
    "StringToNumber",
    args("string_tensor", STRING),
    infer=lambda x, *, out_type: x.with_dtype(out_type),
    kernel=_to_number_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    elementwise=True,
)


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """The numbers that strings spell.

    Args:
      input: a tensor of strings; white space around a number does not matter.
      out_type: the dtype of the result: float32, float64, int32, int64, uint32 or uint64.

    Returns:
      A tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if a string is no number, or none that the dtype has.
      DTypeError: if `out_type` is another dtype.

    >>> tf.strings.to_number(["1.5", "-2e3"]).numpy()
    array([ 1.5e+00, -2.0e+03], dtype=float32)
    """
    out_type = dtypes.as_dtype(out_type)
    if out_type not in _PARSED:
        names = ", ".join(d.name for d in _PARSED)
        raise DTypeError(f"to_number: out_type must be one of {names}, got {out_type.name}.")
    return to_number_op(string_tensor(input), out_type=out_type, name=name)
