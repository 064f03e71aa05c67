"""What TensorFlow's ops take and give: a table of names, made by checks/record_op_signatures.py."""

from __future__ import annotations

import functools
import json
import lzma
from dataclasses import dataclass
from importlib import resources
from typing import Any

_NO_DEFAULT = object()


@dataclass(frozen=True, slots=True)
class Argument:
    """An input or output.

    `type` is a dtype, or the attribute that says which; `many` names the attribute that says how
    many tensors it is (a number), or of which types (a list), and is empty if it is one.
    """

    name: str
    type: str
    many: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: its kind is "int", "list(type)", "shape" and so on."""

    name: str
    kind: str
    default: Any = _NO_DEFAULT

    @property
    def has_default(self) -> bool:
        """Whether it may be left out."""
        return self.default is not _NO_DEFAULT


@dataclass(frozen=True, slots=True)
class Signature:
    """What an op takes and gives."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attributes: tuple[Attribute, ...]
    is_stateful: bool
    renamed: tuple[str, ...] = ()  # the parameters, if they are called differently in Python

    @property
    def inferred(self) -> frozenset[str]:
        """The attributes that follow from the inputs, so that nobody has to give them."""
        return frozenset(part for x in self.inputs for part in (x.type, x.many) if part)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The arguments of the raw op: inputs, then the attributes that the inputs do not tell."""
        return self.renamed or self._in_graphs

    @property
    def _in_graphs(self) -> tuple[str, ...]:
        inferred = self.inferred
        told = [a.name for a in self.attributes if a.name not in inferred]
        return (*[x.name for x in self.inputs], *told)

    @property
    def names(self) -> dict[str, str]:
        """What inputs and attributes are called as arguments, by the names they have in graphs."""
        if sorted(self.parameters) == sorted(self._in_graphs):  # perhaps in another order
            return {name: name for name in self.parameters}
        return dict(zip(self._in_graphs, self.parameters, strict=True))

    @property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the attributes, by the names of the arguments of the raw op."""
        found = {a.name: a.default for a in self.attributes if a.has_default}
        return {ours: found[theirs] for theirs, ours in self.names.items() if theirs in found}


@functools.cache
def _table() -> dict[str, Any]:
    packed = resources.files(__package__).joinpath("signatures.json.xz").read_bytes()
    return dict(json.loads(lzma.decompress(packed)))


def names() -> list[str]:
    """All ops of TensorFlow's registry."""
    return list(_table())


@functools.cache
def signature_of(name: str) -> Signature | None:
    """The signature of an op, None if TensorFlow has none of that name.

    >>> from weft._src.raw_ops.signatures import signature_of
    >>> signature_of("MatMul").parameters
    ('a', 'b', 'transpose_a', 'transpose_b', 'grad_a', 'grad_b')
    """
    row = _table().get(name)
    if row is None:
        return None
    inputs, outputs, attributes, is_stateful, *renamed = row
    return Signature(
        name,
        tuple([Argument(*x) for x in inputs]),
        tuple([Argument(*x) for x in outputs]),
        tuple([Attribute(*x) for x in attributes]),
        bool(is_stateful),
        tuple(renamed),
    )
