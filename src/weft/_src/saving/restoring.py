"""Values get back to the objects they were saved of, by the names that lead to them.

Both sides are walked together from their roots: what has the same name on the way is the same
object. A child that is not there yet is waited for; its values are restored when it comes.
"""

from __future__ import annotations

import difflib
import os
from typing import Any

from weft._src.core import progress
from weft._src.core.dtypes import variant
from weft._src.core.tensor import EagerTensor
from weft._src.saving.bundle import BundleReader
from weft._src.saving.files import Reader
from weft._src.saving.object_graph import (
    OBJECT_GRAPH,
    VARIABLE_VALUE,
    saved_objects,
    stored_parts,
    variable_of,
    walk,
)
from weft._src.saving.sorted_table import damaged
from weft._src.state.tracking import Trackable, await_child, children_of

_MOST_NAMES = 12  # that are listed of each kind


class Restoration:
    """A checkpoint that is being restored, as far as objects are there to take values."""

    def __init__(self, reader: BundleReader, root: Any, extra: dict[str, Any] | None) -> None:
        self.reader = reader
        self.root, self.extra = root, extra or {}
        self.nodes = saved_objects(reader)
        self.bound: dict[int, Any] = {}  # objects by their number in the checkpoint
        self.taken: set[str] = set()  # keys of values that were restored
        self.foreign: list[str] = []
        self.waiting: set[int] = set()  # the numbers of objects that are not there yet
        self._bind(0, root, ())

    def _bind(self, number: int, value: Any, path: tuple[str, ...]) -> None:
        """Object `number` of the checkpoint is this one, and so on with its children.

        Everything is read and compared before the first value is restored: an error changes none.
        """
        restored: list[tuple[Any, dict[str, Any]]] = []
        pending = [(number, value, path)]
        while pending:
            number, value, path = pending.pop()
            if number in self.bound:
                continue
            node = self.nodes[number]
            self.bound[number] = value
            self.waiting.discard(number)
            restored.append((value, self._values(node, value, path)))
            here = children_of(value) | ({} if path else self.extra)
            for child in node.children:
                name, below = child.local_name, (*path, child.local_name)
                if name in here:
                    pending.append((child.node_id, here[name], below))
                elif child.node_id not in self.bound:
                    self.waiting.add(child.node_id)
                    value = self._await(value, name, child.node_id, below)
            if value is not self.bound[number]:
                self._put(number, value)
        what = f"Restoring {os.path.basename(self.reader.prefix)}"
        for value, found in progress.each(restored, what, len(restored)):
            if found:
                self._restore(value, found)

    def _restore(self, value: Any, found: dict[str, Any]) -> None:
        try:
            value._restore_from_tensors(found)
        except KeyError as error:
            raise damaged(
                self.reader.prefix, f"it has {sorted(found)} for {value!r}, without {error}"
            ) from None

    def _await(self, owner: Any, name: str, number: int, path: tuple[str, ...]) -> Any:
        return await_child(owner, name, lambda child: self._bind(number, child, path))

    def _put(self, number: int, value: Any) -> None:
        """A list or dict that awaits children takes the place of the one before."""
        before, self.bound[number] = self.bound[number], value
        for owner in list(self.bound.values()):
            if isinstance(owner, Trackable):
                for name, held in list(owner.__dict__.items()):
                    if held is before:
                        owner.__dict__[name] = value
            elif isinstance(owner, list):
                owner[:] = [value if held is before else held for held in owner]
            elif isinstance(owner, dict):
                for name, held in list(owner.items()):
                    if held is before:
                        dict.__setitem__(owner, name, value)

    def _values(self, node: Any, value: Any, path: tuple[str, ...]) -> dict[str, Any]:
        """What the checkpoint has for an object; nothing, if the object takes nothing."""
        if not hasattr(value, "_restore_from_tensors"):
            return {}
        found: dict[str, Any] = {}
        for attribute in node.attributes:
            for name, stored in stored_parts(self.reader, attribute).items():
                self.taken.add(stored)
                # TensorFlow keeps positions of iterators in a form that only it can read.
                if self.reader.dtype_and_shape(stored)[0] is variant:
                    self.foreign.append(stored)
                else:
                    found[name] = EagerTensor(fitting(self.reader, stored, value, path))
        if found and variable_of(value) is not None and VARIABLE_VALUE not in found:
            raise damaged(self.reader.prefix, f"it has {sorted(found)} for the variable {path}")
        return found

    # --- what is left ---------------------------------------------------------------------------

    def unused(self) -> list[str]:
        """What is in the checkpoint and went nowhere, but for what is waited for."""
        waiting = self.deferred()
        return [
            key
            for key in self.reader.names()
            if key != OBJECT_GRAPH and key not in self.taken and key not in waiting
        ]

    def deferred(self) -> list[str]:
        """What belongs to objects that are not there yet."""
        seen: set[int] = set(self.waiting)
        pending = list(self.waiting)
        keys: list[str] = []
        while pending:
            node = self.nodes[pending.pop()]
            for attribute in node.attributes:
                keys += stored_parts(self.reader, attribute).values()
            for child in node.children:
                if child.node_id not in seen and child.node_id not in self.bound:
                    seen.add(child.node_id)
                    pending.append(child.node_id)
        return sorted(keys)

    def missing(self) -> list[str]:
        """The variables of the program that the checkpoint has nothing for."""
        bound = {id(value) for value in self.bound.values()}
        return [
            "/".join(one.path)
            for one in walk(self.root, self.extra)
            if variable_of(one.value) is not None and id(one.value) not in bound
        ]

    def report(self) -> str:
        """What did not find its place, with the nearest names."""
        lines = [listed(self.missing(), self.unused(), self.deferred())]
        if self.foreign:
            lines.append("  written by TensorFlow for itself, not restorable:")
            lines += [f"    {key}" for key in self.foreign]
        return "\n".join([line for line in lines if line])


def fitting(reader: Reader, key: str, value: Any, path: tuple[str, ...]) -> Any:
    """A value of a file, if it fits the variable that it is for."""
    variable = variable_of(value)
    if variable is not None:
        dtype, shape = reader.dtype_and_shape(key)
        if dtype is not variable.dtype or not variable.shape.is_compatible_with(shape):
            wanted = f"{variable.dtype.name} {variable.shape}"
            raise ValueError(
                f"The checkpoint {reader.prefix} does not fit: {'/'.join(path)!r} is "
                f"{dtype.name} {tuple(shape)} there, and the variable {variable.name!r} is "
                f"{wanted}."
            )
    return reader.read(key)


def listed(missing: list[str], unused: list[str], deferred: list[str]) -> str:
    """What did not find its place, with the nearest names."""
    lines = []
    for title, names, others in (
        ("in the program, not in the checkpoint", missing, [*unused, *deferred]),
        ("in the checkpoint, not in the program", unused, missing),
        ("waiting for objects that are not there yet", deferred, missing),
    ):
        if names:
            lines.append(f"  {title} ({len(names)}):")
            lines += [f"    {_described(name, others)}" for name in names[:_MOST_NAMES]]
            if len(names) > _MOST_NAMES:
                lines.append(f"    and {len(names) - _MOST_NAMES} more")
    return "\n".join(lines)


def _described(name: str, others: list[str]) -> str:
    plain = {_plain(other): other for other in others}
    near = difflib.get_close_matches(_plain(name), list(plain), n=1, cutoff=0.6)
    return f"{_plain(name)}" + (f"  (the nearest is {near[0]})" if near else "")


def _plain(key: str) -> str:
    return key.partition("/.ATTRIBUTES/")[0]
