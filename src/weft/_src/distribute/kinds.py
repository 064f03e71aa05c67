"""The strategies that a program can choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.config.devices import list_logical_devices
from weft._src.core.flags import flags
from weft._src.distribute.resolvers import TFConfigClusterResolver
from weft._src.distribute.strategy import Strategy
from weft._src.distribute.worker_replicas import WorkerReplicas, check_alike, span_processes
from weft._src.distribute.workers import Workers, join_job
from weft._src.errors import UnsupportedError


class OneDeviceStrategy(Strategy):
    """Runs everything on one device.

    >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    >>> strategy.num_replicas_in_sync
    1
    """

    def __init__(self, device: str = "/cpu:0") -> None:
        super().__init__()
        _only_the_cpu("tf.distribute.OneDeviceStrategy", [device])


class MirroredStrategy(Strategy):
    """A replica on each of some devices of this machine, all with the same variables.

    Without `devices` there is one for each GPU, or one on the CPU. The CPU can have several names
    (`tf.config.set_logical_device_configuration`), and then a replica for each.

    A function that runs on several replicas is traced once, as one of them sees it. They run it in
    threads, on the tiers of any function, or with `weft.config.execution = "xla"` as one program.

    >>> tf.distribute.MirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        names = _known_devices("tf.distribute.MirroredStrategy", devices)
        super().__init__(replicas=len(names))
        if flags.execution == "xla" and len(names) > 1 and "CPU" in names[0]:
            _provide_devices(len(names))
        self.extended.worker_devices = self.extended.parameter_devices = names


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes, on one machine or more, all with the same variables.

    Which processes these are is told by TF_CONFIG (as `weft launch` sets it), or by a resolver. The
    strategy waits for all of them when it is made, and has to be made before variables are. A
    process has a replica for each of its GPUs, or for each name of the CPU, as all others have.

    With `weft.config.execution = "xla"` the replicas of all processes are one program, if jax is
    0.12 or newer. Before that, XLA runs what is between collectives, with one replica a process.

    >>> tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        super().__init__()
        resolver = cluster_resolver or TFConfigClusterResolver()
        self._resolver = resolver
        tasks = resolver.cluster_spec().as_dict()
        chief, workers = list(tasks.get("chief", [])), list(tasks.get("worker", []))
        addresses = [*chief, *workers]
        if len(addresses) < 2:
            return
        if resolver.task_type not in ("chief", "worker", None):
            raise UnsupportedError(
                "tf.distribute.MultiWorkerMirroredStrategy: the task of this process is a "
                f"{resolver.task_type!r}; it must be a 'chief' or a 'worker'."
            )
        number = int(resolver.task_id or 0)
        if resolver.task_type != "chief":
            number += len(chief)
        spans = flags.execution == "xla" and _can_span()
        devices = [] if spans else _own_devices()  # which would have jax look for them already
        job = join_job(addresses, number, communication_options)
        if spans:
            span_processes(job, addresses[0])
            devices = _own_devices()
        check_alike(job, len(devices))
        if spans or len(devices) > 1:
            self._replicas = WorkerReplicas(self, *job, len(devices))
        else:
            self._replicas = Workers(self, *job)
        names = [f"/job:worker/replica:0/task:{number}{name}" for name in devices]
        self.extended.worker_devices = self.extended.parameter_devices = tuple(names)

    @property
    def cluster_resolver(self) -> Any:
        """What tells which workers there are."""
        return self._resolver


class ParameterServerStrategy(Strategy):
    """Variables on servers that workers ask; Weft has no such servers.

    >>> isinstance(tf.distribute.get_strategy(), tf.distribute.ParameterServerStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedError(
            "tf.distribute.ParameterServerStrategy: Weft has no parameter servers. "
            "tf.distribute.MultiWorkerMirroredStrategy trains on several processes, each with all "
            "variables."
        )


class TPUStrategy(Strategy):
    """A replica on each core of a TPU; Weft runs on CPUs, so there is never one.

    >>> isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedError(
            "tf.distribute.TPUStrategy: Weft has no TPUs. tf.distribute.get_strategy() runs the "
            "same program on the CPU."
        )


def _only_the_cpu(strategy: str, devices: list[str]) -> None:
    if len(_known_devices(strategy, devices)) > 1:
        raise UnsupportedError(
            f"{strategy}: it runs on one device, got {', '.join(devices)}. "
            "tf.distribute.MirroredStrategy runs on several."
        )


def _known_devices(strategy: str, devices: Sequence[str] | None) -> tuple[str, ...]:
    """The full names of devices, each of which must be there, and only once.

    Any number of the CPU is there, as in TensorFlow: replicas share its cores.
    """
    wanted = [_full_name(name) for name in devices or ()]
    # Names of the CPU need no jax, which would look for devices before it knows how many.
    only_cpus = all("CPU" in name for name in wanted) if wanted else False
    there = [device.name for device in list_logical_devices("CPU" if only_cpus else None)]
    if not wanted:
        wanted = [name for name in there if "CPU" not in name] or there[:1]
    missing = [name for name in wanted if name not in there and "CPU" not in name]
    if missing or len(set(wanted)) < len(wanted):
        problem = f"there is no {missing[0]}" if missing else "a device is named twice"
        raise UnsupportedError(
            f"{strategy}: {problem}. tf.config.list_logical_devices() has {', '.join(there)}; the "
            "CPU has any number of names, such as cpu:0 and cpu:1."
        )
    return tuple([f"/job:localhost/replica:0/task:0{name}" for name in wanted])


def _own_devices() -> list[str]:
    """The devices of this process that have replicas: its GPUs, or the names of the CPU."""
    gpus = [device.name for device in list_logical_devices("GPU")]
    return gpus or [device.name for device in list_logical_devices("CPU")]


def _can_span() -> bool:
    """Whether the replicas of all processes can be one program of XLA.

    Raises UnsupportedError where they have to be, and jax is too old: it hangs then.
    """
    from weft._src.execution.xla import runtime

    runtime.require('tf.distribute with weft.config.execution = "xla"')
    if runtime.spans_processes():
        return True
    if len(_own_devices()) > 1:
        raise UnsupportedError(
            f"tf.distribute.MultiWorkerMirroredStrategy: this worker has {len(_own_devices())} "
            f"devices, and jax {runtime.version()} hangs with several in a job of several "
            "processes. jax 0.12 does not, which needs Python 3.12; or start more workers with one "
            'device each, or leave weft.config.execution = "xla" out.'
        )
    return False


def _provide_devices(count: int) -> None:
    """Has jax see as many devices as there are replicas, before it looks for some."""
    from weft._src.execution.xla import runtime

    runtime.require('tf.distribute with weft.config.execution = "xla"')
    runtime.provide_devices(count)


def _full_name(name: str) -> str:
    """Such as /device:CPU:0 for cpu, /cpu:0 and CPU:0."""
    kind, _, number = str(name).rpartition("/")[2].removeprefix("device:").upper().partition(":")
    return f"/device:{kind}:{number or 0}"
