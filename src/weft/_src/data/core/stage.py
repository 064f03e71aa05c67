"""What runs: stages and cursors.

A *stage* is a dataset whose arguments are all known: the value of a variant tensor, immutable.
A *cursor* goes through its elements once. Stages hold the stages they take elements from, cursors
likewise. An element is a flat tuple of arrays.

Hot path. A cursor gives one element (`__next__`) or several at once, stacked (`rows`), which is
what batches ask for; sources and maps that can answer with whole arrays never make single elements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from weft._src.core.resources import Variant
from weft._src.data.core.structure import Values
from weft._src.errors import InvalidArgumentError

INFINITE = -1
UNKNOWN = -2


class Run:
    """How one iterator runs a pipeline: what `tf.data.Options` can say, and what was found out.

    `uses_variables`: functions of the pipeline read or write variables. A call of a function that
    writes them holds their locks while it waits for elements, so no other thread may need them.
    """

    __slots__ = ("deterministic", "max_threads", "streams", "uses_variables")

    def __init__(self, deterministic: bool = True, max_threads: int | None = None) -> None:
        self.deterministic = deterministic
        self.max_threads = max_threads
        self.uses_variables = False
        # Seeded random ops begin anew with each iterator: their streams, and those used instead.
        self.streams: dict[int, tuple[Any, Any]] = {}

    def fresh(self) -> Run:
        """The same settings for another iterator."""
        return Run(self.deterministic, self.max_threads)


class Stage(Variant, ABC):
    """A dataset at run time."""

    __slots__ = ("__weakref__",)

    @abstractmethod
    def cursor(self, run: Run) -> Cursor:
        """A new walk through the elements, from the first one."""

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def table(self) -> Sequence[Any] | None:
        """The elements as rows of arrays that are there already, None if they are not."""
        return None


class Cursor(ABC):
    """A position in a stage's elements.

    `own` names the attributes that make up the position, `inputs` the cursors it takes elements
    from; saving and restoring a position needs no more.
    """

    own: ClassVar[Sequence[str]] = ()
    inputs: ClassVar[Sequence[str]] = ()
    # Whether many elements at once cost little more than one, and taking them has no effects.
    blocks: bool = False

    def __iter__(self) -> Cursor:
        return self

    @abstractmethod
    def __next__(self) -> Values: ...

    def rows(self, n: int) -> Values:
        """Up to n elements stacked, StopIteration if none is left."""
        got = list(islice(self, n))
        if not got:
            raise StopIteration
        return stack(got)

    def save(self) -> dict[str, Any]:
        """The position, as plain data."""
        state: dict[str, Any] = {name: copied(getattr(self, name)) for name in self.own}
        for name in self.inputs:
            cursor = getattr(self, name)
            state[name] = None if cursor is None else cursor.save()
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Goes to a saved position."""
        for name in self.own:
            setattr(self, name, copied(state[name]))
        for name in self.inputs:
            if state[name] is not None:
                getattr(self, name).restore(state[name])

    def close(self) -> None:
        """Stops the threads behind it, if there are any."""
        for name in self.inputs:
            cursor = getattr(self, name)
            if cursor is not None:
                cursor.close()


def copied(value: Any) -> Any:
    """A copy of a container, so that what was saved stays what it was; arrays never change."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


# --- several elements as one -----------------------------------------------------------------


def stack(elements: Sequence[Values], what: str = "batch") -> Values:
    """Elements stacked along a new first axis."""
    return tuple([stack_column(column, i, what) for i, column in enumerate(zip(*elements))])


def stack_column(column: Sequence[Any], component: int = 0, what: str = "batch") -> Any:
    """The values of one component as one array; their shapes must agree."""
    first = column[0]
    if not isinstance(first, (np.ndarray, np.generic)):
        raise InvalidArgumentError(
            None, None, f"Dataset.{what}: component {component} holds {first!r}, not a tensor."
        )
    if first.dtype == object:
        return _stack_objects(column, component, what)
    if first.ndim == 0:
        try:
            return np.array(column, first.dtype)
        except (TypeError, ValueError):
            pass  # another one is not a scalar: say so below
    shape = first.shape
    for i, value in enumerate(column):
        if value.shape != shape:
            raise _shapes_differ(what, component, shape, i, value.shape)
    out = np.empty((len(column), *shape), first.dtype)
    for i, value in enumerate(column):
        out[i] = value
    return out


def _stack_objects(column: Sequence[Any], component: int, what: str) -> Any:
    shape = column[0].shape
    out = np.empty((len(column), *shape), object)
    for i, value in enumerate(column):
        if value.shape != shape:
            raise _shapes_differ(what, component, shape, i, value.shape)
        out[i] = value[()] if value.ndim == 0 else value
    return out


def _shapes_differ(
    what: str, component: int, first: tuple[int, ...], i: int, other: tuple[int, ...]
) -> InvalidArgumentError:
    return InvalidArgumentError(
        None,
        None,
        f"Dataset.{what}: elements of different shapes cannot be stacked: component {component} "
        f"of the first has shape {first}, that of element {i} has shape {other}. Use padded_batch, "
        "or make the shapes equal in a map.",
    )


def row(values: Values, i: int) -> Values:
    """One of several stacked elements; never a bare scalar of a string array."""
    return tuple([value[i, ...] if value.dtype == object else value[i] for value in values])


def join(parts: Sequence[Values]) -> Values:
    """Stacked elements one after the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    for part in parts[1:]:
        for component, (a, b) in enumerate(zip(first, part, strict=True)):
            if a.shape[1:] != b.shape[1:]:
                raise _shapes_differ("batch", component, a.shape[1:], a.shape[0], b.shape[1:])
    return tuple([np.concatenate(columns) for columns in zip(*parts, strict=True)])


class Ahead:
    """Elements taken from a cursor before they are needed, and the error that came after them."""

    __slots__ = ("error", "values")

    def __init__(self, cursor: Iterable[Values], n: int) -> None:
        self.values: list[Values] = []
        self.error: Exception | None = None
        try:
            self.values.extend(islice(cursor, n))
        except Exception as error:  # noqa: BLE001 - raised when the elements before it are used up
            self.error = error


def fewer(a: int, b: int) -> int:
    """The smaller of two cardinalities."""
    if a == INFINITE or b == INFINITE:
        return b if a == INFINITE else a
    return UNKNOWN if UNKNOWN in (a, b) else min(a, b)


def together(a: int, b: int) -> int:
    """The sum of two cardinalities."""
    if INFINITE in (a, b):
        return INFINITE
    return UNKNOWN if UNKNOWN in (a, b) else a + b


def scaled(a: int, change: Callable[[int], int]) -> int:
    """A cardinality changed by arithmetic, if it is a number."""
    return a if a < 0 else change(a)
