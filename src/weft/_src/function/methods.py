"""Traced methods: each instance has traces of its own, which do not keep it alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from weft._src.autograph import met
from weft._src.core.display import html_of
from weft._src.core.tracebacks import hide_own_frames
from weft._src.function.signature import Parameters

_P = ParamSpec("_P")
_R = TypeVar("_R")


class PerInstance:
    """Something for each instance, by identity: instances need not be hashable, and may die."""

    def __init__(self) -> None:
        self._table: dict[int, Any] = {}

    def get(self, instance: Any) -> Any:
        """What was set for an instance, None if nothing was."""
        return self._table.get(id(instance))

    def values(self) -> list[Any]:
        """What was set for all instances that live."""
        return list(self._table.values())

    def set(self, instance: Any, value: Any) -> None:
        """Keeps a value as long as the instance lives."""
        self._table[id(instance)] = value
        weakref.finalize(instance, self._table.pop, id(instance), None).atexit = False


class WeakMethod:
    """A function with its first argument given, without keeping that alive."""

    def __init__(self, function: Any, instance: Any) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._instance = weakref.ref(instance)
        signature = Parameters(function, "").signature
        self.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])

    @property
    def instance(self) -> Any:
        """The instance, None once it is gone."""
        return self._instance()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(self._instance(), *args, **kwargs)

    def __autograph_convert__(self, convert: Callable[[Any], Any]) -> Callable[..., Any]:
        """AutoGraph converts the function inside."""
        function = convert(self._function)
        met.note(self._function, self.instance)  # now with the instance, too
        return lambda *args, **kwargs: function(self._instance(), *args, **kwargs)


class BoundFunction(Generic[_P, _R]):
    """A traced method of one instance: calls and attributes go to the instance's own traces."""

    def __init__(self, function: Any, instance: Any) -> None:
        self._function = function
        self.__self__ = instance
        self.__wrapped__: Callable[..., Any] = function.python_function
        self.__name__: str = function.name
        self.__doc__ = function.__doc__

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return self._function(*args, **kwargs)
        except Exception as error:
            hide_own_frames(error)
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundFunction) and self._function is other._function

    def __hash__(self) -> int:
        return id(self._function)

    _repr_html_ = html_of

    def __repr__(self) -> str:
        return f"<bound {self._function!r} of {self.__self__!r}>"
