"""Ops and functions on a mesh: several devices that have tensors and variables together.

Everything is one program for all devices of the mesh. XLA finds out who computes what from where
the parts of its inputs are, and from what `relayout` asks for; plain tensors are copied to all.
"""

from __future__ import annotations

import logging
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.holding import run_holding
from weft._src.core.placed import MeshTensor
from weft._src.core.tensor import EagerTensor
from weft._src.errors import InvalidArgumentError, OpError
from weft._src.execution.mesh_names import mesh_of, meshes_of
from weft._src.execution.runner import locked_inputs, locks_of, plan_of
from weft._src.execution.single_ops import SingleOp, kinds_of
from weft._src.graph.ir import Graph
from weft._src.ops.arrays.relayout import relayout_op
from weft._src.ops.control.call import call_op
from weft._src.ops.dispatch import install_mesh_runner, run_kernel
from weft._src.ops.registry import Op

_MOST_PROGRAMS = 512  # of single ops

_log = logging.getLogger("weft")


def _common_mesh(op: Op, inputs: Sequence[Any], more: Sequence[Any]) -> Any:
    found: list[Any] = []
    for mesh in (*[mesh_of(x) for x in inputs], *more):
        if mesh is not None and mesh not in found:
            found.append(mesh)
    if len(found) > 1:
        raise InvalidArgumentError(
            None,
            None,
            f"{op.name}: its inputs belong to different meshes, {found[0].to_string()} and "
            f"{found[1].to_string()}. Bring them to one with tf.experimental.dtensor.relayout.",
        )
    return found[0]


def run_on_mesh(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Runs an op, or the call of a graph, on the mesh of its inputs, or that it names."""
    if op is call_op:
        mesh = _common_mesh(op, inputs, meshes_of(attrs["body"]))
        results = _call(attrs["body"], inputs, mesh)
    else:
        mesh = _common_mesh(op, inputs, [attrs["layout"].mesh] if op is relayout_op else [])
        results = _single(op, inputs, attrs, mesh)
    out = [_tensor(x, mesh) for x in results]
    return out[0] if op.outputs == 1 else tuple(out)


def _tensor(value: Any, mesh: Any) -> EagerTensor:
    """What a program gives; what the host had to compute is an ordinary tensor."""
    return MeshTensor(value, mesh) if hasattr(value, "sharding") else EagerTensor(value)


def _there(x: EagerTensor) -> Any:
    return x.held if isinstance(x, MeshTensor) else x._value


def _hosted(values: Sequence[Any]) -> list[Any]:
    """Values of which all parts are here, for NumPy."""
    return [np.asarray(v) if hasattr(v, "sharding") else v for v in values]


# --- calls of graphs -----------------------------------------------------------------------------

_plans: weakref.WeakKeyDictionary[Graph, dict[Any, Any]] = weakref.WeakKeyDictionary()


def _call(body: Graph, inputs: Sequence[EagerTensor], mesh: Any) -> Sequence[Any]:
    from weft._src.execution.native.loops.values import NotCompilableError
    from weft._src.execution.xla.meshes import MeshProgram

    plans = _plans.setdefault(body, {})
    numpy = plan_of(body).by_numpy
    values = [_there(x) for x in inputs]
    locks = locks_of([values[i] for i in locked_inputs(body)])
    who = f"a call of {body.name}"
    try:
        if mesh not in plans:
            plans[mesh] = MeshProgram(body, numpy, mesh)
        found: Sequence[Any] = run_holding(locks, plans[mesh], values, who)
    except NotCompilableError as reason:
        if not reason.fails:
            _refuse_or_log(body.name, mesh, reason)
        found = run_holding(locks, numpy, _hosted(values), who)
    return found


def _refuse_or_log(what: str, mesh: Any, reason: Exception) -> None:
    if not flags.soft_placement:
        raise InvalidArgumentError(
            None,
            None,
            f"{what} cannot run on the mesh {mesh.to_string()}: {reason}. Let the CPU stand in "
            "with tf.config.set_soft_device_placement(True).",
        )
    _log.info("%s runs on the CPU and not on a mesh: %s", what, reason)


# --- single ops ----------------------------------------------------------------------------------

_programs: OrderedDict[Any, Any] = OrderedDict()


def _single(
    op: Op, inputs: Sequence[EagerTensor], attrs: dict[str, Any], mesh: Any
) -> Sequence[Any]:
    from weft._src.execution.native.loops.values import NotCompilableError
    from weft._src.execution.xla.meshes import MeshProgram

    key = (op, mesh, *attrs.items(), *kinds_of(op, inputs))
    try:
        found = _programs.get(key)
    except TypeError:  # an attribute that cannot be a key
        key, found = (), None
    try:
        if found is None:
            found = SingleOp(op, inputs, attrs, partial(MeshProgram, mesh=mesh))
        results: Sequence[Any] = found([_there(x) for x in inputs])
        if key:
            _programs[key] = found
            _programs.move_to_end(key)
            if len(_programs) > _MOST_PROGRAMS:
                _programs.popitem(last=False)
        return results
    except NotCompilableError as reason:
        if not reason.fails:
            _refuse_or_log(op.name, mesh, reason)
    except (OpError, TypeError, ValueError) as error:
        if op is relayout_op and isinstance(error, InvalidArgumentError):
            raise
    out = run_kernel(op, _hosted([_there(x) for x in inputs]), attrs)  # which says what is wrong
    return (out,) if op.outputs == 1 else out


install_mesh_runner(run_on_mesh)
