"""Trains twenty steps with a `PreemptionCheckpointHandler`; started by the tests.

`python preempted_program.py FOLDER HOW [STEP]`: at a step of the first start worker 1 (or the only
one) asks itself to end. HOW is "signal", "watcher", "grace" or "scope".
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import weft as tf

E = tf.distribute.experimental


def main(folder: Path, how: str, ask_at: int) -> None:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    number = strategy.cluster_resolver.task_id or 0
    last = strategy.num_replicas_in_sync - 1
    asked, once = folder / "asked", folder / "once"
    rng = np.random.default_rng(1)
    x = rng.normal(size=(24, 5)).astype(np.float32)
    y = x @ rng.normal(size=(5, 1)).astype(np.float32)
    with strategy.scope():
        w = tf.Variable(rng.normal(size=(5, 1)).astype(np.float32))
        rows = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    config = {
        "signal": E.TerminationConfig(),
        "scope": E.TerminationConfig(),
        "watcher": E.TerminationConfig(termination_watcher_fn=asked.exists),
        "grace": E.TerminationConfig(grace_period=1.5),
    }[how]
    step_number = tf.Variable(0)
    handler = E.PreemptionCheckpointHandler(
        strategy.cluster_resolver,
        tf.train.Checkpoint(w=w, rows=rows, step=step_number),
        folder / "saved",
        config,
    )
    print(f"begins at {step_number.numpy()}")
    data = iter(
        strategy.experimental_distribute_dataset(
            tf.data.Dataset.from_tensor_slices((x, y)).batch(6).repeat()
        )
    )

    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w - y) ** 2) / 6.0
        (g,) = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, [w]))
        strategy.extended.update(w, lambda v, g: v.assign_sub(0.05 * g), args=(g,))
        rows.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
        return loss

    @tf.function
    def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    def work() -> tf.Tensor:
        loss = train(*next(data))
        step_number.assign_add(1)
        return loss

    def loop() -> tf.Tensor:
        for _ in range(int(step_number)):
            next(data)
        while int(step_number) < 20:
            if number == last and int(step_number) == ask_at and not once.exists():
                once.touch()
                if how == "watcher":
                    asked.touch()
                    time.sleep(2.5)
                    asked.unlink()
                else:
                    os.kill(os.getpid(), signal.SIGTERM)
            if how == "grace":
                time.sleep(0.15)
            if how == "scope":
                loss = work()
                handler.save_checkpoint_if_preempted()
            else:
                loss = handler.run(work)
        return loss

    if how == "scope":
        with handler.watch_preemption_scope():
            loss = loop()
    else:
        loss = loop()
        print(f"runs {handler.total_run_calls}")
    print(f"final {float(loss):.9f} {float(tf.reduce_sum(w)):.9f} {float(rows.numpy()):g}")


if __name__ == "__main__":
    tf.config.execution = "native"
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else -1)
