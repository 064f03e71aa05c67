"""Code points of strings in any encoding, and back."""

from __future__ import annotations

import codecs
import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.tensor import Array
from weft._src.errors import InvalidArgumentError
from weft._src.ops.strings.in_bulk import before
from weft._src.ops.strings.packed import Packed

# Python knows these by name, but they are no encodings of text.
_NO_ENCODINGS = frozenset({
    "idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape",
    "utf-8-sig",
})  # fmt: skip


@functools.lru_cache
def codec_of(encoding: str) -> str:
    """Python's name of an encoding."""
    try:
        codec = codecs.lookup(encoding).name
        if codec in _NO_ENCODINGS or not " ".encode(codec):  # raises for "hex" and its like
            raise LookupError
    except (LookupError, ValueError):  # a name may not even be one
        raise InvalidArgumentError(
            None, None, f"unicode: input_encoding {encoding!r} is not known."
        ) from None
    return codec


def decoded(
    text: bytes, codec: str, errors: str, replacement: int, replace_controls: bool
) -> tuple[list[int], list[int]]:
    """The code points of a string, and where in it each begins."""
    points, starts = _points(text, codec)
    if _INVALID in points:
        if errors == "strict":
            at = starts[points.index(_INVALID)]
            raise InvalidArgumentError(
                None, None, f"unicode: {text!r} is no valid {codec}: it is broken at byte {at}."
            )
        points, starts = _without(points, starts, [_INVALID], errors, replacement)
    if replace_controls:
        points, starts = _without(points, starts, range(0x20), errors, replacement)
    return points, starts


def _without(
    points: list[int], starts: list[int], unwanted: Sequence[int], errors: str, replacement: int
) -> tuple[list[int], list[int]]:
    """Code points without unwanted ones, which are left out or replaced."""
    if errors != "ignore":
        return [replacement if point in unwanted else point for point in points], starts
    kept = [i for i, point in enumerate(points) if point not in unwanted]
    return [points[i] for i in kept], [starts[i] for i in kept]


_INVALID = -1
_MARK = "\ud800"  # a character for what is invalid: half of a pair, which is none by itself
_UNITS = {"utf-8": 1, "utf-16-be": 2, "utf-16-le": 2, "utf-32-be": 4, "utf-32-le": 4}
_MARKED = {
    "utf-16": (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE),
    "utf-32": (codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE),
}


class _Ends(threading.local):
    """Where each of the invalid parts of the string that is being decoded begins and ends."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []


_ends = _Ends()


def _mark(error: Any) -> tuple[str, int]:
    _ends.spans.append((error.start, error.end))
    return _MARK, error.end


def _mark_or_control(error: Any) -> tuple[str, int]:
    """What code pages of Windows leave open between 0x80 and 0x9f are control characters."""
    byte = error.object[error.start]
    return (chr(byte), error.start + 1) if 0x80 <= byte < 0xA0 else _mark(error)


codecs.register_error("weft.mark", _mark)
codecs.register_error("weft.mark_or_control", _mark_or_control)


def _points(text: bytes, codec: str) -> tuple[list[int], list[int]]:
    """Code points and where they begin; what is no character is marked."""
    if codec in _MARKED:
        return _points_behind_mark(text, codec)
    if codec not in _UNITS:
        return _points_by_bytes(text, codec)
    if codec == "utf-8" and text.isascii():
        return list(text), list(range(len(text)))
    _ends.spans = []
    points = [ord(character) for character in text.decode(codec, "weft.mark")]
    spans = iter(_ends.spans)
    starts: list[int] = []
    at = 0
    for i, point in enumerate(points):
        if point == ord(_MARK):
            points[i] = _INVALID
            start, at = next(spans)
            starts.append(start)
            continue
        starts.append(at)
        at += _size(point, _UNITS[codec])
    return points, starts


def _points_behind_mark(text: bytes, codec: str) -> tuple[list[int], list[int]]:
    """Code points of a string that may say by its first bytes in which order its bytes are."""
    for mark, ending in zip(_MARKED[codec], ("-be", "-le"), strict=True):
        if text.startswith(mark):
            points, starts = _points(text[len(mark) :], codec + ending)
            # The mark belongs to the first character.
            return points, [start + len(mark) if start else 0 for start in starts]
    return _points(text, f"{codec}-be")


def _size(point: int, unit: int) -> int:
    """How many bytes a character takes, in UTF-8, -16 or -32: those with units of 1, 2, 4 bytes."""
    if unit == 1:
        return 1 + (point > 0x7F) + (point > 0x7FF) + (point > 0xFFFF)
    return 4 if point > 0xFFFF else unit


def _points_by_bytes(text: bytes, codec: str) -> tuple[list[int], list[int]]:
    """The same, byte by byte: only so is it known where a character of any encoding begins."""
    handler = "weft.mark_or_control" if codec.startswith("cp125") else "weft.mark"
    decoder = codecs.getincrementaldecoder(codec)(handler)
    points: list[int] = []
    starts: list[int] = []
    start = 0
    for at in range(len(text) + 1):
        found = decoder.decode(text[at : at + 1], at == len(text))
        for i, character in enumerate(found):
            point = ord(character)
            points.append(_INVALID if 0xD800 <= point <= 0xDFFF else point)
            # Behind bytes that began a character and did not complete it, another one begins here.
            starts.append(at if i and _MARK in found else start)
        if found:
            start = at if decoder.getstate()[0] else at + 1
    return points, starts


def encoded(points: list[int], codec: str, errors: str, replacement: int) -> bytes:
    """The string that code points spell in an encoding."""
    out = []
    for point in points:
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            out.append(chr(point))
        elif errors == "strict":
            raise InvalidArgumentError(None, None, f"unicode: {point} is no Unicode character.")
        elif errors == "replace":
            out.append(chr(replacement))
    return "".join(out).encode(codec)


# --- many strings at once ------------------------------------------------------------------------


def decoded_in_bulk(packed: Packed, codec: str) -> tuple[Array, Array, Array] | None:
    """Code points of all strings, where in its string each begins, and how many each has.

    None unless all are valid UTF-8: what is not is told, or replaced, string by string.
    """
    data, starts, sizes = packed
    begins = (data & 0xC0) != 0x80
    if codec != "utf-8" or not begins[starts[sizes > 0]].all():
        return None
    try:
        text = data.tobytes().decode()
    except UnicodeDecodeError:
        return None
    points = np.frombuffer(text.encode("utf-32-le"), "<i4").astype(np.int32, copy=False)
    count = before(begins)
    counts = count[starts + sizes] - count[starts]
    return points, np.flatnonzero(begins) - np.repeat(starts, counts), counts


def encoded_in_bulk(points: Array, counts: Array, codec: str) -> Packed | None:
    """The strings that code points spell, some for each; None if there are others than characters.

    A character takes one to four bytes in UTF-8, and one or two words in UTF-16.
    """
    wide = points.astype(np.int64)
    if ((wide < 0) | (wide > 0x10FFFF) | ((wide >= 0xD800) & (wide <= 0xDFFF))).any():
        return None
    if codec == "utf-8":
        lengths = 1 + (wide > 0x7F) + (wide > 0x7FF) + (wide > 0xFFFF)
    else:
        lengths = np.where(wide > 0xFFFF, 4, _UNITS[codec])
    text = points.astype("<u4").tobytes().decode("utf-32-le").encode(codec)
    places = np.concatenate([[0], np.cumsum(lengths)])
    ends = np.cumsum(counts)
    starts = places[ends - counts]
    return Packed(np.frombuffer(text, np.uint8), starts, places[ends] - starts)
