"""Answers `import tensorflow` with Weft, in the modules of one package only.

Python calls `__import__` of a module's own builtins for its import statements. Modules of Keras are
loaded with builtins in which that one function is ours: their files and compiled code stay what
they are, nothing named `tensorflow` appears in `sys.modules`, and a real TensorFlow that somebody
else imports in the same process is left alone.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from weft._src.keras.facade import module_of, tensorflow

Change = Callable[[ModuleType], None]


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level or not (name == "tensorflow" or name.startswith("tensorflow.")):
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    found = module_of(name)
    return found if fromlist else tensorflow()


_BUILTINS = {**vars(builtins), "__import__": _import}


class _BoundLoader(Loader):
    """Loads a module as its own loader does, with other builtins, and changes it afterwards."""

    def __init__(self, loader: Loader, change: Change | None) -> None:
        self._loader = loader
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # sources, resources and so on

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = _BUILTINS
        self._loader.exec_module(module)
        if self._change is not None:
            self._change(module)


class BoundPackage(MetaPathFinder):
    """Finds the modules of a package, for which `tensorflow` is Weft."""

    def __init__(self, package: str, changes: Mapping[str, Change]) -> None:
        self._package = package
        self._changes = changes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that others find, with our loader around theirs."""
        if fullname != self._package and not fullname.startswith(f"{self._package}."):
            return None
        for finder in sys.meta_path:
            if isinstance(finder, BoundPackage):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _BoundLoader(spec.loader, self._changes.get(fullname))
                return spec
        return None
