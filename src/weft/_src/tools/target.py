"""`FILE::function`, and the arguments to trace it with."""

from __future__ import annotations

import contextlib
import inspect
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weft._src.function.concrete import ConcreteFunction
from weft._src.function.decorator import function
from weft._src.function.methods import BoundFunction
from weft._src.function.polymorphic import PolymorphicFunction, values_or_none
from weft._src.tools.terminal import CommandError, ProgramError


class TargetError(CommandError):
    """What the user named cannot be found or used; the text says how to name it."""


class Program:
    """A file that was run: the names in it, and how it ended."""

    def __init__(self, path: str, *, as_main: bool, arguments: Sequence[str] = ()) -> None:
        """Runs the file; as a program it has arguments of its own, and may end itself."""
        if not Path(path).is_file():
            raise TargetError(f"There is no file {path}.")
        self.path = path
        self.exit_code = 0
        # As if it were run: what it imports may lie beside it.
        sys.path.insert(0, str(Path(path).resolve().parent))
        self.namespace: dict[str, Any] = {}
        with _arguments([path, *arguments]):
            try:
                self.namespace = runpy.run_path(path, run_name=_name(as_main))
            except SystemExit as end:
                self.exit_code = _exit_code(end)
                self.namespace = _left_behind(end, path)
            except Exception as error:
                raise ProgramError(error, path) from error

    def functions(self) -> Iterator[tuple[str, PolymorphicFunction[..., Any]]]:
        """The traced functions of the file, and the traced methods of its classes, by name."""
        for name, value in list(self.namespace.items()):
            if isinstance(value, PolymorphicFunction):
                yield name, value
            elif inspect.isclass(value) and value.__module__ == self.namespace.get("__name__"):
                for attribute, member in vars(value).items():
                    if isinstance(member, PolymorphicFunction):
                        yield f"{name}.{attribute}", member


def _name(as_main: bool) -> str:
    return "__main__" if as_main else "weft_target"


@contextlib.contextmanager
def _arguments(argv: list[str]) -> Iterator[None]:
    outer, sys.argv = sys.argv, argv
    try:
        yield
    finally:
        sys.argv = outer


def _exit_code(end: SystemExit) -> int:
    """What Python would make of `sys.exit(...)`; a text is printed."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _left_behind(end: SystemExit, path: str) -> dict[str, Any]:
    """The names of a program that has ended itself: those of its outermost frame."""
    trace = end.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            return trace.tb_frame.f_globals.copy()
        trace = trace.tb_next
    return {}


class Target:
    """A traced function out of a file, and the names its arguments may use."""

    def __init__(self, text: str, *, run_main: bool = False, arguments: Sequence[str] = ()) -> None:
        path, separator, name = text.partition("::")
        if not separator or not name:
            raise TargetError(f"Name a function as FILE::function, got {text!r}.")
        self.name = name
        self.program = Program(path, as_main=run_main, arguments=arguments)
        self.namespace = self.program.namespace
        self.function = self._found(path)

    def _found(self, path: str) -> PolymorphicFunction[..., Any]:
        first, *rest = self.name.split(".")
        if first not in self.namespace:
            names = sorted([name for name, _ in self.program.functions()])
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
