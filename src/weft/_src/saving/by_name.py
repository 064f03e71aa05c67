"""Values get back by name, from files without a map of objects.

These are safetensors files, in which the names that lead to a value are joined by dots, and
files of TensorFlow 1, in which values have the names of variables.
"""

from __future__ import annotations

from typing import Any

from weft._src.core.tensor import EagerTensor
from weft._src.saving.files import Reader
from weft._src.saving.object_graph import (
    VARIABLE_VALUE,
    Found,
    escaped,
    flat_name,
    saved_values,
    variable_of,
    walk,
)
from weft._src.saving.restoring import fitting, listed
from weft._src.saving.safetensors import SafetensorsReader


class RestorationByName:
    """A file whose values were restored by their names; nothing is waited for.

    Everything is read and compared before the first value is restored: an error changes none.
    """

    def __init__(self, reader: Reader, root: Any, extra: dict[str, Any]) -> None:
        self.reader = reader
        self.taken: set[str] = set()
        self._missing: list[str] = []
        restored: list[tuple[Any, dict[str, Any]]] = []
        for one in walk(root, extra):
            keys = self._keys(one)
            if keys and all(key in reader for key in keys.values()):
                self.taken.update(keys.values())
                restored.append(
                    (one.value, {
                        name: EagerTensor(fitting(reader, key, one.value, one.path))
                        for name, key in keys.items()
                    })
                )  # fmt: skip
            elif variable_of(one.value) is not None and one.path != ("save_counter",):
                self._missing.append("/".join(one.path))
        for value, found in restored:
            value._restore_from_tensors(found)

    def _keys(self, one: Found) -> dict[str, str]:
        """Where the values of an object would be, by their names in the object."""
        variable = variable_of(one.value)
        if isinstance(self.reader, SafetensorsReader):
            names = saved_values(one.value) if variable is None else (VARIABLE_VALUE,)
            return {name: flat_name(one, name) for name in names}
        if variable is None:
            return {}
        named = variable.name.removesuffix(":0")
        path = escaped("/".join(one.path))
        return {VARIABLE_VALUE: named if named in self.reader else path}

    def missing(self) -> list[str]:
        """Variables that the file has nothing for."""
        return self._missing

    def unused(self) -> list[str]:
        """Names in the file that no variable has."""
        return [key for key in self.reader.names() if key not in self.taken]

    def deferred(self) -> list[str]:
        """By name nothing is waited for."""
        return []

    def report(self) -> str:
        """What did not find its place."""
        return listed(self.missing(), self.unused(), [])
