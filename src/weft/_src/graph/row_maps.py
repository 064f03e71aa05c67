"""Functions over rows by the batching transform: `tf.vectorized_map`, and others that map.

A function is traced for one row and done for all rows at once (`graph.batching`). Where that would
need more memory than `_MOST_BYTES`, some rows are done at a time. What cannot be batched runs row
by row, as `tf.map_fn` does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.context import building, state
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.errors import OperatorNotAllowedInGraphError, UnsupportedError
from weft._src.graph.batching import Batch, with_all_rows
from weft._src.graph.ir import Graph
from weft._src.graph.tracing import set_outputs
from weft._src.ops.arrays import joining, ranges
from weft._src.ops.batching import NotBatched
from weft._src.ops.control import functional
from weft._src.ops.control.collecting import leaves
from weft._src.ops.extension import batching

_MOST_BYTES = 1 << 29  # of all values of the rows that are done at once


class RowFunction:
    """A function of one row, traced."""

    def __init__(self, fn: Callable[..., Any], specs: Sequence[TensorSpec], name: str) -> None:
        outer = state.graph
        self.graph = Graph(name) if outer is None else outer.nested(name)
        with building(self.graph):
            inputs = [self.graph.add_input(spec, f"row{i}") for i, spec in enumerate(specs)]
            self.result = fn(*inputs)
            set_outputs(self.graph, self.result)

    @property
    def bytes_of_a_row(self) -> int:
        """About how much memory all values of a row take."""
        specs = [out.spec for node in self.graph.nodes for out in node.outputs]
        return sum(
            math.prod(spec.dims or (1,)) * spec.dtype.size
            for spec in specs
            if spec.is_static and spec.dtype.is_numpy_compatible
        )

    def for_all(self, n: Any, inputs: Sequence[Tensor], stacked: Sequence[bool], **how: Any) -> Any:
        """The flat results for all rows: each has rows, in chunks that fit into memory."""
        most = max(1, _MOST_BYTES // max(1, self.bytes_of_a_row))
        if not isinstance(n, int) or n <= most:
            return self._at_once(n, inputs, stacked, **how)
        if state.graph is None:
            return self._in_turns(n, most, inputs, stacked, **how)
        return self._in_a_loop(n, most, inputs, stacked, **how)

    def _at_once(self, n: Any, inputs: Sequence[Any], stacked: Any, **how: Any) -> list[Any]:
        captured = [outer for outer, _ in self.graph.captures]
        batch = Batch(n, **how)
        flags = [*stacked, *[False] * len(captured)]
        return with_all_rows(batch, batch.run(self.graph, [*inputs, *captured], flags))

    def _in_turns(
        self, n: int, most: int, inputs: Sequence[Any], stacked: Any, **how: Any
    ) -> list[Any]:
        pieces = [
            self._at_once(min(most, n - at), _cut(inputs, stacked, at, at + most), stacked, **how)
            for at in range(0, n, most)
        ]
        return [joining.concat(column, 0) for column in zip(*pieces, strict=True)]

    def _in_a_loop(
        self, n: int, most: int, inputs: Sequence[Any], stacked: Any, **how: Any
    ) -> list[Any]:
        """Chunks of one size in a loop, and the rows that are left."""
        turns, rest = divmod(n, most)

        def turn(i: Tensor) -> list[Any]:
            at = i * most
            parts = [x[at : at + most] if rows else x for x, rows in zip(inputs, stacked)]
            parts = [_with_rows(x, most) if rows else x for x, rows in zip(parts, stacked)]
            return self._at_once(most, parts, stacked, **how)

        specs = [TensorSpec([most, *out.shape], out.dtype) for out in self.graph.outputs]
        numbers = ranges.range(turns)
        chunks = functional.map_fn(turn, numbers, fn_output_signature=specs, parallel_iterations=1)
        whole = [Batch(turns).merged(x) for x in chunks]
        if not rest:
            return whole
        left = self._at_once(rest, _cut(inputs, stacked, n - rest, n), stacked, **how)
        return [joining.concat(pair, 0) for pair in zip(whole, left, strict=True)]


def _cut(inputs: Sequence[Any], stacked: Any, start: int, stop: int) -> list[Any]:
    return [x[start:stop] if rows else x for x, rows in zip(inputs, stacked, strict=True)]


def _with_rows(x: Any, n: int) -> Any:
    x.set_shape([n, *x.shape[1:]])
    return x


@hides_own_frames
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """The results of `fn` on each row of `elems`, stacked; tensors of length 1 go with all others.

    `fn` is traced once and done for all rows at once, control flow included. What has effects, or
    asks a row for its value, runs row by row.

    Args:
      fn: a function of one row: of a tensor, or of a structure like that of `elems`.
      elems: a tensor or a structure of tensors; the rows are along their first axes.
      fallback_to_while_loop: whether what cannot be batched may run row by row.
      warn: accepted for compatibility.

    Returns:
      A structure like that of the results of `fn`, with the results of all rows stacked.

    Raises:
      UnsupportedError: if `fn` cannot be batched, and must not run row by row.
      ShapeError: if the elems have different lengths.

    >>> tf.vectorized_map(lambda pair: pair[0] * pair[1], (tf.range(3), tf.constant([5]))).numpy()
    array([ 0,  5, 10], dtype=int32)
    """
    functional.check_callable("vectorized_map", fn)
    if batching.has_encoder(leaves("vectorized_map", "elems", elems)):
        return batching.mapped_as_traced(
            lambda f, tensors: vectorized_map(f, tensors, fallback_to_while_loop, warn), fn, elems
        )
    rows = functional.Rows("vectorized_map", elems, broadcast=True)
    if rows.static_length == 0 or rows.has_composites:
        return functional.mapped_row_by_row(fn, rows)
    try:
        traced = RowFunction(lambda *row: fn(rows.packed(row)), rows.specs(), "row")
        n = rows.length if rows.static_length is None else rows.static_length
        inputs, stacked = rows.batched()
        out = traced.for_all(n, inputs, stacked)
    except (NotBatched, OperatorNotAllowedInGraphError) as reason:
        if not fallback_to_while_loop:
            raise UnsupportedError(
                f"vectorized_map: fn cannot be batched ({reason or 'it has effects'}). Leave "
                "fallback_to_while_loop out: then it runs row by row."
            ) from None
        return functional.mapped_row_by_row(fn, rows)
    return nest.pack_sequence_as(traced.result, out, expand_composites=True)


def map_rows(fn: Callable[[Any], Any], rows: Any, signature: Any) -> Any:
    """`tf.map_fn` in a graph, batched if all of `fn` has rules; None if it has to be a loop."""
    if rows.static_length == 0 or rows.has_composites:
        return None
    try:
        traced = RowFunction(lambda *row: fn(rows.packed(row)), rows.specs(), "row")
        if not _fits(traced, signature):
            return None
        n = rows.static_length if rows.static_length is not None else rows.length
        inputs, stacked = rows.batched()
        out = traced.for_all(n, inputs, stacked, loops=False)
    except NotBatched:
        return None
    return nest.pack_sequence_as(signature, out)


def _fits(traced: RowFunction, signature: Any) -> bool:
    """Whether results are what a signature promises; if not, the loop says what is wrong."""
    leaves = nest.flatten(signature)
    found = nest.flatten(traced.result)
    if len(leaves) != len(found) or len(found) != len(traced.graph.outputs):
        return False
    try:
        nest.assert_same_structure(signature, traced.result)
    except (TypeError, ValueError):
        return False
    for leaf, out in zip(leaves, traced.graph.outputs, strict=True):
        if isinstance(leaf, TensorSpec):
            if leaf.dtype is not out.dtype or not leaf.shape.is_compatible_with(out.shape):
                return False
        elif not isinstance(leaf, DType) or leaf is not out.dtype:
            return False
    return True


def rows_of(
    fn: Callable[[Tensor], Sequence[Tensor | None]], seeds: Tensor, n: Any
) -> list[Tensor | None]:
    """What a function gives for each row of a tensor; None stays None."""
    spec = TensorSpec.of(seeds.dtype, None if seeds.spec.dims is None else seeds.spec.dims[1:])
    traced = RowFunction(fn, [spec], "rows")
    found = iter(traced.for_all(n, [seeds], [True]))
    return [None if leaf is None else next(found) for leaf in traced.result]


functional.install_batching(map_rows)
