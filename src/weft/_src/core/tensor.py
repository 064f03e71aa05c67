"""The one public `Tensor` class and its two forms: a value now, or a value of a graph.

`EagerTensor` wraps an ndarray that is never changed; `SymbolicTensor` is an output of a graph
node. The Python operators come from weft.ops.operators, which installs them on `Tensor`.
Hot path: `EagerTensor` is created once per eager op and does nothing else in its constructor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from weft._src.core import dtypes, numpy_names, specs
from weft._src.core.context import HOST, GraphBuilder, state
from weft._src.core.display import html_of
from weft._src.core.dlpack import DEVICE, exported
from weft._src.core.dtypes import DType
from weft._src.core.reference import Reference
from weft._src.core.shapes import Dim, TensorShape, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError

if TYPE_CHECKING:
    from weft._src.core.aliases import ShapeLike, TensorLike

Array = np.ndarray[Any, Any]
_UNUSUAL = dtypes.UNUSUAL


class Tensor:
    """A multi-dimensional array of one dtype: a value, or a place in a graph.

    >>> x = tf.constant([[1.0, 2.0, 3.0]])
    >>> x + 1
    <tf.Tensor: shape=(1, 3), dtype=float32, numpy=array([[2., 3., 4.]], dtype=float32)>
    """

    __slots__ = ()

    is_tensor_like = True
    # NumPy arrays on the left of an operator give way to tensors because of this.
    __array_priority__ = 100

    # The operators that tensors have, for classes that act as tensors.
    OVERLOADABLE_OPERATORS: ClassVar[frozenset[str]] = frozenset(
        [f"__{name}__" for name in (
            *("abs", "neg", "invert", "getitem", "lt", "le", "gt", "ge", "eq", "ne"),
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"),
            *("xor", "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul"),
            *("rand", "ror", "rxor"),
        )]
    )  # fmt: skip

    if TYPE_CHECKING:
        spec: TensorSpec

        def numpy(self) -> Any:
            """The value as a NumPy array or scalar."""

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
        # Elements are compared; what cannot become a tensor is just not equal, as in Python.
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __invert__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

        # Of tensors of a graph, these raise an error that says what to use instead.
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __index__(self) -> int: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Tensor]: ...

        @property
        def device(self) -> str:
            """Where the value lives."""

        @property
        def name(self) -> str:
            """The name of a tensor of a graph."""

        @property
        def op(self) -> Any:
            """The operation that a tensor of a graph comes from."""

        @property
        def graph(self) -> Any:
            """The graph that a tensor belongs to."""

        def set_shape(self, shape: ShapeLike) -> None:
            """Adds what is known about the shape; ValueError if it contradicts."""

    @property
    def shape(self) -> TensorShape:
        """The static shape; unknown sizes are None."""
        return TensorShape.of(self.spec.dims)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        rank = self.spec.rank
        if rank is None:
            raise ValueError("The rank of this tensor is not known while tracing.")
        return rank

    def get_shape(self) -> TensorShape:
        """The static shape, like the attribute `shape`.

        Returns:
          A `tf.TensorShape`.

        >>> tf.zeros([2, 3]).get_shape()
        TensorShape([2, 3])
        """
        return self.shape

    def ref(self) -> Reference:
        """A hashable stand-in for this tensor, for dictionaries and sets.

        Returns:
          A reference that equals those of the same tensor only; `deref()` gives the tensor back.

        >>> x = tf.constant(1.0)
        >>> x.ref() == x.ref(), x.ref().deref() is x
        (True, True)
        """
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError(
            "A tensor is not hashable because == compares its elements. "
            "Use tensor.ref() as the dictionary key or set member."
        )

    # A tensor that was cut out of a variable, `v[1:3]`, can be assigned to. It carries the place it
    # comes from; any other tensor does not have these attributes.

    @property
    def assign(self) -> Any:
        """Assigns to this slice of a variable: `v[1:3].assign(value)`."""
        return self._slice_of_variable("assign").assign

    @property
    def assign_add(self) -> Any:
        """Adds to this slice of a variable: `v[1:3].assign_add(value)`."""
        return self._slice_of_variable("assign_add").assign_add

    @property
    def assign_sub(self) -> Any:
        """Subtracts from this slice of a variable: `v[1:3].assign_sub(value)`."""
        return self._slice_of_variable("assign_sub").assign_sub

    def _slice_of_variable(self, name: str) -> Any:
        place = getattr(self, "place", None)
        if place is None:
            raise AttributeError(
                f"A tensor has no {name!r}: only variables, and slices of them as in "
                f"v[1:3].{name}(value), can be changed.",
                name=name,
                obj=self,
            )
        return place

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(
            "A tensor cannot be changed by assigning to its elements. Use "
            "tf.tensor_scatter_nd_update(tensor, indices, updates), which returns a new tensor, "
            "or a tf.Variable with v[...].assign(value)."
        )

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError(
            "A tensor cannot be changed by deleting its elements. Pick those that stay with "
            "slices and tf.concat, tf.gather or tf.boolean_mask, which return a new tensor."
        )


class EagerTensor(Tensor):
    """A tensor that has a value now."""

    __slots__ = ("__dict__", "__weakref__", "_value", "place")
    _value: Any
    _array: Any  # the same for ops; what several devices have has none (`core/placed.py`)
    place: Any  # where in a variable it comes from; unset for all but slices of variables

    def __init__(self, value: Any) -> None:
        self._value = value

    @property
    def spec(self) -> TensorSpec:  # type: ignore[override]
        """The dtype and shape."""
        value = self._value
        return TensorSpec.of(dtypes._BY_NUMPY[value.dtype], value.shape)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape.of(self._value.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return dtypes._BY_NUMPY[self._value.dtype]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._value.shape)

    @property
    def device(self) -> str:
        """The full name of the device where the value lives: that of the CPU."""
        return HOST

    @property
    def name(self) -> str:
        """Only tensors of a graph have names."""
        raise AttributeError("An eager tensor has no name; names belong to the tensors of a graph.")

    @property
    def op(self) -> Any:
        """Only tensors of a graph come from an operation."""
        raise AttributeError("An eager tensor has no op; ops belong to the tensors of a graph.")

    @property
    def graph(self) -> Any:
        """Only symbolic tensors belong to a graph."""
        raise AttributeError("An eager tensor belongs to no graph.")

    def numpy(self) -> Any:
        """The value as a NumPy array of its own, a NumPy scalar (or bytes) for rank 0."""
        value = self._value
        if value.dtype in _UNUSUAL:
            value = self._integers()
        if state.mode:
            self._tell_tapes()
        return value.copy() if value.ndim else value[()]

    def _integers(self) -> Array:
        """What quantized numbers are stored as."""
        dtype = self._value.dtype
        if dtype is dtypes.resource or dtype is dtypes.variant:
            raise TypeError(f"A tensor of dtype {dtype.name} cannot become a NumPy array.")
        return dtypes.plain(self._value)

    def _tell_tapes(self) -> None:
        """What is computed from the value in NumPy or Python has no gradient: tapes can say so."""
        for tape in state.tapes:
            tape.left(self)

    def set_shape(self, shape: ShapeLike) -> None:
        """Checks that the shape is compatible with `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"The tensor's shape {self.shape} is not compatible with {TensorShape(shape)}."
            )

    def __buffer__(self, flags: int) -> memoryview:
        """The elements, read-only, for `memoryview`: from Python 3.12 on."""
        return memoryview(dtypes.plain(self._value)).toreadonly()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        value = self._value
        if value.dtype in _UNUSUAL:
            value = self._integers()
        if state.mode:
            self._tell_tapes()
        if dtype is not None and value.dtype != dtype:
            if copy is False:
                raise ValueError(f"Converting {value.dtype} to {np.dtype(dtype)} needs a copy.")
            return value.astype(dtype)
        if copy:
            return value.copy()
        view = value.view()
        view.flags.writeable = False
        return view

    def __dlpack__(self, **kwargs: Any) -> Any:
        """A capsule with a copy of the value; with `copy=False` the value itself, read-only."""
        if state.mode:
            self._tell_tapes()
        return exported(self._value, **kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return DEVICE

    def __len__(self) -> int:
        if not self._value.shape:
            raise TypeError("A scalar tensor has no len().")
        return int(self._value.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._value.shape:
            raise TypeError("A scalar tensor cannot be iterated over.")
        # Indexing (not wrapping slices) so that tapes see where the rows come from.
        return iter([self[i] for i in range(len(self))])

    def __bool__(self) -> bool:
        try:
            return bool(self._value)
        except ValueError:
            raise ValueError(
                f"A tensor of shape {self.shape} is neither true nor false. Use tf.reduce_all or "
                "tf.reduce_any."
            ) from None

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        dtype = self.dtype
        if not (dtype.is_integer or dtype.is_quantized) or self._value.shape:
            raise TypeError(
                f"Only integer scalar tensors can be used as an index, got {dtype.name} "
                f"of shape {self.shape}."
            )
        return int(self._value if dtype.is_integer else self._integers())

    def _scalar(self) -> Any:
        if self._value.size != 1:
            raise TypeError(
                f"Only tensors of one element become Python numbers, got shape {self.shape}."
            )
        if state.mode:
            self._tell_tapes()
        item = self._value.item()
        return item[0] if type(item) is tuple else item  # a quantized number

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar(), ndigits)

    def __format__(self, format_spec: str) -> str:
        return format(self.numpy(), format_spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        return self

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return EagerTensor, (self._value,)

    _repr_html_ = html_of

    def __repr__(self) -> str:
        text = _value_text(self._value, repr)
        line = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={line}{text}>"

    def __str__(self) -> str:
        text = _value_text(self._value, str)
        line = "\n" if "\n" in text else ""
        return f"tf.Tensor({line}{text}, shape={self.shape}, dtype={self.dtype.name})"


def _value_text(value: Any, how: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    value = dtypes.plain(value)
    if value.ndim == 0:
        item = value[()]
        return repr(item) if isinstance(item, bytes) else str(item)
    return how(value)


class SymbolicTensor(Tensor):
    """A tensor of a graph: an output of one of its nodes."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "index",
        "known_value",
        "node",
        "owner",
        "place",
        "spec",
    )
    spec: TensorSpec
    place: Any  # where in a variable it comes from; unset for all but slices of variables
    owner: Any  # weakly, the variable it is the handle of; unset for all but arguments

    def __init__(self, node: Any, index: int, spec: TensorSpec) -> None:
        self.node: Any = node
        self.index: int = index
        self.spec = spec
        # What tracing knows of the value (shape arithmetic); NOT_COMPUTED until somebody asks.
        self.known_value: Any = NOT_COMPUTED

    @property
    def graph(self) -> GraphBuilder:
        """The graph this tensor belongs to."""
        return self.node.graph

    @property
    def op(self) -> Any:
        """The operation this tensor is an output of."""
        return self.node

    @property
    def name(self) -> str:
        """The name of the node and the number of the output, like `add:0`."""
        return f"{self.node.name}:{self.index}"

    @property
    def value_index(self) -> int:
        """The number of this output among its operation's outputs."""
        return self.index

    def consumers(self) -> list[Any]:
        """The operations of its graph that take this tensor."""
        nodes: list[Any] = self.node.graph.nodes
        return [node for node in nodes if any(x is self for x in node.inputs)]

    @property
    def device(self) -> str:
        """The device that the function asks for; empty where it leaves that open."""
        return str(self.node.device)

    def leaked(self, what: str) -> InaccessibleTensorError:
        """The error of using it, as `what`, where its graph is not being built."""
        return InaccessibleTensorError(
            f"{what} is {self!r}, a tensor of the graph {self.graph.name!r} made at "
            f"{self.node.location}. It has no value outside of that graph: return it from the "
            "traced function instead of keeping it elsewhere."
        )

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds what is known about the shape; ValueError if it contradicts."""
        self.spec = self.spec.with_dims(self.shape.merge_with(shape).dims_or_none)

    def __getattr__(self, name: str) -> Any:
        if name == "numpy":
            raise AttributeError(
                f"{self.name!r} is a tensor of a graph that is being traced, so it has no value "
                "yet and no numpy(). Return it from the function, print it with tf.print, or "
                "compute on it in Python with tf.py_function."
            )
        if name in ("assign", "assign_add", "assign_sub"):  # the property found no place
            self._slice_of_variable(name)
        if name in numpy_names.NAMES:
            raise numpy_names.refusal(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _refuse(self, use: str, advice: str) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            f"{use} the symbolic tensor {self.name!r}, which has no value while tracing. {advice}"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise NotImplementedError(
            f"NumPy cannot compute on {self.name!r}, a tensor of a graph that is being traced: it "
            "has no value yet. Use the tf function instead of the NumPy one, or tf.numpy_function."
        )

    def __dlpack__(self, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{self.name!r} cannot be exported (DLPack): it is a tensor of a graph that is being "
            "traced, and has no value yet. Use tf.py_function."
        )

    def __bool__(self) -> bool:
        self._refuse(
            "Cannot use as a Python bool", "Use tf.cond or tf.where, or let AutoGraph convert it."
        )

    def __int__(self) -> int:
        self._refuse("Cannot turn into a Python int", "Use tf.cast(x, tf.int32).")

    def __float__(self) -> float:
        self._refuse("Cannot turn into a Python float", "Use tf.cast(x, tf.float32).")

    def __index__(self) -> int:
        self._refuse("Cannot use as a Python index", "Use tf.range or tf.gather.")

    def __len__(self) -> int:
        dims = self.spec.dims
        if dims == ():
            raise TypeError("A scalar tensor has no len().")
        if dims is None or isinstance(dims[0], Dim):
            self._refuse("Cannot take len() of", "Use tf.shape(x)[0].")
        return int(dims[0])

    def __iter__(self) -> Iterator[Tensor]:
        dims = self.spec.dims
        if dims == ():
            raise TypeError("A scalar tensor cannot be iterated over.")
        if dims is None or isinstance(dims[0], Dim):
            self._refuse(
                "Cannot iterate over",
                "Its length is unknown: use tf.while_loop, tf.map_fn, or "
                "let AutoGraph convert the loop.",
            )
        return iter([self[i] for i in range(dims[0])])

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"The symbolic tensor {self.name!r} cannot be pickled or deep-copied.")

    def __deepcopy__(self, memo: dict[int, Any]) -> SymbolicTensor:
        return self

    def __copy__(self) -> SymbolicTensor:
        return self

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor {self.name!r} shape={format_dims(self.spec.dims)} dtype={self.dtype.name}>"
        )

    def __str__(self) -> str:
        dims = self.spec.dims
        shape = "" if dims is None else f"shape={format_dims(dims)}, "
        return f'Tensor("{self.name}", {shape}dtype={self.dtype.name})'


class _NotComputed:
    def __repr__(self) -> str:
        return "NOT_COMPUTED"


NOT_COMPUTED = _NotComputed()
specs.Tensor_class[0] = Tensor


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor or acts as one (a variable, a composite value).

    Args:
      x: anything.

    Returns:
      A bool; False for NumPy arrays, Python numbers, datasets and TensorArrays.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return bool(getattr(x, "is_tensor_like", False))


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether the argument is a tensor of a graph.

    Args:
      tensor: anything.

    Returns:
      A bool; False for eager tensors, variables and what is no tensor.

    >>> tf.is_symbolic_tensor(tf.constant(1))
    False
    """
    return isinstance(tensor, SymbolicTensor)


for _name in numpy_names.NAMES:
    setattr(Tensor, _name, numpy_names.ArrayName(_name))
