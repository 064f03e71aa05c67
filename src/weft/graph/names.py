"""Unique node names, as TensorFlow makes them: add, add_1, add_2."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from weft.core.context import state

_VALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")


class NameTable:
    """The names used in one graph."""

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """`name` itself the first time, then with a number behind it."""
        used = self._used
        count = used.get(name)
        if count is None:
            used[name] = 1
            return name
        while True:
            candidate = f"{name}_{count}"
            count += 1
            if candidate not in used:
                used[name] = count
                used[candidate] = 1
                return candidate


def valid_name(name: str) -> str:
    """The name with characters that node names cannot have replaced by underscores."""
    cleaned = _VALID.sub("_", name).lstrip("_/-\\>")
    return cleaned or "unnamed"


@contextlib.contextmanager
def name_scope(name: str | None) -> Iterator[str]:
    """Nodes created inside get `name/` in front of their names.

    >>> with tf.name_scope("layer1") as scope:
    ...     print(scope)
    layer1/
    """
    outer = state.name_scope
    if not name:
        scope = ""
    elif name.endswith("/"):
        scope = name
    else:
        scope = outer + valid_name(name)
        if state.graph is not None:
            scope = state.graph.unique_name(scope)
        scope += "/"
    state.name_scope = scope
    try:
        yield scope
    finally:
        state.name_scope = outer
