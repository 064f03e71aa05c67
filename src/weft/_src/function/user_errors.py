"""Errors of traced code: the user's frames in the exception, once, at the outermost trace."""

from __future__ import annotations

import linecache
import threading
import traceback
from types import TracebackType

from weft._src.autograph.conversion import why_refused
from weft._src.core.frames import is_own
from weft._src.core.tracebacks import users_part
from weft._src.errors import OperatorNotAllowedInGraphError

HEADING = "in user code:"


class _Depth(threading.local):
    traces = 0


_depth = _Depth()


class user_code:  # noqa: N801 - a context manager, used like a keyword
    """A function is traced inside; an exception that leaves the outermost one says where it was."""

    def __enter__(self) -> None:
        _depth.traces += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _depth.traces -= 1
        if not _depth.traces and isinstance(error, Exception):
            attach(error, trace)


def attach(error: Exception, trace: TracebackType | None) -> None:
    """Puts the user's frames into the text of an exception; its class stays what it is."""
    frames = user_frames(trace)
    if not frames or HEADING in str(error) or HEADING in "".join(getattr(error, "__notes__", ())):
        return
    text = f"{HEADING}\n\n" + "".join(frames)
    if isinstance(getattr(error, "message", None), str):
        error.message = f"{text}\n{error.message}{_unconverted(error, trace)}"  # type: ignore[attr-defined]
        error.location = None  # type: ignore[attr-defined]  # it is the last of the frames
    elif _is_text(error):
        error.args = (f"{text}\n{error.args[0]}", *error.args[1:])
    else:
        error.add_note(text)


def _unconverted(error: Exception, trace: TracebackType | None) -> str:
    """Why a tensor met Python's control flow, if that is because a function has no source."""
    if not isinstance(error, OperatorNotAllowedInGraphError):
        return ""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(trace)]
    own = [code for code in codes if not is_own(code)]
    reason = why_refused(own[-1]) if own else None
    if reason is None:
        return ""
    return (
        f"\nAutoGraph could not convert {own[-1].co_name}, because {reason}: its if, while and for "
        "statements run as Python, and there a tensor of the graph cannot decide. Put the function "
        "into a file."
    )


def _is_text(error: Exception) -> bool:
    """Whether the first argument is what the exception prints."""
    return len(error.args) == 1 and isinstance(error.args[0], str) and str(error) == error.args[0]


def user_frames(trace: TracebackType | None) -> list[str]:
    """The lines of a traceback that are the user's, as Python prints them."""
    found = []
    for frame, line in traceback.walk_tb(users_part(trace)):
        code = frame.f_code
        text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
        found.append(
            f'    File "{code.co_filename}", line {line}, in {code.co_name}\n'
            + (f"        {text}\n" if text else "")
        )
    return found
