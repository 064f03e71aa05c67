"""How the `weft` command speaks: colour on terminals, one line for an error, pipes that close."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from weft._src.errors import OpError

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class CommandError(Exception):
    """Something that the user has to put right; the text says how."""


class ProgramError(Exception):
    """What the user's program raised while it was run."""

    def __init__(self, error: BaseException, path: str) -> None:
        self.error = error
        super().__init__(f"{place_of(error, path)}{type(error).__name__}: {first_line(error)}")


def place_of(error: BaseException, path: str) -> str:
    """The innermost line of a program's own file in a traceback, as `file:line: `."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if os.path.abspath(frame.filename) == os.path.abspath(path)]
    return f"{path}:{own[-1].lineno}: " if own else f"{path}: "


def first_line(error: BaseException) -> str:
    """What an exception says, on one line: of those of traced code what follows the frames."""
    text = str(error)
    if text.startswith("in user code:"):
        text = text.rpartition("\n\n")[2]
    lines = text.strip().splitlines()
    return lines[0] if lines else ""


def is_coloured() -> bool:
    """Whether the output is a terminal that shows colours; NO_COLOR and FORCE_COLOR decide."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str) -> str:
    """A text in colour, if the output has any."""
    if not styles or not is_coloured():
        return text
    return f"\x1b[{';'.join([_CODES[style] for style in styles])}m{text}\x1b[0m"


def speak(run: Callable[[], int], *, debug: bool) -> int:
    """Runs a command: the exit code. Errors are one line, unless `debug`."""
    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not try to write the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("weft: interrupted", file=sys.stderr)
        return 130
    except Exception as error:  # noqa: BLE001 - told to the user, whatever it is
        if debug:
            shown = error.error if isinstance(error, ProgramError) else error
            traceback.print_exception(shown)
        hint = (
            "" if debug or isinstance(error, (CommandError, OpError)) else " (--debug shows more)"
        )
        print(f"weft: {first_line(error)}{hint}", file=sys.stderr)
        return 1 if isinstance(error, ProgramError) else 2
    return code
