"""What runs where: ops and calls in the scope of `tf.device`, and functions that name devices.

In the scope of a device an op is a program of its own there, and what it gives stays there. A
function is one program, or several if it names other devices itself. Outside of scopes everything
runs on the host, whatever its inputs are on; but a function whose variables are on one device runs
where they are.
"""

from __future__ import annotations

import logging
import sys
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.cells import VariableCell
from weft._src.core.context import state
from weft._src.core.flags import flags
from weft._src.core.holding import run_holding
from weft._src.core.placed import MeshHandle, MeshInput, MeshTensor, PlacedTensor
from weft._src.core.tensor import EagerTensor
from weft._src.errors import OpError
from weft._src.execution.devices import HOST_PLACE, Place, place_of
from weft._src.execution.runner import locked_inputs, locks_of, plan_of
from weft._src.execution.single_ops import SingleOp, kinds_of
from weft._src.graph.ir import Graph
from weft._src.ops.arrays.source import const_op
from weft._src.ops.control.call import call_op
from weft._src.ops.dispatch import install_placed_runner, run_eagerly
from weft._src.ops.registry import Op

_log = logging.getLogger("weft")

_CPU = 1  # to DLPack
_MOST_PROGRAMS = 512  # of single ops

_UNPLACED = (dtypes.resource, dtypes.variant)  # objects of the host


def run_placed(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Runs an op, or the call of a graph, on the device of the scope that is open."""
    if any(isinstance(x, (MeshTensor, MeshHandle)) for x in inputs):
        raise MeshInput
    place = place_of(state.device)
    if place.backend is None:
        out = run_eagerly(op, inputs, attrs)
        return _named(out, place) if op.outputs == 1 else tuple([_named(x, place) for x in out])
    if op is const_op:
        return _constant(attrs["value"], place)
    if op is call_op:
        return tuple([_tensor(x, place) for x in _call(attrs["body"], inputs, place)])
    results = _run_op(op, inputs, attrs, place)
    if results is None:
        return run_eagerly(op, inputs, attrs)
    out = [_tensor(x, place) for x in results]
    return out[0] if op.outputs == 1 else tuple(out)


def _named(tensor: EagerTensor, place: Place) -> EagerTensor:
    """A tensor of a device that is another name of the host."""
    value = tensor._value
    if place is HOST_PLACE or value.dtype in _UNPLACED:
        return tensor
    return PlacedTensor(value, place.name, value)


def _tensor(value: Any, place: Place) -> EagerTensor:
    """What a program gives; what the host had to compute may be something no device can hold."""
    if hasattr(value, "devices"):
        return PlacedTensor(value, place.name)
    return EagerTensor(value)


def _constant(value: Any, place: Place) -> EagerTensor:
    from weft._src.execution.xla import placed

    held = placed.on_device(value, place)
    return EagerTensor(value) if held is value else PlacedTensor(held, place.name, value)


def _there(x: EagerTensor) -> Any:
    """The array of a tensor, wherever that is."""
    return x.held if isinstance(x, PlacedTensor) else x._value


def adopted(source: Any) -> EagerTensor | None:
    """The array of another library as a tensor where it is; None if the host can read it.

    Arrays of jax are shared, as nobody can change them. Those of others are copied on the device.
    """
    kind = getattr(source, "__dlpack_device__", lambda: (_CPU, 0))()[0]
    is_of_jax = "jax" in sys.modules and isinstance(source, sys.modules["jax"].Array)
    if int(kind) == _CPU and not is_of_jax:
        return None
    from weft._src.execution.xla import placed

    array, place = placed.adopted(source)
    if place == HOST_PLACE:
        return EagerTensor(np.asarray(array))
    return PlacedTensor(array, place.name)


# --- calls of graphs -----------------------------------------------------------------------------

_plans: weakref.WeakKeyDictionary[Graph, dict[str, Any]] = weakref.WeakKeyDictionary()


def _call(body: Graph, inputs: Sequence[EagerTensor], place: Place) -> Sequence[Any]:
    plans = _plans.setdefault(body, {})
    plan = plans.get(place.name)
    if plan is None:
        plan = plans[place.name] = device_plan(body, place, keeps=True)
    values = [_there(x) for x in inputs]
    locks = locks_of([values[i] for i in locked_inputs(body)])
    return run_holding(locks, plan, values, f"a call of {body.name}")


def device_plan(graph: Graph, place: Place, *, keeps: bool) -> Any:
    """A graph for a device: what is called with the values of its inputs."""
    from weft._src.execution.xla import placed

    return placed.DevicePlan(graph, place, plan_of(graph).by_numpy, keeps=keeps)


# --- single ops ----------------------------------------------------------------------------------


_programs: OrderedDict[Any, SingleOp | Exception] = OrderedDict()


def _run_op(
    op: Op, inputs: Sequence[EagerTensor], attrs: dict[str, Any], place: Place
) -> Sequence[Any] | None:
    """What an op gives on a device; None if the host has to run it.

    That is so for what fails, too: the kernel says what is wrong.
    """
    from weft._src.execution.native.loops.values import NotCompilableError
    from weft._src.execution.xla import placed
    from weft._src.execution.xla.plan import Program

    if not all(_is_usable(x._value) for x in inputs if x.dtype in _UNPLACED):
        return None
    key = (op, place, *attrs.items(), *kinds_of(op, inputs))
    try:
        found = _programs.get(key)
    except TypeError:  # an attribute that cannot be a key
        key, found = (), None
    try:
        if found is None:
            found = SingleOp(
                op,
                inputs,
                attrs,
                lambda graph, kernel: Program(graph, kernel, place.backend, keeps=True),
            )
        if isinstance(found, SingleOp):
            results: Sequence[Any] = found([_there(x) for x in inputs])
            _keep(key, found)
            return results
    except NotCompilableError as reason:
        if reason.fails:
            return None
        found = reason
    except (OpError, TypeError, ValueError):
        return None
    if flags.soft_placement or op.advances_stream:
        if key not in _programs:
            _log.info("%s runs on the CPU and not on %s: %s", op.name, place.name, found)
        _keep(key, found)
        return None
    raise placed.refusal(op.name, place, found)


def _is_usable(cell: Any) -> bool:
    """Whether an object of the host is a variable that has a value."""
    return isinstance(cell, VariableCell) and (cell.held is not None or cell.data is not None)


def _keep(key: Any, program: SingleOp | Exception) -> None:
    if key:
        _programs[key] = program
        _programs.move_to_end(key)
        if len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)


install_placed_runner(run_placed)
