"""Which staged blocks are being traced: a `raise` in one of them must wait for run time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Frame:
    """One staged block."""

    def __init__(self) -> None:
        self.raised = False


class _Frames(threading.local):
    def __init__(self) -> None:
        self.stack: list[Frame] = []


_frames = _Frames()


@contextlib.contextmanager
def block() -> Iterator[Frame]:
    """A block of a staged conditional or loop is traced inside."""
    frame = Frame()
    _frames.stack.append(frame)
    try:
        yield frame
    finally:
        _frames.stack.pop()


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """A function is traced inside: blocks around its call are not its own."""
    outer, _frames.stack = _frames.stack, []
    try:
        yield
    finally:
        _frames.stack = outer


def current() -> Frame | None:
    """The innermost staged block, None outside of all."""
    return _frames.stack[-1] if _frames.stack else None
