"""Several replicas in one process, in threads and on XLA, against one replica."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support import replica_programs as programs
from weft._src.core.flags import flags
from weft.errors import InvalidArgumentError, UnsupportedError

SCRIPT = Path(programs.__file__)


@pytest.fixture(autouse=True)
def _one_name_for_the_cpu() -> Iterator[None]:
    yield
    programs.strategy_of(1)


def close(got: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, tolerance, tolerance)


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("tier", ["numpy", "native"])
def test_training_equals_one_replica(
    count: int, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = programs.flat(programs.training(programs.strategy_of(1)))
    monkeypatch.setattr(flags, "execution", tier)
    close(programs.flat(programs.training(programs.strategy_of(count))), wanted)


def test_short_last_batches() -> None:
    wanted = programs.flat(programs.training(programs.strategy_of(1), batch=8))
    close(programs.flat(programs.training(programs.strategy_of(3), batch=8)), wanted)


@pytest.mark.parametrize("tier", ["numpy", "native"])
def test_what_replicas_assign(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", tier)
    results, *variables = programs.aggregation(programs.strategy_of(2))
    # TensorFlow's numbers: a sum begins with its initial value on each replica.
    assert programs.flat(results) == [0.0, 4.0, 10.0, 5.0, 23.5]
    assert programs.flat(variables) == [7.0, 0.0, 2.0, 5.0, 4.5, 25.0]


def test_collectives_and_their_gradients() -> None:
    x = np.array([1.0, 2.0, 3.0])
    parts = [x, 2 * x]
    local, gathered = programs.collectives(programs.strategy_of(2))
    total = x**2 + 4 * x**2
    for mine, found in zip(parts, local, strict=True):
        np.testing.assert_allclose(found[0], total)
        np.testing.assert_allclose(found[1], np.concatenate(parts))
        # Gradients of what all replicas compute: those of collectives are added up.
        wanted = total + 2 * mine * (parts[0] + parts[1]) + 2 * 3 * mine**2
        np.testing.assert_allclose(found[2], wanted, rtol=1e-6)
        np.testing.assert_allclose(found[3], 1.5 * x)
    np.testing.assert_allclose(gathered, [*total, *total])


def test_one_replica_adds_nothing_to_a_graph() -> None:
    strategy = programs.strategy_of(1)

    def body(x: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce("SUM", x * 2.0)

    function = tf.function(lambda x: strategy.reduce("SUM", strategy.run(body, (x,)), axis=None))
    graph = function.get_concrete_function(tf.constant(1.0)).graph
    assert [n.type for n in graph.get_operations()] == ["Placeholder", "Const", "Mul", "Identity"]
    with strategy.scope():
        assert type(tf.Variable(1.0)) is tf.Variable


def test_random_numbers_differ_from_replica_to_replica() -> None:
    strategy = programs.strategy_of(2)
    tf.random.set_seed(4)
    run = tf.function(lambda: strategy.run(lambda: tf.random.uniform([3])))
    first, second = [run().values for _ in range(2)]
    drawn = np.concatenate([*first, *second])
    assert len(set(drawn.tolist())) == 12


def test_datasets_from_functions() -> None:
    strategy = programs.strategy_of(2)
    seen = []

    def make(context: tf.distribute.InputContext) -> tf.data.Dataset:
        seen.append(context.get_per_replica_batch_size(4))
        return tf.data.Dataset.range(5).batch(seen[0])

    dataset = strategy.distribute_datasets_from_function(make)
    found = [[v.numpy().tolist() for v in x.values] for x in dataset]
    assert found == [[[0, 1], [2, 3]], [[4], []]]
    assert seen == [2]


def test_a_loop_over_a_dataset_in_a_function() -> None:
    strategy = programs.strategy_of(2)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))

    @tf.function
    def total(iterator: Any) -> Any:
        out = tf.constant(0, tf.int64)
        for _ in tf.range(2):
            parts = strategy.run(tf.reduce_sum, args=(next(iterator),))
            out += strategy.reduce("SUM", parts, axis=None)
        return out

    assert total(iter(data)).numpy() == 28


@pytest.mark.parametrize("count", [2, 4])
def test_loops_over_distributed_datasets(count: int) -> None:
    split, steps, _, groups, _ = programs.flat(
        programs.loops_over_datasets(programs.strategy_of(count))
    )
    alone = programs.flat(programs.loops_over_datasets(programs.strategy_of(1)))
    np.testing.assert_allclose([split, steps], alone[:2], rtol=1e-6)
    assert groups == {2: 3, 4: 2}[count]  # of the six batches, as many as there are replicas


def test_functions_take_distributed_datasets() -> None:
    strategy = programs.strategy_of(2)

    @tf.function
    def total(dataset: Any) -> Any:
        out = tf.constant(0, tf.int64)
        for parts in dataset:
            out += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(parts,)), axis=None)
        return out

    for n in (5, 6):
        source = tf.data.Dataset.range(n).batch(4)
        data = strategy.experimental_distribute_dataset(source)
        assert total(data).numpy() == n * (n - 1) // 2
        assert data.cardinality().numpy() == 2
        made = strategy.distribute_datasets_from_function(lambda context, source=source: source)
        assert total(made).numpy() == n * (n - 1) // 2
        assert made.cardinality().numpy() == 1
    assert total.experimental_get_tracing_count() == 1
    scalars = strategy.distribute_datasets_from_function(lambda _: tf.data.Dataset.range(3))
    iterator = iter(scalars)
    assert [int(x) for x in next(iterator).values] == [0, 1]
    with pytest.raises(InvalidArgumentError, match="no element left for the last replicas"):
        next(iterator)


# --- errors --------------------------------------------------------------------------------------


def test_an_error_of_one_replica_is_the_error() -> None:
    strategy = programs.strategy_of(2)
    v = tf.Variable(1.0)

    @tf.function
    def run(indices: Any) -> Any:
        def body(i: Any) -> Any:
            v.assign_add(1.0)
            x = tf.gather([1.0, 2.0], i)
            return tf.distribute.get_replica_context().all_reduce("SUM", x)

        return strategy.run(body, args=(indices,))

    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(context.replica_id_in_sync_group * 7)
    )
    threads = threading.active_count()
    with pytest.raises(InvalidArgumentError, match="gather: index 7 is out of range"):
        run(values)
    assert v.numpy() == 1.0
    assert threading.active_count() <= threads


def test_values_that_cannot_be_added() -> None:
    strategy = programs.strategy_of(2)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(3))
    body = lambda x: tf.distribute.get_replica_context().all_reduce("SUM", x)  # noqa: E731
    with pytest.raises(ValueError, match="all_reduce: replica 1 brings .* must have one shape"):
        tf.function(lambda x: strategy.run(body, args=(x,)))(next(iter(data)))


def test_what_makes_no_sense_is_refused() -> None:
    strategy, other = programs.strategy_of(2), programs.strategy_of(2)
    with strategy.scope(), pytest.raises(RuntimeError, match="in that of another strategy"):
        other.scope().__enter__()
    with pytest.raises(ValueError, match="elements of the dataset must be batches"):
        strategy.experimental_distribute_dataset(tf.data.Dataset.range(3))
    with pytest.raises(ValueError, match="SUM needs a value for each replica"):
        strategy.reduce("SUM", tf.constant(1.0), axis=None)
    with pytest.raises(RuntimeError, match="runs on replicas already"):
        strategy.run(lambda: strategy.run(lambda: 1))
    with strategy.scope():
        v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="belongs to .* Make it in the scope of that strategy"):
        other.run(lambda: v.assign(2.0))
    with pytest.raises(UnsupportedError, match="there is no /device:GPU:5"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/gpu:5"])
    assert tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:5"]).num_replicas_in_sync == 2
    with pytest.raises(UnsupportedError, match="a device is named twice"):
        tf.distribute.MirroredStrategy(["/cpu:0", "cpu:0"])
    three = tf.types.experimental.distributed.PerReplica([tf.constant(1)] * 3)
    with pytest.raises(ValueError, match="values for 3 replicas; this strategy has 2"):
        strategy.run(lambda x: x, args=(three,))


def test_batches_that_do_not_divide() -> None:
    context = tf.distribute.InputContext(num_replicas_in_sync=4)
    with pytest.raises(ValueError, match="A batch of 6 cannot be dealt out evenly to 4 replicas"):
        context.get_per_replica_batch_size(6)
    strategy = programs.strategy_of(4)
    batch = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(6))))
    assert [len(part) for part in batch.values] == [2, 2, 2, 0]
    gathered = strategy.gather(strategy.run(lambda x: x * 2, args=(batch,)), axis=0)
    np.testing.assert_array_equal(gathered, 2 * np.arange(6))


def test_datasets_that_are_too_short() -> None:
    strategy = programs.strategy_of(2)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))

    @tf.function
    def train(iterator: Any, steps: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for _ in tf.range(steps):
            parts = strategy.run(tf.reduce_sum, args=(next(iterator),))
            total += strategy.reduce("SUM", parts, axis=None)
        return total

    assert train(iter(data), tf.constant(2)).numpy() == 28
    started = time.monotonic()
    with pytest.raises(tf.errors.OutOfRangeError):
        train(iter(data), tf.constant(3))
    iterator = iter(data)
    next(iterator), next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)
    empty = strategy.experimental_distribute_dataset(tf.data.Dataset.range(0).batch(4))
    assert list(empty) == []
    assert time.monotonic() - started < 10


# --- XLA -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_xla_on_four_devices(name: str) -> None:
    command = [sys.executable, str(SCRIPT), name, "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "is not one program" not in done.stderr
    wanted = programs.flat(programs.PROGRAMS[name](programs.strategy_of(4)))
    close(json.loads(done.stdout.splitlines()[-1]), wanted, 2e-5)
