"""Traces counted per piece of code: functions that are made anew again and again are one piece.

A function decorated in a loop, a lambda made per call, a method of instances that come and go: each
is a new function with a first trace of its own, and nothing is ever traced again. Only the code
tells that it is the same one.
"""

from __future__ import annotations

import inspect
import logging
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from weft._src.autograph.conversion import is_library_file
from weft._src.autograph.pyct.code_table import CodeTable
from weft._src.core.frames import is_own
from weft._src.core.tensor import SymbolicTensor
from weft._src.function.code_reading import code_of
from weft._src.function.inspection import Inspected
from weft._src.function.methods import WeakMethod
from weft._src.function.short_words import short_repr
from weft._src.function.trace_table import TraceTable

_logger = logging.getLogger("weft")

_MANY = 5  # functions of one piece of code that were hardly used
_TRACED = "a tensor of a trace"
_SELDOM = 2  # calls per trace: whoever is called more often was worth a trace


@dataclass
class Piece:
    """What is known of the functions that were made of one piece of code."""

    functions: int = 0  # that were traced
    traces: int = 0
    seconds: float = 0.0
    gone: int = 0  # functions that nobody holds any more
    hardly_used: int = 0  # those of them that were hardly called
    next_warning: int = _MANY
    instances_of: set[str] = field(default_factory=set)  # the classes, for methods
    closure: dict[str, str] = field(default_factory=dict)  # of the newest function, as text
    changing: dict[str, tuple[str, str]] = field(default_factory=dict)  # what it was, and is

    def note_trace(self, function: Inspected, seconds: float, is_first: bool) -> None:
        """A function of this code was traced."""
        self.traces += 1
        self.seconds += seconds
        if not is_first:
            return
        self.functions += 1
        python_function = function._python_function
        if isinstance(python_function, WeakMethod):
            self.instances_of.add(type(python_function.instance).__qualname__)
        self._note_closure(python_function)
        # The table of traces dies with the function, and tells then how often it was called.
        weakref.finalize(function, self._note_end, function._traces).atexit = False

    def _note_end(self, traces: TraceTable) -> None:
        self.gone += 1
        calls = sum([concrete.calls for concrete in traces])
        if calls <= _SELDOM * max(len(traces), 1):
            self.hardly_used += 1

    def _note_closure(self, python_function: Callable[..., Any]) -> None:
        function = inspect.unwrap(python_function)
        cells = getattr(function, "__closure__", None) or ()
        names = getattr(function, "__code__", None)
        now = {
            name: _cell_text(cell)
            for name, cell in zip(() if names is None else names.co_freevars, cells, strict=False)
        }
        for name, text in now.items():
            if name in self.closure and (self.closure[name] != text or text == _TRACED):
                self.changing[name] = (self.closure[name], text)
        self.closure = now

    # --- in words ----------------------------------------------------------------------------

    def account(self, label: str) -> str:
        """What there is to say about functions that were made of this code; empty for one."""
        if self.functions < 2:
            return ""
        gone = f", of which {self.gone} are gone" if self.gone else ""
        times = f"{self.traces} times, in {self.seconds * 1e3:.0f} ms"
        if self.instances_of:
            kinds = ", ".join(sorted(self.instances_of))
            what = f"{label} was traced {times}, for {self.functions} instances of {kinds}{gone}"
        elif self.gone:
            what = f"{label} was created and traced {times}, by {self.functions} functions{gone}"
        else:
            what = f"{label}: {self.functions} functions were made of this code and traced {times}"
        return f"{what}. {self.remedy}" if self.gone or self.changing else f"{what}."

    @property
    def remedy(self) -> str:
        """How to make fewer of them."""
        if self.instances_of:
            return (
                "Create the instance once, outside of the loop or function that uses it: each has "
                "traces of its own."
            )
        text = "Create it once, outside of the loop or function that makes it"
        for name, (was, now) in self.changing.items():
            then = "" if was == now == _TRACED else f", then {now}"
            text += f"; make {name!r} an argument, which it takes from around it ({was}{then})"
        return f"{text}."

    def warn_if_frequent(self, label: str) -> None:
        """Logs a warning if most functions of this code were hardly used before they were gone."""
        if self.functions >= self.next_warning and self.hardly_used >= _MANY - 1:
            self.next_warning = 2 * self.functions  # said again only when it has doubled
            _logger.warning("%s", self.account(label))


_pieces = CodeTable[Piece]()


def piece_of(function: Callable[..., Any]) -> Piece | None:
    """What is known of the code of a Python function; None for Weft's own, and without code."""
    code = code_of(function)
    if code is None or is_own(code):
        return None
    found = _pieces.get(code)
    if found is None:
        found = _pieces[code] = Piece()
        if is_library_file(code.co_filename):  # users of a library cannot change it
            found.next_warning = sys.maxsize
    return found


def _cell_text(cell: types.CellType) -> str:
    try:
        value = cell.cell_contents
    except ValueError:
        return "nothing yet"
    if isinstance(value, SymbolicTensor):
        return _TRACED
    kinds = (bool, int, float, complex, str, bytes, type(None))
    return short_repr(value) if isinstance(value, kinds) else f"a {type(value).__name__}"
