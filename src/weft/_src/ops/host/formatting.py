"""How tensors are printed by `tf.print` and shown in assertion errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from weft._src.core.dtypes import plain

Array = np.ndarray[Any, Any]

# Digits that always survive a round trip through text, and the digits tried first.
_DIGITS = {2: (6, 9), 4: (6, 9), 8: (15, 17)}


# What a string in quotes has in place of some characters.
_ESCAPES = {
    **{code: f"\\{code:03o}" for code in (*range(32), 127)},
    **str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}),
}


def format_number(x: Any) -> str:
    """A number in as few digits as tell it apart, the way C++ streams of TensorFlow print it.

    A string is itself; bytes that are no UTF-8 are kept as Python's surrogates, for `as_bytes` and
    `as_shown`.
    """
    if isinstance(x, bytes):
        return x.decode("utf-8", "surrogateescape")
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, (complex, np.complexfloating)):
        return f"({format_number(x.real)},{format_number(x.imag)})"
    if isinstance(x, (float, np.floating, ml_dtypes.bfloat16)):
        return _format_float(x)
    return str(x)


def _format_float(x: Any) -> str:
    value = float(x)
    if not np.isfinite(value):
        return str(value)
    short, exact = _DIGITS[np.dtype(type(x)).itemsize]
    kind = np.float64 if exact == 17 else np.float32
    text = f"{value:.{short}g}"
    return text if kind(text) == kind(value) else f"{value:.{exact}g}"


def as_bytes(text: str) -> bytes:
    """Formatted text as bytes, those that are no UTF-8 as they were."""
    return text.encode("utf-8", "surrogateescape")


def as_shown(text: str) -> str:
    """Formatted text for people: bytes that are no UTF-8 as Python writes them."""
    return as_bytes(text).decode("utf-8", "backslashreplace")


def format_array(array: Array, summarize: int = 3) -> str:
    """An array with brackets; of each axis only the first and last `summarize` entries."""
    return as_shown(format_exactly(array, summarize))


def format_exactly(array: Array, summarize: int = 3, *, quote_scalars: bool = False) -> str:
    """`format_array`, with surrogates for bytes that are no UTF-8."""
    array = plain(array)
    quote = array.dtype == object and (array.ndim > 0 or quote_scalars)
    return _format(array, summarize, 1, quote=quote)


def _format(array: Array, summarize: int, depth: int, *, quote: bool) -> str:
    if array.ndim == 0:
        text = format_number(array.item() if array.dtype == object else array[()])
        return f'"{text.translate(_ESCAPES)}"' if quote else text
    n = len(array)
    shown = range(n)
    gap = -1
    if summarize >= 0 and n > 2 * summarize:
        shown = [*range(summarize), *range(n - summarize, n)]  # type: ignore[assignment]
        gap = summarize
    rows = [_format(array[i, ...], summarize, depth + 1, quote=quote) for i in shown]
    if gap >= 0:
        rows.insert(gap, "...")
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    return f"[{separator.join(rows)}]"
