"""Random numbers: Philox as in `core.random_numbers`, word for word, and what is made of words."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from weft._src.core.random_numbers import distributions, philox, seeds
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla.lowering import Cell, Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def _blocks(key: Value, low: Value, high: Value) -> tuple[Any, Any, Any, Any]:
    """The four words of each block, in uint64, for counters given by their halves."""
    first, second = [np.uint64(m) for m in philox.MULTIPLIERS]
    k0, k1 = key & _LOW, key >> _HALF
    c0, c1 = low & _LOW, low >> _HALF
    c2, c3 = high & _LOW, high >> _HALF
    for turn in range(philox.ROUNDS):
        if turn:
            k0 = (k0 + np.uint64(philox.KEY_STEPS[0])) & _LOW
            k1 = (k1 + np.uint64(philox.KEY_STEPS[1])) & _LOW
        p0, p1 = first * c0, second * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
    return c0, c1, c2, c3


def _as_unsigned(x: Value) -> Any:
    return jax.lax.bitcast_convert_type(jnp.asarray(x, jnp.int64), jnp.uint64)


@lowers("read_and_skip")
def _read_and_skip(lowering: Lowering, node: Node, stream: Value, delta: Value) -> Any:
    """The state of a stream, which moves on: see `seeds.advance_state`."""
    if not isinstance(stream, Cell) or stream.apart is not None:
        raise NotCompilableError(f"{node.op.name} of what is no stream", node)
    before = lowering.state[stream.key]
    if delta.ndim:
        lowering.check((jnp.asarray(delta) < 0).any() if delta.size else False)
    step = _as_unsigned(jnp.prod(jnp.asarray(delta, jnp.int64)) * node.attrs["step"])
    low, high, key = [_as_unsigned(before[i]) for i in range(3)]
    carried = (low + step) < low
    is_back = step >> _HALF == _LOW
    loses = is_back & ((low & _LOW) + (step & _LOW) > _LOW)
    high = high + (carried & ~loses).astype(jnp.uint64)
    new = jnp.stack([low + step, high, key])
    lowering.state[stream.key] = jax.lax.bitcast_convert_type(new, jnp.int64)
    return before


def _words(state: Value, blocks: int) -> Any:
    """The words of so many blocks, uint32, from a state (counter low, counter high, key)."""
    low, high, key = [_as_unsigned(state[i]) for i in range(3)]
    counters = low + jnp.arange(blocks, dtype=jnp.uint64)
    highs = high + (counters < low).astype(jnp.uint64)
    words = jnp.stack(_blocks(key, counters, highs), axis=1)
    return words.reshape(-1).astype(jnp.uint32)


def _uniform(words: Value, dtype: Value) -> Any:
    """Numbers in [0, 1), of the bits of words: see `distributions`."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 8:
        pairs = words.reshape(-1, 2).astype(jnp.uint64)
        mantissa = (pairs[:, 0] & np.uint64(0xFFFFF)) << _HALF | pairs[:, 1]
        bits = mantissa | np.uint64(0x3FF << 52)
        return jax.lax.bitcast_convert_type(bits, jnp.float64) - 1
    n = distributions.MANTISSA_BITS[dtype]
    bits = words << np.uint32(32 - n) >> np.uint32(9) | np.uint32(0x7F << 23)
    return (jax.lax.bitcast_convert_type(bits, jnp.float32) - 1).astype(dtype)


def _normal(words: Value, dtype: Value) -> Any:
    """Box and Muller's pairs, with the logarithm and the angle in double precision."""
    pairs = _uniform(words, dtype).reshape(-1, 2)
    first = jnp.maximum(pairs[:, 0], dtype.type(distributions.SMALLEST_UNIFORM))
    radius = jnp.sqrt(jnp.log(first.astype(jnp.float64)).astype(dtype) * -2)
    angle = (pairs[:, 1].astype(jnp.float64) * (2 * np.pi)).astype(dtype)
    return jnp.stack([jnp.sin(angle) * radius, jnp.cos(angle) * radius], 1).reshape(-1)


def _sizes(node: Node, shape: Value) -> tuple[int, ...]:
    sizes = tuple(known(node, shape).tolist())
    if min(sizes, default=0) < 0:
        raise NotCompilableError("it fails for this shape", node, fails=True)
    return sizes


def _shaped(flat: Value, sizes: tuple[int, ...]) -> Any:
    return flat[: math.prod(sizes)].reshape(sizes)


@lowers("philox_seed")
def _seed(lowering: Lowering, node: Node, seed: Value) -> Any:
    first, second = [_as_unsigned(jnp.asarray(seed)[i].astype(jnp.int64)) for i in range(2)]
    words = _blocks(np.uint64(seeds.SCRAMBLE_KEY), first, second)
    parts = [jnp.zeros((), jnp.uint64), words[2] | words[3] << _HALF, words[0] | words[1] << _HALF]
    return jax.lax.bitcast_convert_type(jnp.stack(parts), jnp.int64)


@lowers("philox_uniform")
def _uniform_rule(lowering: Lowering, node: Node, shape: Value, state: Value) -> Any:
    sizes, dtype = _sizes(node, shape), node.attrs["dtype"].numpy_dtype
    blocks = distributions.blocks_used(math.prod(sizes), dtype)
    return _shaped(_uniform(_words(state, blocks), dtype), sizes)


@lowers("philox_full_int")
def _full_int(lowering: Lowering, node: Node, shape: Value, state: Value) -> Any:
    sizes, dtype = _sizes(node, shape), node.attrs["dtype"].numpy_dtype
    return _shaped(_integers(state, sizes, dtype), sizes)


def _integers(state: Value, sizes: tuple[int, ...], dtype: Value) -> Any:
    words = _words(state, distributions.blocks_used(math.prod(sizes), dtype))
    if np.dtype(dtype).itemsize == 8:
        pairs = words.reshape(-1, 2).astype(jnp.uint64)
        words = pairs[:, 0] | pairs[:, 1] << _HALF
    return jax.lax.bitcast_convert_type(words, dtype)


@lowers("philox_uniform_int")
def _uniform_int(
    lowering: Lowering, node: Node, shape: Value, state: Value, low: Value, high: Value
) -> Any:
    sizes, dtype = _sizes(node, shape), np.dtype(low.dtype)
    if 0 in sizes:
        return jnp.zeros(sizes, dtype)
    lowering.check(low >= high)
    unsigned = np.dtype(f"u{dtype.itemsize}")

    def bits(x: Value) -> Any:
        return jax.lax.bitcast_convert_type(jnp.asarray(x), unsigned)

    span = jnp.maximum(bits(high) - bits(low), unsigned.type(1))
    numbers = bits(_integers(state, sizes, dtype)) % span + bits(low)
    return _shaped(jax.lax.bitcast_convert_type(numbers, dtype), sizes)


def _wide(dtype: Value) -> Any:
    return dtype if dtype.itemsize >= 4 else np.dtype(np.float32)


@lowers("philox_normal")
def _normal_rule(lowering: Lowering, node: Node, shape: Value, state: Value) -> Any:
    sizes, dtype = _sizes(node, shape), np.dtype(node.attrs["dtype"].numpy_dtype)
    words = _words(state, distributions.blocks_used(math.prod(sizes), dtype))
    return _shaped(_normal(words, _wide(dtype)).astype(dtype), sizes)


@lowers("philox_truncated_normal")
def _truncated_normal(lowering: Lowering, node: Node, shape: Value, state: Value) -> Any:
    """Every group draws from counters of its own until it is full, all at the same time."""
    sizes, dtype = _sizes(node, shape), np.dtype(node.attrs["dtype"].numpy_dtype)
    wide = _wide(dtype)
    per_group = 2 if dtype.itemsize == 8 else philox.WORDS_PER_BLOCK
    groups = distributions.blocks_used(math.prod(sizes), dtype)
    if not groups:
        return jnp.zeros(sizes, dtype)
    apart = distributions.truncated_blocks_used(per_group, dtype)
    low, high, key = [_as_unsigned(state[i]) for i in range(3)]
    starts = jnp.arange(groups, dtype=jnp.uint64) * np.uint64(apart)

    def draw(turn: Value) -> Any:
        counters = low + starts + turn
        highs = high + (counters < low).astype(jnp.uint64)
        words = jnp.stack(_blocks(key, counters, highs), axis=1).astype(jnp.uint32)
        return _normal(words.reshape(-1), wide).reshape(groups, per_group)

    def body(carry: Value) -> Any:
        turn, out, filled = carry
        drawn = draw(turn)
        kept = jnp.abs(drawn) < distributions.TRUNCATION
        place = jnp.cumsum(kept, axis=1) - 1 + filled[:, None]
        place = jnp.where(kept & (place < per_group), place, per_group)  # dropped
        lines = jnp.arange(groups)[:, None]
        out = out.at[lines, place].set(drawn, mode="drop")
        filled = jnp.minimum(filled + jnp.sum(kept, axis=1), per_group)
        return turn + np.uint64(1), out, filled

    start = (
        jnp.zeros((), jnp.uint64),
        jnp.zeros((groups, per_group), wide),
        jnp.zeros(groups, int),
    )
    _, out, _ = jax.lax.while_loop(lambda c: jnp.any(c[2] < per_group), body, start)
    return _shaped(out.reshape(-1).astype(dtype), sizes)


@lowers("philox_multinomial")
def _multinomial(
    lowering: Lowering, node: Node, logits: Value, num_samples: Value, state: Value
) -> Any:
    count, dtype = int(known(node, num_samples)), node.attrs["dtype"].numpy_dtype
    wide = jnp.asarray(logits).astype(jnp.float64)
    batch = wide.shape[0]
    wide = jnp.where(jnp.isfinite(wide), wide, -jnp.inf)
    top = jnp.max(wide, axis=1, keepdims=True)
    top = jnp.where(jnp.isneginf(top), 0.0, top)
    cumulative = jnp.cumsum(jnp.exp(wide - top), axis=1)
    blocks = distributions.blocks_used(batch * count, np.float64)
    uniform = _shaped(_uniform(_words(state, blocks), np.float64), (batch, count))
    wanted = uniform * cumulative[:, -1:]
    find = jax.vmap(lambda row, some: jnp.searchsorted(row, some, side="right"))
    return find(cumulative, wanted).astype(dtype)


@lowers("philox_shuffle")
def _shuffle(lowering: Lowering, node: Node, value: Value, state: Value) -> Any:
    value = jnp.asarray(value)
    if value.ndim == 0 or value.shape[0] < 2:
        return value
    n = value.shape[0]
    words = _words(state, distributions.blocks_used(n, np.uint32))[:n].astype(jnp.uint64)
    left = jnp.arange(n, 0, -1, dtype=jnp.uint64)
    partners = (jnp.arange(n, dtype=jnp.uint64) + words % left).astype(jnp.int32)

    def swap(i: Value, order: Value) -> Any:
        j = partners[i]
        first, second = order[i], order[j]
        return order.at[i].set(second).at[j].set(first)

    order = jax.lax.fori_loop(0, n, swap, jnp.arange(n, dtype=jnp.int32))
    if node.attrs["inverse"]:
        return jnp.zeros_like(value).at[order].set(value)
    return value[order]
