"""Python values that a trace has taken from around the function, and whether they are still so.

A global, a variable of an enclosing function or an attribute (`self.rate`) that is read while a
function is traced becomes a constant of the graph. What is plain and immutable is remembered; when
it has changed, the trace computes with what was.

Hot path: `PythonState.holds`, generated code that compares identities: 0.03 us for each value.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from weft._src.autograph.conversion import is_library_file
from weft._src.autograph.met import Collection, Met
from weft._src.core.dtypes import DType
from weft._src.core.shapes import TensorShape
from weft._src.function.code_reading import FREE, GLOBAL, LOCAL, Name, facts_of
from weft._src.function.short_words import short_repr

_PLAIN = (
    bool, int, float, complex, str, bytes, type(None), enum.Enum, DType, TensorShape, np.generic
)  # fmt: skip
_MOST_ITEMS = 16  # of a tuple that is compared
_MOST_VALUES = 200  # of a trace
_GONE = "nothing"


def is_plain(value: Any) -> bool:
    """Whether nobody can change a value, so that it is enough to compare it."""
    if isinstance(value, tuple):
        return len(value) <= _MOST_ITEMS and all(map(is_plain, value))
    return isinstance(value, _PLAIN)


class Captured(NamedTuple):
    """A value that a trace has read: how the user calls it, where it comes from, what it was."""

    name: str
    source: str  # "global", "closure" or "attribute"
    line: int
    value: Any
    holder: Any  # what the generated code looks at, see `_Code`
    path: str

    @property
    def words(self) -> str:
        """The name and where it comes from."""
        return f"{_SOURCES[self.source]} {self.name}"

    def now(self) -> Any:
        """The value as it is; a text that says so if there is none any more."""
        try:
            return eval(self.path, {"h": self.holder})
        except (LookupError, ValueError, AttributeError):
            return _GONE


_SOURCES = {"global": "the global", "closure": "the closure variable", "attribute": "the attribute"}


class Change(NamedTuple):
    """A captured value that is another one now."""

    captured: Captured
    now: Any

    def __str__(self) -> str:
        was, now = short_repr(self.captured.value), short_repr(self.now)
        return f"{self.captured.words} was {was} and is now {now}"


class PythonState:
    """The values that one trace has read."""

    def __init__(self, captured: Iterable[Captured]) -> None:
        unique = {(c.name, c.source, id(c.holder)): c for c in captured}
        self.captured = list(unique.values())[:_MOST_VALUES]
        # Whether every value is the very object that it was; written out for speed.
        self.holds: Callable[[], bool] = _comparison(self.captured)

    def account(self) -> str:
        """The values that were read, and which of them have changed; empty if there are none."""
        if not self.captured:
            return ""
        shown = ", ".join([f"{c.name} = {short_repr(c.value)} ({c.source})" for c in self.captured])
        changed = "".join(
            [f"; {change}: the trace computes with what was" for change in self.changes()]
        )
        return f"reads {shown}{changed}"

    def renewed(self) -> PythonState:
        """The same values, as the objects that they are now."""
        return PythonState([c._replace(value=c.now()) for c in self.captured])

    def changes(self) -> list[Change]:
        """What has changed; objects that are equal to what was there have not."""
        found = [Change(c, c.now()) for c in self.captured]
        return [change for change in found if not _same(change.captured.value, change.now)]


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b or repr(a) == repr(b)  # NaN is NaN, 0.0 is not -0.0


def _comparison(captured: list[Captured]) -> Callable[[], bool]:
    names: dict[str, Any] = {}
    tests = []
    for i, item in enumerate(captured):
        names[f"h{i}"], names[f"c{i}"] = item.holder, item.value
        tests.append(f"{item.path.replace('h', f'h{i}', 1)} is c{i}")
    text = (
        "def holds():\n"
        f"    try:\n        return {' and '.join(tests) or 'True'}\n"
        "    except (LookupError, ValueError, AttributeError):\n        return False\n"
    )
    exec(compile(text, "<weft captured state>", "exec"), names)
    holds: Callable[[], bool] = names["holds"]
    return holds


# --- what was read -------------------------------------------------------------------------------


def python_state_of(run: Collection) -> PythonState:
    """What the functions that a trace has run have read, and the traces that it calls."""
    inner = [captured for concrete in run.traces for captured in concrete.python_state.captured]
    return PythonState([*_captured_by(run.functions), *inner])


def _captured_by(met: Iterable[Met]) -> list[Captured]:
    """The plain values that functions of the user read from around themselves."""
    found: list[Captured] = []
    seen: set[tuple[int, int, int]] = set()
    for function, instance, _ in met:
        key = (id(function.__code__), id(function.__closure__), id(instance))
        if key not in seen:
            seen.add(key)
            found += _of_function(function, instance)
    return found


def _of_function(function: types.FunctionType, instance: Any) -> list[Captured]:
    facts = facts_of(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found = []
    for name, line in facts.reads.items():
        if name in facts.stores:
            continue  # the function's own counter, say
        item = _captured(function, cells, instance, name, line)
        if item is not None and is_plain(item.value):
            found.append(item)
    return found


def _captured(
    function: types.FunctionType,
    cells: dict[str, types.CellType],
    instance: Any,
    name: Name,
    line: int,
) -> Captured | None:
    holder: Any
    if name.place == GLOBAL and name.name in function.__globals__:
        holder, path, source = function.__globals__, f"h[{name.name!r}]", "global"
    elif name.place == FREE and name.name in cells:
        holder, path, source = cells[name.name], "h.cell_contents", "closure"
    elif name.place == LOCAL and instance is not None and _is_first(function, name.name):
        if name.attribute is None:
            return None
        try:
            holder, path, source = weakref.ref(instance), "h()", "attribute"
        except TypeError:
            return None
    else:
        return None
    base = Captured(name.name, source, line, None, holder, path).now()
    if name.attribute is None:
        return Captured(name.name, source, line, base, holder, path)
    if not _is_data(base, name.attribute):
        return None
    shown, path = f"{name.name}.{name.attribute}", f"{path}.{name.attribute}"
    made = Captured(shown, "attribute", line, None, holder, path)
    return made._replace(value=made.now())


def _is_first(function: types.FunctionType, name: str) -> bool:
    code = function.__code__
    return bool(code.co_argcount) and code.co_varnames[0] == name


def _is_data(base: Any, attribute: str) -> bool:
    """Whether reading an attribute runs no code of the user, and the object may change it."""
    if isinstance(base, types.ModuleType):
        file = getattr(base, "__file__", None)
        return file is not None and not is_library_file(file)
    if isinstance(base, type):
        return False
    for kind in type(base).__mro__:
        if attribute in kind.__dict__:
            return kind.__module__ != "builtins" and is_plain(kind.__dict__[attribute])
    held = getattr(base, "__dict__", None)
    return isinstance(held, dict) and attribute in held
