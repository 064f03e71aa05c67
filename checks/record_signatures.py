"""Writes down the parameters of TensorFlow's public functions and methods, with their defaults.

    PYTHON checks/record_signatures.py

where PYTHON is an interpreter that has TensorFlow. `tests/architecture/test_signatures.py` compares
them with Weft's.
"""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE / "signatures.json.gz"
NAMES_FILE = HERE.parent / "src/weft/_src/public/tensorflow_names.py"
NOT_COMPARED = ("distribute", "dtensor", "keras", "lite", "mlir", "tpu", "errors", "train", "test")

# The name of a parameter, its kind, and its default in words.
Parameter = list[Any]


def default_of(value: Any) -> str:
    """A default that both libraries write in the same way; "..." for others."""
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return repr(list(value))
    return value.name if hasattr(value, "as_numpy_dtype") else "..."


def parameters_of(function: Any) -> list[Parameter] | None:
    """The parameters without `self`; None if nobody can tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, int(p.kind), default_of(p.default)] for p in found if p.name != "self"]


def functions_of(tf: Any, names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Public functions, constructors and methods, by their paths."""
    for namespace, listed in sorted(names.items()):
        if namespace.startswith(NOT_COMPARED):
            continue
        module = tf
        for part in filter(None, namespace.split(".")):
            module = getattr(module, part, None)
        for name in listed.split():
            value = getattr(module, name, None)
            path = f"{namespace}.{name}".lstrip(".")
            if inspect.isclass(value):
                yield path, value.__init__
                for member in dir(value):
                    method = None if member.startswith("_") else getattr(value, member, None)
                    if callable(method) and not inspect.isclass(method):
                        yield f"{path}.{member}", method
            elif callable(value):
                yield path, value


def main() -> None:
    """Writes the file."""
    tf: Any = importlib.import_module("tensorflow")
    spec: Any = importlib.util.spec_from_file_location("names", NAMES_FILE)
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    found = {path: parameters_of(function) for path, function in functions_of(tf, names.NAMES)}
    known = {path: parameters for path, parameters in found.items() if parameters is not None}
    with gzip.GzipFile(KEPT, "wb", mtime=0) as file:
        file.write(json.dumps(known, sort_keys=True).encode())
    print(f"{len(known)} functions, {KEPT.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
