"""A worker of a job, started by the tests of `weft launch`: trains, saves, and may be killed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

import weft as tf


def main(folder: Path, kill_at: int, how: signal.Signals) -> None:
    """Trains twelve steps from the newest checkpoint on; worker 1 gets a signal once, at a step."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    number = strategy.cluster_resolver.task_id
    rng = np.random.default_rng(1)
    x = rng.normal(size=(24, 5)).astype(np.float32)
    y = x @ rng.normal(size=(5, 1)).astype(np.float32)
    with strategy.scope():
        w = tf.Variable(rng.normal(size=(5, 1)).astype(np.float32))
        step_number = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    checkpoint = tf.train.Checkpoint(w=w, step=step_number)
    manager = tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=3)
    newest = manager.latest_checkpoint
    if newest is not None:
        checkpoint.restore(newest)
        print(f"goes on at {step_number.numpy()}")
    data = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices((x, y)).batch(6).repeat()
    )

    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w - y) ** 2) / 6.0
        (gradient,) = tf.distribute.get_replica_context().all_reduce(
            "SUM", tape.gradient(loss, [w])
        )
        strategy.extended.update(w, lambda v, g: v.assign_sub(0.05 * g), args=(gradient,))
        step_number.assign_add(1)
        return loss

    @tf.function
    def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    batches = iter(data)
    for _ in range(int(step_number.numpy())):
        next(batches)
    while int(step_number.numpy()) < 12:
        if number == 1 and int(step_number.numpy()) == kill_at and newest is None:
            os.kill(os.getpid(), how)
        loss = train(*next(batches))
        if number == 0:
            manager.save()
    print(f"final {float(loss):.9f} {float(tf.reduce_sum(w)):.9f}")


if __name__ == "__main__":
    # One tier from the first step on: which one a function is on would be a matter of time, and
    # their last digits differ.
    tf.config.execution = "native"
    main(Path(sys.argv[1]), int(sys.argv[2]), signal.Signals[sys.argv[3]])
