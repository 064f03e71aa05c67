"""Random streams: ops on their state, and which stream a stateful function draws from.

A stateful random function is a draw from a state, plus a step of the stream it belongs to. Which
stream that is depends on the global seed, the seed of the op, and where the op is:

- In eager code, an op without a seed starts a new stream at every call, seeded from the global
  seed; calls with the same seed, op and dtype go on with one stream.
- In a graph every node has its own stream, which lives as long as the graph. The seeds are those
  of the time of tracing; an op without one is counted among such ops of its graph.
- Without any seed the numbers cannot be foreseen.

`set_seed` restarts all streams that have seeds.
"""

from __future__ import annotations

import math
import operator
import random
import threading
import weakref
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.cells import VariableCell
from weft._src.core.context import state as context
from weft._src.core.dtypes import INDEX, RESOURCE, int64
from weft._src.core.random_numbers import seeds
from weft._src.core.random_numbers.stream_state import (
    CellRegistry,
    RngCell,
    check_unseeded,
    random_state,
)
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sampling import graph_forms

_LARGEST_OP_SEED = 2**31 - 1


# --- ops on the state --------------------------------------------------------------------------


def _skip_infer(resource: TensorSpec, delta: TensorSpec, *, step: int) -> TensorSpec:
    if delta.rank not in (None, 0, 1):
        raise ShapeError(
            f"RngReadAndSkip: delta must be a number or a shape, got shape {delta.shape}."
        )
    return TensorSpec.of(int64, (3,))


def _skip_kernel(
    xp: ArrayNamespace, resource: RngCell | VariableCell, delta: Array, *, step: int
) -> Array:
    if delta.ndim == 0:
        return _advanced(resource, step * int(delta))
    if delta.ndim > 1:
        raise ValueError("delta has too many axes")
    sizes = delta.tolist()
    if min(sizes, default=0) < 0:
        raise InvalidArgumentError(
            None, None, f"RngReadAndSkip: a shape must not be negative, got {sizes}."
        )
    return _advanced(resource, step * math.prod(sizes))


def _advanced(cell: RngCell | VariableCell, blocks: int) -> Array:
    """Moves a stream on; the state before. The state of a generator is a variable."""
    if isinstance(cell, RngCell):
        return cell.advance(blocks)
    before: list[Array] = []

    def change(words: Array) -> None:
        before.append(words.copy())
        words[...] = seeds.advance_state(words, blocks)

    cell.modify(change)
    return before[0]


# delta counts numbers; a vector is the shape of what is drawn. step: counters per number.
read_and_skip_op = define_op(
    "RngReadAndSkip",
    args("resource", RESOURCE) + args("delta", INDEX),
    infer=_skip_infer,
    kernel=_skip_kernel,
    native=HOST_ONLY,
    xla=Lowered("read_and_skip"),
    vjp=NOT_DIFFERENTIABLE,
    writes=(0,),
    trusts_kernel=True,
    fresh=True,
    advances_stream=True,
    graphdef=graph_forms.skipped,
)


# --- the streams of stateful functions ---------------------------------------------------------


class _Streams:
    """The global seed, and the streams that depend on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._global_seed: int | None = None
        self._op_seeds = random.Random()
        self._eager: dict[tuple[Any, ...], Tensor] = {}
        self._traced = CellRegistry()
        self._unseeded_in: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._unforeseeable = EagerTensor(RngCell(random_state()))

    def set_seed(self, seed: int | None) -> None:
        with self._lock:
            self._global_seed = seed
            self._op_seeds = random.Random(seed)
            self._eager.clear()
            self._traced.restart()

    def find(self, kind: tuple[Any, ...], seed: int | None) -> Tensor:
        """The stream (a resource) for one call: `kind` tells the op and its dtypes."""
        with self._lock:
            if context.graph is not None:
                return self._for_node(context.graph, seed)
            if seed is not None:
                return self._for_seed(kind, seed)
            if self._global_seed is None:
                check_unseeded()
                return self._unforeseeable
            op_seed = self._op_seeds.randint(0, _LARGEST_OP_SEED)
            return EagerTensor(_seeded_cell(self._global_seed, op_seed))

    def find_pair(self, kind: tuple[Any, ...], pair: tuple[int, int]) -> Tensor:
        """The stream of an op that was given both its seeds."""
        with self._lock:
            cell = EagerTensor(_seeded_cell(*pair))
            if context.graph is not None:
                self._traced.add(cell._value)
                return cell
            return self._eager.setdefault((kind, pair), cell)

    def seeds_for(self, seed: int | None) -> tuple[int, int] | None:
        """The global seed and that of an op; None if nothing is seeded."""
        with self._lock:
            if seed is None and self._global_seed is None:
                return None
            if seed is None and context.graph is None:
                seed = self._op_seeds.randint(0, _LARGEST_OP_SEED)
            elif seed is None:
                seed = self._unseeded_in.get(context.graph, 0)
                self._unseeded_in[context.graph] = seed + 1
            return self._global_or_default(), seed

    def _for_seed(self, kind: tuple[Any, ...], seed: int) -> Tensor:
        stream = self._eager.get((kind, seed))
        if stream is None:
            stream = EagerTensor(_seeded_cell(self._global_or_default(), seed))
            self._eager[kind, seed] = stream
        return stream

    def _for_node(self, graph: Any, seed: int | None) -> Tensor:
        if seed is None and self._global_seed is None:
            return EagerTensor(RngCell(random_state()))
        if seed is None:
            seed = self._unseeded_in.get(graph, 0)
            self._unseeded_in[graph] = seed + 1
        cell = _seeded_cell(self._global_or_default(), seed)
        self._traced.add(cell)
        return EagerTensor(cell)

    def _global_or_default(self) -> int:
        seed = self._global_seed
        return seeds.DEFAULT_GLOBAL_SEED if seed is None else seed


def _seeded_cell(global_seed: int, op_seed: int) -> RngCell:
    key, counter = seeds.key_counter_from_op_seed(global_seed, op_seed)
    return RngCell(seeds.state_from_key_counter(key, counter))


_streams = _Streams()


def python_seed(op: str, seed: Any) -> int | None:
    """A seed as a Python integer, or None."""
    if seed is None:
        return None
    try:
        return operator.index(seed)
    except TypeError as error:
        raise TypeError(f"{op}: seed must be an integer or None, got {seed!r}.") from error


def set_seed(seed: TensorLike) -> None:
    """Sets the global seed, and restarts every stream that has a seed; None removes it.

    Generators keep their states.

    Args:
      seed: an integer, or None.

    Raises:
      TypeError: if it is something else.

    >>> tf.random.set_seed(7)
    >>> a = tf.random.uniform([2])
    >>> tf.random.set_seed(7)
    >>> bool(np.all(a == tf.random.uniform([2])))
    True
    """
    _streams.set_seed(python_seed("set_seed", seed))


def is_seeded_stream(cell: object) -> bool:
    """Whether a resource is the stream of a seeded op in a graph (and not of a generator)."""
    return isinstance(cell, RngCell) and cell in _streams._traced


def seed_pair(op: str, seed: Any) -> tuple[int, int]:
    """The key and the high half of the counter for something that owns a stream, as datasets do.

    Without any seed they cannot be foreseen.
    """
    pair = _streams.seeds_for(python_seed(op, seed))
    if pair is None:
        key, high, _ = random_state().tolist()
        return key, high
    key, counter = seeds.key_counter_from_op_seed(*pair)
    return key, counter >> 64


def next_state(
    op: str, kind: tuple[Any, ...], seed: Any, delta: Tensor, step: int = seeds.SKIP_PER_SAMPLE
) -> Tensor:
    """The state that a call of a stateful function draws from; its stream moves on.

    A seed that is a pair of integers is used as it is, not together with the global one.
    """
    if isinstance(seed, tuple):
        stream = _streams.find_pair(kind, seed)
    else:
        stream = _streams.find(kind, python_seed(op, seed))
    return read_and_skip_op(stream, delta, step=step)
