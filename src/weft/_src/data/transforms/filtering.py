"""Elements chosen by what they are, and states carried along: `filter`, `take_while`, `unique`,
`scan`, `ignore_errors`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ArrayNamespace, SpecNest, TensorNest
from weft._src.core.dtypes import INDEX, STRING
from weft._src.core.tracebacks import hides_own_frames
from weft._src.data.core import structure, traced
from weft._src.data.core.base import CAPTURES, INPUT, DatasetBase, dataset_op, static_bool
from weft._src.data.core.stage import UNKNOWN, Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.core.traced import Call, Traced
from weft._src.data.transforms.folding import carried_state, trace_step
from weft._src.errors import OpError

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_logger = logging.getLogger("weft")

# --- filter and take_while -----------------------------------------------------------------------


class FilterStage(Stage):
    """The elements for which a condition holds; or those up to the first for which it does not."""

    __slots__ = ("predicate", "source", "stops")

    def __init__(self, source: Stage, predicate: Call, stops: bool) -> None:
        self.source, self.predicate, self.stops = source, predicate, stops

    def cursor(self, run: Run) -> Cursor:
        kind = _TakeWhileCursor if self.stops else _FilterCursor
        return kind(self.source.cursor(run), self.predicate.on(run))

    def cardinality(self) -> int:
        return 0 if self.source.cardinality() == 0 else UNKNOWN


class _FilterCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, source: Cursor, predicate: Call) -> None:
        self._source, self._predicate = source, predicate

    def __next__(self) -> Values:
        predicate = self._predicate
        for values in self._source:
            if predicate(values)[0]:
                return values
        raise StopIteration


class _TakeWhileCursor(Cursor):
    own = ("_done",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, predicate: Call) -> None:
        self._source, self._predicate = source, predicate
        self._done = False

    def __next__(self) -> Values:
        if not self._done:
            values = next(self._source)
            if self._predicate(values)[0]:
                return values
            self._done = True
        raise StopIteration


filter_op = dataset_op(
    "FilterDataset",
    INPUT + CAPTURES,
    lambda xp, source, *captured, predicate: FilterStage(source, Call(predicate, captured), False),
)

take_while_op = dataset_op(
    "TakeWhileDataset",
    INPUT + CAPTURES,
    lambda xp, source, *captured, predicate: FilterStage(source, Call(predicate, captured), True),
)


# --- unique --------------------------------------------------------------------------------------


class UniqueStage(Stage):
    """Every element when it comes for the first time."""

    __slots__ = ("source",)

    def __init__(self, source: Stage) -> None:
        self.source = source

    def cursor(self, run: Run) -> Cursor:
        return _UniqueCursor(self.source.cursor(run))

    def cardinality(self) -> int:
        return 0 if self.source.cardinality() == 0 else UNKNOWN


class _UniqueCursor(Cursor):
    own = ("_seen",)
    inputs = ("_source",)

    def __init__(self, source: Cursor) -> None:
        self._source = source
        self._seen: dict[Any, bool] = {}

    def __next__(self) -> Values:
        for values in self._source:
            key = tuple([(v.shape, _content(v)) for v in values])
            if key not in self._seen:
                self._seen[key] = True
                return values
        raise StopIteration


def _content(value: Any) -> Any:
    return tuple(value.reshape(-1).tolist()) if value.dtype == object else value.tobytes()


unique_op = dataset_op("UniqueDataset", INPUT, lambda xp, source: UniqueStage(source))


# --- scan ----------------------------------------------------------------------------------------


class ScanStage(Stage):
    """A function of a state and every element that gives a new state and an output."""

    __slots__ = ("call", "initial", "source")

    def __init__(self, source: Stage, initial: Values, call: Call) -> None:
        self.source, self.initial, self.call = source, initial, call

    def cursor(self, run: Run) -> Cursor:
        return _ScanCursor(self.source.cursor(run), self.initial, self.call.on(run))

    def cardinality(self) -> int:
        return self.source.cardinality()


class _ScanCursor(Cursor):
    own = ("_state",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, initial: Values, call: Call) -> None:
        self._source, self._call = source, call
        self._state = initial

    def __next__(self) -> Values:
        n = len(self._state)
        out = self._call((*self._state, *next(self._source)))
        self._state = out[:n]
        return out[n:]


def _scan_kernel(xp: ArrayNamespace, source: Stage, *inputs: Any, f: Traced, states: int) -> Stage:
    return ScanStage(source, inputs[:states], Call(f, inputs[states:]))


scan_op = dataset_op("ScanDataset", INPUT + CAPTURES, _scan_kernel)


# --- errors --------------------------------------------------------------------------------------


class IgnoreErrorsStage(Stage):
    """The elements that can be made."""

    __slots__ = ("log", "source")

    def __init__(self, source: Stage, log: bool) -> None:
        self.source, self.log = source, log

    def cursor(self, run: Run) -> Cursor:
        return _IgnoreErrorsCursor(self.source.cursor(run), self.log)


class _IgnoreErrorsCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, source: Cursor, log: bool) -> None:
        self._source, self._log = source, log

    def __next__(self) -> Values:
        while True:
            try:
                return next(self._source)
            except StopIteration:
                raise
            except Exception as error:
                if not isinstance(error, (OpError, ValueError, TypeError, ArithmeticError)):
                    raise
                if self._log:
                    _logger.warning("Dataset.ignore_errors: an element is left out: %s", error)


ignore_errors_op = dataset_op(
    "IgnoreErrorsDataset",
    INPUT,
    lambda xp, source, *, log_warning: IgnoreErrorsStage(source, log_warning),
)


class FilteringMethods(DatasetBase):
    """Elements chosen by what they are."""

    @hides_own_frames
    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which the function gives True.

        Args:
          predicate: a function of an element that returns one bool; parts of a tuple are arguments
            of their own.

        Returns:
          A dataset of some of the elements; its length is unknown.

        Raises:
          ValueError: if `predicate` is no function, or does not return one bool.

        >>> list(tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0).as_numpy_iterator())
        [np.int64(0), np.int64(2), np.int64(4)]
        """
        f = _condition(predicate, self.element_spec, "filter")
        return self._derived(filter_op, *f.captures, name=name, predicate=f)

    @hides_own_frames
    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements up to the first for which the function gives False.

        Args:
          predicate: a function of an element that returns one bool; parts of a tuple are arguments
            of their own.

        Returns:
          A dataset of the first elements; its length is unknown.

        Raises:
          ValueError: if `predicate` is no function, or does not return one bool.

        >>> list(tf.data.Dataset.range(9).take_while(lambda x: x * x < 5).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        f = _condition(predicate, self.element_spec, "take_while")
        return self._derived(take_while_op, *f.captures, name=name, predicate=f)

    def unique(self, name: str | None = None) -> Dataset:
        """Every element when it comes for the first time; integers and strings only.

        Returns:
          A dataset without repetitions; it remembers all elements it has given.

        Raises:
          TypeError: if a component is not int32, int64 or string.

        >>> list(tf.data.Dataset.from_tensor_slices([1, 37, 1, 2, 37]).unique().as_numpy_iterator())
        [np.int32(1), np.int32(37), np.int32(2)]
        """
        for spec in structure.flat_specs(self.element_spec):
            if spec.dtype not in INDEX | STRING:
                raise TypeError(
                    "Dataset.unique: elements must be int32, int64 or string, got "
                    f"{spec.dtype.name}."
                )
        return self._derived(unique_op, name=name)

    @hides_own_frames
    def scan(
        self, initial_state: TensorNest, scan_func: Callable[..., Any], name: str | None = None
    ) -> Dataset:
        """Outputs of a function of a state and every element; it returns (new state, output).

        Args:
          initial_state: a tensor or a structure of tensors.
          scan_func: a function of (state, element).

        Returns:
          A dataset of the outputs.

        Raises:
          TypeError: if the function does not return a pair, or its state is not of the type of
            `initial_state`.

        >>> sums = tf.data.Dataset.range(5).scan(
        ...     tf.constant(0, tf.int64), lambda total, x: (total + x, total + x)
        ... )
        >>> list(sums.as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(3), np.int64(6), np.int64(10)]
        """
        initial, spec = carried_state("scan", initial_state)
        f, _ = trace_step("scan", scan_func, spec, self.element_spec, pair=True)
        output = f.output_spec[1]
        return self._derived(
            scan_op, *initial, *f.captures, spec=output, name=name, f=f, states=len(initial)
        )

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements that can be made; those that raise an error are left out.

        Args:
          log_warning: whether each element that is left out is told to the logger.

        Returns:
          A dataset; its length is unknown.

        Raises:
          TypeError: if `log_warning` is no bool.

        >>> numbers = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        >>> inverse = numbers.map(lambda x: tf.debugging.check_numerics(1.0 / x, "too big"))
        >>> list(inverse.ignore_errors().as_numpy_iterator())
        [np.float32(1.0), np.float32(0.25)]
        """
        log = static_bool("ignore_errors", "log_warning", log_warning)
        return self._derived(ignore_errors_op, name=name, log_warning=log)


def _condition(predicate: Callable[..., Any], element_spec: SpecNest, method: str) -> Traced:
    f = traced.of_element(predicate, element_spec, method)
    if not traced.is_scalar_bool(f.output_spec):
        raise ValueError(
            f"Dataset.{method}: the function must return one bool, got {f.output_spec!r}."
        )
    return f
