"""Fields in the wire format of protocol buffers, written by hand."""

from __future__ import annotations

from weft._src.messages.wire import varint


def bytes_field(number: int, content: bytes) -> bytes:
    """A field that holds bytes: a string or another message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that holds an integer, a truth value or an enum."""
    return varint(number << 3) + varint(value)


def signed(n: int) -> int:
    """64 bits as a number that may be negative."""
    return n - 2**64 if n >= 2**63 else n
