"""Opens a public namespace: it lists its public names only, and is where its objects say they live.

The files of `weft/` import names from `weft._src` and list them in `__all__`; `open_namespace` does
the rest. `tf.reduce_sum.__module__` is then "weft", not the file in which it is written, so reprs,
tracebacks, pickles and documentation speak of paths that users can import. An object that stands in
several namespaces belongs to the one with the shortest path.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Mapping
from importlib import import_module
from types import FrameType, FunctionType, ModuleType
from typing import Any, Self

from weft._src.core.showing_tracebacks import hide_in_pytest
from weft._src.public.missing import missing_name

_PRIVATE = "weft._src"
_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def open_namespace(module_name: str, lazy: Mapping[str, str] | None = None) -> None:
    """Makes a module with an `__all__` a public namespace.

    `lazy` says for names that are not imported yet in which module they are (a name that is that
    module itself ends its path); they are imported when they are used. Those that need a library
    which may be missing are not in `__all__`, and listed all the same.
    """
    module = sys.modules[module_name]
    later = dict(lazy or {})
    public = sorted({*module.__all__, *later})

    def missing_or_later(name: str) -> Any:
        if name not in later:
            error = missing_name(module_name, name, public)
            if (
                _is_imported_by_name(sys._getframe(1))
                and f"{module_name}.{name}" not in sys.modules
            ):
                raise ImportError(str(error), name=module_name)
            raise error
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


def _is_imported_by_name(frame: FrameType) -> bool:
    """Whether code is at `from module import name`: Python would replace an AttributeError."""
    return frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


def _publish(module: ModuleType, name: str) -> None:
    """A function or class of Weft says it lives in a module, unless a shorter path is known."""
    value = getattr(module, name)
    if not isinstance(value, (FunctionType, type)) or "." in value.__qualname__:
        return
    place = value.__module__
    is_private = place.startswith(_PRIVATE)
    if value.__name__ != name and not (is_private and module.__name__ == "weft"):
        return  # a second name; what has another name at the top has it for good
    if not place.startswith("weft"):
        return
    if not is_private and _rank(place) <= _rank(module.__name__):
        return
    if isinstance(value, type):
        _publish_class(value, module.__name__, name)
    else:
        value.__module__ = module.__name__


def _publish_class(cls: type, module_name: str, name: str) -> None:
    written = getattr(cls.__module__, "written", cls.__module__)
    line = vars(cls).get("__firstlineno__")
    if cls.__name__ != name:  # pickling looks for it where it is written
        cls.__name__ = cls.__qualname__ = name
        setattr(sys.modules[written], name, cls)
    cls.__module__ = _Place(module_name, written)
    if line is not None:  # Python 3.13 forgets it when the module changes
        type.__setattr__(cls, "__firstlineno__", line)


def _rank(place: str) -> tuple[int, int, str]:
    return place.count("."), len(place), str(place)


class _Place(str):
    """The public path of a class, by which Python finds the module the class is written in.

    `inspect.getsource` and `typing.get_type_hints` look a class up in `sys.modules` by its
    `__module__` (functions have their code and their globals). So this is the public path to
    whoever reads or compares it, and as the key of a dictionary the module that has the source.
    """

    __slots__ = ("written",)
    written: str

    def __new__(cls, public: str, written: str) -> Self:
        place = super().__new__(cls, public)
        place.written = str(written)
        return place

    def __hash__(self) -> int:
        return hash(self.written)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or other == self.written

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
