"""How readers of files say what is wrong, and what they ask before they take memory."""

from __future__ import annotations

from weft._src.core import memory
from weft._src.errors import InvalidArgumentError


def invalid(op: str, text: str) -> InvalidArgumentError:
    """The error for bytes or arguments that an op cannot take."""
    return InvalidArgumentError(None, None, f"{op}: {text}")


def check_room(op: str, shape: tuple[int, ...], size: int) -> None:
    """ResourceExhaustedError if there is no memory for `size` bytes to make a result."""
    memory.check_bytes(op, size, f"of shape {list(shape)}")


def check_enough(op: str, form: str, size: str, expected: int, found: int) -> None:
    """InvalidArgumentError if fewer bytes are there than the size that a file claims can have.

    So a short file that claims to be large is refused before anything is made for it.
    """
    if found < expected:
        raise invalid(
            op,
            f"the {form} file is cut short or damaged: {size} take at least {expected} bytes, "
            f"{found} are there.",
        )
