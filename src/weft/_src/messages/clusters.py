"""Messages about clusters of programs: their jobs, and one server of them."""

from __future__ import annotations

from weft._src.messages.kinds import BYTES, INT32, STRING
from weft._src.messages.message import Message
from weft._src.messages.table import many, mapping, one


class JobDef(Message):
    """A job: its name, and the addresses of its tasks.

    >>> tf.train.JobDef(name="worker", tasks={0: "a:1"}).tasks[0]
    'a:1'
    """

    FIELDS = (one(1, "name", STRING), mapping(2, "tasks", INT32, STRING))


class ClusterDef(Message):
    """The jobs of a cluster.

    >>> job = tf.train.JobDef(name="worker", tasks={0: "a:1"})
    >>> tf.train.ClusterDef(job=[job]).job[0].name
    'worker'
    """

    FIELDS = (many(1, "job", JobDef),)


class ServerDef(Message):
    """One task of a cluster.

    >>> tf.train.ServerDef(job_name="worker", task_index=1).task_index
    1
    """

    FIELDS = (
        one(1, "cluster", ClusterDef),
        one(2, "job_name", STRING),
        one(3, "task_index", INT32),
        one(4, "default_session_config", BYTES),
        one(5, "protocol", STRING),
        one(6, "port", INT32),
        one(7, "cluster_device_filters", BYTES),
    )
