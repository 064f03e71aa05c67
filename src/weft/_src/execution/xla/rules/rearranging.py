"""Padding, rolling, reversing, diagonals: elements at other places."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node
from weft._src.ops.arrays import padding
from weft._src.ops.linalg import diagonals


@lowers("pad")
def _pad(lowering: Lowering, node: Node, x: Value, paddings: Value, constant: Value = 0) -> Any:
    x = jnp.asarray(x)
    return jnp.pad(
        x, known(node, paddings).tolist(), constant_values=jnp.asarray(constant, x.dtype)
    )


@lowers("mirror_pad_grad")
def _mirror_pad_grad(
    lowering: Lowering, node: Node, g: Value, paddings: Value, shape: Value
) -> Any:
    out = jnp.asarray(g)
    pairs = zip(known(node, shape).tolist(), known(node, paddings).tolist(), strict=True)
    for axis, (size, (before, after)) in enumerate(pairs):
        if before or after:
            index = padding.mirror_index(np, size, before, after, node.attrs["mode"])
            rows = jnp.moveaxis(out, axis, 0)
            folded = jnp.zeros((size, *rows.shape[1:]), rows.dtype).at[index].add(rows)
            out = jnp.moveaxis(folded, 0, axis)
    return out


@lowers("roll")
def _roll(lowering: Lowering, node: Node, x: Value, shift: Value) -> Any:
    return jnp.roll(jnp.asarray(x), tuple(shift), node.attrs["axis"])


@lowers("tile_grad")
def _tile_grad(lowering: Lowering, node: Node, g: Value, multiples: Value, shape: Value) -> Any:
    pairs = zip(known(node, multiples).tolist(), known(node, shape).tolist(), strict=True)
    split = [n for pair in pairs for n in pair]
    return xp.reduction(jnp.add, jnp.reshape(g, split), tuple(range(0, len(split), 2)), False)


@lowers("range_shape")
def _range_shape(lowering: Lowering, node: Node, start: Value, limit: Value, delta: Value) -> Any:
    lowering.check(delta == 0)
    step = jnp.where(delta == 0, 1, delta).astype(jnp.int64)
    size = -((start - jnp.asarray(limit, jnp.int64)) // step)
    out = node.attrs["out_type"]
    lowering.check((size < 0) | (size > out.max))
    return jnp.reshape(size, (1,)).astype(out.numpy_dtype)


@lowers("invert_permutation")
def _invert(lowering: Lowering, node: Node, x: Value) -> Any:
    n = x.shape[0]
    if n:
        lowering.check(jnp.any((x < 0) | (x >= n)))
    out = jnp.full((n,), -1, x.dtype).at[x].set(jnp.arange(n, dtype=x.dtype))
    if n:
        lowering.check(jnp.any(out < 0))
    return out


@lowers("unravel_index")
def _unravel(lowering: Lowering, node: Node, indices: Value, dims: Value) -> Any:
    sizes = known(node, dims).tolist()
    total = int(np.prod(sizes))
    if min(sizes, default=1) <= 0:
        lowering.check(np.asarray(True))
        sizes = [max(n, 1) for n in sizes]
    lowering.check(jnp.any((indices < 0) | (indices >= total)))
    places = jnp.unravel_index(jnp.clip(indices, 0, max(total - 1, 0)), sizes)
    return jnp.stack([p.astype(indices.dtype) for p in places])


@lowers("reverse_sequence")
def _reverse_sequence(lowering: Lowering, node: Node, x: Value, lengths: Value) -> Any:
    batch, seq = node.attrs["batch_axis"], node.attrs["seq_axis"]
    rows = jnp.moveaxis(jnp.asarray(x), (batch, seq), (0, 1))
    size = rows.shape[1]
    if lengths.size:
        lowering.check(jnp.any((lengths < 0) | (lengths > size)))
    place, ends = jnp.arange(size), jnp.asarray(lengths)[:, None]
    source = jnp.where(place < ends, ends - 1 - place, place)
    out = rows[jnp.arange(rows.shape[0])[:, None], source]
    return jnp.moveaxis(out, (0, 1), (batch, seq))


@lowers("depth_blocks")
def _depth_blocks(lowering: Lowering, node: Node, x: Value, *, to_depth: bool = False) -> Any:
    first, b = node.attrs["channels_first"], node.attrs["block_size"]
    x = jnp.moveaxis(jnp.asarray(x), 1, -1) if first else jnp.asarray(x)
    n, h, w, c = x.shape
    if to_depth:
        x = jnp.transpose(jnp.reshape(x, (n, h // b, b, w // b, b, c)), (0, 1, 3, 2, 4, 5))
        out = jnp.reshape(x, (n, h // b, w // b, b * b * c))
    else:
        x = jnp.reshape(x, (n, h, w, b, b, c // (b * b)))
        x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
        out = jnp.reshape(x, (n, h * b, w * b, c // (b * b)))
    return jnp.moveaxis(out, -1, 1) if first else out


# --- diagonals -----------------------------------------------------------------------------------


def _places(node: Node, rows: int, columns: int) -> Any:
    band = {key: node.attrs[key] for key in ("lower", "upper", "align")}
    return diagonals.places(np, rows, columns, **band)


@lowers("diag_part")
def _diag_part(lowering: Lowering, node: Node, x: Value, fill: Value) -> Any:
    x = jnp.asarray(x)
    rows, columns = x.shape[-2:]
    lower, upper = node.attrs["lower"], node.attrs["upper"]
    if lower == upper:
        return jnp.diagonal(x, lower, -2, -1)
    longest = diagonals.longest_diagonal(rows, columns, lower, upper)
    out = jnp.broadcast_to(jnp.asarray(fill, x.dtype), (*x.shape[:-2], upper - lower + 1, longest))
    for place, stored in _places(node, rows, columns):
        out = out.at[stored].set(x[place])
    return out


@lowers("set_diag")
def _set_diag(lowering: Lowering, node: Node, *inputs: Value, is_new: bool = False) -> Any:
    if is_new:
        diagonal, fill = inputs
        out = jnp.broadcast_to(jnp.asarray(fill, diagonal.dtype), node.outputs[0].spec.dims)
    else:
        out, diagonal = jnp.asarray(inputs[0]), inputs[1]
    for place, stored in _places(node, *out.shape[-2:]):
        out = out.at[place].set(diagonal[stored])
    return out


@lowers("tensor_diag")
def _tensor_diag(lowering: Lowering, node: Node, diagonal: Value) -> Any:
    return jnp.reshape(jnp.diag(jnp.reshape(diagonal, (-1,))), diagonal.shape * 2)


@lowers("band_part")
def _band_part(lowering: Lowering, node: Node, x: Value, lower: Value, upper: Value) -> Any:
    x = jnp.asarray(x)
    rows, columns = x.shape[-2:]
    lowering.check((lower > rows) | (upper > columns))
    i, j = np.arange(rows)[:, None], np.arange(columns)
    kept = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    return jnp.where(kept, x, jnp.zeros((), x.dtype))
