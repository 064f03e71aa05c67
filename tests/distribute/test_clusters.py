"""`tf.train.ClusterSpec`, `tf.train.Coordinator`, `tf.DeviceSpec`."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import weft as tf


def test_clusters() -> None:
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {1: "x"}})
    assert cluster.jobs == ["worker", "ps"]
    assert (cluster.num_tasks("worker"), cluster.task_indices("ps")) == (2, [1])
    assert cluster.task_address("worker", 1) == "b:2"
    assert cluster.job_tasks("ps") == [None, "x"]
    assert cluster.as_dict() == {"worker": ["a:1", "b:2"], "ps": {1: "x"}}
    assert repr(cluster) == "ClusterSpec({'ps': {1: 'x'}, 'worker': ['a:1', 'b:2']})"
    message = cluster.as_cluster_def()
    assert [job.name for job in message.job] == ["ps", "worker"]
    again = tf.train.ClusterDef.FromString(message.SerializeToString())
    assert tf.train.ClusterSpec(again) == cluster == tf.train.ClusterSpec(cluster)
    assert cluster
    assert not tf.train.ClusterSpec({})
    with pytest.raises(ValueError, match="no job 'z'"):
        cluster.num_tasks("z")
    with pytest.raises(ValueError, match="no task 9"):
        cluster.task_address("worker", 9)
    for wrong in ([1], {"a": 1}, {"a": {"x": "y"}}, {"a": [1]}):
        with pytest.raises(TypeError, match="ClusterSpec"):
            tf.train.ClusterSpec(wrong)


def test_devices() -> None:
    spec = tf.DeviceSpec.from_string("/job:w/task:1/GPU:2")
    assert spec.to_string() == "/job:w/task:1/device:GPU:2"
    assert tf.DeviceSpec.from_string("cpu:0").to_string() == "/device:CPU:0"
    assert tf.DeviceSpec.from_string("/device:GPU:*").to_string() == "/device:GPU:*"
    full = tf.DeviceSpec(job="a", replica=1, task=2, device_type="cpu", device_index=0)
    assert full.to_string() == "/job:a/replica:1/task:2/device:CPU:0"
    assert (
        spec.make_merged_spec(tf.DeviceSpec(job="q", task=3)).to_string()
        == "/job:q/task:3/device:GPU:2"
    )
    assert spec.replace(task=5).task == 5
    assert spec == spec.parse_from_string(spec.to_string())
    assert hash(spec) == hash(tf.DeviceSpec.from_string(spec.to_string()))
    assert repr(tf.DeviceSpec(job="a")) == (
        "<DeviceSpec(job=a, replica=None, task=None, device_type=None, device_index=None)>"
    )
    for wrong in ("/jb:w", "/job:a/job:b", "/task:x", "/device:CPU:x"):
        with pytest.raises(ValueError, match="DeviceSpec"):
            tf.DeviceSpec.from_string(wrong)


def test_threads_stop_together() -> None:
    coordinator = tf.train.Coordinator()
    done = []

    def work() -> None:
        while not coordinator.should_stop():
            coordinator.wait_for_stop(0.01)
        done.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    coordinator.register_thread(threads[0])
    coordinator.request_stop()
    coordinator.join(threads[1:])
    assert len(done) == 3
    assert coordinator.joined
    coordinator.clear_stop()
    assert not coordinator.should_stop()


@pytest.mark.parametrize(
    ("error", "raised"),
    [(KeyError("x"), True), (tf.errors.OutOfRangeError(None, None, "end"), False)],
)
def test_errors_of_threads(error: Exception, raised: bool) -> None:
    coordinator = tf.train.Coordinator()

    def work() -> None:
        with coordinator.stop_on_exception():
            raise error

    thread = threading.Thread(target=work)
    thread.start()
    if raised:
        with pytest.raises(KeyError, match="x"):
            coordinator.join([thread])
        with pytest.raises(KeyError):
            coordinator.raise_requested_exception()
    else:
        coordinator.join([thread])
        coordinator.raise_requested_exception()
    assert coordinator.should_stop()


def test_a_thread_that_does_not_stop() -> None:
    coordinator = tf.train.Coordinator()
    end = threading.Event()
    threads: list[Any] = [threading.Thread(target=end.wait, name="stubborn")]
    threads[0].start()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="stubborn did not stop"):
        coordinator.join(threads, stop_grace_period_secs=0.05)
    coordinator.join(threads, stop_grace_period_secs=0.05, ignore_live_threads=True)
    end.set()
    threads[0].join()


def test_options_of_strategies() -> None:
    strategy = tf.distribute.get_strategy()
    options = tf.distribute.RunOptions(experimental_xla_options=None)
    assert strategy.run(lambda x: x + 1, (tf.constant(1),), options=options).numpy() == 2
    per_replica = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(2), per_replica)
    assert [x.numpy() for x in data] == [0, 1]
