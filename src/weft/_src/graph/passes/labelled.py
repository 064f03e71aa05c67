"""Products of two tensors, whoever makes them, as labels of their axes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from weft._src.core.native_rules import Contraction
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Node
from weft._src.ops.arrays.shape import transpose_op
from weft._src.ops.linalg.products import matmul_op

Labels = tuple[Hashable, ...]


class Labelled(NamedTuple):
    """A tensor, and a label for each of its axes."""

    tensor: SymbolicTensor
    labels: Labels


class Product(NamedTuple):
    """result = a b, summed over the labels that it does not have; equal labels, equal sizes."""

    a: Labelled
    b: Labelled
    result: Labels

    def other_than(self, tensor: SymbolicTensor) -> tuple[Labelled, Labelled] | None:
        """The operand that is this tensor, and the other one; None if there is no such."""
        if self.a.tensor is tensor:
            return self.a, self.b
        return (self.b, self.a) if self.b.tensor is tensor else None


def product_of(node: Node) -> Product | None:
    """A node as a product of two tensors of known sizes; None if it is none, or more than one."""
    rule = node.op.native
    if not isinstance(rule, Contraction):
        return None
    if node.op is matmul_op:
        found = _of_matmul(node)
    elif rule.name == "contraction":
        found = _of_contraction(node, rule.options["labels_of"])
    else:
        found = _of_gradient(node, rule.options["labels_of"])
    return found if found is not None and _is_plain(found, node) else None


def _of_matmul(node: Node) -> Product | None:
    a, b = node.inputs
    if a.spec.rank is None or a.spec.rank != b.spec.rank:
        return None
    batch = tuple(range(a.spec.rank - 2))
    of_a, of_b = ("m", "k"), ("k", "n")
    of_a = of_a[::-1] if node.attrs["transpose_a"] else of_a
    of_b = of_b[::-1] if node.attrs["transpose_b"] else of_b
    return Product(Labelled(a, (*batch, *of_a)), Labelled(b, (*batch, *of_b)), (*batch, "m", "n"))


def _of_contraction(node: Node, labels_of: Any) -> Product | None:
    ranks = tuple([x.spec.rank for x in node.inputs])
    if len(ranks) != 2 or None in ranks:
        return None
    (a, b), result = labels_of(ranks, **node.attrs)
    return Product(Labelled(node.inputs[0], a), Labelled(node.inputs[1], b), result)


def _of_gradient(node: Node, labels_of: Any) -> Product | None:
    if len(node.inputs) != 3:
        return None
    _, g, other = node.inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "index"}
    index = node.attrs["index"]
    ranks = [other.spec.rank]
    ranks.insert(index, node.outputs[0].spec.rank)
    if None in ranks:
        return None
    labels, of_g = labels_of(tuple(ranks), **attrs)
    return Product(Labelled(g, of_g), Labelled(other, labels[1 - index]), labels[index])


def _is_plain(product: Product, node: Node) -> bool:
    """Whether sizes are known, and no label is named twice, broadcast, or summed over alone."""
    sizes: dict[Hashable, Any] = {}
    result = Labelled(node.outputs[0], product.result)
    for tensor, labels in (product.a, product.b, result):
        if not tensor.spec.is_static or len(set(labels)) != len(labels):
            return False
        for label, size in zip(labels, tensor.spec.dims or (), strict=True):
            if sizes.setdefault(label, size) != size:
                return False
    alone = set(product.a.labels) ^ set(product.b.labels)
    return alone <= set(product.result) <= set(product.a.labels) | set(product.b.labels)


def before_transposes(x: Labelled) -> Iterator[Labelled]:
    """The tensor, what it was before its axes were exchanged, and so on."""
    while True:
        yield x
        node = x.tensor.node
        if node.op is not transpose_op or node.inputs[0].spec.rank is None:
            return
        perm = node.attrs["perm"] or tuple(reversed(range(len(x.labels))))
        labels = tuple([x.labels[perm.index(i)] for i in range(len(perm))])
        x = Labelled(node.inputs[0], labels)
