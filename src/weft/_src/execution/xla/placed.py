"""Graphs on devices: one program where all of it is meant for one device, else segments.

A node runs on the device it asks for, or where the call was made. What XLA has no form of runs on
NumPy if the CPU may stand in (`tf.config.set_soft_device_placement`), and is an error otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.dlpack
import jax.numpy as jnp
import numpy as np

from weft._src.core.flags import flags
from weft._src.errors import InvalidArgumentError
from weft._src.execution.devices import Place, place_of
from weft._src.execution.native.front.segments import Variables
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.execution.xla import arrays
from weft._src.execution.xla.plan import Program, are_variables
from weft._src.execution.xla.runtime import computing_on
from weft._src.execution.xla.segments import Segmented, XlaSplitter, kinds_of
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes.forget import forget_gradients
from weft._src.graph.passes.inline import inline_calls

_MOST_SHAPES = 8  # versions of a graph in segments

_log = logging.getLogger("weft")


def refusal(what: str, place: Place, reason: object) -> InvalidArgumentError:
    """The error of something that a device cannot do."""
    return InvalidArgumentError(
        None,
        None,
        f"{what} cannot run on {place.name}: {reason}. Open tf.device('/CPU:0') around it, or let "
        "the CPU stand in with tf.config.set_soft_device_placement(True).",
    )


class DevicePlan:
    """The executable form of a graph that is called on a device, or names some.

    place: where nodes run that ask for no device.
    keeps: whether results stay there, as arrays of jax; else they are NumPy's.
    fallback: runs calls that fail, and tells what is wrong.
    """

    def __init__(
        self, graph: Graph, place: Place, fallback: Callable[..., Any], *, keeps: bool
    ) -> None:
        self._graph = inline_calls(forget_gradients(graph))
        self._place, self._keeps, self._fallback = place, keeps, fallback
        self._cells = [
            i for i, x in enumerate(self._graph.all_inputs) if x.dtype.name == "resource"
        ]
        self._versions: list[Segmented] = []
        self._program: Program | None = None
        if _places_in(self._graph, place) <= {place}:
            try:
                self._program = Program(self._graph, fallback, place.backend, keeps=keeps)
            except NotCompilableError as reason:
                self._note(reason)

    def __call__(self, *values: Any) -> Any:
        if self._program is not None and are_variables(values, self._cells):
            try:
                return self._placed(self._program(*values))
            except NotCompilableError as reason:
                if reason.fails:  # on every device: NumPy says it best
                    return self._fallback(*_hosted(values))
                self._note(reason)
                self._program = None
        return self._placed(self._in_segments(_hosted(values)))

    def _note(self, reason: NotCompilableError) -> None:
        _log.info("%s is not one program on %s: %s", self._graph.name, self._place.name, reason)

    def _in_segments(self, values: list[Any]) -> Any:
        kinds = kinds_of(values)
        for version in self._versions:
            if version.fits(kinds):
                return version(*values)
        made = Segmented(self._graph, values, DeviceSplitter(self._place))
        self._versions = [made, *self._versions[: _MOST_SHAPES - 1]]
        return made(*values)

    def _placed(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Results where they are wanted. Those that the host computed may have to go there."""
        if not self._keeps:
            return tuple(results)
        with computing_on(self._place.backend):
            return tuple([on_device(x, self._place) for x in results])


def on_device(value: Any, place: Place) -> Any:
    """An array as one of a device's; what jax cannot hold stays as it is."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.dtype.isbuiltin:
        return arrays.given(value, place.backend)
    return value


def adopted(source: Any) -> tuple[Any, Place]:
    """An array of another library as one of jax's, a copy unless it was that, and where it is."""
    array = source
    with computing_on(None):
        if not isinstance(source, jax.Array):
            array = jnp.array(jax.dlpack.from_dlpack(source), copy=True)
        (device,) = array.devices()
    kind = device.platform.upper()
    number = jax.local_devices(backend=device.platform).index(device)
    return array, place_of(f"/device:{kind}:{number}")


def _hosted(values: Sequence[Any]) -> list[Any]:
    return [np.asarray(v) if isinstance(v, jax.Array) else v for v in values]


def _place(node: Node, default: Place) -> Place:
    return place_of(node.device) if node.device else default


def _places_in(graph: Graph, default: Place) -> set[Place]:
    """All places that nodes of a graph ask for, those in branches and loops included."""
    found: set[Place] = set()
    for node in graph.body:
        if node.is_const:
            continue
        here = _place(node, default)
        found.add(here)
        for _, inner in node.nested:
            found |= _places_in(inner, here)
    return found


class DeviceSplitter(XlaSplitter):
    """Rewrites a graph into programs on several devices, and what is left to the host."""

    def __init__(self, default: Place) -> None:
        super().__init__()
        self._default = default
        self._backends: list[Any] = []

    def split(self, graph: Graph, variables: Variables) -> Graph:
        """The graph with programs in place of the nodes that devices run."""
        places = sorted(_places_in(graph, self._default), key=lambda place: place.name)
        self._backends = [place.backend for place in places if place.backend is not None]
        self._kinds = len(self._backends) + 1
        return super().split(graph, variables)

    def _native_nodes(self, graph: Graph, variables: Variables) -> tuple[set[int], set[int]]:
        able, checked = super()._native_nodes(graph, variables)
        for node in graph.body:
            place = _place(node, self._default)
            if place.backend is None:
                able.discard(id(node))
            elif id(node) not in able and not (node.is_const or flags.soft_placement):
                self._refuse(node, place)
            elif any(_places_in(inner, place) - {place} for _, inner in node.nested):
                able.discard(id(node))  # what is inside is split
        return able, checked & able

    def _refuse(self, node: Node, place: Place) -> None:
        # Streams are the host's everywhere: only where they stand is taken from them.
        if node.op.advances_stream:
            return
        error = refusal(node.op.name, place, self.left_out.get(node.op, "it has no form there"))
        error.location = node.location
        raise error

    def _kind_of(self, node: Node) -> int:
        return self._backends.index(_place(node, self._default).backend)

    def _compiled(self, kind: int, body: Graph, specs: list[Any]) -> Callable[..., Any]:
        return Program(body, NumpyPlan(body), self._backends[kind])
