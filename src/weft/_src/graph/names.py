"""Unique node names, as TensorFlow makes them: add, add_1, add_2."""

from __future__ import annotations

import re

from weft._src.core.context import state

_VALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")


class NameTable:
    """The names used in one graph."""

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def next(self, name: str) -> str:
        """What `unique` would give, which stays free."""
        count = self._used.get(name)
        while count is not None and f"{name}_{count}" in self._used:
            count += 1
        return name if count is None else f"{name}_{count}"

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


class name_scope:  # noqa: N801 - TensorFlow's name
    """Nodes created inside get `name/` in front of their names.

    >>> with tf.name_scope("layer1") as scope:
    ...     print(scope)
    layer1/
    """

    def __init__(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name_scope: name must be a string, got {name!r}.")
        self._name = name
        self._outer: list[str] = []  # it may be entered again inside of itself

    @property
    def name(self) -> str | None:
        """The name it was made with."""
        return self._name

    def __enter__(self) -> str:
        name, outer = self._name, state.name_scope
        if not name:
            scope = ""
        elif name.endswith("/"):
            scope = name
        else:
            scope = outer + valid_name(name)
            if state.graph is not None:
                scope = state.graph.unique_name(scope)
            scope += "/"
        self._outer.append(outer)
        state.name_scope = scope
        return scope

    def __exit__(self, *exc_info: object) -> None:
        state.name_scope = self._outer.pop()


def get_current_name_scope() -> str:
    """The name scope that is open, "" if there is none.

    Returns:
      A string without a slash at its end; scopes inside of others have slashes between them.

    >>> with tf.name_scope("layer1"):
    ...     print(tf.get_current_name_scope())
    layer1
    """
    return state.name_scope.rstrip("/")
