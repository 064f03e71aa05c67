"""`map`: a function applied to every element, in order.

Hot path. A function that can be vectorised runs once for a whole batch; any other pure one runs in
one loop for the elements of a batch. With `num_parallel_calls` see `parallel`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, IntLike
from weft._src.core.tracebacks import hides_own_frames
from weft._src.data.core import traced
from weft._src.data.core.base import CAPTURES, INPUT, DatasetBase, dataset_op, static_bool
from weft._src.data.core.stage import Ahead, Cursor, Run, Stage, row, stack
from weft._src.data.core.structure import Values, flat_specs
from weft._src.data.core.traced import NOT_TRIED, Call, Traced
from weft._src.data.transforms.parallel import ParallelMapCursor, parallel_calls
from weft._src.data.transforms.vectorizing import RowsGraph, vectorized
from weft._src.errors import InvalidArgumentError
from weft._src.execution.runner import plan_of

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_READ_AHEAD = 64  # elements of a source that is all there, mapped at once
_READ_AHEAD_BYTES = 1 << 16


class MapStage(Stage):
    """A function of every element."""

    __slots__ = ("call", "deterministic", "parallel", "source")

    def __init__(
        self, source: Stage, call: Call, parallel: int | None, deterministic: bool | None
    ) -> None:
        self.source, self.call = source, call
        self.parallel, self.deterministic = parallel, deterministic

    def cursor(self, run: Run) -> Cursor:
        source = self.source.cursor(run)
        call = self.call.on(run)
        rows = _rows_of(call)
        if rows is not None:
            return _BlockMapCursor(source, call, rows)
        if self.parallel is not None:
            keep_order = run.deterministic if self.deterministic is None else self.deterministic
            threads = parallel_calls(self.parallel, run)
            return ParallelMapCursor(source, call, threads, keep_order, run)
        return MapCursor(source, call)

    def cardinality(self) -> int:
        return self.source.cardinality()


class MapCursor(Cursor):
    """One call for each element."""

    own = ("_pending",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, call: Call) -> None:
        self._source, self._call = source, call
        # Elements that were taken, together with others, for a call that failed; an error last.
        self._pending: deque[Any] = deque()

    def __next__(self) -> Values:
        return self._call(self._take())

    def _take(self) -> Values:
        if not self._pending:
            return next(self._source)
        values = self._pending.popleft()
        if isinstance(values, Exception):
            raise values
        return values

    def rows(self, n: int) -> Values:
        # What has effects must not get ahead of what comes before it.
        if self._pending or not self._call.traced.is_pure:
            return super().rows(n)
        return self._mapped(Ahead(self._source, n))

    def _mapped(self, ahead: Ahead) -> Values:
        results: list[Values] = []
        try:
            self._call.many(ahead.values, results)
        except Exception:
            self._put_back(ahead.values[len(results) + 1 :], ahead.error)
            raise
        if ahead.error is not None:
            raise ahead.error
        if not results:
            raise StopIteration
        return stack(results)

    def _put_back(self, elements: list[Values], error: Exception | None) -> None:
        self._pending.extend(elements)
        if error is not None:
            self._pending.append(error)


class _Rows:
    """A vectorised function with the values it captures."""

    def __init__(self, rows: RowsGraph, call: Call) -> None:
        self._plan = plan_of(rows.graph)
        self._captured = call._captured
        self._stacked = rows.stacked

    def __call__(self, values: Values) -> Values:
        out = self._plan(*values, *self._captured)
        if all(self._stacked):
            return out
        n = len(values[0])
        return tuple([
            result if rows else np.repeat(np.asarray(result)[None], n, axis=0)
            for result, rows in zip(out, self._stacked, strict=True)
        ])  # fmt: skip


def _rows_of(call: Call) -> _Rows | None:
    """The function for many elements at once, if it can be vectorised."""
    function = call.traced
    if function.debug or not function.graph.inputs:
        return None
    if function.rows_graph is NOT_TRIED:
        function.rows_graph = vectorized(function.graph)
    return None if function.rows_graph is None else _Rows(function.rows_graph, call)


class _BlockMapCursor(MapCursor):
    """One call for many elements."""

    own = ("_pending", "_ready", "_at", "_length")  # type: ignore[assignment]

    def __init__(self, source: Cursor, call: Call, function: _Rows) -> None:
        super().__init__(source, call)
        self._function = function
        specs = [x.spec for x in call.traced.graph.inputs]
        self._static = all(spec.is_static for spec in specs)
        # A variable may change before the next element is asked for.
        self.blocks = source.blocks and not call.traced.effects.reads
        out = flat_specs(call.traced.output_spec)
        self._reads_ahead = self.blocks and all(
            s.is_static and _bytes(s) * _READ_AHEAD <= _READ_AHEAD_BYTES for s in (*specs, *out)
        )
        self._ready: Values = ()
        self._at = self._length = 0

    def __next__(self) -> Values:
        at = self._at
        if at < self._length:
            self._at = at + 1
            return row(self._ready, at)
        if not self._reads_ahead or self._pending:
            return super().__next__()
        values = self._source.rows(_READ_AHEAD)
        try:
            self._ready = self._function(values)
        except Exception:  # noqa: BLE001 - one by one, to raise it where it belongs
            self._put_back([row(values, i) for i in range(len(values[0]))], None)
            return super().__next__()
        self._at, self._length = 1, len(values[0])
        return row(self._ready, 0)

    def rows(self, n: int) -> Values:
        if self._at < self._length or self._pending:
            return Cursor.rows(self, n)
        return self._many(n)

    def _many(self, n: int) -> Values:
        if self._source.blocks:
            values = self._source.rows(n)
            try:
                return self._function(values)
            except Exception:  # noqa: BLE001 - one by one, to raise it where it belongs
                elements = [row(values, i) for i in range(len(values[0]))]
                return self._one_by_one(elements, None)
        ahead = Ahead(self._source, n)
        if not self._static or ahead.error is not None or not ahead.values:
            return self._mapped(ahead)
        try:
            return self._function(stack(ahead.values))
        except Exception:  # noqa: BLE001 - as above
            return self._one_by_one(ahead.values, ahead.error)

    def _one_by_one(self, elements: list[Values], error: Exception | None) -> Values:
        ahead = object.__new__(Ahead)
        ahead.values, ahead.error = elements, error
        return self._mapped(ahead)


def _bytes(spec: Any) -> int:
    return int(np.prod(spec.dims, dtype=np.int64)) * max(spec.dtype.size, 1)


def _map_kernel(
    xp: ArrayNamespace, source: Stage, *captured: Any,
    f: Traced, num_parallel_calls: int | None, deterministic: bool | None,
) -> Stage:  # fmt: skip
    return MapStage(source, Call(f, captured), num_parallel_calls, deterministic)


map_op = dataset_op("MapDataset", INPUT + CAPTURES, _map_kernel)


class MappingMethods(DatasetBase):
    """Functions of elements."""

    @hides_own_frames
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: IntLike | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """The function applied to every element; it is traced once, like a `tf.function`.

        The parts of an element that is a tuple are arguments of their own. With
        `num_parallel_calls` several calls may run at once, in threads; the order of the elements
        stays, unless `deterministic` is False.

        Args:
          map_func: a function of an element that returns a structure of tensors.
          num_parallel_calls: how many calls run at once, or `tf.data.AUTOTUNE`; None is one after
            the other.
          deterministic: whether the order stays with parallel calls; None lets the options decide
            (it stays).
          synchronous: True refuses `num_parallel_calls`; else without effect.
          use_unbounded_threadpool: accepted for compatibility.

        Returns:
          A dataset of the results.

        Raises:
          ValueError: if `map_func` is no function, `deterministic` goes without
            `num_parallel_calls`, or `synchronous` with it.
          tf.errors.InvalidArgumentError: if `num_parallel_calls` is less than 1, or the function
            returns no tensor.

        >>> list(tf.data.Dataset.range(4).map(lambda x: x * x).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(4), np.int64(9)]
        """
        if num_parallel_calls is None and deterministic is not None:
            raise ValueError("Dataset.map: deterministic goes with num_parallel_calls.")
        if deterministic is not None:
            deterministic = static_bool("map", "deterministic", deterministic)
        wait = synchronous is not None and static_bool("map", "synchronous", synchronous)
        if wait and num_parallel_calls is not None:
            raise ValueError("Dataset.map: synchronous goes without num_parallel_calls.")
        parallel = checked_parallel("map", num_parallel_calls)
        f = traced.of_element(map_func, self.element_spec, "map")
        if not flat_specs(f.output_spec):
            raise InvalidArgumentError(
                None, None, f"Dataset.map: {f.name} returns no tensor, got {f.output_spec!r}."
            )
        return self._derived(
            map_op, *f.captures, spec=f.output_spec, name=name,
            f=f, num_parallel_calls=parallel, deterministic=deterministic,
        )  # fmt: skip


def checked_parallel(method: str, value: Any) -> int | None:
    """`num_parallel_calls` as a number that is known now: at least 1, or -1 for AUTOTUNE."""
    if value is None:
        return None
    try:
        number = int(value) if not isinstance(value, (float, str)) else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise TypeError(f"Dataset.{method}: num_parallel_calls must be an integer, got {value!r}.")
    if number < 1 and number != -1:
        raise InvalidArgumentError(
            None,
            None,
            f"Dataset.{method}: num_parallel_calls must be at least 1, or tf.data.AUTOTUNE, got "
            f"{number}.",
        )
    return number
