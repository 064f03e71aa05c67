"""`tf.GradientTape`: records the ops that act on watched tensors, and plays them backwards.

Ids of tensors are the keys; the records keep the tensors alive, so an id cannot be taken over by
another tensor while the tape lives.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self, TypeAlias, TypeVar, overload

from weft._src import nest
from weft._src.autodiff import (
    calls as calls,  # register gradients
    control as control,  # register gradients
    jacobians,  # register gradients
    structured,
)
from weft._src.autodiff.breaks import Breaks
from weft._src.autodiff.sweep import Record, backward, backward_dense
from weft._src.autodiff.unconnected import UnconnectedGradients
from weft._src.core import context
from weft._src.core.aliases import SupportsTensor, TensorLike, TensorNest
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT, resource
from weft._src.core.location import user_location
from weft._src.core.tensor import Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.graph.origins import variable_behind
from weft._src.ops.arrays import fill
from weft._src.ops.elementwise.casting import cast_op
from weft._src.ops.indexing import gathering
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import NO_ATTRS, NOT_DIFFERENTIABLE, Op

_logger = logging.getLogger("weft")

# What gradients are taken of: a tensor, or what holds one, as variables and composites do.
Source: TypeAlias = Tensor | SupportsTensor
_S = TypeVar("_S", bound=Source)
_K = TypeVar("_K")
_Recorder: TypeAlias = Callable[[Op, Tensor, Tensor, Tensor], None]


_Zero: TypeAlias = Literal["zero", UnconnectedGradients.ZERO]


def _pair_recorder(
    watched: dict[int, Any], append: Callable[[Record], None], breaks: Breaks
) -> _Recorder:
    """`GradientTape.record` for an operator on two eager tensors: 0.45 us instead of 0.8."""

    def record_pair(op: Op, x: Tensor, y: Tensor, out: Tensor) -> None:
        if id(x) in watched or id(y) in watched:
            watched[id(out)] = out
            append((op, (x, y), NO_ATTRS, (out,)))
        elif breaks.severed:
            breaks.follow((x, y), (out,))

    return record_pair


class GradientTape:
    """Records ops in a `with` block so that gradients can be computed afterwards.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)
    """

    repeatedly = False

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._active = False
        self.reset()

    # --- recording -----------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._active:
            raise ValueError("This tape is recording already; use a second tape to nest them.")
        if self._records is None:
            self.reset()
        self._active = True
        context.push_tape(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._active:
            self._active = False
            context.pop_tape(self)

    def watch(self, tensor: TensorNest) -> None:
        """Records what is computed from a tensor or variable, or from all in a nest.

        Args:
          tensor: a tensor, variable or composite tensor, or a nest of them. If its dtype is neither
            floating nor complex, a warning is logged.

        Raises:
          ValueError: if there is something else in it.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = 2.0 * x
        >>> tape.gradient(y, x).numpy()
        np.float32(2.0)
        """
        if isinstance(tensor, CompositeTensor):
            tensor = tensor.all_values
        elif structured.is_structured(tensor):
            tensor = structured.opened(tensor)
        for leaf in nest.flatten(tensor, expand_composites=True):
            handle = getattr(leaf, "handle", None)
            if handle is not None:
                self._watch_handle(_here(handle), leaf)
                continue
            if not isinstance(leaf, Tensor):
                raise ValueError(f"A tape watches tensors and variables, got {leaf!r}.")
            if leaf.dtype not in INEXACT:
                _logger.warning(
                    "The dtype of a watched tensor must be floating (e.g. tf.float32), got %s.",
                    leaf.dtype.name,
                )
            leaf = _here(leaf)
            self._watched[id(leaf)] = leaf

    def _watch_handle(self, handle: Tensor, variable: Any) -> None:
        self._watched[id(handle)] = handle
        self._variables.setdefault(id(variable), variable)

    def record(self, op: Op, inputs: Any, attrs: dict[str, Any], outputs: Any) -> None:
        """Notes one executed op; called by the dispatcher for every op while the tape records.

        Args:
          op: the op that has run.
          inputs: its input tensors.
          attrs: its attributes, by name.
          outputs: its output: one tensor, or a tuple of them if the op does not always have one.
        """
        watched = self._watched
        if op.vjp is NOT_DIFFERENTIABLE:
            self.breaks.note(op, inputs, (outputs,) if op.outputs == 1 else outputs, watched)
            return
        if op.has_resources and self._watch_variables:
            for x in inputs:
                if x.dtype is resource:
                    self._watch_if_trainable(x)
        for x in inputs:
            if id(x) in watched:
                break
        else:
            if self.breaks.severed:
                self.breaks.follow(inputs, (outputs,) if op.outputs == 1 else outputs)
            return
        if op.outputs == 1:
            self._records.append((op, inputs, attrs, (outputs,)))  # type: ignore[union-attr]
            watched[id(outputs)] = outputs
            if op is cast_op:
                self.breaks.note_cast(outputs)
        else:
            self._records.append((op, inputs, attrs, outputs))  # type: ignore[union-attr]
            for out in outputs:
                watched[id(out)] = out

    def left(self, tensor: Tensor) -> None:
        """Notes that a tensor's value was taken out, as a NumPy array or a Python number.

        Args:
          tensor: the tensor. `tf.explain_gradient` tells of it if the tape watches it.
        """
        if id(tensor) in self._watched or tensor.dtype is resource:
            self.breaks.left.append((tensor, user_location(beyond_libraries=True)))

    def _watch_if_trainable(self, handle: Tensor) -> None:
        variable = variable_behind(handle)
        if variable is not None and variable.trainable:
            self._watch_handle(handle, variable)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Ops inside the block are not recorded.

        Returns:
          A context manager; the tape goes on recording behind it.

        Raises:
          ValueError: on entering it, if the tape is not recording.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     with tape.stop_recording():
        ...         y = x * x
        >>> print(tape.gradient(y, x))
        None
        """
        if not self._active:
            raise ValueError("stop_recording() needs a tape that is recording.")
        context.pop_tape(self)
        self._active = False
        try:
            yield
        finally:
            self._active = True
            context.push_tape(self)

    def reset(self) -> None:
        """Forgets everything recorded and watched so far."""
        self._records: list[Record] | None = []
        self._watched: dict[int, Any] = {}
        self._variables: dict[int, Any] = {}
        self.breaks: Breaks = Breaks()
        self.record_pair: _Recorder = _pair_recorder(
            self._watched, self._records.append, self.breaks
        )

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables the tape watches, in the order in which it met them.

        Returns:
          A tuple of variables; empty after `reset`.

        >>> v = tf.Variable(1.0)
        >>> with tf.GradientTape() as tape:
        ...     y = v * 2.0
        >>> tape.watched_variables()[0] is v
        True
        """
        return tuple(self._variables.values())

    # --- playing back --------------------------------------------------------------------------

    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: Source,
        output_gradients: TensorNest = None,
        *,
        unconnected_gradients: _Zero,
    ) -> Tensor: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: list[_S],
        output_gradients: TensorNest = None,
        *,
        unconnected_gradients: _Zero,
    ) -> list[Tensor]: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: tuple[_S, ...],
        output_gradients: TensorNest = None,
        *,
        unconnected_gradients: _Zero,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: Source,
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> Tensor | None: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: list[_S],
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> list[Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: tuple[_S, ...],
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> tuple[Tensor | None, ...]: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: dict[_K, _S],
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> dict[_K, Tensor | None]: ...
    @overload
    def gradient(
        self,
        target: TensorNest,
        sources: Any,
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> Any: ...
    @hides_own_frames
    def gradient(
        self,
        target: TensorNest,
        sources: Any,
        output_gradients: TensorNest = None,
        unconnected_gradients: str = UnconnectedGradients.NONE,
    ) -> Any:
        """The derivatives of the (sum of the) target with respect to each source.

        None for a source the target does not depend on, or zeros if `unconnected_gradients` is
        "zero". A tape that is not persistent can be asked once. A source of which only some rows
        were picked has `tf.IndexedSlices`, which stand for a tensor everywhere but in types.

        Args:
          target: a tensor or variable, or a nest of them. Those that are neither floating nor
            complex are left out, with a warning.
          sources: a tensor or variable, or a nest of them.
          output_gradients: the gradients that the targets start from, a nest like `target`; None is
            ones.
          unconnected_gradients: "none" or "zero" (`tf.UnconnectedGradients`).

        Returns:
          A nest like `sources` with a gradient of the shape and dtype of each.

        Raises:
          RuntimeError: if the tape is not persistent and was asked before.
          TypeError: if a target is None, or a source is neither tensor nor variable.
          ValueError: if `unconnected_gradients` is something else, or there are more or fewer
            `output_gradients` than targets.

        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, {"x": x})["x"].numpy()
        np.float32(6.0)
        """
        if structured.any_structured(sources):
            return structured.gradient(
                lambda parts: self.gradient(target, parts, output_gradients, unconnected_gradients),
                sources,
            )
        self._check_usable(unconnected_gradients)
        with self._playing():
            gradients = self._sweep(target, sources, output_gradients)
            if any(g is None for g in gradients):
                self.breaks.keep(self._records, self._watched)
        for i, source in enumerate(nest.flatten(sources)):
            if gradients[i] is None:
                gradients[i] = fill.zeros_like(source) if unconnected_gradients == "zero" else None
            elif isinstance(source, CompositeTensor):
                gradients[i] = source.with_all_values(gradients[i])
        return nest.pack_sequence_as(sources, gradients)

    @overload
    def jacobian(
        self,
        target: TensorLike,
        sources: Source,
        unconnected_gradients: str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None: ...
    @overload
    def jacobian(
        self,
        target: TensorLike,
        sources: list[_S],
        unconnected_gradients: str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> list[Tensor | None]: ...
    @overload
    def jacobian(
        self,
        target: TensorLike,
        sources: Any,
        unconnected_gradients: str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any: ...
    @hides_own_frames
    def jacobian(
        self,
        target: TensorLike,
        sources: Any,
        unconnected_gradients: str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of every element of the target with respect to each source.

        Each has the shape `target.shape + source.shape`.

        Args:
          target: a floating or complex tensor; one, no nest.
          sources: a tensor or variable, or a nest of them.
          unconnected_gradients: "none" or "zero": what a source gets on which the target does not
            depend.
          parallel_iterations: accepted for compatibility.
          experimental_use_pfor: False asks, as in TensorFlow, for a persistent tape; the result is
            the same.

        Returns:
          A nest like `sources` of tensors of the shape `target.shape + source.shape`.

        Raises:
          RuntimeError: if the tape is used up, or not persistent where `experimental_use_pfor` is
            False.
          TypeError: if the target is a nest, None or not floating, or a source is neither tensor
            nor variable.
          ValueError: if `unconnected_gradients` is something else.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
        """
        self._check_usable(unconnected_gradients)
        self._check_persistent("jacobian", experimental_use_pfor)
        tensor, keys = _single_target("jacobian", target), _keys(sources)
        flat = nest.flatten(sources)
        with self._playing():
            found = jacobians.jacobian(tensor, flat, self._pull(target, tensor, keys))
            if unconnected_gradients == "zero":
                found = [
                    jacobians.zeros(tensor, source) if j is None else j
                    for j, source in zip(found, flat, strict=True)
                ]
        return nest.pack_sequence_as(sources, found)

    @hides_own_frames
    def batch_jacobian(
        self,
        target: TensorLike,
        source: Source,
        unconnected_gradients: str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """The Jacobians of the rows of the target, each with respect to its row of the source.

        A target that does not depend on the source gives zeros.

        Args:
          target: a floating or complex tensor of shape `[b, ...]`, of at least two axes, of which
            each row depends only on the same row of the source.
          source: a tensor or variable of shape `[b, ...]`, of at least two axes.
          unconnected_gradients: "none" or "zero"; zeros stand for what is not connected either way.
          parallel_iterations: accepted for compatibility.
          experimental_use_pfor: False asks, as in TensorFlow, for a persistent tape; the result is
            the same.

        Returns:
          A tensor of shape `[b, ...target's other axes, ...source's other axes]`.

        Raises:
          RuntimeError: if the tape is used up, or not persistent where `experimental_use_pfor` is
            False.
          ShapeError: if target or source have less than two axes, or first axes of different sizes.
          TypeError: if the target is a nest, None or not floating, or the source is neither tensor
            nor variable.
          ValueError: if `unconnected_gradients` is something else.

        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy()[1]
        array([[6., 0.],
               [0., 8.]], dtype=float32)
        """
        self._check_usable(unconnected_gradients)
        self._check_persistent("batch_jacobian", experimental_use_pfor)
        tensor, keys = _single_target("batch_jacobian", target), _keys([source])
        jacobians.check_batched(tensor, source)
        with self._playing():
            found = jacobians.batch_jacobian(tensor, source, self._pull(target, tensor, keys))
            return jacobians.batch_zeros(tensor, source) if found is None else found

    def _pull(self, target: TensorNest, tensor: Tensor, keys: list[Tensor]) -> jacobians.Pull:
        at = _here(getattr(target, "handle", tensor))
        records = self._records
        return lambda seed: backward_dense(records, [at], [seed], keys)  # type: ignore[arg-type]

    def _check_usable(self, unconnected_gradients: str) -> None:
        if self._records is None:
            raise RuntimeError(
                "A tape can compute gradients only once. Make it persistent with "
                "tf.GradientTape(persistent=True) to ask it several times."
            )
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f"unconnected_gradients must be 'none' or 'zero', got {unconnected_gradients!r}."
            )

    def _check_persistent(self, method: str, experimental_use_pfor: bool) -> None:
        if not (experimental_use_pfor or self._persistent or state.graph is not None):
            raise RuntimeError(
                f"{method} with experimental_use_pfor=False sweeps once per element, which needs "
                "tf.GradientTape(persistent=True)."
            )

    @contextlib.contextmanager
    def _playing(self) -> Iterator[None]:
        """A tape that is not persistent is used up by it; another goes on recording."""
        if self._active and not self._persistent:
            context.pop_tape(self)
            self._active = False
        if self._active:
            _logger.warning(
                "A persistent tape that is asked for gradients inside of its `with` block records "
                "how they are computed, which takes time and memory. Ask it after the block, "
                "unless you want gradients of these gradients."
            )
        yield
        if not self._persistent:
            self._records = None
            self._watched = {}

    def _sweep(self, target: TensorNest, sources: Any, output_gradients: TensorNest) -> list[Any]:
        targets, seeds = [], []
        flat_targets = structured.flatten(target)
        flat_seeds = (
            [None] * len(flat_targets)
            if output_gradients is None
            else structured.flatten(output_gradients)
        )
        if len(flat_seeds) != len(flat_targets):
            raise ValueError(
                "gradient: output_gradients must have one item for each target, got "
                f"{len(flat_seeds)} for {len(flat_targets)}."
            )
        for t, seed in zip(flat_targets, flat_seeds, strict=True):
            if t is None:
                raise TypeError("The target of a gradient is None: nothing was computed.")
            if isinstance(t, IndexedSlices):  # a gradient: its rows are what was computed
                seed = None if seed is None else gathering.gather(seed, t.indices)
                t = t.values
            elif isinstance(t, CompositeTensor):
                seed = seed.all_values if isinstance(seed, CompositeTensor) else seed
                t = t.all_values
            handle = getattr(t, "handle", None)
            value = _here(handle) if handle is not None else _here(convert_to_tensor(t))
            like = convert_to_tensor(t)
            if like.dtype not in INEXACT:
                _logger.warning(
                    "The dtype of the target of a gradient must be floating, got %s.",
                    like.dtype.name,
                )
                continue
            targets.append(value)
            seeds.append(
                fill.ones_like(like) if seed is None else convert_to_tensor(seed, dtype=like.dtype)
            )
        return backward(self._records, targets, seeds, _keys(sources))  # type: ignore[arg-type]


def _keys(sources: Any) -> list[Tensor]:
    """What gradients are kept under: the tensors, and the handles of variables."""
    leaves = [s.all_values if isinstance(s, CompositeTensor) else s for s in nest.flatten(sources)]
    keys = [_here(getattr(s, "handle", s)) for s in leaves]
    for key in keys:
        if not isinstance(key, Tensor):
            raise TypeError(f"A source must be a tensor or a variable, got {key!r}.")
    return keys


def _single_target(method: str, target: Any) -> Tensor:
    if nest.is_nested(target) or target is None:
        raise TypeError(f"{method}: the target must be one tensor, got {target!r}.")
    tensor = _here(convert_to_tensor(target))
    if tensor.dtype not in INEXACT:
        raise TypeError(f"{method}: the target must be floating, got {tensor.dtype.name}.")
    return tensor


def _here(tensor: Any) -> Any:
    """A tensor as the graph that is being built knows it."""
    if state.graph is None or not isinstance(tensor, Tensor):
        return tensor
    return state.graph.capture(tensor)
