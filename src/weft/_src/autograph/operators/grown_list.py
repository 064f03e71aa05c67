"""Python lists that grow in a graph loop: kept on the growing stack, readable afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.operators import staging
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, float32
from weft._src.core.growing import GrowingList
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TypeSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.control import stack as stacks, stack_pieces
from weft._src.ops.reduce import sums


class GrownListSpec(TypeSpec):
    """The type of a grown list: dtype and shape of its elements, once there are any."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType | None, shape: TensorShape | None) -> None:
        self.dtype = dtype
        self.shape = shape

    def most_specific_compatible_type(self, other: TypeSpec) -> GrownListSpec:
        """The type that holds both."""
        if not isinstance(other, GrownListSpec):
            raise ValueError(f"No list holds both {self} and {other}.")
        if self.dtype is None or other.dtype is None:
            return other if self.dtype is None else self
        if self.dtype is not other.dtype:
            raise ValueError(f"A list cannot hold both {self.dtype.name} and {other.dtype.name}.")
        assert self.shape is not None
        return GrownListSpec(self.dtype, self.shape.most_specific_compatible_shape(other.shape))

    def _to_components(self, value: GrownList) -> list[Tensor]:
        return [value.handle]

    def _from_components(self, components: Sequence[Tensor]) -> Any:
        grown = GrownList(components[0], self.dtype, self.shape)
        if isinstance(components[0], EagerTensor):  # returned from a function: a list like others
            n: Any = grown.size()
            return [grown.read(i) for i in range(n)]
        return grown

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GrownListSpec)
            and self.dtype is other.dtype
            and self.shape == other.shape
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return f"GrownListSpec({self.dtype!r}, {self.shape!r})"


class GrownList(GrowingList):
    """A list of tensors of one dtype whose length is only known when the graph runs."""

    def __init__(
        self,
        handle: Tensor,
        dtype: DType | None,
        shape: TensorShape | None,
        *,
        is_mixed: bool = False,
    ) -> None:
        self.handle = handle
        self.dtype = dtype  # None as long as nothing was appended
        self.element_shape = shape
        self.is_mixed = is_mixed  # whether elements of several static shapes were appended

    @property
    def _type_spec(self) -> GrownListSpec:
        return GrownListSpec(self.dtype, self.element_shape)

    def appended(self, item: Any) -> GrownList:
        """The list with one more element."""
        tensor = convert_to_tensor(item, dtype_hint=self.dtype)
        if self.dtype is not None and tensor.dtype is not self.dtype:
            raise DTypeError(
                f"A list grown in a graph loop holds {self.dtype.name}, got {tensor.dtype.name}."
            )
        shape, known = TensorShape(tensor.shape), self.element_shape
        is_mixed = self.is_mixed or (known is not None and known != shape)
        if known is not None:
            shape = known.most_specific_compatible_shape(shape)
        handle = stacks.push_op(self.handle, tensor)
        return GrownList(handle, tensor.dtype, shape, is_mixed=is_mixed)

    def widened(self, other: GrownList) -> GrownList:
        """The list with a type that also holds the elements of another one."""
        spec = self._type_spec.most_specific_compatible_type(other._type_spec)
        return GrownList(self.handle, spec.dtype, spec.shape)

    def popped(self) -> tuple[GrownList, Tensor]:
        """The list without its last element, and that element."""
        handle, item = stacks.pop_op(self.handle, **self._element())
        return GrownList(handle, self.dtype, self.element_shape), item

    def _element(self) -> dict[str, Any]:
        """The type of the elements, as the ops want it."""
        if self.dtype is None or self.element_shape is None:
            raise ValueError("A list is read before anything was appended to it.")
        return {"dtype": self.dtype, "shape": self.element_shape.dims_or_none}

    def size(self) -> Tensor:
        """The number of elements."""
        return stacks.length_op(self.handle)

    def read(self, i: Any) -> Tensor:
        """The element at a place."""
        return stacks.get_item_op(self.handle, convert_to_tensor(i), **self._element())

    def stack(self) -> Tensor:
        """All elements in one tensor."""
        return stacks.to_tensor_op(self.handle, **self._element())

    def stacked(self, axis: int) -> Tensor:
        """All elements joined along a new axis: `tf.stack`."""
        rows = self.stack()
        if axis == 0:
            return rows
        rank = rows.spec.rank
        if rank is None:
            raise ShapeError(
                f"stack: axis {axis} of a list that grew in a graph loop needs elements of known "
                "rank. Tell it with tf.ensure_shape before they are appended."
            )
        at = rules.normalize_axis("stack", axis, rank)
        return shapes.transpose(rows, [*range(1, at + 1), 0, *range(at + 1, rank)])

    def joined(self, axis: int) -> Tensor:
        """All elements joined along an axis they have: `tf.concat`."""
        element = self._element()
        dims = element["shape"]
        if dims == ():
            raise ShapeError("concat: scalars cannot be joined along an axis. Use tf.stack.")
        at = axis if dims is None else rules.normalize_axis("concat", axis, len(dims))
        if dims is None or not isinstance(dims[at], int):  # they may differ in it
            return stack_pieces.concat_op(self.handle, self.handle, **element, axis=at)
        # The number of the element goes next to the axis, and becomes one with it.
        sizes = shapes.shape(self.stack())
        total = sizes[0] * sizes[at + 1]
        whole = joining.concat([sizes[1 : at + 1], [total], sizes[at + 2 :]], 0)
        return shapes.reshape(self.stacked(at), whole)

    def summed(self) -> Tensor:
        """The sum of all elements: `tf.add_n`."""
        return sums.reduce_sum(self.stack(), axis=0)

    def copy(self) -> GrownList:
        """The list itself: changes make another one."""
        return self

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            handle = stacks.from_tensor_op(self.stack()[key])
            return GrownList(handle, self.dtype, self.element_shape)
        if isinstance(key, int) and key < 0:
            return self.read(self.size() + key)
        return self.read(key)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        return self.stack()

    def __add__(self, items: Any) -> GrownList:
        if not isinstance(items, list):
            raise self.refusal("`+`")
        return list_extend(self, items)

    def __radd__(self, items: Any) -> GrownList:
        raise self.refusal("`+`")

    def __mul__(self, times: Any) -> GrownList:
        raise self.refusal("`*`")

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            raise self.refusal(f"list.{name}")
        raise AttributeError(f"A list that grew in a graph loop has no attribute {name!r}.")

    def __repr__(self) -> str:
        return f"<a list of {self.dtype and self.dtype.name} tensors that grew in a graph loop>"


_METHODS = frozenset(name for name in dir(list) if not name.startswith("_"))


def list_append(target: Any, item: Any) -> Any:
    """`target.append(item)`, as an assignment."""
    if isinstance(target, GrownList):
        return target.appended(item)
    if staging.current() is not None and type(target) is list:
        return [*target, item]  # both branches are traced, so the list itself must not change
    target.append(item)
    return target


def list_extend(target: Any, items: Any) -> Any:
    """`target.extend(items)`, as an assignment."""
    if isinstance(target, GrownList):
        for item in items:
            target = target.appended(item)
        return target
    return list_change(target, "extend", items)


def list_pop(target: Any, *args: Any) -> tuple[Any, Any]:
    """`target.pop()`, as an assignment of the rest and of what was taken."""
    if isinstance(target, GrownList):
        if args:
            raise TypeError("A list that changes in a graph can only be shortened at its end.")
        return target.popped()
    if staging.current() is not None and type(target) is list:
        target = list(target)
    return target, target.pop(*args)


def list_change(target: Any, method: str, *args: Any) -> Any:
    """Another method that changes a list, as an assignment."""
    if isinstance(target, GrownList):
        raise TypeError(
            f"A list that changes in a graph has append, extend and pop, but not {method}. Use "
            "tensors or a TensorArray."
        )
    if staging.current() is not None and type(target) is list:
        target = list(target)
    getattr(target, method)(*args)
    return target


def as_grown(value: Any) -> Any:
    """A list that a staged block may append to; anything but a list of tensors stays what it is."""
    if type(value) is not list or state.graph is None:
        return value
    try:
        tensors = [convert_to_tensor(item) for item in value]
    except (TypeError, ValueError):
        return value
    if len({t.dtype for t in tensors}) > 1:
        return value
    empty = stacks.reserve_op(convert_to_tensor(0), dtype=float32)
    grown = GrownList(empty, None, None)
    for tensor in tensors:
        grown = grown.appended(tensor)
    return grown


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function on nests that refuses grown lists: they are nests without a known length."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for leaf in nest.flatten((args, kwargs)):
            if isinstance(leaf, GrownList):
                raise leaf.refusal(f"nest.{function.__name__}")
        return function(*args, **kwargs)

    return checked
