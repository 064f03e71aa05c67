"""Where in the user's code something happened."""

from __future__ import annotations

import linecache
import os
import sys
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Location(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"

    @property
    def short(self) -> str:
        """File name without its folder, and line."""
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def text(self) -> str:
        """The source text of the line, empty if it cannot be had."""
        return linecache.getline(self.file, self.line).strip()


UNKNOWN = Location("<unknown>", 0, "<unknown>")


def user_location() -> Location:
    """The innermost line outside of Weft that led to the current call."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if not file.startswith(_PACKAGE) and not file.startswith("<frozen"):
            return Location(file, frame.f_lineno, code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return UNKNOWN


def called_function() -> str:
    """The name of the function of Weft that the user's code called, for errors."""
    frame, name = sys._getframe(1), "This function"
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        name = frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return name
