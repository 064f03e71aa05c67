"""Gradients by name: `tf.RegisterGradient`, for ops without one and for ops of some graphs.

An op that has no gradient gets the one that is registered under its own name. Any other name is
for `Graph.gradient_override_map`: ops of a type that are added meanwhile are the same op with
another gradient, so every tier and pass treats them as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import NOT_DIFFERENTIABLE, STRUCTURED, Op, find_op, is_op

# What is registered: (op, *gradients of outputs) -> gradients of inputs; None: there is none.
_registered: dict[str, Callable[..., Any] | None] = {}
_variants: dict[tuple[Op, str], Op] = {}


class DifferentiatedOp:
    """What a registered gradient sees of an op: as much of `tf.Operation` as rules use."""

    def __init__(self, op: Op, ctx: VjpContext) -> None:
        self.type, self.name = op.name, op.name
        self.inputs, self.outputs = ctx.inputs, ctx.outputs
        self._attrs = ctx.attrs

    def get_attr(self, name: str) -> Any:
        """An attribute of the op; "T" and "dtype" are the dtype of its first input."""
        if name in self._attrs:
            return self._attrs[name]
        if name in ("T", "dtype") and self.inputs:
            return self.inputs[0].dtype
        raise ValueError(f"The op {self.type} has no attribute {name!r}.")


def _rule(op: Op, name: str, gradient: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient rule that asks the user's function."""

    def vjp(ctx: VjpContext, *gs: Tensor | None) -> list[Any]:
        filled = [ctx.zeros_like_output(i) if g is None else g for i, g in enumerate(gs)]
        found = gradient(DifferentiatedOp(op, ctx), *filled)
        given = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(given) != len(ctx.inputs):
            raise ValueError(
                f"The gradient {name!r} of the op {op.name} must return {len(ctx.inputs)} "
                f"gradients, one for each input, got {len(given)}."
            )
        kept = (type(None), IndexedSlices)
        return [g if isinstance(g, kept) else convert_to_tensor(g) for g in given]

    return vjp


class RegisterGradient:
    """A decorator that registers a function as the gradient of ops of a type.

    The function is called with the op, of which it can ask `inputs`, `outputs` and `get_attr`, and
    with the gradient of each output; it returns one for each input, or None.

    An op that has no gradient has the registered one from then on, everywhere. Under other names,
    gradients are registered for `tf.Graph.gradient_override_map`. To give a gradient to one piece
    of a program, use `tf.custom_gradient`.

    >>> @tf.RegisterGradient("Halved")
    ... def halved(op, g):
    ...     return g / 2
    >>> @tf.function
    ... def slope(x):
    ...     with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "Halved"}):
    ...         y = tf.square(x)
    ...     return tf.gradients(y, x)[0]
    >>> slope(tf.constant(3.0)).numpy()
    np.float32(0.5)
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"RegisterGradient: op_type must be a string, got {op_type!r}.")
        self._name = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the function, and gives it back.

        Args:
          f: the function, which takes the op and the gradients of its outputs.

        Returns:
          The same function.

        Raises:
          KeyError: if there is a gradient of that name, or an op with a gradient of its own.
          TypeError: if it cannot be called.
        """
        if not callable(f):
            raise TypeError(f"RegisterGradient: a function is expected, got {f!r}.")
        _enter(self._name, f)
        return f


def no_gradient(op_type: str) -> None:
    """Says that ops of a type are not differentiable.

    All ops of Weft say so themselves, or have a gradient, which cannot be taken from them. Under
    other names, it is for `tf.Graph.gradient_override_map`.

    Args:
      op_type: the name of an op, such as "Floor", or any other.

    Raises:
      KeyError: if there is a gradient of that name, or an op with a gradient of its own.
      TypeError: if `op_type` is no string.

    >>> tf.no_gradient("Floor")
    >>> tf.no_gradient("Exp")
    Traceback (most recent call last):
    KeyError: 'The op Exp has a gradient. Use tf.custom_gradient or tf.stop_gradient, ...
    """
    if not isinstance(op_type, str):
        raise TypeError(f"no_gradient: op_type must be a string, got {op_type!r}.")
    if is_op(op_type) and find_op(op_type).vjp is NOT_DIFFERENTIABLE:
        return
    _enter(op_type, None)


def _enter(name: str, gradient: Callable[..., Any] | None) -> None:
    if name in _registered:
        raise KeyError(f"There is a gradient called {name!r} already. Use another name.")
    if is_op(name):
        op = find_op(name)
        if op.vjp is not NOT_DIFFERENTIABLE:
            raise KeyError(
                f"The op {name} has a gradient. Use tf.custom_gradient or tf.stop_gradient, or "
                "another name and tf.Graph.gradient_override_map."
            )
        if gradient is not None:
            op.vjp = _rule(op, name, gradient)
    _registered[name] = gradient


def overridden(op: Op, names: Mapping[str, str]) -> Op:
    """The op that is added to a graph for which other gradients are wanted."""
    name = names.get(op.name)
    if name is None:
        return op
    if op.kernel is STRUCTURED:
        raise ValueError(
            f"gradient_override_map: {op.name} holds graphs, and has no gradient of its own to "
            "replace. Use tf.custom_gradient."
        )
    if name not in _registered:
        raise LookupError(
            f"gradient_override_map: no gradient is called {name!r}. Register it with "
            "tf.RegisterGradient before ops are added."
        )
    variant = _variants.get((op, name))
    if variant is None:
        variant = op.with_gradient(_gradient(op, name))
        _variants[op, name] = variant
    return variant


def _gradient(op: Op, name: str) -> Any:
    found = _registered[name]
    return NOT_DIFFERENTIABLE if found is None else _rule(op, name, found)
