"""Gradients given by the user: `tf.custom_gradient` and what is made with it.

The results of the function go through one more op, an identity whose gradient asks `grad_fn`.
Eagerly it does so when the gradient is computed. In a graph `grad_fn` is traced right away: it may
use any tensor of the function around it, and these have to become inputs of the node so that they
are there, wherever the node is copied to.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from weft._src import nest
from weft._src.autodiff.bodies import gradient_of, parts_of
from weft._src.autodiff.calls import call_graph
from weft._src.autodiff.partial import Gradient, dense
from weft._src.autodiff.sweep import VjpContext, takes_gradient
from weft._src.autodiff.tape import GradientTape
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import building, recording, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import ANY, int32, resource
from weft._src.core.native_rules import IndexMap
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.graph.ir import Graph, Node
from weft._src.graph.origins import variable_behind
from weft._src.graph.rewrite import copied
from weft._src.ops.arrays.shape import shape_argument
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import STRUCTURED, Op, define_op, each

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Gradient:
    """What the op knows: how many of its inputs are results, and the user's gradient."""

    def __init__(self, name: str, grad_fn: Callable[..., Any], results: int) -> None:
        self.name = name
        self._grad_fn = grad_fn
        self.results = results
        self.sources = 0
        self.variables: list[Any] = []

    def __call__(self, gs: list[Tensor], captured: Sequence[Tensor]) -> list[Gradient | None]:
        """The gradients of the sources and then of the variables."""
        if not self.variables:
            return self._checked(self._grad_fn(*gs))
        both = self._grad_fn(*gs, variables=list(self.variables))
        if not (isinstance(both, (tuple, list)) and len(both) == 2):
            raise ValueError(
                f"custom_gradient: {self.name} uses variables, so its grad_fn must return a pair, "
                "the gradients of the arguments and a list of those of the variables. Got "
                f"{both!r}."
            )
        of_variables = nest.flatten(both[1])
        if len(of_variables) != len(self.variables):
            raise ValueError(
                f"custom_gradient: the grad_fn of {self.name} must return a gradient for each of "
                f"its {len(self.variables)} variables, got {len(of_variables)}."
            )
        return [*self._checked(both[0]), *map(_as_gradient, of_variables)]

    def _checked(self, found: Any) -> list[Gradient | None]:
        flat = nest.flatten(found)
        if len(flat) != self.sources:
            raise ValueError(
                f"custom_gradient: the grad_fn of {self.name} must return {self.sources} "
                f"gradients, one for each argument, got {len(flat)}."
            )
        return [_as_gradient(g) for g in flat]

    def __repr__(self) -> str:
        return f"<gradient of {self.name}>"


class _TracedGradient(_Gradient):
    """The same as a graph, traced when the function was; an error waits until it is used."""

    def trace(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        """Traces `grad_fn`; what it uses of the graphs around it."""
        graph = Graph(f"{self.name}_gradient", outer=state.graph)
        self._error: Exception | None = None
        try:
            with building(graph):
                seeds = []
                for i, out in enumerate(outputs):
                    seeds.append(graph.add_input(out.spec, f"gradient_{i}"))
                    seeds[-1].spec = out.spec  # the same unknown sizes as outside
                found = super().__call__(list(seeds), ())
                self._sizes = [len(parts_of(g)) for g in found]
                graph.outputs = [graph.capture(part) for g in found for part in parts_of(g)]
        except Exception as error:  # noqa: BLE001 - the user's; nobody may ask for the gradient
            self._error = error
            return []
        self._graph = copied(graph).finish()
        return [outer for outer, _ in graph.captures]

    def __call__(self, gs: list[Tensor], captured: Sequence[Tensor]) -> list[Gradient | None]:
        if self._error is not None:
            raise self._error
        left = iter(call_graph(self._graph, [*gs, *captured]))
        return [gradient_of([next(left) for _ in range(size)]) for size in self._sizes]


def _as_gradient(g: Any) -> Gradient | None:
    if isinstance(g, CompositeTensor):
        g = g.all_values
    if not isinstance(g, IndexedSlices):
        return None if g is None else convert_to_tensor(g)
    shape = None if g.dense_shape is None else shape_argument(g.dense_shape)
    indices = convert_to_tensor(g.indices, dtype_hint=int32)
    return IndexedSlices(convert_to_tensor(g.values), indices, shape)


def _custom_infer(*inputs: TensorSpec, gradient: _Gradient) -> tuple[TensorSpec, ...]:
    return inputs[: gradient.results]


def _custom_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Gradient | None, ...]:
    gradient: _Gradient = ctx.attrs["gradient"]
    filled = [ctx.zeros_like_output(i) if g is None else g for i, g in enumerate(gs)]
    first = gradient.results + gradient.sources + len(gradient.variables)
    captured = ctx.inputs[first:]
    found = gradient(filled, captured)
    return (*[None] * gradient.results, *found, *[None] * len(captured))


custom_gradient_op: Op = define_op(
    "CustomGradient",
    each("*input", ANY),
    infer=_custom_infer,
    kernel=lambda xp, *xs, gradient: xs[: gradient.results],
    native=IndexMap("identities"),
    xla=Lowered("identities"),
    vjp=_custom_vjp,
    outputs=None,
    trusts_kernel=True,
    identity=True,
    graphdef=forms.custom_gradient,
)
# A tape that is not told of what the function does has to watch its variables all the same.
custom_gradient_op.has_resources = True


# --- which variables a function reads ------------------------------------------------------------


class _VariableWatcher:
    """Is told of ops like a tape, and keeps the variables they read."""

    repeatedly = False

    def __init__(self) -> None:
        self.variables: dict[int, Any] = {}

    def record(self, op: Op, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Notes the trainable variables among the inputs."""
        if op.reads or op.kernel is STRUCTURED:
            for x in inputs:
                if x.dtype is resource:
                    self.note(x)

    def record_pair(self, op: Op, x: Tensor, y: Tensor, out: Tensor) -> None:
        """Operators on tensors read no variables."""

    def left(self, tensor: Tensor) -> None:
        """Values may be taken out."""

    def note(self, handle: Tensor) -> None:
        variable = variable_behind(handle)
        if variable is not None and variable.trainable:
            self.variables.setdefault(id(variable), variable)

    def note_nodes(self, nodes: Sequence[Node]) -> None:
        """Notes the variables that nodes of a graph read."""
        for node in nodes:
            for handle in node.effects.reads:
                self.note(handle)


# --- the decorators ------------------------------------------------------------------------------


class _Decorated:
    """A function of the user in another one: methods bind, and AutoGraph converts the inner one."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)  # type: ignore[arg-type]
        self._f = f

    @property
    def __signature__(self) -> inspect.Signature:
        """Told, since an object with `__get__` is taken for a function without one."""
        try:
            return inspect.signature(self._f)
        except (TypeError, ValueError) as e:
            raise AttributeError(str(e)) from None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else type(self)(types.MethodType(self._f, instance))

    def __autograph_convert__(self, convert: Callable[[Any], Any]) -> Callable[..., Any]:
        return type(self)(convert(self._f))  # type: ignore[return-value]


class _CustomGradient(_Decorated):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not state.mode:
            return self._split(self._f(*args, **kwargs))[0]
        args = nest.map_structure(_read, args)
        watcher = _VariableWatcher()
        if state.graph is None:
            with recording((*state.tapes, watcher)):
                returned = self._f(*args, **kwargs)
        else:
            before = len(state.graph.nodes)
            returned = self._f(*args, **kwargs)
            watcher.note_nodes(state.graph.nodes[before:])
        result, grad_fn = self._split(returned)
        inputs = [leaf for leaf in map(_source, nest.flatten(args)) if leaf is not None]
        # An argument may also be something that holds a variable: it has the variable's handle.
        given = {id(leaf) for leaf in (*nest.flatten((args, kwargs)), *inputs)}
        read = watcher.variables.values()
        variables = [v for v in read if id(v) not in given and id(v.handle) not in given]
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                f"custom_gradient: {self._name} uses the variables "
                f"{', '.join(v.name for v in variables)}, so its grad_fn must take an argument "
                "`variables` and return their gradients too."
            )
        return self._with_gradient(result, grad_fn, inputs, variables)

    @property
    def _name(self) -> str:
        return str(getattr(self._f, "__name__", "function"))

    def _split(self, returned: Any) -> tuple[Any, Callable[..., Any]]:
        if not (isinstance(returned, (tuple, list)) and len(returned) == 2) or not callable(
            returned[1]
        ):
            raise TypeError(
                f"custom_gradient: {self._name} must return its result and a function that "
                f"computes the gradient, `return y, grad`. Got {returned!r}."
            )
        return returned[0], returned[1]

    def _with_gradient(
        self, result: Any, grad_fn: Callable[..., Any], inputs: list[Tensor], variables: list[Any]
    ) -> Any:
        if any(isinstance(leaf, CompositeTensor) for leaf in nest.flatten(result)):
            grad_fn = _with_composites(nest.flatten(result), grad_fn)
        outputs = [convert_to_tensor(leaf) for leaf in nest.flatten(result, expand_composites=True)]
        kind = _Gradient if state.graph is None else _TracedGradient
        gradient = kind(self._name, grad_fn, len(outputs))
        gradient.sources, gradient.variables = len(inputs), variables
        captured = gradient.trace(outputs) if isinstance(gradient, _TracedGradient) else []
        handles = [v.handle for v in variables]
        made = custom_gradient_op(
            *outputs, *inputs, *handles, *captured, gradient=gradient, name=self._name
        )
        return nest.pack_sequence_as(result, made, expand_composites=True)


def _read(leaf: Any) -> Any:
    """What gives the value of a variable in another dtype is read before the function, not in it.

    Keras' variables do so in mixed precision, and have no handle then.
    """
    if isinstance(leaf, CompositeTensor) or not hasattr(leaf, "__tf_tensor__"):
        return leaf
    return leaf if getattr(leaf, "handle", None) is not None else convert_to_tensor(leaf)


def _with_composites(leaves: list[Any], grad_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient function that is given ragged gradients of ragged results."""
    parts = [nest.flatten(leaf, expand_composites=True) for leaf in leaves]

    @functools.wraps(grad_fn)
    def packed(*gs: Any, **options: Any) -> Any:
        left, found = iter(gs), []
        for leaf, own in zip(leaves, parts, strict=True):
            taken = [next(left) for _ in own]
            if isinstance(leaf, CompositeTensor):
                at = next(i for i, part in enumerate(own) if part is leaf.all_values)
                found.append(leaf.with_all_values(taken[at]))
            else:
                found.append(taken[0])
        return grad_fn(*found, **options)

    return packed


def _source(leaf: Any) -> Tensor | None:
    """An argument as something that can have a gradient; None for what can be no tensor."""
    if isinstance(leaf, CompositeTensor):
        return leaf.all_values
    handle = getattr(leaf, "handle", None)
    if handle is not None:
        return handle
    try:
        return convert_to_tensor(leaf)
    except (TypeError, ValueError):
        return None


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(grad_fn).parameters
    except (TypeError, ValueError):
        return True
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


@overload
def custom_gradient(
    f: Callable[_P, tuple[_R, Callable[..., Any]]],
) -> Callable[_P, _R]: ...
@overload
def custom_gradient(
    f: None = None,
) -> Callable[[Callable[_P, tuple[_R, Callable[..., Any]]]], Callable[_P, _R]]: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """A decorator for functions that return `(result, grad_fn)`: they bring their own gradient.

    `grad_fn` takes the gradients of the results and returns those of the arguments; if the function
    reads variables it also gets `variables=[...]` and returns a pair, with their gradients second.

    Args:
      f: a function that returns a pair: its result (a tensor or a nest) and `grad_fn`. None: a
        decorator is returned, for `@tf.custom_gradient()`.

    Returns:
      A function with the arguments of `f` that returns its result only. Its gradient is what
      `grad_fn` returns: one for each argument that can be a tensor, None for those without one.

    Raises:
      TypeError: if `f` is no function; when called, if it does not return a pair, or reads
        variables and `grad_fn` has no argument `variables`.
      ValueError: when the gradient is taken, if `grad_fn` returns another number of gradients than
        there are arguments (or variables).

    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
    >>> x = tf.constant(100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = log1pexp(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """
    if f is None:
        return custom_gradient
    if not callable(f):
        raise TypeError(f"custom_gradient decorates a function, got {f!r}.")
    return _CustomGradient(f)


class _Recomputing(_Decorated):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        f = self._f
        watchers = [tape for tape in state.tapes if isinstance(tape, _VariableWatcher)]
        with recording(tuple(watchers)):
            result = f(*args, **kwargs)

        def grad(*dys: Tensor, variables: Sequence[Any] = ()) -> Any:
            sources = [leaf for leaf in nest.flatten(args) if _source(leaf) is not None]
            watched = [x for x in sources if hasattr(x, "handle") or isinstance(x, Tensor)]
            watched = [x for x in watched if hasattr(x, "handle") or takes_gradient(x)]
            with GradientTape(watch_accessed_variables=False) as tape:
                tape.watch([*watched, *variables])
                again = f(*args, **kwargs)
            pairs = [
                (out, dy)
                for out, dy in zip(nest.flatten(again), dys, strict=True)
                if takes_gradient(convert_to_tensor(out))
            ]
            found = tape.gradient(
                [out for out, _ in pairs],
                [*watched, *variables],
                output_gradients=[dy for _, dy in pairs],
            )
            by_id = {id(x): g for x, g in zip(watched, found, strict=False)}
            of_args = [by_id.get(id(x)) for x in sources]
            return (of_args, [dense(g) for g in found[len(watched) :]]) if variables else of_args

        return result, grad


def recompute_grad(f: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function that keeps nothing for its gradient: what that needs is computed once more.

    Args:
      f: a function of tensors and variables. It runs a second time when its gradient is taken, so
        it should do the same then.

    Returns:
      A function with the arguments and results of `f`. Tapes do not record what happens inside.

    Raises:
      TypeError: if `f` is no function.

    >>> block = tf.recompute_grad(lambda x: tf.sin(tf.exp(x)))
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = block(x)
    >>> print(f"{tape.gradient(y, x):.4f}")
    0.5403
    """
    if not callable(f):
        raise TypeError(f"recompute_grad takes a function, got {f!r}.")
    return _CustomGradient(_Recomputing(f))


class _PassingThrough(_Decorated):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def grad(*dys: Tensor, variables: Sequence[Any] = ()) -> Any:
            return (dys, [None] * len(variables)) if variables else dys

        return self._f(*args, **kwargs), grad


def grad_pass_through(f: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function whose gradient is that of the identity, whatever it computes.

    Args:
      f: a function with as many results as arguments: the gradient of each result becomes that of
        the argument in its place. Variables that it reads get no gradient.

    Returns:
      A function with the arguments and results of `f`.

    Raises:
      TypeError: if `f` is no function.
      ValueError: when the gradient is taken, if there are more or fewer results than arguments.

    >>> rounded = tf.grad_pass_through(tf.round)
    >>> x = tf.constant(2.7)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = rounded(x) * 10.0
    >>> print(y.numpy(), tape.gradient(y, x).numpy())
    30.0 10.0
    """
    if not callable(f):
        raise TypeError(f"grad_pass_through takes a function, got {f!r}.")
    return _CustomGradient(_PassingThrough(f))
