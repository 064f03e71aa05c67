"""The module that `import tensorflow` gives: Weft's public names, and a few that are not public.

Libraries that were written for TensorFlow also read some names which are not part of its public
interface (`tensorflow.python...`, `tf.__internal__`). These are answered by `standins`, and only
here, so that Weft itself does not have them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import weft
from weft._src.keras.standins import (
    csr_matrices,
    data_structures,
    dtensor,
    eager_context,
    framework_config,
    internal,
    math_ops,
    tensor_util,
    type_spec_registry,
    xla,
)

TENSORFLOW_VERSION = "2.21.0"  # whose interface Weft has: libraries compare it

# Which stand-in answers for which module below `tensorflow`.
_PRIVATE: dict[str, ModuleType] = {
    "__internal__": internal,
    "python.eager.context": eager_context,
    "python.framework.config": framework_config,
    "python.framework.tensor_util": tensor_util,
    "python.framework.type_spec_registry": type_spec_registry,
    "python.ops.math_ops": math_ops,
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": csr_matrices,
    "python.trackable.data_structures": data_structures,
    "compiler.tf2xla.python.xla": xla,
    "experimental.dtensor": dtensor,
}


class Facade(ModuleType):
    """A module that looks names up in others: its own stand-ins first, then what is behind it."""

    def __init__(self, name: str, behind: Any, own: Mapping[str, Any] | None = None) -> None:
        super().__init__(name, getattr(behind, "__doc__", None))
        self.__dict__.update(own or {})
        self.__dict__["_behind"] = behind
        self.__path__: list[str] = []  # Python then looks for modules below it
        self.__spec__ = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:
        behind = self.__dict__["_behind"]
        if behind is None:
            raise AttributeError(
                f"Weft has no {self.__name__}.{name}: it is no public name of TensorFlow."
            )
        value = getattr(behind, name)
        if not name.startswith("__"):
            self.__dict__[name] = value  # found at once the next time
        return value

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(self.__dict__["_behind"])})


def _tensorflow() -> Facade:
    top = Facade("tensorflow", weft, {"__version__": TENSORFLOW_VERSION})
    for path, standin in _PRIVATE.items():
        place: Any = top
        *folders, last = path.split(".")
        for folder in folders:
            if folder not in vars(place):
                inner = Facade(f"{place.__name__}.{folder}", _public(place, folder))
                setattr(place, folder, inner)
            place = vars(place)[folder]
        setattr(place, last, Facade(f"tensorflow.{path}", standin))
    return top


def _public(place: Any, name: str) -> Any:
    """The namespace of Weft behind a folder; None for folders that are private altogether."""
    return getattr(place.__dict__["_behind"], name, None)


@functools.cache
def tensorflow() -> Facade:
    """The one facade there is."""
    return _tensorflow()


def module_of(path: str) -> Any:
    """What the module `tensorflow.a.b` is; ModuleNotFoundError if there is nothing of that name."""
    found: Any = tensorflow()
    for part in path.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError as e:
            raise ModuleNotFoundError(f"Weft has no module {path}: {e}", name=path) from e
    return found
