"""Steps of training on several replicas: threads, devices of XLA, and processes; and a model.

`python -m benchmarks.scaling [--picture FILE]`

Every replica gets 256 rows of an MLP 256-1024-1024-1, so the work grows with their number. A row is
the time of a step to the ideal, which on one machine is so many times that of one replica. The
picture shows what was measured beside the model, and what the model says of more devices.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.curves.scaling_picture import Measured, picture
from benchmarks.harness import Peers, Row
from weft._src.tools.launch import free_ports, tf_config

REPLICAS = (1, 2, 4)
SUMMED = (4, 1 << 20, 16 << 20)  # bytes
_KINDS = {
    "threads": "machine code, threads",
    "xla": "XLA, a device for each",
    "processes": "machine code, processes",
}
_PATIENCE = 300  # seconds

# One worker: argv has the kind, and how many replicas this process has. The first one tells.
_STEP = """
import json, os, sys, time
import numpy as np
import weft as tf

kind, local = sys.argv[1], int(sys.argv[2])
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * local)
if kind == "xla":
    tf.config.execution = "xla"
if kind == "processes":
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
else:
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(local)])
rng = np.random.default_rng(0)
sizes = [256, 1024, 1024, 1]
with strategy.scope():
    weights = [
        tf.Variable((rng.standard_normal((a, b)) / a**0.5).astype("float32"))
        for a, b in zip(sizes, sizes[1:])
    ]
x, y = [rng.standard_normal((256, n)).astype("float32") for n in (256, 1)]

def replica():
    with tf.GradientTape() as tape:
        h = tf.constant(x)
        for w in weights[:-1]:
            h = tf.nn.relu(h @ w)
        loss = tf.reduce_mean((h @ weights[-1] - y) ** 2)
    gradients = tape.gradient(loss, weights)
    gradients = tf.distribute.get_replica_context().all_reduce("MEAN", gradients)
    for w, g in zip(weights, gradients):
        strategy.extended.update(w, lambda v, g: v.assign_sub(1e-4 * g), args=(g,))
    return loss

@tf.function
def step():
    return strategy.reduce("MEAN", strategy.run(replica), axis=None)

def summed(numbers):
    @tf.function
    def run():
        value = tf.ones([numbers])
        total = strategy.run(
            lambda: tf.distribute.get_replica_context().all_reduce("SUM", value)
        )
        return strategy.reduce("MEAN", total, axis=None)
    return run

def best(call, times):
    found = []
    for _ in range(times):
        started = time.perf_counter()
        call().numpy()
        found.append(time.perf_counter() - started)
    return min(found)

for _ in range(40):
    step()
told = {"step": best(step, 25)}
if kind == "processes":
    for n in json.loads(sys.argv[3]):
        run = summed(n // 4)
        best(run, 5)
        told[str(n)] = best(run, 15)
if json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0) == 0:
    print(json.dumps(told), flush=True)
"""


def run(peers: Peers) -> list[Row]:
    """A row for each kind and number of replicas; there are no peers."""
    return _rows(measured())


def measured() -> Measured:
    """Milliseconds of a step by kind and number of replicas, and of sums among processes."""
    steps: dict[str, dict[int, float]] = {title: {} for title in _KINDS.values()}
    sums: dict[int, dict[int, float]] = {}
    for n in REPLICAS:
        for kind, title in _KINDS.items():
            told = _in_processes(n) if kind == "processes" else _in_one(kind, n)
            steps[title][n] = 1e3 * told.pop("step")
            if told:
                sums[n] = {int(size): 1e3 * took for size, took in told.items()}
    return Measured(steps, sums)


def _in_one(kind: str, n: int) -> dict[str, float]:
    command = [sys.executable, "-c", _STEP, kind, str(n)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    if told.returncode:
        raise RuntimeError(f"{kind} with {n} replicas failed:\n{told.stderr}")
    return json.loads(told.stdout.splitlines()[-1])


def _in_processes(n: int) -> dict[str, float]:
    addresses = [f"127.0.0.1:{port}" for port in free_ports(n)]
    command = [sys.executable, "-c", _STEP, "processes", "1", json.dumps(SUMMED)]
    workers = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TF_CONFIG": tf_config(addresses, i)},
        )
        for i in range(n)
    ]  # fmt: skip
    try:
        told = [worker.communicate(timeout=_PATIENCE) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    if any(worker.returncode for worker in workers):
        raise RuntimeError(f"{n} processes failed:\n" + "\n".join([errors for _, errors in told]))
    return json.loads(told[0][0].splitlines()[-1])


def _rows(found: Measured) -> list[Row]:
    rows = []
    for title, times in found.steps.items():
        for n, took in times.items():
            wanted = "<= 1.25" if n == 4 and title == _KINDS["xla"] else ""
            rows.append(
                Row(f"{title}, {n} replicas", took / (n * times[1]), wanted, f"{took:.1f} ms")
            )
    for n, by_size in found.sums.items():
        if n > 1:
            shown = ", ".join([f"{size:,} B {took:.2f} ms" for size, took in by_size.items()])
            rows.append(Row(f"sums of {n} processes", None, "", shown))
    return rows


def main() -> None:
    """Measures, tells and draws."""
    from benchmarks.harness import print_table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--picture", metavar="FILE", help="where to draw it, as SVG")
    options = parser.parse_args()
    found = measured()
    print_table(_rows(found))
    if options.picture:
        Path(options.picture).write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
