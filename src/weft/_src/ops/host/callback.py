"""Python callbacks in graphs: `tf.py_function` and `tf.numpy_function`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.api_targets import is_dispatchable
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import building, recording, state
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import DATA
from weft._src.core.specs import TensorSpec, TypeSpec, spec_of
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops.arrays import source
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, REGISTERED_LATER, define_op, each


def _infer(
    *inputs: TensorSpec, func: Callable[..., Any], out: tuple[TensorSpec, ...]
) -> tuple[TensorSpec, ...]:
    return tuple([spec.with_fresh_dims() for spec in out])


def _eager_kernel(
    xp: ArrayNamespace, *values: Array, func: Callable[..., Any], out: tuple[TensorSpec, ...]
) -> tuple[Array, ...]:
    with building(None), recording(()):
        result = func(*[EagerTensor(xp.asarray(value)) for value in values])
        return tuple([t._value for t in _results("py_function", result, out)])


def _numpy_kernel(
    xp: ArrayNamespace, *values: Array, func: Callable[..., Any], out: tuple[TensorSpec, ...]
) -> tuple[Array, ...]:
    with building(None):
        result = func(*[EagerTensor(xp.asarray(value)).numpy() for value in values])
        return tuple([t._value for t in _results("numpy_function", result, out)])


def _results(op: str, result: Any, out: Sequence[TypeSpec]) -> list[Any]:
    """What the callback returned as tensors, checked against what it was declared to return."""
    flat = [] if result is None else nest.flatten(result)
    if len(flat) != len(out) and out:
        raise InvalidArgumentError(
            None, None, f"{op}: {len(out)} results were declared in Tout, got {len(flat)}."
        )
    tensors: list[Any] = []
    for i, (value, spec) in enumerate(zip(flat, out, strict=False)):
        if not isinstance(spec, TensorSpec):
            tensors.append(_composite_result(op, i, value, spec))
            continue
        tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
        if not isinstance(tensor, EagerTensor):
            raise TypeError(f"{op}: result {i} must be a tensor, got a {type(tensor).__name__}.")
        if tensor.dtype is not spec.dtype or not tensor.shape.is_subtype_of(spec.shape):
            raise InvalidArgumentError(
                None,
                None,
                f"{op}: result {i} was declared as {spec.words}, got {tensor.spec.words}.",
            )
        tensors.append(tensor)
    return tensors


def _composite_result(op: str, number: int, value: Any, spec: TypeSpec) -> Any:
    """A result that was declared as ragged, sparse or of another type of several tensors."""
    if not is_dispatchable(value) or not spec.is_compatible_with(value):
        kind = spec_of(value) if is_dispatchable(value) else type(value).__name__
        raise InvalidArgumentError(
            None, None, f"{op}: result {number} was declared as {spec!r}, got {kind}."
        )
    return value


class _InParts:
    """A callback whose composite arguments and results go through the graph in parts."""

    def __init__(self, func: Callable[..., Any], given: list[Any], out: Sequence[TypeSpec]) -> None:
        self._func, self._out = func, out
        self._given = [spec_of(x) if is_dispatchable(x) else None for x in given]
        self.__name__ = getattr(func, "__name__", "func")

    def __call__(self, *parts: Tensor) -> list[Any]:
        packed = nest.pack_sequence_as(self._given, parts, expand_composites=True)
        found = _results("py_function", self._func(*packed), self._out)
        return nest.flatten(found, expand_composites=True)


eager_py_func_op = define_op(
    "EagerPyFunc",
    each("*input", DATA),
    infer=_infer,
    kernel=_eager_kernel,
    native=HOST_ONLY,
    vjp=REGISTERED_LATER,
    outputs=None,
    host_io=True,
)

py_func_op = define_op(
    "PyFunc",
    each("*input", DATA),
    infer=_infer,
    kernel=_numpy_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    smooth="tf.py_function has gradients, if the function in it uses tf functions.",
    outputs=None,
    host_io=True,
)


def _declared(tout: Any) -> tuple[bool, tuple[Any, ...]]:
    """Whether one result is declared without a list, and the specs of all of them."""
    single = not isinstance(tout, (list, tuple))
    items = [tout] if single else list(tout)
    specs = [x if isinstance(x, TypeSpec) else TensorSpec(None, x) for x in items if x is not None]
    return single and tout is not None, tuple(specs)


def _inputs(op: str, func: Callable[..., Any], inp: Any) -> list[Tensor]:
    if not callable(func):
        raise TypeError(f"{op}: func must be callable, got {func!r}.")
    if inp is None:
        raise TypeError(f"{op}: inp must be a list of the arguments of func, got None.")
    items = items_of(op, inp, "inp")
    # Values of several tensors go to the callback as they are; what cannot says so in the op.
    return [x if _is_composite(x) else convert_to_tensor(x) for x in items]


def _is_composite(x: Any) -> bool:
    return is_dispatchable(x) and not isinstance(x, CompositeTensor)


def _decorator(op: str, callback: Callable[..., Any], inp: Any, **options: Any) -> Any:
    """What `@tf.py_function(Tout=...)` is: then the arguments of each call are `inp`."""
    if inp is not None:
        raise TypeError(f"{op}: func must be callable, got None.")
    if options["Tout"] is None:
        raise TypeError(
            f"{op}: as a decorator it needs the dtypes of the results: @{op}(Tout=...)."
        )

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any) -> Any:
            return callback(func, args, **options)

        return call

    return decorate


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Runs a Python function on (eager) tensors, each time the graph runs.

    Its gradient runs it once more, under a tape. Without `func` it is a decorator.

    Args:
      func: a function of as many eager tensors as `inp` has; None makes a decorator.
      inp: a list of the arguments, tensors or what becomes tensors; they may be ragged or sparse.
      Tout: the dtype or `tf.TensorSpec` of the result, the spec of a ragged or sparse one, or a
        list of them; an empty list for none.

    Returns:
      A tensor, a list of tensors if `Tout` is a list, None if it is empty. The shapes are unknown
      while tracing unless `Tout` tells. As a decorator: a function of tensors.

    Raises:
      TypeError: if `func` cannot be called, `inp` is no list, or a decorator has no `Tout`.
      InvalidArgumentError: if the results are not what `Tout` says, when it runs.

    >>> tf.py_function(lambda x: x.numpy() ** 2, inp=[tf.constant(3)], Tout=tf.int32).numpy()
    np.int32(9)
    >>> @tf.py_function(Tout=tf.string)
    ... def shout(word):
    ...     return word.numpy().upper()
    >>> shout(tf.constant("weft")).numpy()
    b'WEFT'
    """
    if func is None:
        return _decorator("tf.py_function", py_function, inp, Tout=Tout, name=name)
    single, out = _declared(Tout)
    tensors = _inputs("py_function", func, inp)
    if state.graph is None:
        # Called as it is, so that tapes see the ops inside.
        results: Any = _results("py_function", func(*tensors), out)
    else:
        if any(map(is_dispatchable, tensors)) or not _all_tensors(out):
            func = _InParts(func, tensors, out)
        parts = tuple(nest.flatten(out, expand_composites=True))
        flat = nest.flatten(tensors, expand_composites=True)
        made = list(eager_py_func_op(*flat, func=func, out=parts, name=name))
        results = nest.pack_sequence_as(list(out), made, expand_composites=True)
    return _hand_back(results, single, out)


def _all_tensors(specs: Sequence[Any]) -> bool:
    return all(isinstance(spec, TensorSpec) for spec in specs)


def _hand_back(results: list[Tensor], single: bool, out: tuple[TensorSpec, ...]) -> Any:
    if single:
        return results[0]
    return results if out else source.no_op()


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Runs a Python function on NumPy arrays, each time the graph runs; has no gradient.

    Without `func` it is a decorator: `@tf.numpy_function(Tout=tf.float32)`.

    Args:
      func: a function of as many arrays (or NumPy scalars) as `inp` has; None makes a decorator.
      inp: a list of the arguments, tensors or what becomes tensors.
      Tout: the dtype or `tf.TensorSpec` of the result, or a list of them; an empty list for none.
      stateful: accepted for compatibility, ignored: the function runs in every call.

    Returns:
      A tensor, a list of tensors if `Tout` is a list, None if it is empty. The shapes are unknown
      while tracing unless `Tout` tells. As a decorator: a function of tensors.

    Raises:
      TypeError: if `func` cannot be called, `inp` is no list, or a decorator has no `Tout`.
      InvalidArgumentError: if the results are not what `Tout` says, when it runs.

    >>> tf.numpy_function(np.sort, [tf.constant([3, 1, 2])], tf.int32).numpy()
    array([1, 2, 3], dtype=int32)
    """
    if func is None:
        options = {"Tout": Tout, "stateful": stateful, "name": name}
        return _decorator("tf.numpy_function", numpy_function, inp, **options)
    single, out = _declared(Tout)
    tensors = _inputs("numpy_function", func, inp)
    if not _all_tensors(out):
        raise TypeError(
            f"numpy_function: results are arrays, so Tout must hold dtypes or tf.TensorSpecs, got "
            f"{Tout!r}. tf.py_function gives ragged and sparse tensors."
        )
    return _hand_back(list(py_func_op(*tensors, func=func, out=out, name=name)), single, out)
