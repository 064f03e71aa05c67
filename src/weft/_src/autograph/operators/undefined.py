"""Variables without a value: not assigned yet, or only on a path that may not be taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class Undefined:
    """Stands for a variable that has no value; using it raises an error that names it."""

    def __init__(self, name: str, error: Exception | None = None) -> None:
        object.__setattr__(self, "name_", name)
        object.__setattr__(self, "error_", error)

    def _fail(self, *_: Any, **__: Any) -> NoReturn:
        error = object.__getattribute__(self, "error_")
        name = object.__getattribute__(self, "name_")
        if error is not None:
            raise error
        raise UnboundLocalError(f"{name!r} is used before it is defined.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__tf_tensor__":
            raise AttributeError(name)
        self._fail()

    def __setattr__(self, name: str, value: Any) -> None:
        self._fail()

    def __repr__(self) -> str:
        return f"<undefined {object.__getattribute__(self, 'name_')!r}>"

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __setitem__ = __contains__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _fail
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _fail
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = __invert__ = _fail
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _fail
    __lt__ = __le__ = __gt__ = __ge__ = _fail
    __int__ = __float__ = __index__ = _fail


def is_undefined(value: Any) -> bool:
    """Whether a variable has no value."""
    return isinstance(value, Undefined)


def load_or_undefined(load: Callable[[], Any], name: str) -> Any:
    """The value of a place like `self.x`, which may not exist."""
    try:
        return load()
    except (AttributeError, KeyError, IndexError, NameError, TypeError):
        return Undefined(name)
