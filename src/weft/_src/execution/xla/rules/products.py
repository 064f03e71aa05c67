"""Products of matrices, and contractions of tensors by labels of their axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node
from weft._src.ops.linalg import einsum

Labels = tuple[Any, ...]


@lowers("matmul")
def _matmul(lowering: Lowering, node: Node, a: Value, b: Value) -> Any:
    a, b = jnp.asarray(a), jnp.asarray(b)
    if node.attrs["transpose_a"]:
        a = jnp.swapaxes(a, -1, -2)
    if node.attrs["transpose_b"]:
        b = jnp.swapaxes(b, -1, -2)
    return xp.matmul(a, b)


def _contracted(arrays: Sequence[Any], labels: Sequence[Labels], output: Labels) -> Any:
    numbers: dict[Any, int] = {}
    operands: list[Any] = []
    for x, names in zip(arrays, labels, strict=True):
        operands += [xp.widen(x), [numbers.setdefault(s, len(numbers)) for s in names]]
    out = jnp.einsum(*operands, [numbers[s] for s in output], precision="highest")
    return out.astype(arrays[0].dtype)


def _squeezed(x: Value, labels: Labels, sizes: Value) -> tuple[Any, Labels]:
    return einsum.squeezed(jnp, jnp.asarray(x), labels, sizes)  # type: ignore[arg-type]


@lowers("contraction")
def _contraction(
    lowering: Lowering, node: Node, *arrays: Value, labels_of: Callable[..., Any]
) -> Any:
    labels, output = labels_of(tuple([x.ndim for x in arrays]), **node.attrs)
    sizes: Value = einsum.label_sizes(node.op.name, [x.shape for x in arrays], labels)
    parts = [_squeezed(x, s, sizes) for x, s in zip(arrays, labels, strict=True)]
    return _contracted([x for x, _ in parts], [s for _, s in parts], output)


@lowers("contraction_gradient")
def _contraction_gradient(
    lowering: Lowering,
    node: Node,
    shape: Value,
    g: Value,
    *others: Value,
    labels_of: Callable[..., Any],
) -> Any:
    attrs = {key: value for key, value in node.attrs.items() if key != "index"}
    index = node.attrs["index"]
    wanted = tuple(known(node, shape).tolist())
    ranks = [x.ndim for x in others]
    ranks.insert(index, len(wanted))
    labels, output = labels_of(tuple(ranks), **attrs)
    mine = labels[index]
    arrays = [jnp.asarray(x) for x in (g, *others)]
    carried = [output, *labels[:index], *labels[index + 1 :]]
    shapes = [*[x.shape for x in arrays], wanted]
    sizes: Value = einsum.label_sizes(node.op.name, shapes, [*carried, mine])
    parts = [_squeezed(x, s, sizes) for x, s in zip(arrays, carried, strict=True)]
    present = {s for _, names in parts for s in names}
    unique = tuple(dict.fromkeys(mine))
    size_here = dict(zip(mine, wanted, strict=True))
    found = tuple([s for s in unique if s in present and size_here[s] == sizes[s]])
    part = _contracted([x for x, _ in parts], [s for _, s in parts], found)
    part = part[tuple([slice(None) if s in found else None for s in unique])]
    part = jnp.broadcast_to(part, [size_here[s] for s in unique])
    if len(unique) == len(mine):
        return part
    places = dict(zip(unique, np.ogrid[tuple([slice(size_here[s]) for s in unique])]))
    return jnp.zeros(wanted, part.dtype).at[tuple([places[s] for s in mine])].set(part)
