"""How much work Weft does for something, without a clock: the lines of its code that run."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import weft

_PACKAGE = os.path.dirname(weft.__file__) + os.sep


def lines_run(action: Callable[[], Any]) -> int:
    """The number of lines of Weft that run while `action` does; those of loops count each time."""
    count = 0

    def note(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
        return note

    def watch(frame: FrameType, _event: str, _arg: Any) -> Any:
        return note if frame.f_code.co_filename.startswith(_PACKAGE) else None

    before = sys.gettrace()
    gc.disable()  # finalizers would run whenever
    sys.settrace(watch)
    try:
        action()
    finally:
        sys.settrace(before)
        gc.enable()
    return count
