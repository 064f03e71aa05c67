"""`tf.queue`: queues of tensors between threads, eagerly and in functions.

A queue is a resource, but its ops do not count as writing it: a call that writes a resource holds
its lock until it ends, and one that waits for room would keep out who makes it. That they act on
the world outside keeps their order within a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes as all_dtypes, memory
from weft._src.core.aliases import ArrayNamespace, DTypeLike, ShapeLike, TensorLike, TensorNest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, DATA, RESOURCE, DType, bool_, int32, int64, string
from weft._src.core.shapes import Dim, TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op, each
from weft._src.ops.sampling.streams import python_seed
from weft._src.ops.static import static_int
from weft._src.state.queue_content import PrioritizedContent, QueueContent, ShuffledContent

Array = np.ndarray[Any, Any]
Parts = tuple[tuple[DType, TensorShape], ...]
_MOST = 2**31 - 1

# --- ops -----------------------------------------------------------------------------------------


def _check(op: str, parts: Parts, specs: Sequence[TensorSpec], lead: int) -> None:
    for i, ((_, shape), spec) in enumerate(zip(parts, specs, strict=True)):
        if spec.dims is None:
            continue
        if len(spec.dims) < lead:
            raise ShapeError(f"{op}: component {i} of vals must have a first axis for elements.")
        if not shape.is_compatible_with(TensorShape([*spec.shape])[lead:]):
            raise ShapeError(
                f"{op}: component {i} of vals has shape {spec.shape}, the queue holds elements of "
                f"shape {shape}."
            )
    if lead and len({int(s.dims[0]) for s in specs if s.dims and isinstance(s.dims[0], int)}) > 1:
        raise ShapeError(f"{op}: the components of vals have different numbers of elements.")


def _enqueue_infer(
    queue: TensorSpec, *values: TensorSpec, op: str, parts: Parts, many: bool
) -> tuple[TensorSpec, ...]:
    _check(op, parts, values, int(many))
    return ()


def _enqueue_kernel(
    xp: ArrayNamespace, queue: QueueContent, *values: Any, op: str, parts: Parts, many: bool
) -> tuple[Any, ...]:
    arrays = [np.asarray(v, d.numpy_dtype) for v, (d, _) in zip(values, parts, strict=True)]
    _check(
        op,
        parts,
        [TensorSpec(a.shape, d) for a, (d, _) in zip(arrays, parts, strict=True)],
        int(many),
    )
    if many:
        queue.put([tuple(row) for row in zip(*[list(map(_array, a)) for a in arrays], strict=True)])
    else:
        queue.put([tuple(arrays)])
    return ()


def _array(row: Any) -> Array:
    return (
        row
        if isinstance(row, np.ndarray)
        else np.asarray(row, object if isinstance(row, bytes) else None)
    )


enqueue_op = define_op(
    "QueueEnqueueElements",
    args("queue", RESOURCE) + each("*components", DATA),
    infer=_enqueue_infer,
    kernel=_enqueue_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
)


def _dequeue_infer(
    queue: TensorSpec, count: TensorSpec, *, parts: Parts, many: bool, fewer: bool
) -> tuple[TensorSpec, ...]:
    rules.check_rank("dequeue_many", count, 0, name="n")
    known = rules.known(count)
    first = known if isinstance(known, int) and not fewer else Dim()
    out = []
    for dtype, shape in parts:
        inner = None if shape.rank is None else tuple(Dim() if n is None else n for n in shape)
        lead = (first,) if many else ()
        out.append(TensorSpec.of(dtype, None if inner is None else (*lead, *inner)))
    return tuple(out)


def _dequeue_kernel(
    xp: ArrayNamespace, queue: QueueContent, count: Any, *, parts: Parts, many: bool, fewer: bool
) -> tuple[Array, ...]:
    if not many:
        return queue.get(1, False)[0]
    number = int(count)
    if number < 0:
        raise InvalidArgumentError(
            None, None, f"dequeue_many: n must not be negative, got {number}."
        )
    elements = queue.get(number, fewer) if number else []
    columns = zip(*elements, strict=True) if elements else [()] * len(parts)
    return tuple([_stacked(c, *part) for c, part in zip(columns, parts, strict=True)])


def _stacked(rows: Sequence[Array], dtype: DType, shape: TensorShape) -> Array:
    """Rows as one array, filled up where they are shorter than others."""
    rank = shape.rank or 0
    sizes = [row.shape for row in rows] or [tuple([n or 0 for n in shape])]
    largest = tuple([max(size[axis] for size in sizes) for axis in range(rank)])
    memory.check("dequeue_many", (len(rows), *largest), dtype.numpy_dtype)
    fill = b"" if dtype is string else 0
    if fill == 0 and dtype.numpy_dtype.kind == "V":
        out = np.zeros((len(rows), *largest), dtype.numpy_dtype)
    else:
        out = np.full((len(rows), *largest), fill, dtype.numpy_dtype)
    for i, row in enumerate(rows):
        at: tuple[Any, ...] = (i, *[slice(n) for n in row.shape])
        out[at] = row
    return out


dequeue_op = define_op(
    "QueueDequeueElements",
    args("queue", RESOURCE) + args("n", {int32, int64}, is_shape=True),
    infer=_dequeue_infer,
    kernel=_dequeue_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    host_io=True,
    fresh=True,
)


def _close_kernel(xp: ArrayNamespace, queue: QueueContent, cancel: Any) -> tuple[Any, ...]:
    queue.close(bool(cancel))
    return ()


close_op = define_op(
    "QueueCloseElements",
    args("queue", RESOURCE) + args("cancel_pending_enqueues", BOOL),
    infer=lambda queue, cancel: (),
    kernel=_close_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
)
size_op = define_op(
    "QueueElementCount",
    args("queue", RESOURCE),
    infer=lambda queue: TensorSpec.of(int32, ()),
    kernel=lambda xp, queue: np.array(len(queue), np.int32),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    fresh=True,
)
is_closed_op = define_op(
    "QueueIsShut",
    args("queue", RESOURCE),
    infer=lambda queue: TensorSpec.of(bool_, ()),
    kernel=lambda xp, queue: np.array(queue.is_closed),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    fresh=True,
)


# --- classes -------------------------------------------------------------------------------------


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


class QueueBase:
    """What queues have in common; make one of its kinds, such as `tf.queue.FIFOQueue`.

    >>> queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
    >>> isinstance(queue, tf.queue.QueueBase)
    True
    """

    def __init__(
        self,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None,
        names: str | Sequence[str] | None,
        queue_ref: Any,
    ) -> None:
        kinds = [all_dtypes.as_dtype(dtype) for dtype in _listed(dtypes)]
        if shapes is None:
            found = [TensorShape(None)] * len(kinds)
        else:
            is_one = len(kinds) == 1 and not (
                isinstance(shapes, (list, tuple))
                and len(shapes) == 1
                and (shapes[0] is None or isinstance(shapes[0], (list, tuple, TensorShape)))
            )
            several: Any = shapes
            given = [shapes] if is_one else list(several)
            found = [TensorShape(shape) for shape in given]
        if len(found) != len(kinds) or not kinds:
            raise ValueError(
                f"{type(self).__name__}: shapes must be one for each of {len(kinds)} dtypes, got "
                f"{shapes!r}."
            )
        self._parts: Parts = tuple(zip(kinds, found, strict=True))
        self._names = None if names is None else [str(name) for name in _listed(names)]
        if self._names is not None and len(self._names) != len(kinds):
            raise ValueError(
                f"{type(self).__name__}: names must be one for each of {len(kinds)} dtypes, got "
                f"{names!r}."
            )
        self._content = queue_ref
        self._handle = EagerTensor(queue_ref)

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """One of several queues.

        Args:
          index: its number, a Python integer or an eager tensor.
          queues: the queues.

        Returns:
          The queue with this number.

        Raises:
          TypeError: if something is no queue.
          ValueError: if there is no such number.
        """
        if not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError(
                f"QueueBase.from_list: queues must be a list of queues, got {queues!r}."
            )
        number = static_int("QueueBase.from_list", index, "index")
        if not 0 <= number < len(queues):
            raise ValueError(f"QueueBase.from_list: index {number} is not in [0, {len(queues)}).")
        return queues[number]

    @property
    def queue_ref(self) -> Tensor:
        """The queue as a resource tensor."""
        return self._handle

    @property
    def name(self) -> str:
        """The name of the queue."""
        return str(self._content.name)

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components of an element."""
        return [dtype for dtype, _ in self._parts]

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components of an element."""
        return [shape for _, shape in self._parts]

    @property
    def names(self) -> list[str] | None:
        """The names of the components, if they have any."""
        return self._names

    def _components(self, op: str, vals: TensorNest) -> list[Tensor]:
        if self._names is not None:
            if not isinstance(vals, Mapping) or sorted(vals) != sorted(self._names):
                raise ValueError(
                    f"{op}: vals must be a dict with the names {self._names}, got {vals!r}."
                )
            found: list[Any] = [vals[name] for name in self._names]
        elif isinstance(vals, Mapping):
            raise ValueError(f"{op}: the queue has no names, but vals is a dict.")
        else:
            found = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        if len(found) != len(self._parts):
            raise ValueError(
                f"{op}: vals must have {len(self._parts)} components, got {len(found)}. An element "
                "of one component that is a list itself belongs into another list."
            )
        pairs = zip(found, self._parts, strict=True)
        return [convert_to_tensor(value, dtype=dtype) for value, (dtype, _) in pairs]

    def _result(self, found: Sequence[Tensor]) -> Any:
        if self._names is not None:
            return dict(zip(self._names, found, strict=True))
        return found[0] if len(found) == 1 else list(found)

    def enqueue(self, vals: TensorNest, name: str | None = None) -> None:
        """Puts an element in; waits while the queue is full.

        Args:
          vals: a tensor, a list of one for each component, or a dict of them if components have
            names.

        Raises:
          CancelledError: if the queue is closed.
          ShapeError: if a shape is not that of the queue.
          ValueError: if there are other components.
        """
        values = self._components("enqueue", vals)
        enqueue_op(self._handle, *values, op="enqueue", parts=self._parts, many=False, name=name)

    def enqueue_many(self, vals: TensorNest, name: str | None = None) -> None:
        """Puts several elements in, the rows of tensors; waits while the queue is full.

        Args:
          vals: as for `enqueue`, with a first axis for the elements.

        Raises:
          CancelledError: if the queue is closed.
          ShapeError: if a shape is not that of the queue.
          ValueError: if there are other components.
        """
        values = self._components("enqueue_many", vals)
        enqueue_op(
            self._handle, *values, op="enqueue_many", parts=self._parts, many=True, name=name
        )

    def dequeue(self, name: str | None = None) -> Any:
        """Takes an element out; waits while there is none.

        Returns:
          A tensor, a list of one for each component, or a dict of them if components have names.

        Raises:
          OutOfRangeError: if the queue is closed and empty.
        """
        return self._dequeue(1, False, False, name)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """Takes several elements out, stacked; waits until there are as many.

        Args:
          n: how many.

        Returns:
          As for `dequeue`, with a first axis for the elements.

        Raises:
          OutOfRangeError: if the queue is closed and has fewer; they stay in it.
          InvalidArgumentError: if the shapes of elements are not known.
        """
        self._check_shapes("dequeue_many")
        return self._dequeue(n, True, False, name)

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """The same, but of a queue that is closed what is left.

        Args:
          n: how many at most.

        Returns:
          As for `dequeue`, with a first axis for the elements.

        Raises:
          OutOfRangeError: if the queue is closed and empty.
          InvalidArgumentError: if the shapes of elements are not known.
        """
        self._check_shapes("dequeue_up_to")
        return self._dequeue(n, True, True, name)

    def _dequeue(self, n: Any, many: bool, fewer: bool, name: str | None) -> Any:
        count = convert_to_tensor(n, dtype_hint=int32)
        found = dequeue_op(
            self._handle, count, parts=self._parts, many=many, fewer=fewer, name=name
        )
        return self._result(found if isinstance(found, (list, tuple)) else [found])

    def _check_shapes(self, op: str) -> None:
        if not all(shape.is_fully_defined() for shape in self.shapes):
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: a {self._content.kind} must know the shapes of its elements to stack them, "
                f"it has {self.shapes}. Give them as shapes=, or use a PaddingFIFOQueue.",
            )

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Lets nothing in any more; what is in the queue can still be taken out.

        Args:
          cancel_pending_enqueues: whether those who wait for room get a CancelledError.
        """
        cancel = convert_to_tensor(bool(cancel_pending_enqueues))
        close_op(self._handle, cancel, name=name)

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed.

        Returns:
          A bool scalar.
        """
        return size_of(is_closed_op, self._handle, name)

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are in the queue.

        Returns:
          An int32 scalar.
        """
        return size_of(size_op, self._handle, name)


def size_of(op: Callable[..., Tensor], handle: Tensor, name: str | None) -> Tensor:
    """What an op says of a queue."""
    return op(handle, name=name)


def _capacity(op: str, capacity: Any) -> int:
    found = static_int(op, capacity, "capacity")
    if found == 0 or found < -1:
        raise ValueError(f"{op}: capacity must be positive, or -1 for any, got {found}.")
    return _MOST if found == -1 else found


class FIFOQueue(QueueBase):
    """Gives elements in the order in which they came.

    >>> queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> queue.dequeue().numpy(), queue.dequeue_many(2).numpy()
    (np.int32(1), array([2, 3], dtype=int32))
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        content = QueueContent("FIFOQueue", name, _capacity("FIFOQueue", capacity))
        super().__init__(dtypes, shapes, names, content)


class PaddingFIFOQueue(QueueBase):
    """Gives elements in order, and stacks those of different sizes by filling them up with zeros.

    >>> queue = tf.queue.PaddingFIFOQueue(3, tf.int32, shapes=[[None]])
    >>> queue.enqueue([[1, 2]])
    >>> queue.enqueue([[3]])
    >>> queue.dequeue_many(2).numpy()
    array([[1, 2],
           [3, 0]], dtype=int32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        content = QueueContent("PaddingFIFOQueue", name, _capacity("PaddingFIFOQueue", capacity))
        super().__init__(dtypes, shapes, names, content)
        if any(shape.rank is None for shape in self.shapes):
            raise ValueError(f"PaddingFIFOQueue: shapes must have known ranks, got {self.shapes}.")

    def _check_shapes(self, op: str) -> None:
        """Sizes need not be known."""


class RandomShuffleQueue(QueueBase):
    """Gives elements in random order; some stay behind, so that they are mixed.

    >>> queue = tf.queue.RandomShuffleQueue(9, 0, tf.int32, shapes=[[]], seed=1)
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> sorted(queue.dequeue_many(3).numpy().tolist())
    [1, 2, 3]
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        op = "RandomShuffleQueue"
        most, fewest = (
            _capacity(op, capacity),
            static_int(op, min_after_dequeue, "min_after_dequeue"),
        )
        if not 0 <= fewest < most:
            raise ValueError(
                f"{op}: min_after_dequeue must be at least 0 and less than capacity, got {fewest}."
            )
        content = ShuffledContent(name, most, fewest, python_seed(op, seed))
        super().__init__(dtypes, shapes, names, content)


class PriorityQueue(QueueBase):
    """Gives the element with the lowest priority first: int64 numbers, the first component.

    >>> queue = tf.queue.PriorityQueue(9, tf.string, shapes=[[]])
    >>> queue.enqueue((3, "later"))
    >>> queue.enqueue((1, "now"))
    >>> [x.numpy() for x in queue.dequeue()]
    [np.int64(1), b'now']
    """

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] | None = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        kinds = [int64, *_listed(types)]
        rest: Any = shapes
        sizes = None if shapes is None else [TensorShape([]), *rest]
        found = names if names is None else ["priority", *_listed(names)]
        if sizes is None:
            sizes = [TensorShape([]), *[TensorShape(None)] * (len(kinds) - 1)]
        content = PrioritizedContent(name, _capacity("PriorityQueue", capacity))
        super().__init__(kinds, sizes, found, content)
