"""Devices by their names, and what computes on each of them.

The first CPU is the host: NumPy and machine code compute there. GPUs are jax's. Further names of
the CPU are names only, unless functions run on XLA: then each is a device of jax's, as a GPU is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft._src.core.cells import VariableCell
from weft._src.core.context import HOST
from weft._src.core.flags import flags
from weft._src.errors import InvalidArgumentError
from weft._src.graph.ir import Graph

HERE = "/job:localhost/replica:0/task:0"
_NAME = re.compile(
    r"(?:/job:(?P<job>[^/]+))?(?:/replica:(?P<replica>\d+))?(?:/task:(?P<task>\d+))?"
    r"(?:/device:(?P<kind>\w+):(?P<number>\d+|\*))?"
)


class Place(NamedTuple):
    """A device: its full name, and its form in jax; None where NumPy computes."""

    name: str
    backend: Any


HOST_PLACE = Place(HOST, None)


class _Names:
    """How many names the CPU has, and whether jax knows the devices of other processes."""

    cpus = 1
    of_other_processes = False


names = _Names()


def count_gpus(*, ask: bool = False) -> int:
    """How many GPUs jax finds; it is asked if it is in use, or `ask` says that somebody cares."""
    if "jax" not in sys.modules and flags.execution != "xla" and not ask:
        return 0
    from weft._src.execution.xla import runtime

    return runtime.count_gpus()


def spans_processes() -> bool:
    """Whether programs of XLA run on the devices of all processes of a job."""
    return names.of_other_processes and flags.execution == "xla"


def logical_names() -> list[str]:
    """All names that can be asked for, such as "/device:CPU:0"."""
    cpus = [f"/device:CPU:{i}" for i in range(names.cpus)]
    return [*cpus, *[f"/device:GPU:{i}" for i in range(count_gpus())]]


def place_of(name: str | None) -> Place:
    """The device of a name in its canonical form, which may lack parts; None is the host.

    Raises InvalidArgumentError if there is no such device, and the CPU may not stand in for it.
    """
    if name is None or name == HOST:
        return HOST_PLACE
    key = (name, flags.execution, names.cpus)
    found = _known.get(key)  # asked for every op in a scope
    if found is None:
        found = _find(name)
        if found.backend is not None:
            _known[key] = found
    return found


_known: dict[tuple[str, str, int], Place] = {}


def _find(name: str) -> Place:
    match = _NAME.fullmatch(name)
    parts = {} if match is None else match.groupdict()
    elsewhere = parts.get("job") not in (None, "localhost") or any(
        parts.get(part) not in (None, "0") for part in ("replica", "task")
    )
    kind, number = parts.get("kind"), parts.get("number")
    index = 0 if number in (None, "*") else int(number)
    if not elsewhere:
        if kind in (None, "CPU") and index < names.cpus:
            return _cpu(index)
        if kind == "GPU" and index < count_gpus(ask=True):
            return _of_jax("GPU", index)
        if flags.soft_placement:
            return HOST_PLACE
    raise missing(name)


def missing(name: str) -> InvalidArgumentError:
    """The error of a device that is not there."""
    return InvalidArgumentError(
        None,
        None,
        f"tf.device: there is no device {name}; there are {', '.join(logical_names())} "
        f"(tf.config.list_logical_devices), all of {HERE}. With "
        "tf.config.set_soft_device_placement(True) the CPU stands in for one that is missing.",
    )


def _cpu(index: int) -> Place:
    if index == 0:
        return HOST_PLACE
    if flags.execution != "xla":
        return Place(f"{HERE}/device:CPU:{index}", None)
    return _of_jax("CPU", index)


def _of_jax(kind: str, index: int) -> Place:
    from weft._src.execution.xla import runtime

    if kind == "CPU":
        runtime.require('tf.device with weft.config.execution = "xla"')
        runtime.provide_devices(names.cpus)
    return Place(f"{HERE}/device:{kind}:{index}", runtime.device(kind.lower(), index))


def place_for(graph: Graph, values: Sequence[Any]) -> Place | None:
    """Where a function runs that is called outside of scopes; None if no device is concerned.

    That is where its variables are. A graph that names devices itself runs on the host but for
    what it says.
    """
    homes = {v.device for v in values if isinstance(v, VariableCell) and v.device is not None}
    places = {place for place in map(place_of, homes) if place.backend is not None}
    if len(places) == 1:
        return places.pop()
    if not places and not any(place_of(name).backend is not None for name in _names_in(graph)):
        return None
    return _usual_place()


def _usual_place() -> Place:
    """Where functions run of which nothing is said."""
    if flags.execution != "xla":
        return HOST_PLACE
    from weft._src.execution.xla import runtime

    return Place(HOST, runtime.usual_device())


def _names_in(graph: Graph) -> set[str]:
    found = {node.device for node in graph.body if node.device}
    for node in graph.body:
        for _, inner in node.nested:
            found |= _names_in(inner)
    return found
