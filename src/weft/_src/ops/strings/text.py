"""Length, case, white space and parts of strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import INDEX, STRING, int32
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.elementwise import operands
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, Absent, Op, args, define_op
from weft._src.ops.strings import making, packed
from weft._src.ops.strings.elements import as_array, mapped, string_tensor

# Every byte of a UTF-8 character but the first is one of these.
_CONTINUATION = bytes(range(0x80, 0xC0))


def _unit(op: str, unit: Any) -> str:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(
            None, None, f"{op}: unit must be 'BYTE' or 'UTF8_CHAR', got {unit!r}."
        )
    return unit


def _characters(s: bytes) -> int:
    return len(s.translate(None, _CONTINUATION))


def _length_kernel(xp: ArrayNamespace, x: Any, *, unit: str) -> Array:
    x = as_array(x)
    if unit == "BYTE":
        return packed.sizes(x).astype(np.int32)
    if packed.pays(x.size, "making", costly=False):
        found = making.character_counts(x)
        if found is not None:
            return found.astype(np.int32)
    return xp.array(list(map(_characters, x.reshape(-1).tolist())), np.int32).reshape(x.shape)


length_op = define_op(
    "StringLength",
    args("input", STRING),
    infer=rules.same_as(int32),
    kernel=_length_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    elementwise=True,
)


def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or of UTF-8 characters, of each string.

    Args:
      input: a tensor of strings.
      unit: "BYTE" or "UTF8_CHAR".

    Returns:
      An int32 tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if there is no such unit.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.length(["a", "äöü"]).numpy()
    array([1, 6], dtype=int32)
    >>> tf.strings.length(["a", "äöü"], unit="UTF8_CHAR").numpy()
    array([1, 3], dtype=int32)
    """
    return length_op(string_tensor(input), unit=_unit("strings.length", unit), name=name)


def _elementwise(name: str, kernel: Callable[..., Any] | Absent) -> Op:
    return define_op(
        name,
        args("input", STRING),
        infer=rules.same,
        kernel=kernel,
        native=NO_NATIVE,
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
        elementwise=True,
    )


def _encoding(op: str, encoding: str) -> str:
    if encoding not in ("", "utf-8"):
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: encoding must be '' (only ASCII letters change) or 'utf-8', got {encoding!r}.",
        )
    return encoding


def _translated(xp: ArrayNamespace, x: Any, change: Callable[[bytes], bytes]) -> Array:
    """Strings that are changed byte by byte."""
    x = as_array(x)
    found = None
    if packed.pays(x.size, "making", costly=False):
        found = making.translated(x, change(bytes(range(256))))
    return mapped(xp, change, x) if found is None else found


def _recoded(xp: ArrayNamespace, x: Any, change: Callable[[str], str]) -> Array:
    """Strings that are changed as text: all as one, with a character between that ends words."""
    strings = as_array(x).reshape(-1).tolist()
    text = b"\0".join(strings)
    if not strings or text.count(0) != len(strings) - 1:
        return mapped(xp, lambda s: change(s.decode("utf-8", "replace")).encode(), x)
    changed = change(text.decode("utf-8", "replace")).encode()
    return xp.as_strings(changed.split(b"\0"), as_array(x).shape)


def _lower_kernel(xp: ArrayNamespace, x: Any, *, encoding: str) -> Array:
    if not encoding:
        return _translated(xp, x, bytes.lower)
    return _recoded(xp, x, str.lower)


lower_op = _elementwise(
    "StringLower",
    _lower_kernel,
)


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in lower case: ASCII letters, or with encoding="utf-8" all letters.

    Args:
      input: a tensor of strings.
      encoding: "" or "utf-8".

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if there is no such encoding.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.lower(["ABC"]).numpy()
    array([b'abc'], dtype=object)
    """
    return lower_op(string_tensor(input), encoding=_encoding("strings.lower", encoding), name=name)


def _upper_kernel(xp: ArrayNamespace, x: Any, *, encoding: str) -> Array:
    if not encoding:
        return _translated(xp, x, bytes.upper)
    return _recoded(xp, x, str.upper)


upper_op = _elementwise(
    "StringUpper",
    _upper_kernel,
)


def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in upper case: ASCII letters, or with encoding="utf-8" all letters.

    Args:
      input: a tensor of strings.
      encoding: "" or "utf-8".

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if there is no such encoding.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.upper(["abc"]).numpy()
    array([b'ABC'], dtype=object)
    """
    return upper_op(string_tensor(input), encoding=_encoding("strings.upper", encoding), name=name)


def _strip_kernel(xp: ArrayNamespace, x: Any) -> Array:
    x = as_array(x)
    found = making.stripped(x) if packed.pays(x.size, "making", costly=False) else None
    return mapped(xp, bytes.strip, x) if found is None else found


strip_op = _elementwise("StringStrip", _strip_kernel)


def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Strings without white space at both ends.

    Args:
      input: a tensor of strings.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.strip([" a b "]).numpy()
    array([b'a b'], dtype=object)
    """
    return strip_op(string_tensor(input), name=name)


def _substr_infer(x: TensorSpec, pos: TensorSpec, length: TensorSpec, *, unit: str) -> TensorSpec:
    if pos.rank is not None and length.rank is not None and pos.rank != length.rank:
        raise ShapeError(
            f"substr: pos and len must have equal shapes, got {pos.shape} and {length.shape}."
        )
    dims = rules.merge_dims("substr", pos.dims, length.dims, "pos and len")
    return x.with_dims(rules.broadcast_dims("substr", x.dims, dims))


def _substr_kernel(xp: ArrayNamespace, x: Any, pos: Any, length: Any, *, unit: str) -> Array:
    if pos.shape != length.shape:
        raise ValueError("pos and len differ in shape")
    x = as_array(x)
    # One place for all, by far the most usual: most of the time goes into looking at it.
    is_one = pos.size == 1 and pos.ndim <= x.ndim
    if not is_one:
        x, pos, length = xp.broadcast_arrays(x, pos, length)
    if packed.pays(x.size, "making", costly=unit != "BYTE"):
        found = making.cut(x, pos, length, unit)
        if found is not None:
            return found
    if is_one and unit == "BYTE" and x.size and pos >= 0 <= length:
        start, count = int(pos.flat[0]), int(length.flat[0])
        strings = x.reshape(-1).tolist()
        if min(map(len, strings)) >= start:
            return xp.as_strings([s[start : start + count] for s in strings], x.shape)
    cut = _cut_bytes if unit == "BYTE" else _cut_characters
    columns = [a.reshape(-1).tolist() for a in xp.broadcast_arrays(x, pos, length)]
    return xp.as_strings([cut(*row) for row in zip(*columns, strict=True)], x.shape)


def _cut_bytes(s: bytes, pos: int, length: int) -> bytes:
    start = _start(s, pos, len(s))
    return s[start:] if length < 0 else s[start : start + length]


def _cut_characters(s: bytes, pos: int, length: int) -> bytes:
    starts = [i for i, byte in enumerate(s) if byte & 0xC0 != 0x80]
    count = len(starts)
    start = _start(s, pos, count)
    stop = count if length < 0 else min(start + length, count)
    starts.append(len(s))
    return s[starts[start] : starts[stop]]


def _start(s: bytes, pos: int, count: int) -> int:
    if not -count <= pos <= count:
        raise InvalidArgumentError(
            None, None, f"substr: pos {pos} is out of range for the string {s!r} of length {count}."
        )
    return pos + count if pos < 0 else pos


substr_op = define_op(
    "Substr",
    args("input", STRING) + args("pos len", INDEX),
    infer=_substr_infer,
    kernel=_substr_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    ragged="elementwise",
    batch=batching.cut_strings,
)


def substr(
    input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None
) -> Tensor:
    """The part of each string from `pos` on, of at most `len` bytes (or UTF-8 characters).

    A negative `pos` counts from the end, a negative `len` means all that is left.

    Args:
      input: a tensor of strings.
      pos: where to begin, int32 or int64: a number, or a tensor that broadcasts with `input`.
      len: how long at most, of the shape and dtype of `pos`.
      unit: what is counted, "BYTE" or "UTF8_CHAR".

    Returns:
      A string tensor of the shape that all broadcast to.

    Raises:
      InvalidArgumentError: if `pos` lies outside of a string, or there is no such unit.
      ShapeError: if `pos` and `len` differ in shape, or do not broadcast.

    >>> tf.strings.substr(["hello", "world"], pos=-4, len=3).numpy()
    array([b'ell', b'orl'], dtype=object)
    """
    pos, length = operands.operands(pos, len)
    return substr_op(
        string_tensor(input), pos, length, unit=_unit("strings.substr", unit), name=name
    )
