"""From what users write (numbers, lists, arrays, strings) to arrays and tensors.

Strict by design: nothing is rounded, wrapped or promoted silently. Python numbers take the dtype
that is asked for if they fit it, else float32 / int32 (int64 if they need it); NumPy arrays keep
theirs.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.context import DEVICE, GRAPH, state
from weft._src.core.conversions import how_to_convert
from weft._src.core.dtypes import DType
from weft._src.core.growing import GrowingList
from weft._src.core.operator_inputs import OperatorInput
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import DTypeError, FixedDTypeError, UnsupportedError

_NOT_HERE = GRAPH | DEVICE  # constants are nodes then, or go to a device
_NUMBERS = (bool, int, float, complex)
_ARRAY_LIKE = (*_NUMBERS, np.generic, np.ndarray)
_INT32 = np.iinfo(np.int32)
_SAFE = dtypes.float32._safe


def array_from(value: Any, dtype: DType | None = None) -> Array:
    """An array, which nobody else may change, from any value that is not a tensor."""
    kind = type(value)
    if kind in _NUMBERS:
        return _array_from_number(value, dtype)
    if isinstance(value, np.ndarray):
        return _array_from_ndarray(value, dtype)
    if isinstance(value, np.generic):
        return _array_from_ndarray(np.asarray(value), dtype)
    if isinstance(value, (str, bytes)):
        return _array_from_ndarray(np.array(value, dtype=object), dtype)
    if isinstance(value, (list, tuple, range)):
        return _array_from_sequence(value, dtype)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"The shape {value} has unknown sizes, so it cannot become a tensor.")
        return np.array(value.as_list(), (dtype or dtypes.int32).numpy_dtype)
    if hasattr(value, "__array__"):
        return _array_from_ndarray(_asarray(value), dtype)
    if isinstance(value, _NUMBERS):  # subclasses, such as IntEnum
        return _array_from_number(value, dtype)
    if isinstance(value, collections.deque):
        return _array_from_sequence(list(value), dtype)
    raise _cannot_convert(value)


def _asarray(value: Any) -> Array:
    """What an object says it is as an array (a class has the method too, but is no array)."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as e:
        raise _cannot_convert(value) from e


def _cannot_convert(value: Any) -> Exception:
    if hasattr(type(value), "_matrix_function"):
        return OperatorInput(
            f"Cannot convert {value!r} to a tensor. Call its methods, or use its to_dense().", value
        )
    if hasattr(type(value), "_type_spec"):
        return ValueError(
            f"Cannot convert {value!r} of type {type(value).__name__} to a tensor. It is made of "
            "several values: pass its tensors, or say what a function means for it with "
            "tf.experimental.dispatch_for_api."
        )
    return ValueError(
        f"Cannot convert {value!r} of type {type(value).__name__} to a tensor. "
        "Numbers, strings, NumPy arrays, tensors and nested lists of them can be converted."
    )


def _array_from_number(value: Any, dtype: DType | None) -> Array:
    if dtype is None:
        if type(value) is float:
            if not -_SAFE <= value <= _SAFE:
                return _array_from_large(value, dtypes.float32)
            return np.array(value, np.float32)
        if isinstance(value, bool):
            return np.array(value)
        if isinstance(value, int):
            narrow = _INT32.min <= value <= _INT32.max
            return np.array(value, np.int32 if narrow else _int64(value))
        return np.array(value, dtypes._BY_PYTHON[type(value)].numpy_dtype)
    if dtype.is_floating or dtype.is_complex:
        if isinstance(value, complex):
            if not dtype.is_complex:
                raise _wrong_kind(value, dtype)
        elif not -dtype._safe <= value <= dtype._safe:
            return _array_from_large(value, dtype)
        return np.array(value, dtype.numpy_dtype)
    if dtype.is_integer and isinstance(value, int):
        dtypes.check_fits(value, dtype)
        return np.array(value, dtype.numpy_dtype)
    if dtype.is_bool and isinstance(value, bool):
        return np.array(value)
    if dtype.is_quantized:
        return _array_from_number(value, dtypes.stored_as(dtype)).view(dtype.numpy_dtype)
    raise _wrong_kind(value, dtype)


def _array_from_large(value: Any, dtype: DType) -> Array:
    """A float may become infinite (as NaN and infinity stay what they are), an int may not."""
    try:
        with np.errstate(all="ignore"):
            array = np.array(value, dtype.numpy_dtype)
    except OverflowError:
        array = np.array(np.inf)
    if isinstance(value, int):
        fits = abs(value) <= float(dtype.max) if dtype._safe < 0 else np.isfinite(array)
        if not fits:  # some small floats have no infinity
            raise ValueError(f"The value {value} does not fit {dtype.name}.")
    return array


def _int64(value: int) -> type:
    dtypes.check_fits(value, dtypes.int64)
    return np.int64


def _wrong_kind(value: Any, dtype: DType) -> Exception:
    is_text = isinstance(value, np.ndarray) and value.dtype.kind in "OSUT"
    if is_text or isinstance(value, (str, bytes)):
        how = "convert it with tf.strings.to_number(x)"
    elif dtype is dtypes.string:
        how = "convert it with tf.strings.as_string(x)"
    elif dtype.is_integer:
        how = f"round it with tf.cast(tf.round(x), tf.{dtype.name})"
    else:
        how = f"convert it with tf.cast(x, tf.{dtype.name})"
    return DTypeError(
        f"Cannot convert {value!r} ({type(value).__name__}) to a tensor of dtype {dtype.name}. "
        f"Pass a value of that kind, or {how}."
    )


def _array_from_ndarray(value: Array, dtype: DType | None) -> Array:
    if value.dtype.kind in "OSUT":
        if dtype not in (None, dtypes.string):
            raise _wrong_kind(value if value.ndim else value.item(), dtype)
        return _bytes_array(value)
    try:
        found = dtypes.from_numpy(value.dtype)
    except TypeError as e:
        raise ValueError(str(e)) from None
    if dtype is None:
        dtype = found
    elif dtype is not found and (
        dtype is dtypes.string
        or dtype.is_bool
        or (found.is_complex and not dtype.is_complex)
        or found.is_quantized
    ):
        raise _wrong_kind(value, dtype)
    elif dtype.is_quantized and dtype is not found:
        return _array_from_ndarray(value, dtypes.stored_as(dtype)).view(dtype.numpy_dtype)
    elif dtype.is_integer and value.size:
        if found.is_floating and not np.array_equal(value, np.trunc(value)):
            raise _wrong_kind(value, dtype)
        dtypes.check_fits(value.min().item(), dtype)
        dtypes.check_fits(value.max().item(), dtype)
    if found.size > dtype.size or dtype._safe < 0:
        with np.errstate(all="ignore"):  # to infinity or NaN, in a narrower floating dtype
            return np.array(value, dtype.numpy_dtype, order="C")
    return np.array(value, dtype.numpy_dtype, order="C")


def _bytes_array(value: Array) -> Array:
    """Strings are bytes: text is encoded as UTF-8, anything else in the array is refused."""
    items = value.reshape(-1).tolist()
    kinds = set(map(type, items))
    if kinds == {str}:
        items = list(map(str.encode, items))
    elif kinds != {bytes}:
        items = list(map(_bytes_of, items))
    out = np.empty(len(items), object)
    out[:] = items
    return out.reshape(value.shape)


def _bytes_of(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return bytes(item)
    raise ValueError(
        f"Cannot convert an object array holding {item!r} ({type(item).__name__}) to a tensor. "
        "Give the array a numeric dtype, or hold only strings."
    )


_SEQUENCES = (list, tuple, range)
_PLAIN = frozenset({bool, int, float, complex, str, bytes})
_MOST_LEVELS = 64  # of lists in lists: no array has more axes


class _Flat(NamedTuple):
    """What nested lists hold, of which classes that is, and their shape if all are alike."""

    leaves: list[Any]
    kinds: set[type]
    shape: tuple[int, ...] | None


def _flattened(value: Any) -> _Flat:
    shape = [len(value)]
    level = value
    while True:
        kinds = set(map(type, level))
        if kinds <= _PLAIN:
            return _Flat(list(level), kinds, tuple(shape))
        nested = [issubclass(kind, _SEQUENCES) for kind in kinds]
        if not any(nested):
            return _Flat(list(level), kinds, tuple(shape))
        if len(shape) == 1:
            _check_depth(value)
        lengths = set(map(len, level)) if all(nested) else ()
        if len(lengths) != 1:
            leaves = _leaves(value, [])
            return _Flat(leaves, set(map(type, leaves)), None)
        shape += lengths
        level = list(itertools.chain.from_iterable(level))


def _check_depth(value: Any) -> None:
    """RecursionError for lists in lists without end, as in one that holds itself."""
    for _ in range(_MOST_LEVELS):
        if not isinstance(value, _SEQUENCES) or not len(value):
            return
        value = value[0]
    raise RecursionError


def _leaves(value: Any, out: list[Any]) -> list[Any]:
    for item in value:
        if isinstance(item, _SEQUENCES):
            _leaves(item, out)
        else:
            out.append(item)
    return out


def _array_from_sequence(value: Any, dtype: DType | None, flat: _Flat | None = None) -> Array:
    leaves, kinds, shape = flat or _flattened(value)
    if not leaves:
        return np.array(value, (dtype or dtypes.float32).numpy_dtype)
    if TensorShape in kinds:
        return _array_from_sequence(_with_sizes(value), dtype)
    if str in kinds or bytes in kinds or any(issubclass(k, (str, bytes)) for k in kinds - _PLAIN):
        if dtype not in (None, dtypes.string):
            raise _wrong_kind(value, dtype)
        strings = np.empty(len(leaves), object)
        strings[:] = leaves
        return _bytes_array(strings.reshape(shape or _rectangular_shape(value)))
    for kind in kinds - _PLAIN:
        if not issubclass(kind, _ARRAY_LIKE) and not hasattr(kind, "__array__"):
            raise _cannot_convert(next(x for x in leaves if type(x) is kind))
    try:
        array = np.array(value)
    except ValueError:
        _rectangular_shape(value)  # says where the rows differ
        raise
    if array.dtype == object:  # an int beyond 64 bits
        raise ValueError(f"An integer in {value!r} does not fit 64 bits.")
    if dtype is not None:
        found = array.dtype.kind
        if dtype.is_quantized and array.dtype.names is None:
            return _array_from_sequence(value, dtypes.stored_as(dtype)).view(dtype.numpy_dtype)
        if (found in "fc" and dtype.is_integer) or (found == "c" and dtype.is_floating):
            raise _wrong_kind(value, dtype)
        return _array_from_ndarray(array, dtype)
    if array.dtype.kind == "f" and all(issubclass(kind, (int, np.integer)) for kind in kinds):
        raise ValueError(f"No integer dtype holds all of {value!r}.")
    wanted = _dtype_of_list(array, leaves[0])
    if wanted is dtypes.int32:  # they fit: that was looked at
        return array.astype(np.int32)
    return _array_from_ndarray(array, wanted)


def _with_sizes(value: Any) -> Any:
    """A nested list in which shapes are lists of their sizes."""
    if isinstance(value, TensorShape):
        return array_from(value, None).tolist()
    return [_with_sizes(x) for x in value] if isinstance(value, (list, tuple)) else value


def _dtype_of_list(array: Array, first: Any) -> DType | None:
    """The dtype of numbers in a list that nobody named one for; None: that of the array.

    As in TensorFlow: whole numbers in lists are int32 whatever they are, as long as they fit,
    floating ones have the dtype of the first element, which of Python numbers is float32.
    """
    if array.dtype.kind in "iu" and array.size:
        fits = array.min() >= _INT32.min and array.max() <= _INT32.max
        return dtypes.int32 if fits else dtypes.int64
    if array.dtype.kind != "f":
        return None
    if type(first) in _NUMBERS:
        return dtypes.float32
    found = dtypes.from_numpy(_asarray(first).dtype)
    return found if found.is_floating else dtypes.float32


def _rectangular_shape(value: Any) -> tuple[int, ...]:
    """The shape of a nested list; ValueError saying where its rows differ in length."""
    if not isinstance(value, _SEQUENCES):
        return _asarray(value).shape
    shapes = [_rectangular_shape(item) for item in value]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"Cannot convert a ragged list to a tensor: item 0 has shape {shapes[0]}, "
                f"item {i} has shape {shape}."
            )
    return (len(shapes), *shapes[0]) if shapes else (0,)


# --- tensors ---------------------------------------------------------------------------------

# Filled by the ops layer: how to make a constant of a graph, and how to stack tensors.
make_constant: Callable[[Array, str | None], Tensor]
pack_tensors: Callable[[Any, DType | None, str | None], Tensor]

_conversions: list[tuple[int, type | tuple[type, ...], Callable[..., Any]]] = []


def install(constant: Callable[..., Tensor], pack: Callable[..., Tensor]) -> None:
    """The ops layer hands over what conversion needs of it."""
    global make_constant, pack_tensors
    make_constant, pack_tensors = constant, pack


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: Callable[..., Any],
    priority: int = 100,
) -> None:
    """Teaches `convert_to_tensor` a class: `conversion_func(value, dtype, name, as_ref)`.

    Args:
      base_type: a class, or a tuple of them; subclasses are converted too.
      conversion_func: a function `(value, dtype=None, name=None, as_ref=False)` that returns a
        tensor, or NotImplemented if another function shall try.
      priority: functions with smaller numbers are asked first; of equal ones, those registered
        first.

    >>> class Celsius:
    ...     degrees = 21.0
    >>> tf.register_tensor_conversion_function(
    ...     Celsius, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.degrees, dtype)
    ... )
    >>> tf.convert_to_tensor(Celsius()).numpy()
    np.float32(21.0)
    """
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A tensor from a number, string, array, (nested) list, or anything that acts as a tensor.

    Args:
      value: what is converted. A tensor is returned as it is.
      dtype: the dtype that the tensor must have; None lets the value decide: Python floats are
        float32, ints int32 if they fit, NumPy arrays keep theirs.
      dtype_hint: a dtype that is tried if `dtype` is None, and ignored if the value does not fit
        it.
      name: the name of the constant in a graph.

    Returns:
      A tensor; in a graph a symbolic one.

    Raises:
      ValueError: if the value cannot become a tensor (a ragged list, an object of no known kind),
        does not fit the dtype, or is a tensor of another one.
      DTypeError: if the value is of another kind than the dtype, such as text or a float for int32.

    >>> tf.convert_to_tensor([[1, 2], [3, 4]]).dtype
    tf.int32
    >>> tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype
    tf.float32
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"A tensor of dtype {dtype.name} is wanted, got {value!r} of dtype "
                f"{value.dtype.name}. {how_to_convert('x', value.dtype, dtype)}"
            )
        return value
    if dtype is None and dtype_hint is not None:
        try:
            return _convert(value, dtypes.as_dtype(dtype_hint), name)
        except (TypeError, ValueError):
            return _convert(value, None, name)
    return _convert(value, dtype, name)


def _convert(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    convert = getattr(value, "__tf_tensor__", None)
    if convert is not None:
        return convert(dtype, name)
    for _, base_type, function in _conversions:
        if isinstance(value, base_type):
            converted = function(value, dtype=dtype, name=name, as_ref=False)
            if converted is not NotImplemented:
                return converted
    if isinstance(value, (list, tuple)):
        found = _from_list(value, dtype, name)
        if not isinstance(found, np.ndarray):
            return found
        array = found
    else:
        array = array_from(value, dtype)
    return EagerTensor(array) if not state.mode & _NOT_HERE else make_constant(array, name)


def _nested_too_deeply(value: Any) -> Exception:
    kind = type(value).__name__
    return ValueError(f"Cannot convert a {kind} that contains itself, or is nested too deeply.")


def _from_list(value: Any, dtype: DType | None, name: str | None) -> Array | Tensor:
    """The array of a nested list, or a tensor (perhaps a ragged one) if there are some in it."""
    try:
        flat = _flattened(value)
    except RecursionError:
        raise _nested_too_deeply(value) from None
    for kind in flat.kinds - _PLAIN:
        if issubclass(kind, Tensor) or hasattr(kind, "__tf_tensor__"):
            return pack_tensors(value, dtype, name)
    return _array_from_sequence(value, dtype, flat)


def constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    name: str = "Const",
) -> Tensor:
    """A tensor with the given value; `shape` reshapes it, or repeats a single number.

    Args:
      value: a number, string, array or (nested) list of them; an eager tensor is copied.
      dtype: the dtype; None lets the value decide, as in `tf.convert_to_tensor`.
      shape: the shape of the result, fully defined; None is that of the value.
      name: the name of the constant in a graph.

    Returns:
      A tensor of that shape and dtype; in a graph a constant of it.

    Raises:
      TypeError: if the number of elements does not fit `shape`, or the value is a tensor of another
        dtype.
      ValueError: if the value cannot become a tensor, or does not fit the dtype.
      DTypeError: if the value is of another kind than the dtype, such as text or a float for int32.
      UnsupportedError: if the value is a symbolic tensor.

    >>> tf.constant(7, shape=[2, 3])
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[7, 7, 7],
           [7, 7, 7]], dtype=int32)>
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor) and not isinstance(value, EagerTensor):
        raise UnsupportedError(
            f"tf.constant needs a value, got the symbolic tensor {value!r}. Use tf.identity or "
            "tf.convert_to_tensor on tensors."
        )
    if isinstance(value, EagerTensor):
        if dtype is not None and value.dtype is not dtype:
            raise TypeError(
                f"tf.constant got a tensor of dtype {value.dtype.name} with "
                f"dtype={dtype.name}. {how_to_convert('x', value.dtype, dtype)}"
            )
        array = value._value
    elif isinstance(value, (list, tuple)):
        found = _from_list(value, dtype, name)
        if not isinstance(found, (np.ndarray, EagerTensor)):
            return found
        array = found._value if isinstance(found, EagerTensor) else found
    else:
        array = array_from(value, dtype)
    if shape is not None:
        array = _with_shape(array, TensorShape(shape), value)
    return EagerTensor(array) if not state.mode & _NOT_HERE else make_constant(array, name)


def _with_shape(array: Array, shape: TensorShape, value: Any) -> Array:
    wanted = tuple(shape.as_list())
    if array.shape == wanted:
        return array
    if array.size == 1:
        return np.full(wanted, array.reshape(())[()], array.dtype)
    if array.size != shape.num_elements():
        raise TypeError(
            f"tf.constant got a value with {array.size} elements for shape {shape}, which has "
            f"{shape.num_elements()}."
        )
    return array.reshape(wanted)


def items_of(op: str, values: Any, name: str) -> list[Any]:
    """The items of an argument that must be a list (or anything else that can be iterated over)."""
    if isinstance(values, GrowingList):
        raise values.refusal(op)
    if not isinstance(values, (list, tuple, Iterable)) or getattr(values, "ndim", 1) == 0:
        raise TypeError(
            f"{op}: {name} must be a list of tensors, got {values!r} of type "
            f"{type(values).__name__}."
        )
    return list(values)


def adopt(value: Any, dtype: DType) -> Tensor:
    """The other operand of a tensor of `dtype`: numbers and arrays take that dtype if they can."""
    if isinstance(value, Tensor):
        return value
    kind = type(value)
    if kind is float or kind is int:
        if dtype.is_integer and kind is float:
            return _convert(value, None, None)  # the op names both dtypes in its error
        array = _array_from_number(value, dtype)
        return EagerTensor(array) if not state.mode & _NOT_HERE else make_constant(array, None)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "OSUT":
        same_kind = np.can_cast(value.dtype, dtypes.stored_as(dtype).numpy_dtype, "same_kind")
        return _convert(value, dtype if same_kind else None, None)
    return convert_to_tensor(value, dtype_hint=dtype)


def of_dtype(op: str, value: Any, dtype: DType, name: str) -> Tensor:
    """An argument of one dtype only: numbers and arrays take it, other tensors are refused."""
    x = adopt(value, dtype)
    if x.dtype is not dtype:
        advice = f"Convert it with tf.cast({name}, tf.{dtype.name})."
        if x.dtype.is_integer != dtype.is_integer or x.dtype.is_floating != dtype.is_floating:
            advice = how_to_convert(name, x.dtype, dtype)
        raise FixedDTypeError(
            f"{op}: {name} must have dtype {dtype.name}, got {x.dtype.name}. {advice}"
        )
    return x


def _truth(self: Any) -> bool:
    """Of classes that act as tensors, and have borrowed this from `tf.Tensor`."""
    return bool(convert_to_tensor(self))


# Tensors have methods of their own.
Tensor.__bool__ = Tensor.__nonzero__ = _truth  # type: ignore[method-assign,attr-defined]
