"""The growing stack: one contiguous buffer that doubles, and a length.

It stores TensorArrays, lists grown in loops, and what the gradient of a loop saves. A stack is a
value: pushing or writing gives a new stack and leaves the old one as it was. Both share the buffer
as long as the new element lands where nobody has written yet. The first time an element is replaced
the buffer is copied; the copy belongs to the stack that was made last, which replaces further
elements in place, and an older one that is read again after all gets a copy of what it was.

Elements of one shape lie in one array. The first element of another shape (what a loop saves of a
value that grows) makes the stack a ragged one: from then on the buffer holds each element alone.

    a = Stack.reserve(float32, 0)     a: []          buffer [. . . .]
    b = a.push(1.0)                   b: [1]         buffer [1 . . .]     a is still empty
    c = b.push(2.0)                   c: [1, 2]      buffer [1 2 . .]     the same buffer
    d = b.push(3.0)                   d: [1, 3]      a buffer of its own: that place is taken
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.resources import Variant
from weft._src.errors import InvalidArgumentError, OutOfRangeError, ShapeError

Array = np.ndarray[Any, Any]
Written = int | range | Array

_FIRST_CAPACITY = 8
_claim = threading.RLock()


class _Row:
    """An element of a ragged stack. NumPy would take a bare array apart when it is assigned."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    @classmethod
    def boxed(cls, value: Array) -> Array:
        """A copy of the value, as the one object in an array."""
        box = np.empty((), object)
        box[()] = cls(value.copy())
        return box


class _Buffer:
    """Storage shared by the versions of a stack, and which elements have been written in it."""

    __slots__ = ("data", "newer", "owned", "ragged", "taken")

    def __init__(
        self, data: Array, taken: Array, owned: bool = False, ragged: bool = False
    ) -> None:
        self.data = data
        self.taken = taken
        # Whether `data` holds rows (`_Row`) of different shapes.
        self.ragged = ragged
        # Whether elements may be replaced in place: nobody has been given a view of them.
        self.owned = owned
        # Who took the storage over, the element that it replaced, and what that was.
        self.newer: tuple[_Buffer, int, Array] | None = None

    def replaced(self, i: int, value: Array) -> _Buffer:
        """The same storage with another element i; this one remembers what it had."""
        new = _Buffer(self.data, self.taken, owned=True, ragged=self.ragged)
        self.newer = (new, i, self.data[i, ...].copy())
        self.data[i, ...] = value
        return new

    def settle(self) -> None:
        """Storage of its own again, after others have replaced elements."""
        with _claim:
            replaced = []
            at: _Buffer = self
            while at.newer is not None:
                at, i, old = at.newer
                replaced.append((i, old))
            data, taken = at.data.copy(), at.taken.copy()
            for i, old in reversed(replaced):
                data[i, ...] = old
            self.data, self.taken, self.newer = data, taken, None


class Stack(Variant):
    """Elements of one dtype, of the same shape unless the stack is ragged.

    Which elements this version has is a number as long as they are a prefix (the usual case: one
    push or write after the other), a range while they are neighbours, else a mask.
    """

    __slots__ = ("_buffer", "_written", "element_dtype", "endless", "length")

    def __init__(
        self,
        element_dtype: np.dtype[Any],
        length: int,
        buffer: _Buffer | None,
        written: Written,
        endless: bool = False,
    ) -> None:
        # Below its elements lie zeros without end: the gradient of a stack nobody asked for.
        self.endless = endless
        self.element_dtype = element_dtype
        self.length = length
        self._buffer = buffer
        self._written = written

    @classmethod
    def reserve(cls, dtype: np.dtype[Any], length: int) -> Stack:
        """A stack of `length` elements that are not written yet."""
        if length < 0:
            raise InvalidArgumentError(None, None, f"TensorArray: size must be >= 0, got {length}.")
        return cls(dtype, length, None, 0)

    @classmethod
    def zeros(cls) -> Stack:
        """Zeros without end."""
        return cls(np.dtype(np.float32), 0, None, 0, endless=True)

    @classmethod
    def from_array(cls, array: Array) -> Stack:
        """A stack of the rows of an array."""
        n = array.shape[0]
        return cls(array.dtype, n, _Buffer(array, np.ones(n, np.bool_)), n)

    # --- reading -------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether no element was ever written."""
        return self._buffer is None

    @property
    def is_ragged(self) -> bool:
        """Whether elements may have different shapes."""
        return self._buffer is not None and self._buffer.ragged

    @property
    def element_shape(self) -> tuple[int, ...] | None:
        """The shape of all elements, None as long as none was written, or if they differ."""
        if self._buffer is None or self._buffer.ragged:
            return None
        return self._buffer.data.shape[1:]

    def _has(self, i: int) -> bool:
        written = self._written
        if isinstance(written, int):
            return i < written
        return i in written if isinstance(written, range) else bool(written[i])

    def _mask(self, n: int) -> Array:
        """Which of the first n elements are written, n being at most the length."""
        written = self._written
        if isinstance(written, int):
            return np.arange(n) < written
        if isinstance(written, range):
            places = np.arange(n)
            return (places >= written.start) & (places < written.stop)
        return written[:n]

    def _row(self, buffer: _Buffer, i: int) -> Array:
        """Element i, which is written: a view unless it may be replaced in place."""
        if buffer.newer is not None:
            buffer.settle()
        if buffer.ragged:
            row: Array = buffer.data[i].array
            return row
        if not buffer.owned:
            return buffer.data[i, ...]
        with _claim:
            if buffer.newer is None:
                return buffer.data[i, ...].copy()
        return self._row(buffer, i)

    def read(
        self, i: int, shape: tuple[int, ...] | None = None, dtype: np.dtype[Any] | None = None
    ) -> Array:
        """Element i; zeros of the given shape (and dtype) if it was never written."""
        if not (self.endless and i >= self.length):
            self._check(i)
        if self._buffer is not None and self.has_written(i):
            return self._row(self._buffer, i)
        shape = self.element_shape if shape is None else shape
        if shape is None:
            raise InvalidArgumentError(
                None, None, f"TensorArray: element {i} was never written, and its shape is unknown."
            )
        return np.zeros(shape, self.element_dtype if dtype is None else dtype)

    def to_array(self, shape: tuple[int, ...] | None = None) -> Array:
        """All elements in one array; those never written are zeros."""
        if self.is_ragged:
            return self._with_one_shape().to_array(shape)
        if self._buffer is not None:
            if self._buffer.newer is not None:
                self._buffer.settle()
            shape = self._buffer.data.shape[1:]
            if isinstance(self._written, int) and self._written == self.length:
                # No copy: from now on nothing is replaced in this buffer.
                self._buffer.owned = False
                return self._buffer.data[: self.length]
        if shape is None:
            raise InvalidArgumentError(
                None,
                None,
                "A TensorArray or list cannot be stacked: no element was written, and the shape "
                "they would have is unknown.",
            )
        out = np.zeros((self.length, *shape), self.element_dtype)
        if self._buffer is not None:
            n = min(self.length, len(self._buffer.data))
            mine = self._mask(n)
            out[:n][mine] = self._buffer.data[:n][mine]
        return out

    # --- writing -------------------------------------------------------------------------------

    def write(self, i: int, value: Array, *, grow: bool = False) -> Stack:
        """A stack with element i replaced."""
        if (grow or self.endless) and i >= self.length:
            return self.resized(i + 1).write(i, value)
        self._check(i)
        value = np.asarray(value)
        if self.is_ragged:
            value = _Row.boxed(value)
        elif self._buffer is not None and value.shape != self._buffer.data.shape[1:]:
            return self._as_ragged().write(i, value)
        # An empty stack does not insist on its dtype: lists learn theirs with the first element.
        dtype = value.dtype if self._buffer is None else self.element_dtype
        with _claim:
            buffer = self._buffer
            if buffer is not None and buffer.newer is not None:
                buffer.settle()
            if buffer is not None and buffer.owned and self._has(i):
                buffer = buffer.replaced(i, value)
            else:
                buffer = self._buffer_with_room(value.shape, dtype, i)
                buffer.data[i, ...] = value  # the ellipsis unpacks objects, too
                buffer.taken[i] = True
        return Stack(dtype, self.length, buffer, self._written_with(i), self.endless)

    def _as_ragged(self) -> Stack:
        """The same elements, each alone."""
        mask = self._mask(self.length)
        data = np.zeros(self.length, object)
        for i in np.flatnonzero(mask).tolist():
            data[i, ...] = _Row.boxed(self.read(i))
        buffer = _Buffer(data, mask.copy(), ragged=True)
        return Stack(self.element_dtype, self.length, buffer, self._written, self.endless)

    def _with_one_shape(self) -> Stack:
        """The same elements in one array; an error if their shapes differ."""
        out = Stack.reserve(self.element_dtype, self.length)
        for i in self.written():
            out = out.write(i, self.read(i))
            if out.is_ragged:
                first = self.read(self.written()[0]).shape
                raise ShapeError(
                    f"TensorArray: elements of different shapes cannot be stacked: element "
                    f"{self.written()[0]} has shape {first}, element {i} {self.read(i).shape}. "
                    "Read them one by one, or join them with concat()."
                )
        return out

    def _written_with(self, i: int) -> Written:
        written = self._written
        if isinstance(written, int):
            if i <= written:
                return max(written, i + 1)
            if not written:
                return range(i, i + 1)
            mask = self._mask(self.length)
        elif isinstance(written, range):
            if written.start - 1 <= i <= written.stop:
                start, stop = min(written.start, i), max(written.stop, i + 1)
                return range(start, stop) if start else stop
            mask = self._mask(self.length)
        elif written[i]:
            return written
        else:
            mask = written.copy()
        mask[i] = True
        return self.length if mask.all() else mask

    def push(self, value: Array) -> Stack:
        """A stack with one more element at the end."""
        i, buffer = self.length, self._buffer
        # The usual case written out, 1.0 us instead of 3.1: loops save values in this way.
        if (
            buffer is not None
            and type(self._written) is int
            and self._written == i
            and i < len(buffer.data)
            and buffer.data.dtype.kind != "O"
            and value.shape == buffer.data.shape[1:]
        ):
            with _claim:
                if not buffer.taken[i] and buffer.newer is None:
                    buffer.data[i] = value
                    buffer.taken[i] = True
                    return Stack(self.element_dtype, i + 1, buffer, i + 1, self.endless)
        return self.resized(self.length + 1).write(self.length, value)

    def pop(
        self, shape: tuple[int, ...] | None = None, dtype: np.dtype[Any] | None = None
    ) -> tuple[Stack, Array]:
        """A stack without its last element, and that element (zeros if it was never written)."""
        n, buffer = self.length, self._buffer
        if n and buffer is not None and isinstance(self._written, int) and self._written == n:
            rest = Stack(self.element_dtype, n - 1, buffer, n - 1, self.endless)
            if not (buffer.owned or buffer.ragged) and buffer.newer is None:  # the usual case
                return rest, buffer.data[n - 1, ...]
            return rest, self._row(buffer, n - 1)
        if not self.length:
            if self.endless and shape is not None:
                return self, np.zeros(shape, self.element_dtype if dtype is None else dtype)
            raise OutOfRangeError(None, None, "Cannot pop from an empty stack.")
        return self.resized(self.length - 1), self.read(self.length - 1, shape, dtype)

    def written(self) -> Sequence[int]:
        """The numbers of the elements that were written."""
        if isinstance(self._written, int):
            return range(self._written)
        if isinstance(self._written, range):
            return self._written
        return np.flatnonzero(self._written).tolist()

    def has_written(self, i: int) -> bool:
        """Whether element i was ever written."""
        return self._buffer is not None and 0 <= i < self.length and self._has(i)

    def resized(self, length: int) -> Stack:
        """A stack with more or fewer elements at its end; new ones are not written yet."""
        written = self._written
        if isinstance(written, int):
            written = min(written, length)
        elif isinstance(written, range):
            written = range(written.start, min(written.stop, length)) or 0
        else:
            kept = written[:length]
            written = np.concatenate([kept, np.zeros(length - len(kept), np.bool_)])
        return Stack(self.element_dtype, length, self._buffer, written, self.endless)

    def _buffer_with_room(
        self, element_shape: tuple[int, ...], dtype: np.dtype[Any], i: int
    ) -> _Buffer:
        old = self._buffer
        if old is not None and i < len(old.data) and not old.taken[i]:
            return old
        replaces = old is not None and self._has(i)
        capacity = max(self.length, _FIRST_CAPACITY, 2 * i)
        ragged = old is not None and old.ragged
        data = np.zeros((capacity, *element_shape), object if ragged else dtype)
        taken = np.zeros(capacity, np.bool_)
        if old is not None:
            n = min(len(old.data), self.length)
            if isinstance(self._written, int):
                n = min(n, self._written)
                data[:n] = old.data[:n]
                taken[:n] = True
            else:
                mine = self._mask(n)
                data[:n][mine] = old.data[:n][mine]
                taken[:n] = mine
        return _Buffer(data, taken, owned=replaces, ragged=ragged)

    def _check(self, i: int) -> None:
        if not 0 <= i < self.length:
            raise OutOfRangeError(
                None,
                None,
                f"TensorArray: index {i} is out of range; it has {self.length} elements. Make it "
                "larger, or pass dynamic_size=True.",
            )

    def __repr__(self) -> str:
        return f"<Stack of {self.length} x {self.element_dtype}{self.element_shape or ''}>"
