"""Programs for several replicas: run in the tests' process, and by XLA in one with more devices.

`python replica_programs.py NAME COUNT` runs one of them on XLA, and prints what it gives. With
`workers` or `xla_workers` behind, COUNT is the number of replicas of a worker, started by a job.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import numpy as np

import weft as tf

FIRST, SUM, MEAN = (
    tf.VariableAggregation.ONLY_FIRST_REPLICA,
    tf.VariableAggregation.SUM,
    tf.VariableAggregation.MEAN,
)
ON_READ = tf.VariableSynchronization.ON_READ


def strategy_of(count: int) -> tf.distribute.MirroredStrategy:
    """A strategy of so many replicas on the CPU."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    names = [tf.config.LogicalDeviceConfiguration()] * count
    tf.config.set_logical_device_configuration(cpu, names)
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])


def training(strategy: Any, batch: int = 12) -> list[Any]:
    """Twenty steps of Adam on the same global batches, however many replicas there are."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5 * 12, 6)).astype(np.float32)
    y = np.sin(x[:, :1]) + x[:, 1:2]
    with strategy.scope():
        parameters = [
            tf.Variable((0.4 * rng.normal(size=shape)).astype(np.float32))
            for shape in ((6, 9), (9,), (9, 1))
        ]
        slots = [[tf.Variable(tf.zeros(p.shape)) for p in parameters] for _ in range(2)]
        steps = tf.Variable(0, aggregation=FIRST)
        rows = tf.Variable(0.0, synchronization=ON_READ, aggregation=SUM)
    a, b, c = parameters
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch)
    data = strategy.experimental_distribute_dataset(data)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            out = tf.tanh(x @ a + b) @ c
            loss = tf.reduce_sum((out - y) ** 2) / batch
        gradients = tape.gradient(loss, parameters)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        steps.assign_add(1)
        t = tf.cast(steps, tf.float32)
        rows.assign_add(tf.cast(tf.shape(x)[0], tf.float32))

        def update(p: Any, g: Any, m: Any, v: Any) -> None:
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.99 * v + 0.01 * g * g)
            p.assign_sub(0.02 * (m / (1 - 0.9**t)) / (tf.sqrt(v / (1 - 0.99**t)) + 1e-5))

        for p, g, m, v in zip(parameters, gradients, *slots, strict=True):
            strategy.extended.update(p, update, args=(g, m, v))
        return loss

    @tf.function
    def train(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    losses = [float(train(*element)) for _ in range(4) for element in data]
    return [losses, *[p.numpy() for p in parameters], rows.numpy(), steps.numpy()]


def aggregation(strategy: Any) -> list[Any]:
    """What replicas assign, and what is read outside of them."""
    with strategy.scope():
        first, total, mean = [tf.Variable(1.0, aggregation=a) for a in (FIRST, SUM, MEAN)]
        plain = tf.Variable(1.0)
        apart = tf.Variable(4.0, synchronization=ON_READ, aggregation=MEAN)
        summed = tf.Variable(8.0, synchronization=ON_READ, aggregation=SUM)

    def assign() -> Any:
        i = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        first.assign(i + 7.0)
        total.assign_sub(i)
        mean.assign_add(2.0 * i)
        plain.assign(5.0)
        apart.assign_add(i)
        summed.assign_add(i + 1.0)
        return i * 10.0, apart.read_value()

    @tf.function
    def run() -> Any:
        values = strategy.run(assign)
        return strategy.experimental_local_results(values), apart + summed

    results = run()
    summed.assign(summed + 6.0)
    return [results, *[v.numpy() for v in (first, total, mean, plain, apart, summed)]]


def collectives(strategy: Any) -> list[Any]:
    """Sums, joins and gradients through them."""

    def body(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = context.all_reduce("SUM", x**2)
            joined = context.all_gather(x, axis=0)
            y = tf.reduce_sum(total * x) + tf.reduce_sum(joined**3)
        merged = context.merge_call(lambda s, v: s.reduce("MEAN", v, axis=None), (x,))
        return total, joined, tape.gradient(y, x), merged

    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([1.0, 2.0, 3.0]) * (context.replica_id_in_sync_group + 1.0)
    )
    results = tf.function(lambda v: strategy.run(body, args=(v,)))(values)
    gathered = strategy.gather(results[0], axis=0)
    return [strategy.experimental_local_results(results), gathered]


def random_numbers(strategy: Any) -> list[Any]:
    """Streams in replicas: in the body, in loops and in branches, call after call."""
    tf.random.set_seed(11)

    def body() -> Any:
        total = tf.random.uniform([3])
        for i in tf.range(3):
            if i != 1:
                total += tf.random.uniform([3], seed=4)
        return total, tf.random.normal([2], stddev=3.0)

    run = tf.function(lambda: strategy.run(body))
    return [strategy.experimental_local_results(run()) for _ in range(3)]


def loops_over_datasets(strategy: Any, *, whole: bool = False) -> list[Any]:
    """`for` over distributed datasets in a function; only of whole batches, sizes are known."""
    source = tf.data.Dataset.from_tensor_slices(np.arange(22, dtype=np.float32))
    split = strategy.experimental_distribute_dataset(source.batch(8, drop_remainder=whole))
    made = strategy.distribute_datasets_from_function(lambda context: source.batch(4))
    with strategy.scope():
        v = tf.Variable(1.0)

    def step(x: Any) -> Any:
        total = tf.distribute.get_replica_context().all_reduce("SUM", tf.reduce_sum(x * v))
        v.assign_add(total / 1000.0)
        return total

    @tf.function
    def train(dataset: Any) -> Any:
        total, count = tf.constant(0.0), 0
        for x in dataset:
            total += strategy.reduce("MEAN", strategy.run(step, args=(x,)), axis=None)
            count += 1
            if count == 5:
                break
        return total, tf.convert_to_tensor(count)

    return [*train(split), *train(made), v.numpy()]


PROGRAMS = {
    "training": training,
    "aggregation": aggregation,
    "collectives": collectives,
    "random_numbers": random_numbers,
}


def flat(results: Any) -> list[Any]:
    """Plain numbers, for comparing and printing."""
    return [np.asarray(x).astype(np.float64).tolist() for x in tf.nest.flatten(results)]


def worker_of(local: int) -> tf.distribute.MultiWorkerMirroredStrategy:
    """The strategy of a worker of a job that has so many replicas."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    names = [tf.config.LogicalDeviceConfiguration()] * local
    tf.config.set_logical_device_configuration(cpu, names)
    return tf.distribute.MultiWorkerMirroredStrategy()


def main(names: str, count: int, kind: str) -> None:
    tf.config.execution = "native" if kind == "workers" else "xla"
    if kind == "devices":
        logging.basicConfig(level="INFO")
    strategy = strategy_of(count) if kind == "devices" else worker_of(count)
    functions = PROGRAMS | {"loops_over_datasets": loops_over_datasets}
    for name in names.split(","):
        print(json.dumps(flat(functions[name](strategy))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "devices")
