"""Who the workers of a job are: told by TF_CONFIG, by SLURM, or by the program itself."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from weft._src.distribute.clusters import ClusterSpec


class ClusterResolver:
    """What tells which workers there are, and which one this process is.

    >>> tf.distribute.cluster_resolver.ClusterResolver().num_accelerators()
    {}
    """

    task_type: str | None = None
    task_id: int | None = None

    def cluster_spec(self) -> ClusterSpec:
        """The workers of the job.

        Returns:
          A `tf.train.ClusterSpec`.
        """
        return ClusterSpec({})

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many accelerators a worker has: Weft does not count those of others.

        Args:
          task_type: accepted for compatibility.
          task_id: accepted for compatibility.
          config_proto: accepted for compatibility.

        Returns:
          An empty dict.
        """
        return {}


class SimpleClusterResolver(ClusterResolver):
    """A job that the program describes itself.

    >>> spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_id=1)
    >>> resolver.cluster_spec().num_tasks("worker")
    2
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = "worker",
        task_id: int | None = 0,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        self._spec = ClusterSpec(cluster_spec)
        self.task_type, self.task_id = task_type, task_id

    def cluster_spec(self) -> ClusterSpec:
        """The workers of the job.

        Returns:
          A `tf.train.ClusterSpec`.
        """
        return self._spec


class TFConfigClusterResolver(ClusterResolver):
    """A job that the environment variable TF_CONFIG describes, as `weft launch` sets it.

    >>> tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().jobs
    []
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        text = os.environ.get("TF_CONFIG") or "{}"
        try:
            config = json.loads(text)
            task = config.get("task", {})
            self._spec = ClusterSpec(config.get("cluster", {}))
            self.task_type = task_type or task.get("type")
            number = task.get("index") if task_id is None else task_id
            self.task_id = None if number is None else int(number)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(
                'TF_CONFIG must be JSON like {"cluster": {"worker": ["host:port", ...]}, "task": '
                f'{{"type": "worker", "index": 0}}}}, got {text!r} ({error}).'
            ) from None

    def cluster_spec(self) -> ClusterSpec:
        """The workers of the job.

        Returns:
          A `tf.train.ClusterSpec`.
        """
        return self._spec


class SlurmClusterResolver(ClusterResolver):
    """A job that SLURM has started: a worker for each of its tasks.

    Args:
      jobs: how many tasks each job has; all are workers without it.
      port_base: the port of the first worker of a machine, the others have the next ones.
    """

    def __init__(
        self,
        jobs: dict[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: Any = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "",
    ) -> None:
        try:
            count = int(os.environ["SLURM_NTASKS"])
            number = int(os.environ["SLURM_PROCID"])
            hosts = _hosts(os.environ["SLURM_STEP_NODELIST"])
            per_host = _repeats(os.environ["SLURM_STEP_TASKS_PER_NODE"])
        except KeyError as missing:
            raise RuntimeError(
                f"SlurmClusterResolver: SLURM has not set {missing}. Start the program with srun."
            ) from None
        places = [f"{host}:{port_base + i}" for host, n in zip(hosts, per_host) for i in range(n)][
            :count
        ]
        wanted = jobs or {"worker": count}
        if sum(wanted.values()) != len(places):
            raise RuntimeError(
                f"SlurmClusterResolver: jobs name {sum(wanted.values())} tasks, SLURM started "
                f"{len(places)}."
            )
        tasks: dict[str, list[str]] = {}
        for job, n in wanted.items():
            tasks[job], places = places[:n], places[n:]
            if self.task_type is None and number < n:
                self.task_type, self.task_id = job, number
            number -= n
        self._spec = ClusterSpec(tasks)

    def cluster_spec(self) -> ClusterSpec:
        """The workers of the job.

        Returns:
          A `tf.train.ClusterSpec`.
        """
        return self._spec


def _hosts(text: str) -> list[str]:
    """Names of machines, from SLURM's short form: n[1-3,7],m2."""
    out: list[str] = []
    for name, numbers in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", text):
        if not numbers:
            out.append(name)
        for part in filter(None, numbers.split(",")):
            first, _, last = part.partition("-")
            numbered = range(int(first), int(last or first) + 1)
            out += [f"{name}{n:0{len(first)}d}" for n in numbered]
    return out


def _repeats(text: str) -> list[int]:
    """Numbers, from SLURM's short form: 2(x3),1."""
    out: list[int] = []
    for part in text.split(","):
        number, _, times = part.partition("(x")
        out += [int(number)] * int(times.rstrip(")") or 1)
    return out
