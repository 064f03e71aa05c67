"""tf.config: devices, threads, determinism, compilation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf
from weft._src.core.flags import flags

C = tf.config


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = C.execution, flags.threads
    yield
    C.execution, flags.threads = before
    flags.deterministic = False
    C.set_logical_device_configuration(cpu(), [C.LogicalDeviceConfiguration()])
    tf.random.set_seed(None)


def cpu() -> Any:
    return C.list_physical_devices("CPU")[0]


def test_devices() -> None:
    assert cpu() == C.PhysicalDevice("/physical_device:CPU:0", "CPU")
    assert C.list_physical_devices("GPU") == C.list_logical_devices("TPU") == []
    assert C.get_visible_devices() == C.list_physical_devices()
    C.set_visible_devices([], "GPU")
    C.set_visible_devices(cpu(), "CPU")
    C.set_visible_devices([cpu()])
    C.set_logical_device_configuration(cpu(), [C.LogicalDeviceConfiguration()] * 3)
    assert [d.name[-1] for d in C.list_logical_devices("CPU")] == ["0", "1", "2"]
    for device in C.list_logical_devices():
        with tf.device(device.name):
            assert tf.constant(1) + 1 == 2


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: C.set_visible_devices([], "CPU"), ValueError, "the CPU is needed"),
        (lambda: C.set_visible_devices(["GPU:0"]), ValueError, "'GPU:0' is no device"),
        (lambda: C.list_physical_devices(3), TypeError, "device_type"),
        (lambda: C.set_logical_device_configuration(cpu(), []), ValueError, "logical_devices"),
        (lambda: C.threading.set_intra_op_parallelism_threads(-1), ValueError, "negative"),
        (lambda: C.threading.set_inter_op_parallelism_threads("a"), TypeError, "must be an int"),
        (lambda: C.optimizer.set_jit("sometimes"), ValueError, "autoclustering"),
        (lambda: C.list_phisical_devices, AttributeError, "'list_physical_devices'"),
        (lambda: C.experimental.enable_determinism, AttributeError, "'enable_op_determinism'"),
    ],
)
def test_wrong_use(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_threads() -> None:
    C.threading.set_intra_op_parallelism_threads(2)
    assert C.threading.get_intra_op_parallelism_threads() == flags.threads == 2
    C.threading.set_inter_op_parallelism_threads(3)
    assert C.threading.get_inter_op_parallelism_threads() == 3
    C.threading.set_inter_op_parallelism_threads(0)


def test_jit_chooses_the_tier() -> None:
    for enabled, tier in ((True, "native"), (False, "numpy"), ("autoclustering", "auto")):
        C.optimizer.set_jit(enabled)
        assert C.execution == tier
        assert bool(C.optimizer.get_jit()) is (tier != "numpy")


def test_determinism_needs_seeds() -> None:
    tf.random.set_seed(None)
    C.experimental.enable_op_determinism()
    with pytest.raises(RuntimeError, match=r"tf\.random\.set_seed"):
        tf.random.normal([2])
    with pytest.raises(RuntimeError, match=r"tf\.random\.set_seed"):
        tf.function(lambda: tf.random.uniform([2]))()
    assert tf.random.normal([2], seed=1).shape == (2,)
    tf.random.set_seed(1)
    assert tf.random.normal([2]).shape == (2,)
