"""The position of an iterator as bytes: plain data only, so that reading it runs nothing.

A value is a letter and what follows it: numbers and lengths as text with a space behind, arrays as
tensors are serialized elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.errors import ParseError, UnsupportedError
from weft._src.graph.tensor_proto import make_ndarray, make_tensor_proto
from weft._src.messages.tensors import TensorProto

_DEEPEST = 100
_KINDS: dict[str, Callable[[list[Any]], Any]] = {"l": list, "t": tuple, "q": deque}
_PARTS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    list: ("l", list),
    tuple: ("t", list),
    deque: ("q", list),
}


def register(letter: str, kind: type, parts: Callable[[Any], Any], back: Any) -> None:
    """Objects of a class are saved as their parts, of which `back` makes them again."""
    _PARTS[kind] = letter, parts
    _KINDS[letter] = back


def encoded(value: Any) -> bytes:
    """The bytes of nested plain data; UnsupportedError for anything else."""
    out: list[bytes] = []
    _encode(value, out)
    return b"".join(out)


def _encode(value: Any, out: list[bytes]) -> None:
    if value is None:
        out.append(b"n")
    elif isinstance(value, bool):
        out.append(b"y" if value else b"z")
    elif type(value) is int:
        out.append(b"i%d " % value)
    elif type(value) is float:
        out.append(b"f" + value.hex().encode() + b" ")
    elif isinstance(value, (str, bytes)):
        text = value.encode() if isinstance(value, str) else value
        out.append((b"s" if isinstance(value, str) else b"b") + b"%d " % len(text) + text)
    elif isinstance(value, (np.ndarray, np.generic)):
        text = make_tensor_proto(np.asarray(value)).SerializeToString()
        out.append((b"a" if isinstance(value, np.ndarray) else b"g") + b"%d " % len(text) + text)
    elif isinstance(value, dict):
        out.append(b"d%d " % len(value))
        for key, item in value.items():
            _encode(key, out)
            _encode(item, out)
    elif type(value) in _PARTS:
        letter, parts = _PARTS[type(value)]
        items = list(parts(value))
        out.append(letter.encode() + b"%d " % len(items))
        for item in items:
            _encode(item, out)
    else:
        raise UnsupportedError(
            f"The position of this iterator holds a {type(value).__name__}, which cannot be saved. "
            "Save the number of elements taken so far, and skip as many of a new iterator."
        )


def decoded(data: bytes) -> Any:
    """The value of such bytes; ParseError if they are none."""
    try:
        value, at = _decode(data, 0, 0)
    except (IndexError, ValueError, KeyError, UnicodeDecodeError):
        raise ParseError("These bytes are no position of an iterator.") from None
    if at != len(data):
        raise ParseError("These bytes are no position of an iterator: something follows it.")
    return value


def _decode(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise ValueError
    letter, at = chr(data[at]), at + 1
    if letter in "nyz":
        return {"n": None, "y": True, "z": False}[letter], at
    end = data.index(b" ", at, at + 40)
    text, at = data[at:end].decode(), end + 1
    if letter == "f":
        return float.fromhex(text), at
    number = int(text)
    if letter == "i":
        return number, at
    if number < 0 or number > len(data) - at:
        raise ValueError
    if letter in "sbag":
        content, at = data[at : at + number], at + number
        return _leaf(letter, content), at
    if letter == "d":
        found: dict[Any, Any] = {}
        for _ in range(number):
            key, at = _decode(data, at, depth + 1)
            found[key], at = _decode(data, at, depth + 1)
        return found, at
    items = []
    for _ in range(number):
        item, at = _decode(data, at, depth + 1)
        items.append(item)
    return _KINDS[letter](items), at


def _leaf(letter: str, content: bytes) -> Any:
    if letter == "s":
        return content.decode()
    if letter == "b":
        return content
    array = make_ndarray(TensorProto.FromString(content))
    return array if letter == "a" else array[()]
