"""Convolutions and pooling. Gradients of convolutions are what jax finds by transposing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node
from weft._src.ops.nn import windows
from weft._src.ops.nn.windows import Geometry, channels_back, channels_last

_AXES = {2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def _geometry(sizes: Value, window: Value, attrs: dict[str, Any]) -> Geometry:
    dilations = attrs.get("dilations", (1,) * len(window))
    return Geometry.of(
        "conv", tuple(sizes), tuple(window), attrs["strides"], dilations, attrs["padding"]
    )


def _convolved(x: Value, filters: Value, where: Geometry, groups: int) -> Any:
    return jax.lax.conv_general_dilated(
        x,
        filters,
        where.strides,
        where.paddings,
        rhs_dilation=where.dilations,
        dimension_numbers=_AXES[len(where.window)],
        feature_group_count=groups,
        precision="highest",
    )


def _last(x: Value, first: bool) -> Any:
    return channels_last(xp, jnp.asarray(x), first)  # type: ignore[arg-type]


def _lasts(node: Node, *images: Value) -> list[Any]:
    """Images with their channels last, wide enough to add in."""
    first = node.attrs["channels_first"]
    return [xp.widen(_last(x, first)) for x in images]


def _back(node: Node, out: Value) -> Any:
    dtype = node.outputs[0].dtype.numpy_dtype
    return channels_back(xp, out.astype(dtype), node.attrs["channels_first"])


def _whole(node: Node, shape: Value) -> tuple[int, ...]:
    batch, sizes, channels = windows.spatial_dims(
        tuple(known(node, shape).tolist()), node.attrs["channels_first"]
    )
    return (batch, *sizes, channels)


@lowers("convolution")
def _convolution(lowering: Lowering, node: Node, x: Value, filters: Value) -> Any:
    (x,) = _lasts(node, x)
    filters = xp.widen(jnp.asarray(filters))
    where = _geometry(x.shape[1:-1], filters.shape[:-2], node.attrs)
    return _back(node, _convolved(x, filters, where, x.shape[-1] // max(filters.shape[-2], 1)))


@lowers("convolution_input_gradient")
def _input_gradient(lowering: Lowering, node: Node, shape: Value, filters: Value, g: Value) -> Any:
    (g,) = _lasts(node, g)
    filters = xp.widen(jnp.asarray(filters))
    whole = _whole(node, shape)
    where = _geometry(whole[1:-1], filters.shape[:-2], node.attrs)
    groups = whole[-1] // max(filters.shape[-2], 1)
    back = jax.linear_transpose(
        lambda x: _convolved(x, filters, where, groups), jax.ShapeDtypeStruct(whole, g.dtype)
    )
    return _back(node, back(g)[0])


@lowers("convolution_filter_gradient")
def _filter_gradient(lowering: Lowering, node: Node, x: Value, shape: Value, g: Value) -> Any:
    x, g = _lasts(node, x, g)
    wanted = tuple(known(node, shape).tolist())
    where = _geometry(x.shape[1:-1], wanted[:-2], node.attrs)
    groups = x.shape[-1] // max(wanted[-2], 1)
    back = jax.linear_transpose(
        lambda f: _convolved(x, f, where, groups), jax.ShapeDtypeStruct(wanted, g.dtype)
    )
    return back(g)[0].astype(node.outputs[0].dtype.numpy_dtype)


# --- every channel apart -------------------------------------------------------------------------


def _as_groups(filters: Value) -> Any:
    """(*window, channels, of each) as filters of as many groups as there are channels."""
    return jnp.reshape(filters, (*filters.shape[:2], 1, filters.shape[2] * filters.shape[3]))


@lowers("depthwise_convolution")
def _depthwise(lowering: Lowering, node: Node, x: Value, filters: Value) -> Any:
    (x,) = _lasts(node, x)
    filters = xp.widen(jnp.asarray(filters))
    where = _geometry(x.shape[1:-1], filters.shape[:2], node.attrs)
    return _back(node, _convolved(x, _as_groups(filters), where, x.shape[-1]))


@lowers("depthwise_convolution_input_gradient")
def _depthwise_input(lowering: Lowering, node: Node, shape: Value, filters: Value, g: Value) -> Any:
    (g,) = _lasts(node, g)
    filters = xp.widen(jnp.asarray(filters))
    whole = _whole(node, shape)
    where = _geometry(whole[1:-1], filters.shape[:2], node.attrs)
    back = jax.linear_transpose(
        lambda x: _convolved(x, _as_groups(filters), where, whole[-1]),
        jax.ShapeDtypeStruct(whole, g.dtype),
    )
    return _back(node, back(g)[0])


@lowers("depthwise_convolution_filter_gradient")
def _depthwise_filter(lowering: Lowering, node: Node, x: Value, shape: Value, g: Value) -> Any:
    x, g = _lasts(node, x, g)
    wanted = tuple(known(node, shape).tolist())
    where = _geometry(x.shape[1:-1], wanted[:2], node.attrs)
    back = jax.linear_transpose(
        lambda f: _convolved(x, _as_groups(f), where, x.shape[-1]),
        jax.ShapeDtypeStruct(wanted, g.dtype),
    )
    return back(g)[0].astype(node.outputs[0].dtype.numpy_dtype)


# --- pooling -------------------------------------------------------------------------------------


def _over_windows(x: Value, where: Geometry, start: Value, combine: Value) -> Any:
    return jax.lax.reduce_window(
        x,
        np.asarray(start, x.dtype),
        combine,
        (1, *where.window, 1),
        (1, *where.strides, 1),
        ((0, 0), *where.paddings, (0, 0)),
    )


def _lowest(dtype: Value) -> Any:
    return np.iinfo(dtype).min if np.dtype(dtype).kind in "iu" else -np.inf


def _pool_geometry(node: Node, x: Value) -> Geometry:
    return _geometry(x.shape[1:-1], node.attrs["ksize"], node.attrs)


@lowers("max_pool")
def _max_pool(lowering: Lowering, node: Node, x: Value) -> Any:
    x = _last(x, node.attrs["channels_first"])
    where = _pool_geometry(node, x)
    return _back(node, _over_windows(x, where, _lowest(x.dtype), jax.lax.max))


def _bordered(x: Value, where: Geometry, value: Value) -> Any:
    return jnp.pad(x, ((0, 0), *where.paddings, (0, 0)), constant_values=value)


def _winners(where: Geometry, padded: Value, y: Value) -> Iterator[tuple[tuple[slice, ...], Any]]:
    """For each place in the window: which windows have their (first) maximum there."""
    free: Value = None
    for _, at in where.positions():
        hit = padded[(slice(None), *at)] == y
        hit, free = (hit, ~hit) if free is None else (hit & free, free & ~hit)
        yield at, hit


@lowers("max_pool_grad")
def _max_pool_grad(lowering: Lowering, node: Node, x: Value, y: Value, g: Value) -> Any:
    first = node.attrs["channels_first"]
    x, y, g = [_last(part, first) for part in (x, y, g)]
    where = _pool_geometry(node, x)
    padded = _bordered(x, where, _lowest(x.dtype))
    out = jnp.zeros(padded.shape, xp.widen(g).dtype)
    for at, hit in _winners(where, padded, y):
        won = jnp.where(hit, g, jnp.zeros((), g.dtype)).astype(out.dtype)
        out = out + _spread(won, at, padded.shape)
    return _back(node, out[where.inside()])


def _spread(values: Value, at: tuple[slice, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with values at every so many places."""
    borders = [(0, 0, 0)]
    for part, size, count in zip(at, shape[1:-1], values.shape[1:-1]):
        step = part.step or 1
        taken = (count - 1) * step + 1 if count else 0
        start = part.start if count else 0
        borders.append((start, size - start - taken, step - 1))
    return jax.lax.pad(values, np.zeros((), values.dtype), [*borders, (0, 0, 0)])


@lowers("max_pool_grad_grad")
def _max_pool_pick(lowering: Lowering, node: Node, x: Value, y: Value, h: Value) -> Any:
    first = node.attrs["channels_first"]
    x, y, h = [_last(part, first) for part in (x, y, h)]
    where = _pool_geometry(node, x)
    padded, spread = _bordered(x, where, _lowest(x.dtype)), _bordered(h, where, 0)
    out = jnp.zeros(y.shape, h.dtype)
    for at, hit in _winners(where, padded, y):
        out = jnp.where(hit, spread[(slice(None), *at)], out)
    return _back(node, out)


def _counts(where: Geometry, dtype: Value) -> Any:
    """How many elements of the image each window holds: the border does not count."""
    ones = jnp.ones((1, *where.sizes, 1), dtype)
    return jnp.maximum(_over_windows(ones, where, 0, jax.lax.add), 1)


@lowers("avg_pool")
def _avg_pool(lowering: Lowering, node: Node, x: Value) -> Any:
    (x,) = _lasts(node, x)
    where = _pool_geometry(node, x)
    total = _over_windows(x, where, 0, jax.lax.add)
    return _back(node, total / _counts(where, total.dtype))


@lowers("avg_pool_grad")
def _avg_pool_grad(lowering: Lowering, node: Node, shape: Value, g: Value) -> Any:
    (g,) = _lasts(node, g)
    whole = _whole(node, shape)
    where = _geometry(whole[1:-1], node.attrs["ksize"], node.attrs)
    back = jax.linear_transpose(
        lambda x: _over_windows(x, where, 0, jax.lax.add), jax.ShapeDtypeStruct(whole, g.dtype)
    )
    return _back(node, back(g / _counts(where, g.dtype))[0])
