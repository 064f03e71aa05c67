"""Opens a public namespace: it lists its public names only, and is where its objects say they live.

The files of `weft/` import names from `weft._src` and list them in `__all__`; `open_namespace` does
the rest. `tf.reduce_sum.__module__` is then "weft", not the file in which it is written, so reprs,
tracebacks, pickles and documentation speak of paths that users can import. An object that stands in
several namespaces belongs to the one with the shortest path.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from weft._src.core.showing_tracebacks import hide_in_pytest
from weft._src.public.missing import missing_name

_PRIVATE = "weft._src"


def open_namespace(module_name: str, lazy: Mapping[str, str] | None = None) -> None:
    """Makes a module with an `__all__` a public namespace.

    `lazy` says for names that are not imported yet in which module they are (a name that is that
    module itself ends its path); they are imported when they are used.
    """
    module = sys.modules[module_name]
    public = sorted(module.__all__)
    later = dict(lazy or {})

    def missing_or_later(name: str) -> Any:
        if name not in later:
            raise missing_name(module_name, name, public)
        found = import_module(later[name])
        value = found if later[name].endswith(f".{name}") else getattr(found, name)
        setattr(module, name, value)
        hide_in_pytest()
        _publish(module, name)
        return value

    # Set here, and not written as functions of the module: type checkers would take them to mean
    # that any name may be there.
    vars(module).update(__getattr__=missing_or_later, __dir__=lambda: public)
    for name in public:
        if name not in later:
            _publish(module, name)


def _publish(module: ModuleType, name: str) -> None:
    """A function or class of Weft says it lives in a module, unless a shorter path is known."""
    value = getattr(module, name)
    if not isinstance(value, (FunctionType, type)) or "." in value.__qualname__:
        return
    place = value.__module__
    is_private = place.startswith(_PRIVATE)
    if isinstance(value, type) and is_private:
        type.__setattr__(value, "__wrapped__", _Source(value))
        value.__name__ = value.__qualname__ = name  # where its public name is another
    elif value.__name__ != name or not place.startswith("weft"):
        return
    if is_private or _rank(module.__name__) < _rank(place):
        value.__module__ = module.__name__


def _rank(place: str) -> tuple[int, int, str]:
    return place.count("."), len(place), place


class _Source:
    """Tells `inspect.getsource` where a class is written, although `__module__` says otherwise.

    `inspect` finds a function by its code, but a class by its `__module__`, after it has followed
    `__wrapped__`. So that attribute is a stand-in with the place at which the class is written.
    Only the class itself has it: its subclasses and objects do not.
    """

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._written = _Standin(
            cls.__name__,
            (),
            {
                "__module__": cls.__module__,
                "__qualname__": cls.__qualname__,
                "__doc__": cls.__doc__,
                "__firstlineno__": vars(cls).get("__firstlineno__"),
            },
        )
        self._written.public_class = cls

    def __get__(self, instance: object, owner: type) -> type:
        if instance is not None or owner is not self._cls:
            raise AttributeError("__wrapped__")
        return self._written


class _Standin(type):
    public_class: type

    @property
    def __signature__(cls) -> inspect.Signature:
        # `inspect.signature` follows `__wrapped__`, too.
        return inspect.signature(cls.public_class, follow_wrapped=False)
