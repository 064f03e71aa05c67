"""`FILE::function`, and the arguments to trace it with."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

from weft._src.function.concrete import ConcreteFunction
from weft._src.function.decorator import function
from weft._src.function.methods import BoundFunction
from weft._src.function.polymorphic import PolymorphicFunction, values_or_none


class TargetError(Exception):
    """What the user named cannot be found or used; the text says how to name it."""


class Target:
    """A traced function out of a file, and the names its arguments may use."""

    def __init__(self, text: str, *, run_main: bool = False) -> None:
        path, separator, name = text.partition("::")
        if not separator or not name:
            raise TargetError(f"Name a function as FILE::function, got {text!r}.")
        if not Path(path).is_file():
            raise TargetError(f"There is no file {path}.")
        self.name = name
        # As if it were run: what it imports may lie beside it.
        sys.path.insert(0, str(Path(path).resolve().parent))
        self.namespace = runpy.run_path(path, run_name="__main__" if run_main else "weft_target")
        self.function = self._found(path)

    def _found(self, path: str) -> PolymorphicFunction:
        first, *rest = self.name.split(".")
        if first not in self.namespace:
            names = sorted(
                k for k, v in self.namespace.items() if isinstance(v, PolymorphicFunction)
            )
            known = f" Its traced functions are: {', '.join(names)}." if names else ""
            raise TargetError(f"{path} has nothing called {first!r}.{known}")
        found = self.namespace[first]
        for part in rest:
            if not hasattr(found, part):
                raise TargetError(f"{path}: {self.name}: {found!r} has no {part!r}.")
            found = getattr(found, part)
        if isinstance(found, BoundFunction):
            found = found._function
        if not isinstance(found, PolymorphicFunction):
            if not callable(found):
                raise TargetError(f"{path}: {self.name} is no function but {found!r}.")
            found = function(found)
        return found

    def concrete(self, arguments: list[str]) -> ConcreteFunction:
        """The trace for arguments written as Python, else for the signature, else the last one."""
        if not arguments:
            return self._without_arguments()
        values = [self._value(text) for text in arguments]
        found: ConcreteFunction = self.function.get_concrete_function(*values)
        return found

    def inputs(self, arguments: list[str]) -> list[Any] | None:
        """What goes into the graph for these arguments; None where only their types are given."""
        if not arguments:
            return None
        bound, _ = self.function._bind(tuple([self._value(text) for text in arguments]), {})
        return values_or_none(bound)

    def _without_arguments(self) -> ConcreteFunction:
        traces = self.function._list_all_concrete_functions()
        if traces:
            return traces[-1]
        try:
            found: ConcreteFunction = self.function.get_concrete_function()
        except TypeError as error:
            raise TargetError(
                f"{self.name} has not been traced, and tracing it needs arguments ({error}) Give "
                "each as --arg 'tf.TensorSpec([None, 3])' (or any value), give the function an "
                "input_signature, or run the whole file first with --main."
            ) from error
        return found

    def _value(self, text: str) -> Any:
        names = {**self.namespace, "tf": sys.modules["weft"], "weft": sys.modules["weft"]}
        try:
            return eval(text, names)
        except Exception as error:
            raise TargetError(f"--arg {text!r}: {type(error).__name__}: {error}") from error
