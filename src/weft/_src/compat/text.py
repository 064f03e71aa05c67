"""Bytes and text, whichever is wanted."""

from __future__ import annotations

from typing import Any


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """The argument as bytes.

    Args:
      bytes_or_text: bytes, a bytearray or a string.
      encoding: how a string is encoded.

    Returns:
      Bytes; those that were given, if they were bytes.

    Raises:
      TypeError: if the argument is something else.

    >>> tf.compat.as_bytes("abc")
    b'abc'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected bytes or text, got {bytes_or_text!r}.")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The argument as text.

    Args:
      bytes_or_text: bytes or a string.
      encoding: how bytes are decoded.

    Returns:
      A string; the one that was given, if it was one.

    Raises:
      TypeError: if the argument is something else.
      UnicodeDecodeError: if the bytes are no text in the encoding.

    >>> tf.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected bytes or text, got {bytes_or_text!r}.")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The argument as text.

    Args:
      bytes_or_text: bytes or a string.
      encoding: how bytes are decoded.

    Returns:
      A string; the one that was given, if it was one.

    Raises:
      TypeError: if the argument is something else.
      UnicodeDecodeError: if the bytes are no text in the encoding.

    >>> tf.compat.as_str(b"abc")
    'abc'
    """
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes and text as text, anything else as `str` shows it.

    Args:
      value: anything.
      encoding: how bytes are decoded.

    Returns:
      A string.

    Raises:
      UnicodeDecodeError: if the value is bytes that are no text in the encoding.

    >>> tf.compat.as_str_any(b"abc"), tf.compat.as_str_any(3)
    ('abc', '3')
    """
    return as_text(value, encoding) if isinstance(value, (bytes, str)) else str(value)
