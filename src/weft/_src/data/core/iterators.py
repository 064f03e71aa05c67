"""Iterators: a position in a dataset as a resource, which functions can take and advance.

Hot path: `next` of an eager iterator is the cursor's `next` and the wrapping of its arrays.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ArrayNamespace, SpecNest
from weft._src.core.context import state
from weft._src.core.dtypes import RESOURCE, bool_, resource, variant
from weft._src.core.resources import Resource
from weft._src.core.specs import TensorSpec, TypeSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.tracebacks import hide_own_frames
from weft._src.data.core import structure
from weft._src.data.core.optional import Optional, OptionalValue
from weft._src.data.core.options import Options
from weft._src.data.core.positions import decoded, encoded
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    OperatorNotAllowedInGraphError,
    OutOfRangeError,
    ParseError,
)
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.state.tracking import Trackable

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_HANDLE = TensorSpec([], resource)
_MOST_IN_A_TRACE = 5000
_DIGEST = hashlib.sha256().digest_size
_OWN_POSITION = b"weft position 1\n"  # how those in checkpoints begin; TensorFlow's do not


class _NoStage(Stage):
    """What an iterator walks through that has not got a dataset yet."""

    __slots__ = ()

    def cursor(self, run: Run) -> Cursor:
        return _NoCursor()


class _NoCursor(Cursor):
    def __next__(self) -> Values:
        raise FailedPreconditionError(
            None, None, "An iterator is asked for elements before it was given a dataset."
        )


class IteratorCell(Resource):
    """Where the position of an iterator lives."""

    __slots__ = ("_peeked", "_run", "_stage", "cursor", "lock", "name")

    def __init__(self, stage: Stage | None, run: Run) -> None:
        self.lock = threading.RLock()  # held for a whole call by functions that advance it
        self.name = "iterator"
        self.start(_NoStage() if stage is None else stage, run)

    def start(self, stage: Stage, run: Run) -> None:
        """From now on it walks through these elements."""
        with self.lock:
            self._stage, self._run = stage, run.fresh()
            self.cursor: Cursor = stage.cursor(self._run)
            self._peeked: list[Values] = []

    def next(self) -> Values:
        """The next element; StopIteration if there is none."""
        with self.lock:
            return self._peeked.pop() if self._peeked else next(self.cursor)

    def has_next(self) -> bool:
        """Whether there is a next element, which is then kept."""
        with self.lock:
            if not self._peeked:
                for values in self.cursor:
                    self._peeked.append(values)
                    break
            return bool(self._peeked)

    def save(self) -> Any:
        """The position, as plain data."""
        with self.lock:
            streams = [own.read() for _, own in self._run.streams.values()]
            cursor = self.cursor.save()
            return {"peeked": list(self._peeked), "cursor": cursor, "streams": streams}

    def restore(self, saved: Any) -> None:
        """Goes to a saved position."""
        with self.lock:
            self.cursor.close()
            self.cursor = self._stage.cursor(self._run)
            self.cursor.restore(saved["cursor"])
            for (_, own), state in zip(self._run.streams.values(), saved["streams"], strict=False):
                own.write(state)
            self._peeked = list(saved["peeked"])

    def __repr__(self) -> str:
        return f"<IteratorCell of {type(self._stage).__name__}>"


def run_of(options: Options) -> Run:
    """What the options of a dataset say about running it."""
    limit = options.threading.private_threadpool_size
    return Run(
        deterministic=options.deterministic is not False,
        max_threads=None if not limit else int(limit),
    )


# Not merged with another one of the same dataset, and not dropped: making elements has effects.
make_iterator_op = define_op(
    "MakeIterator",
    args("dataset", {variant}),
    infer=lambda dataset, *, run: _HANDLE,
    kernel=lambda xp, dataset, *, run: IteratorCell(dataset, run),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    trusts_kernel=True,
)


# An iterator without a dataset, and how it gets one: two steps in graphs of TensorFlow.
anonymous_op = define_op(
    "AnonymousIteratorV3",
    (),
    infer=lambda: _HANDLE,
    kernel=lambda xp: IteratorCell(None, Run()),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    trusts_kernel=True,
)


def _start_kernel(xp: ArrayNamespace, dataset: Stage, iterator: IteratorCell, *, run: Run) -> Any:
    iterator.start(dataset, run)
    return ()


start_op = define_op(
    "StartIterator",
    args("dataset", {variant}) + args("iterator", RESOURCE),
    infer=lambda dataset, iterator, *, run: (),
    kernel=_start_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    writes=(1,),
    trusts_kernel=True,
)


def _next_infer(iterator: TensorSpec, *, specs: tuple[TensorSpec, ...]) -> tuple[TensorSpec, ...]:
    return tuple([spec.with_fresh_dims() for spec in specs])


def _next_kernel(
    xp: ArrayNamespace, iterator: IteratorCell, *, specs: tuple[TensorSpec, ...]
) -> Values:
    try:
        return iterator.next()
    except StopIteration:
        raise OutOfRangeError(
            None, None, "Iterator.get_next: the dataset has no more elements."
        ) from None


get_next_op = define_op(
    "IteratorGetNext",
    args("iterator", RESOURCE),
    infer=_next_infer,
    kernel=_next_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    writes=(0,),
    trusts_kernel=True,
)

has_next_op = define_op(
    "IteratorHasNext",
    args("iterator", RESOURCE),
    infer=lambda iterator: TensorSpec.of(bool_, ()),
    kernel=lambda xp, iterator: xp.asarray(iterator.has_next()),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    writes=(0,),
    trusts_kernel=True,
)


def _optional_kernel(xp: ArrayNamespace, iterator: IteratorCell) -> OptionalValue:
    try:
        return OptionalValue(iterator.next())
    except StopIteration:
        return OptionalValue(None)


get_next_as_optional_op = define_op(
    "IteratorGetNextAsOptional",
    args("iterator", RESOURCE),
    infer=lambda iterator: TensorSpec([], variant),
    kernel=_optional_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    writes=(0,),
    trusts_kernel=True,
)


class IteratorSpec(TypeSpec):
    """The type of an iterator: the type of the elements it gives.

    >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))
    IteratorSpec(TensorSpec(shape=(), dtype=tf.int64, name=None))
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return Iterator

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the other one gives such elements.

        Args:
          spec_or_value: an iterator, or the spec of one.

        Returns:
          A bool; False for anything else.
        """
        spec = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(spec, IteratorSpec) and structure.is_compatible(
            self._element_spec, spec._element_spec
        )

    @property
    def _component_specs(self) -> TensorSpec:
        return _HANDLE

    def _to_components(self, value: Iterator) -> Tensor:
        return value._handle

    def _from_components(self, components: Tensor) -> Iterator:
        return Iterator._of(components, self._element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IteratorSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"IteratorSpec({self._element_spec!r})"


class Iterator(Trackable):
    """A walk through the elements of a dataset, made by `iter(dataset)`.

    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> iterator.get_next().numpy(), next(iterator).numpy()
    (np.int64(0), np.int64(1))
    """

    _handle: Tensor
    _element_spec: Any
    _next: Any  # of the cell; None in a graph
    _pack: structure.Packer
    _asked: tuple[int, int]  # a graph, and how often it asked for an element

    @classmethod
    def _of(cls, handle: Tensor, element_spec: SpecNest) -> Iterator:
        made = object.__new__(cls)
        made._handle, made._element_spec, made._asked = handle, element_spec, (0, 0)
        made._next = handle._value.next if isinstance(handle, EagerTensor) else None
        made._pack = structure.make_packer(element_spec, structure.eager_tensor)
        return made

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._element_spec)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        try:
            if state.graph is not None or self._next is None:
                return self.get_next()
            return self._pack(self._next())
        except Exception as error:
            hide_own_frames(error)
            raise

    def next(self) -> Any:
        """The next element, as the built-in function `next` gives it.

        Returns:
          A nest of tensors with the structure of `element_spec`.

        Raises:
          StopIteration: if there is none.

        >>> iter(tf.data.Dataset.range(3)).next().numpy()
        np.int64(0)
        """
        return self.__next__()

    def get_next(self, name: str | None = None) -> Any:
        """The next element. It can be called in a `tf.function` too.

        Returns:
          A nest of tensors with the structure of `element_spec`.

        Raises:
          tf.errors.OutOfRangeError: if there is none.
          OperatorNotAllowedInGraphError: if Python asks for elements without end while tracing.

        >>> iter(tf.data.Dataset.range(3)).get_next().numpy()
        np.int64(0)
        """
        if state.graph is not None:
            self._check_ends(state.graph)
        specs = tuple(structure.flat_specs(self._element_spec))
        flat: Sequence[Tensor] = get_next_op(self._handle, specs=specs, name=name)
        return structure.pack(self._element_spec, flat)

    def _check_ends(self, graph: Any) -> None:
        """Python's own loops over an iterator of a graph would never end."""
        seen, count = self._asked
        self._asked = (id(graph), count + 1 if seen == id(graph) else 1)
        if count > _MOST_IN_A_TRACE:
            raise OperatorNotAllowedInGraphError(
                "A dataset is iterated over by Python while a function is traced, which would "
                "never end: the elements are only known when the graph runs. Use a for statement "
                "that AutoGraph converts, Dataset.map, or Dataset.reduce."
            )

    def get_next_as_optional(self, name: str | None = None) -> Optional:
        """The next element, or an optional without a value if there is none.

        Returns:
          A `tf.data.experimental.Optional`.

        >>> iterator = iter(tf.data.Dataset.range(1))
        >>> [bool(iterator.get_next_as_optional().has_value()) for _ in range(2)]
        [True, False]
        """
        handle = get_next_as_optional_op(self._handle, name=name)
        return Optional._of(handle, self._element_spec)

    # --- the position ---------------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {"ITERATOR_STATE": [_OWN_POSITION + self.save_position()]}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Goes to the position that a checkpoint kept."""
        (position,) = restored_tensors["ITERATOR_STATE"].numpy()
        self.restore_position(position.removeprefix(_OWN_POSITION))

    def save_position(self) -> bytes:
        """The position as bytes, from which an iterator of the same pipeline can go on.

        Returns:
          Bytes, which `restore_position` takes; they begin with a checksum.

        Raises:
          RuntimeError: if it is called while a function is traced.

        >>> dataset = tf.data.Dataset.range(4).shuffle(4, seed=1)
        >>> iterator = iter(dataset)
        >>> first, position = next(iterator), iterator.save_position()
        >>> rest = [int(x) for x in iterator]
        >>> iterator.restore_position(position)
        >>> rest == [int(x) for x in iterator]
        True
        """
        content = encoded(self._cell("save_position").save())
        return hashlib.sha256(content).digest() + content

    def restore_position(self, position: bytes) -> None:
        """Goes to a saved position.

        Args:
          position: what `save_position` of an iterator of the same pipeline gave.

        Raises:
          TypeError: if it is not bytes.
          tf.errors.DataLossError: if the checksum is wrong.
          tf.errors.InvalidArgumentError: if it is a position in another pipeline.
          RuntimeError: if it is called while a function is traced.
        """
        cell = self._cell("restore_position")
        if not isinstance(position, bytes):
            raise TypeError(
                "Iterator.restore_position: position must be what save_position gave, got "
                f"{position!r}."
            )
        digest, content = position[:_DIGEST], position[_DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            raise DataLossError(
                None,
                None,
                f"Iterator.restore_position: these {len(position)} bytes are not, or no longer, "
                "what save_position gave: their checksum is wrong.",
            )
        try:
            cell.restore(decoded(content))
        except (ParseError, LookupError, AttributeError, TypeError, ValueError) as e:
            raise InvalidArgumentError(
                None,
                None,
                "Iterator.restore_position: this is no position of an iterator of this pipeline "
                f"({type(e).__name__}: {e}).",
            ) from e

    def _cell(self, method: str) -> IteratorCell:
        if not isinstance(self._handle, EagerTensor):
            raise RuntimeError(f"Iterator.{method} cannot be part of a graph; call it eagerly.")
        cell: IteratorCell = self._handle._value
        return cell

    def __repr__(self) -> str:
        return f"<tf.data.Iterator element_spec={self._element_spec!r}>"


class NumpyIterator:
    """A walk through the elements of a dataset as NumPy arrays."""

    def __init__(self, dataset: Dataset) -> None:
        self._iterator = iter(dataset)
        self._pack = structure.make_packer(dataset.element_spec, _as_numpy)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return self._pack(self._iterator._next())

    def next(self) -> Any:
        """The next element, as the built-in function `next` gives it.

        Returns:
          A nest of NumPy arrays and scalars with the structure of the dataset's `element_spec`.

        Raises:
          StopIteration: if there is none.

        >>> tf.data.Dataset.range(3).as_numpy_iterator().next()
        np.int64(0)
        """
        return self.__next__()


def _as_numpy(value: Any) -> Any:
    return structure.eager_tensor(value).numpy()


def iterate(dataset: Any) -> Iterator:
    """An iterator over a dataset, now or in the graph that is being built."""
    handle = make_iterator_op(dataset._variant, run=run_of(dataset._options))
    return Iterator._of(handle, dataset.element_spec)
