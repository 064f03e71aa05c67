"""`tf.train.ClusterSpec`: which programs make up a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft._src.messages.clusters import ClusterDef, JobDef


class ClusterSpec:
    """The jobs of a cluster, and the addresses of their tasks.

    >>> cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c:1"}})
    >>> cluster.num_tasks("worker"), cluster.task_address("ps", 3)
    (2, 'c:1')
    """

    _jobs: dict[str, dict[int, str]]

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, ClusterDef):
            self._jobs = {job.name: dict(job.tasks.items()) for job in cluster.job}
        elif isinstance(cluster, Mapping):
            self._jobs = {str(job): self._tasks(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(
                "ClusterSpec: cluster must be a dict from jobs to addresses, a ClusterDef or a "
                f"ClusterSpec, got {cluster!r}."
            )

    @staticmethod
    def _tasks(job: Any, tasks: Any) -> dict[int, str]:
        if isinstance(tasks, (list, tuple)):
            tasks = dict(enumerate(tasks))
        if (
            not isinstance(tasks, Mapping)
            or not all(isinstance(index, int) for index in tasks)
            or not all(isinstance(address, str) for address in tasks.values())
        ):
            raise TypeError(
                f"ClusterSpec: the tasks of {job!r} must be a list of addresses, or a dict from "
                f"numbers to them, got {tasks!r}."
            )
        return dict(tasks)

    def _job(self, job_name: str) -> dict[int, str]:
        try:
            return self._jobs[job_name]
        except KeyError:
            raise ValueError(
                f"ClusterSpec: there is no job {job_name!r}; there are {self.jobs}."
            ) from None

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has.

        Args:
          job_name: its name.

        Returns:
          The number.

        Raises:
          ValueError: if there is no such job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of the tasks of a job.

        Args:
          job_name: its name.

        Returns:
          A list of numbers, rising.

        Raises:
          ValueError: if there is no such job.
        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Args:
          job_name: the name of its job.
          task_index: its number.

        Returns:
          The address.

        Raises:
          ValueError: if there is no such job or task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"ClusterSpec: the job {job_name!r} has no task {task_index!r}; it has "
                f"{sorted(tasks)}."
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of the tasks of a job, by number.

        Args:
          job_name: its name.

        Returns:
          A list, with None for numbers that are left out.

        Raises:
          ValueError: if there is no such job.
        """
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """The cluster as a dict.

        Returns:
          A dict from jobs to lists of addresses, or to dicts where numbers are left out.
        """
        out: dict[str, Any] = {}
        for job, tasks in self._jobs.items():
            is_whole = sorted(tasks) == list(range(len(tasks)))
            out[job] = [tasks[i] for i in range(len(tasks))] if is_whole else dict(tasks)
        return out

    def as_cluster_def(self) -> ClusterDef:
        """The cluster as a message.

        Returns:
          A `tf.train.ClusterDef`, its jobs sorted by name.
        """
        names = sorted(self._jobs)
        return ClusterDef(job=[JobDef(name=name, tasks=self._jobs[name]) for name in names])

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        found = self.as_dict()
        return f"ClusterSpec({ {name: found[name] for name in sorted(found)}!r})"
