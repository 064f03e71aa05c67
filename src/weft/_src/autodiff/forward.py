"""`tf.autodiff.ForwardAccumulator`: derivatives along a direction, computed with the values.

No op has a forward rule. A gradient rule is linear in the gradient of the output, so its own
gradient, seeded with the tangents of the inputs, is the tangent of the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from weft._src import nest
from weft._src.autodiff.partial import Gradient, worked_out
from weft._src.autodiff.sweep import VjpContext, backward_dense, takes_gradient
from weft._src.autodiff.tape import GradientTape
from weft._src.autodiff.unconnected import UnconnectedGradients
from weft._src.core import context
from weft._src.core.aliases import TensorNest
from weft._src.core.context import recording, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT, variant
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops.arrays import fill
from weft._src.ops.control import stack
from weft._src.ops.indexing import gathering
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import NO_ATTRS, Absent, Op


class ForwardAccumulator:
    """Computes Jacobian-vector products of everything in a `with` block.

    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x * x
    >>> acc.jvp(y).numpy()
    array([4., 0.], dtype=float32)
    """

    repeatedly = True

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        # Ids are the keys; the tensors themselves are kept so that they stay theirs.
        self._tangents: dict[int, tuple[Tensor, Tensor]] = {}
        self._active = False
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        key = _key(primal)
        dtype = primal.dtype
        if dtype not in INEXACT:
            raise TypeError(
                f"ForwardAccumulator: primals must be floating, got {dtype.name}. Convert it with "
                "tf.cast."
            )
        tangent = convert_to_tensor(tangent, dtype=dtype)
        if not tangent.shape.is_compatible_with(primal.shape):
            raise ShapeError(
                "ForwardAccumulator: a tangent must have the shape of its primal, expected "
                f"{primal.shape}, got {tangent.shape}."
            )
        self._tangents[id(key)] = (key, tangent)

    def __enter__(self) -> Self:
        if self._active:
            raise ValueError("This accumulator is recording already.")
        self._active = True
        context.push_tape(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._active:
            self._active = False
            context.pop_tape(self)

    def record(self, op: Op, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Computes the tangents of one op's outputs; called by the dispatcher like a tape's.

        Args:
          op: the op that has run.
          inputs: its input tensors.
          attrs: its attributes, by name.
          outputs: its output: one tensor, or a tuple of them if the op does not always have one.
        """
        if isinstance(op.vjp, Absent) or not any(id(x) in self._tangents for x in inputs):
            return
        results = (outputs,) if op.outputs == 1 else outputs
        # What was started before this accumulator sees how the tangents come about.
        outer = state.tapes[: state.tapes.index(self)]
        with recording(outer):
            if op.linear:
                found: Sequence[Tensor | None] = self._applied(op, inputs, attrs)
            else:
                found = self._pushed(op, inputs, attrs, results)
        for out, tangent in zip(results, found, strict=True):
            if tangent is not None:
                self._tangents[id(out)] = (out, tangent)

    def record_pair(self, op: Op, x: Tensor, y: Tensor, out: Tensor) -> None:
        """The same as `record` for an operator on two eager tensors.

        Args:
          op: the operator, which has no attributes.
          x: the left tensor.
          y: the right tensor.
          out: the result.
        """
        self.record(op, (x, y), NO_ATTRS, out)

    def left(self, tensor: Tensor) -> None:
        """Values may be taken out: this does nothing, where a tape notes it to explain gradients.

        Args:
          tensor: the tensor whose value was taken out as a NumPy array or a Python number.
        """

    def _pushed(
        self, op: Op, inputs: Any, attrs: dict[str, Any], outputs: Any
    ) -> Sequence[Tensor | None]:
        """The gradient of the gradient rule, from the tangents of the inputs."""
        # Their values do not matter; a rule may look for zeros, though.
        seeds = [_seed(out) if takes_gradient(out) else None for out in outputs]
        wanted = [seed for seed in seeds if seed is not None]
        if not wanted:
            return [None] * len(seeds)
        ctx = VjpContext(inputs, attrs, outputs, self._tangents)
        with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            for seed in wanted:
                tape._watched[id(seed)] = seed
            gradients = op.vjp(ctx, *seeds)
            gradients = [self._only_rows(x, g) for x, g in zip(inputs, gradients, strict=True)]
        pairs = [pair for pair in gradients if pair is not None]
        found = iter(
            backward_dense(
                tape._records or [], [g for g, _ in pairs], [t for _, t in pairs], wanted
            )
        )
        return [None if seed is None else next(found) for seed in seeds]

    def _only_rows(self, x: Tensor, g: Gradient | None) -> tuple[Tensor, Tensor] | None:
        """A gradient that a rule returned and the tangent it is weighted with, as tensors."""
        if g is None or id(x) not in self._tangents:
            return None
        tangent = self._tangents[id(x)][1]
        g = worked_out(g)
        if isinstance(g, IndexedSlices):  # no other rows matter
            return g.values, gathering.gather(tangent, g.indices)
        return g, tangent

    def _applied(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> Sequence[Tensor]:
        """The tangents of an op that is linear in some inputs: the op of their tangents."""
        tangents = list(inputs)
        for i in op.linear:
            found = self._tangents.get(id(inputs[i]))
            tangents[i] = _zeros(inputs[i]) if found is None else found[1]
        out = op(*tangents, **attrs)
        return (out,) if op.outputs == 1 else out

    def jvp(
        self, primals: TensorNest, unconnected_gradients: str = UnconnectedGradients.NONE
    ) -> Any:
        """The tangents of tensors (in any nest) that were computed in the block.

        None for those that do not depend on the primals, or zeros if that is asked for.

        Args:
          primals: a tensor or variable, or a nest of them.
          unconnected_gradients: "none" or "zero" (`tf.UnconnectedGradients`), what stands for the
            tangent of something that does not depend on the primals.

        Returns:
          A nest like `primals` of tangents, each with the shape and dtype of its primal.

        Raises:
          ValueError: if `unconnected_gradients` is something else.
          TypeError: if `primals` holds something that is neither tensor nor variable.

        >>> x = tf.constant(3.0)
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        ...     y = x * x
        >>> acc.jvp(y).numpy()
        np.float32(6.0)
        """
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f"unconnected_gradients must be 'none' or 'zero', got {unconnected_gradients!r}."
            )

        def tangent(leaf: Any) -> Tensor | None:
            found = self._tangents.get(id(_key(leaf)))
            if found is not None:
                return found[1]
            return fill.zeros_like(leaf) if unconnected_gradients == "zero" else None

        return nest.map_structure(tangent, primals)


def _key(leaf: Any) -> Tensor:
    tensor = getattr(leaf, "handle", leaf)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"ForwardAccumulator: expected tensors and variables, got {leaf!r}.")
    return tensor if state.graph is None else state.graph.capture(tensor)


def _seed(out: Tensor) -> Tensor:
    return stack.zeros_like_op(out) if out.dtype is variant else fill.ones_like(out)


def _zeros(out: Tensor) -> Tensor:
    return stack.zeros_like_op(out) if out.dtype is variant else fill.zeros_like(out)
