"""Python values that a trace has taken from around the function, and whether they are still so.

A global, a variable of an enclosing function or an attribute (`self.rate`) that is read while a
function is traced becomes a constant of the graph. What is plain and immutable is remembered; when
it has changed, the trace computes with what was.

Hot path: `PythonState.holds`, generated code that compares identities: 0.03 us for each value.
"""

from __future__ import annotations

import enum
import functools
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


class _Gone:
    """In the place of a value whose name is no longer there."""

    def __repr__(self) -> str:
        return "nothing"


_GONE = _Gone()
_UNKNOWN = object()  # not plain, so nothing to remember


def is_plain(value: Any) -> bool:
    """Whether nobody can change a value, so that it is enough to compare it."""
    if isinstance(value, tuple):
        return len(value) <= _MOST_ITEMS and all(map(is_plain, value))
    return isinstance(value, _PLAIN)


class Captured(NamedTuple):
    """A value that a trace has read: what the code calls it, where it is found, what it was.

    `holder` is the dict of globals, the cell of a closure, or a weak reference to an instance.
    """

    read: Name
    line: int
    holder: Any
    value: Any = None

    @property
    def name(self) -> str:
        """What the user calls it."""
        attribute = self.read.attribute
        return self.read.name if attribute is None else f"{self.read.name}.{attribute}"

    @property
    def source(self) -> str:
        """Where it comes from: "global", "closure" or "attribute"."""
        if self.read.attribute is not None:
            return "attribute"
        return "global" if self.read.place == GLOBAL else "closure"

    @property
    def words(self) -> str:
        """The name and where it comes from."""
        return f"{_SOURCES[self.source]} {self.name}"

    def now(self) -> Any:
        """The value as it is, `_GONE` if there is none any more."""
        try:
            base = self.base()
            return base if self.read.attribute is None else getattr(base, self.read.attribute)
        except (LookupError, ValueError, AttributeError):
            return _GONE

    def base(self) -> Any:
        """What the name itself stands for."""
        place = self.read.place
        if place == GLOBAL:
            return self.holder[self.read.name]
        return self.holder.cell_contents if place == FREE else self.holder()

    def as_code(self, holder: str) -> str:
        """The value as it is, as Python that finds the holder under a name."""
        place = self.read.place
        found = {GLOBAL: f"{holder}[{self.read.name!r}]", FREE: f"{holder}.cell_contents"}
        base = found.get(place, f"{holder}()")
        return base if self.read.attribute is None else f"{base}.{self.read.attribute}"


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
        self.holds: Callable[[], bool] = _comparison(self.captured) if self.captured else _always

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


def _always() -> bool:
    return True


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b or repr(a) == repr(b)  # NaN is NaN, 0.0 is not -0.0


def _comparison(captured: list[Captured]) -> Callable[[], bool]:
    names: dict[str, Any] = {}
    for i, item in enumerate(captured):
        names[f"h{i}"], names[f"c{i}"] = item.holder, item.value
    tests = [f"{item.as_code(f'h{i}')} is c{i}" for i, item in enumerate(captured)]
    exec(_compiled(" and ".join(tests) or "True"), names)
    holds: Callable[[], bool] = names["holds"]
    return holds


@functools.lru_cache(maxsize=1000)
def _compiled(test: str) -> types.CodeType:
    """The code of a comparison: traces of one function compare the same names."""
    text = (
        f"def holds():\n    try:\n        return {test}\n"
        "    except (LookupError, ValueError, AttributeError):\n        return False\n"
    )
    return compile(text, "<weft captured state>", "exec")


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
    names, closure = function.__globals__, function.__closure__
    cells = dict(zip(function.__code__.co_freevars, closure, strict=True)) if closure else {}
    found = []
    for name, line in facts.reads.items():
        if facts.changes(name):
            continue  # the function's own counter, say
        holder: Any
        if name.place == GLOBAL:
            holder, base = names, names.get(name.name, _UNKNOWN)
        elif name.place == FREE:
            holder = cells.get(name.name)
            base = _content(holder)
        elif name.attribute is not None and instance is not None and _is_first(function, name):
            holder, base = _reference(instance), instance
        else:
            continue
        value = base if name.attribute is None else _attribute(base, name.attribute)
        if holder is not None and is_plain(value):
            found.append(Captured(name, line, holder, value))
    return found


def _content(cell: types.CellType | None) -> Any:
    try:
        return _UNKNOWN if cell is None else cell.cell_contents
    except ValueError:
        return _UNKNOWN


def _reference(instance: Any) -> Any:
    """A weak reference; None if there can be none."""
    try:
        return weakref.ref(instance)
    except TypeError:
        return None


def _attribute(base: Any, name: str) -> Any:
    return getattr(base, name, _UNKNOWN) if _is_data(base, name) else _UNKNOWN


def _is_first(function: types.FunctionType, name: Name) -> bool:
    code = function.__code__
    return name.place == LOCAL and code.co_varnames[:1] == (name.name,) and code.co_argcount > 0


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
