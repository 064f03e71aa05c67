"""`tf.Variable`: a tensor whose value can be changed.

The value lives in a `VariableCell`; ops reach it through the handle, a resource tensor, which
graphs capture by reference. Reading gives a snapshot that later assignments do not change.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.cells import VariableCell
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import HOST, init_scope, state
from weft._src.core.conversions import how_to_convert
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.display import html_of
from weft._src.core.dlpack import DEVICE
from weft._src.core.dtypes import DType
from weft._src.core.lazily import cached_property
from weft._src.core.reference import Reference
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Array, EagerTensor, SymbolicTensor, Tensor
from weft._src.errors import InaccessibleTensorError, UnsupportedError
from weft._src.execution.devices import place_of
from weft._src.ops.indexing import masks, slicing
from weft._src.ops.operators import install_operators
from weft._src.ops.registry import Op
from weft._src.ops.state import gathering, slices, variables as ops
from weft._src.state.creators import InterceptedClass, VariableAggregation, VariableSynchronization
from weft._src.state.initial_names import InitialNames
from weft._src.state.scattering import PartialAccess, VariableSlice
from weft._src.state.tracking import Trackable

_numbers = itertools.count(1)  # of the variables that were asked for a unique name


class Variable(InitialNames, PartialAccess, Trackable, metaclass=InterceptedClass):
    """A tensor that can be changed by assignment and is shared by reference.

    >>> v = tf.Variable([1.0, 2.0])
    >>> v.assign_add([0.5, 0.5])
    <tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """

    __array_priority__ = 100
    is_tensor_like = True
    asks_creators = True  # but subclasses do not
    _meant: weakref.ref[Variable] | None = None
    _synchronization = VariableSynchronization.AUTO
    _aggregation = VariableAggregation.NONE

    if TYPE_CHECKING:

        def __add__(self, other: TensorLike) -> Tensor: ...
        def __radd__(self, other: TensorLike) -> Tensor: ...
        def __sub__(self, other: TensorLike) -> Tensor: ...
        def __rsub__(self, other: TensorLike) -> Tensor: ...
        def __mul__(self, other: TensorLike) -> Tensor: ...
        def __rmul__(self, other: TensorLike) -> Tensor: ...
        def __truediv__(self, other: TensorLike) -> Tensor: ...
        def __rtruediv__(self, other: TensorLike) -> Tensor: ...
        def __floordiv__(self, other: TensorLike) -> Tensor: ...
        def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
        def __mod__(self, other: TensorLike) -> Tensor: ...
        def __rmod__(self, other: TensorLike) -> Tensor: ...
        def __pow__(self, other: TensorLike) -> Tensor: ...
        def __rpow__(self, other: TensorLike) -> Tensor: ...
        def __matmul__(self, other: TensorLike) -> Tensor: ...
        def __rmatmul__(self, other: TensorLike) -> Tensor: ...
        def __and__(self, other: TensorLike) -> Tensor: ...
        def __rand__(self, other: TensorLike) -> Tensor: ...
        def __or__(self, other: TensorLike) -> Tensor: ...
        def __ror__(self, other: TensorLike) -> Tensor: ...
        def __xor__(self, other: TensorLike) -> Tensor: ...
        def __rxor__(self, other: TensorLike) -> Tensor: ...
        def __lt__(self, other: TensorLike) -> Tensor: ...
        def __le__(self, other: TensorLike) -> Tensor: ...
        def __gt__(self, other: TensorLike) -> Tensor: ...
        def __ge__(self, other: TensorLike) -> Tensor: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __invert__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: str | None = None,
        name: str | None = None,
        variable_def: None = None,
        dtype: DTypeLike | None = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: ShapeLike | None = None,
        experimental_enable_variable_lifting: bool | None = None,
    ) -> None:
        if variable_def is not None:
            raise ValueError("tf.Variable cannot be made from variable_def; pass an initial value.")
        if initial_value is None:
            raise ValueError("tf.Variable needs an initial value, or a function that returns one.")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"tf.Variable: constraint must be callable, got {constraint!r}.")
        self._synchronization = _mode(VariableSynchronization, synchronization)
        self._aggregation = _mode(VariableAggregation, aggregation)
        creation = state.variable_creation
        if creation is not None:
            creation.allow(self)
        value = _initial_value(initial_value, dtype)
        if isinstance(value, CompositeTensor):
            raise value.refusal("tf.Variable")
        self._dtype = value.dtype
        self._shape = value.shape if shape is None and validate_shape else TensorShape(shape)
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(
                f"The initial value has shape {value.shape}; it does not fit shape={self._shape}."
            )
        self._name = state.name_scope + (name or "Variable")
        if trainable is None:
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        self._trainable = bool(trainable)
        self._constraint = constraint
        if isinstance(value, EagerTensor):
            self._set_cell(value)
        else:
            # The initial value is only known when the function runs: see function.creation.
            self._set_cell(None)
            creation.initialise_later(self, value)

    @classmethod
    def from_handle(
        cls, handle: SymbolicTensor, dtype: DType, shape: TensorShape, *, trainable: bool, name: str
    ) -> Variable:
        """A variable whose storage is whatever the handle refers to: an argument being traced.

        Args:
          handle: the tensor of a graph that stands for the storage.
          dtype: the dtype of the variable.
          shape: its static shape.
          trainable: whether it is one of the `trainable_variables`.
          name: its name.

        Returns:
          A `tf.Variable`; it makes no storage of its own.
        """
        made = object.__new__(cls)
        made._dtype, made._shape, made._trainable = dtype, shape, trainable
        made._name, made._constraint, made._handle = name, None, handle  # type: ignore[assignment]
        handle.owner = weakref.ref(made)  # so that tapes know it for a variable
        return made

    @property
    def meant(self) -> Variable:
        """The variable that an argument is in the call being traced; of others just this one."""
        variable = None if self._meant is None else self._meant()
        return self if variable is None else variable

    @meant.setter
    def meant(self, variable: Variable) -> None:
        self._meant = weakref.ref(variable)

    def _set_cell(self, value: EagerTensor | None) -> None:
        cell = VariableCell(None if value is None else value._value, self._name)
        cell.variable = self
        if state.device is not None:
            home = place_of(state.device).name
            cell.device = None if home == HOST else home
        self._handle = EagerTensor(cell)

    # --- what it is ----------------------------------------------------------------------------

    @property
    def handle(self) -> EagerTensor:
        """The resource tensor that stands for the variable in ops."""
        return self._handle

    @cached_property
    def _unique_id(self) -> str:
        """A name that no other variable of this process has: Keras keeps what belongs to it."""
        return f"{self._name}_{next(_numbers)}"

    @property
    def _shared_name(self) -> str:
        """The name without the number of the output."""
        return self._name

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {"VARIABLE_VALUE": self}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Takes the value that a checkpoint kept."""
        self.assign(restored_tensors["VARIABLE_VALUE"])

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; unknown sizes may change by assignment."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape.

        Returns:
          A `tf.TensorShape`; unknown sizes are those that values may differ in.
        """
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def name(self) -> str:
        """The name, with the `:0` of its only output."""
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        """Whether tapes watch it without being asked."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function that projects the value after an optimizer's update."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """When copies on several devices are brought together."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How copies on several devices are brought together."""
        return self._aggregation

    @property
    def initial_value(self) -> Tensor:
        """Not kept: the variable holds its value, whatever it was made with."""
        raise RuntimeError(
            f"The initial value of the variable {self._name!r} is not kept. Read the variable "
            "before it is changed, or keep the tensor it is made from."
        )

    @property
    def device(self) -> str:
        """The full name of the device where the value lives."""
        cell = getattr(self._handle, "_value", None)  # an argument that is traced has none
        return str(getattr(cell, "device", None) or self._handle.device)

    def ref(self) -> Reference:
        """A hashable stand-in for this variable, for dictionaries and sets.

        Returns:
          A reference that equals those of the same variable only; `deref()` gives the variable
          back.
        """
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError(
            "A variable is not hashable because == compares its elements. "
            "Use variable.ref() as the dictionary key or set member."
        )

    # --- reading -------------------------------------------------------------------------------

    def value(self) -> Tensor:
        """The value now, as a tensor.

        Returns:
          A tensor of its dtype; later changes do not show in it.
        """
        return ops.read_op(self._handle, dtype=self._dtype, shape=self._shape.dims_or_none)

    def read_value(self) -> Tensor:
        """The value now, as a tensor.

        Returns:
          A tensor of its dtype; later changes do not show in it.
        """
        return self.value()

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value yet, as a tensor.

        Returns:
          A bool scalar.
        """
        return gathering.is_initialized_op(self._handle, name=name)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        if dtype is not None and dtype is not self._dtype:
            raise ValueError(
                f"A tensor of dtype {dtype.name} is wanted, got the variable {self._name!r} of "
                f"dtype {self._dtype.name}. {how_to_convert('v', self._dtype, dtype)}"
            )
        return self.value()

    def _read_now(self) -> EagerTensor:
        cell: VariableCell = self._handle._value
        for tape in state.tapes:
            tape.left(self._handle)
        return EagerTensor(cell.read())

    def numpy(self) -> Any:
        """The value now, as a NumPy array or scalar.

        Returns:
          A copy of the value, a scalar if it has no axes.

        Raises:
          NotImplementedError: if it is called while a function is traced.
        """
        if state.graph is not None:
            raise NotImplementedError("numpy() has no meaning while tracing; use tf.print.")
        return self._read_now().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self._read_now().__array__(dtype, copy)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """A capsule with a copy of the value now; with `copy=False` that value, read-only."""
        if state.graph is not None:
            raise NotImplementedError("A variable cannot be exported (DLPack) while tracing.")
        return self._read_now().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return DEVICE

    def __len__(self) -> int:
        return len(self.value())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __index__(self) -> int:
        return self.value().__index__()

    def __format__(self, format_spec: str) -> str:
        return format(self.value(), format_spec) if format_spec else str(self)

    # --- assigning -----------------------------------------------------------------------------

    @overload
    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Self: ...
    @overload
    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Self | None: ...
    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self | None:
        """Sets the value; returns the variable (None with `read_value=False`).

        Args:
          value: a tensor of the variable's dtype and shape, or what can become one.
          use_locking: accepted for compatibility; changes are always atomic.
          read_value: whether the variable is returned.
          name: the name of the node in a graph.

        Returns:
          The variable itself, or None.

        Raises:
          ShapeError: if the shape does not fit that of the variable.
          ValueError: if the value is a tensor of another dtype.
          DTypeError: if it is a value of another kind.

        >>> v = tf.Variable(1.0)
        >>> v.assign(3.0).numpy()
        np.float32(3.0)
        """
        return self._change(ops.assign_op, value, name, read_value)

    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Self: ...
    @overload
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Self | None: ...
    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self | None:
        """Adds to the value, in one atomic step.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one; it is not
            broadcast.
          use_locking: accepted for compatibility; changes are always atomic.
          read_value: whether the variable is returned.
          name: the name of the node in a graph.

        Returns:
          The variable itself, or None.

        Raises:
          ShapeError: if the shape does not fit that of the variable.
          ValueError: if `delta` is a tensor of another dtype.
          DTypeError: if it is a value of another kind, or the variable does not hold numbers.

        >>> v = tf.Variable(1.0)
        >>> v.assign_add(2.0).numpy()
        np.float32(3.0)
        """
        return self._change(ops.assign_add_op, delta, name, read_value)

    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: Literal[True] = True,
    ) -> Self: ...
    @overload
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        *,
        read_value: bool,
    ) -> Self | None: ...
    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self | None:
        """Subtracts from the value, in one atomic step.

        Args:
          delta: a tensor of the variable's dtype and shape, or what can become one; it is not
            broadcast.
          use_locking: accepted for compatibility; changes are always atomic.
          read_value: whether the variable is returned.
          name: the name of the node in a graph.

        Returns:
          The variable itself, or None.

        Raises:
          ShapeError: if the shape does not fit that of the variable.
          ValueError: if `delta` is a tensor of another dtype.
          DTypeError: if it is a value of another kind, or the variable does not hold numbers.

        >>> v = tf.Variable(3.0)
        >>> v.assign_sub(2.0).numpy()
        np.float32(1.0)
        """
        return self._change(ops.assign_sub_op, delta, name, read_value)

    def _change(self, op: Op, value: TensorLike, name: str | None, read_value: bool) -> Self | None:
        tensor = adopt(value, self._dtype)
        if tensor.dtype is not self._dtype:
            tensor = convert_to_tensor(value, dtype=self._dtype)  # names both dtypes
        op(self._handle, tensor, shape=self._shape.dims_or_none, name=name)
        return self if read_value else None

    # --- copying -------------------------------------------------------------------------------

    def __copy__(self) -> Variable:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        clone = object.__new__(type(self))
        memo[id(self)] = clone
        clone.__setstate__(self.__getstate__())
        return clone

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k not in ("_handle", "_unique_id")}
        return {**kept, "value": self._read_now()._value}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        value = saved.pop("value")
        self.__dict__.update(saved)
        self._set_cell(EagerTensor(np.asarray(value)))

    _repr_html_ = html_of

    def __repr__(self) -> str:
        what = f"<tf.Variable {self.name!r} shape={self._shape} dtype={self._dtype.name}"
        if state.graph is not None:
            return f"{what}>"
        text = repr(self._read_now()).partition("numpy=")[2]
        return f"{what}, numpy={text}"


def _mode(kind: Any, value: Any) -> Any:
    if value is None:
        return kind(0)
    if not isinstance(value, kind):
        raise ValueError(f"tf.Variable: expected a tf.{kind.__name__}, got {value!r}.")
    return value


def _get_item(variable: Variable, key: Any) -> Tensor:
    """A slice of the value, which remembers its place so that it can be assigned to."""
    index, positions = slicing.parse_index(key)
    if index is None:
        return masks.boolean_mask(variable.value(), key[0] if isinstance(key, tuple) else key)
    if state.graph is None:
        out = slices.read_slice_op(
            variable._handle,
            *positions,
            dtype=variable._dtype,
            shape=variable._shape.dims_or_none,
            index=index,
        )
    else:
        value = variable.value()
        out = slicing.strided_slice_op(value, *positions, index=index, name="strided_slice")
    out.place = VariableSlice(variable, index, positions)
    return out


def _initial_value(value: Any, dtype: Any) -> Tensor:
    """The initial value: at once if that is possible, else as a tensor of the traced function."""
    if callable(value):
        try:
            with init_scope():
                return convert_to_tensor(value(), dtype=dtype)
        except InaccessibleTensorError:
            value = value()  # it depends on tensors of the function that is being traced
    if isinstance(value, SymbolicTensor):
        if state.graph is None:
            raise value.leaked("tf.Variable: initial_value")
        if state.variable_creation is None:
            raise UnsupportedError(
                f"The initial value of a variable is {value!r}, a tensor of a graph. Create the "
                "variable in a tf.function, or outside of the graph."
            )
        return convert_to_tensor(value, dtype=dtype)
    with init_scope():
        return convert_to_tensor(value, dtype=dtype)


install_operators(Variable)
Variable.__getitem__ = _get_item  # type: ignore[method-assign]
