"""`tf.config.experimental`: what is answered, remembered and refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

C = tf.config.experimental
CPU = tf.config.list_physical_devices("CPU")[0]


def test_memory_of_the_process() -> None:
    before = C.get_memory_info("CPU:0")
    held = np.ones(2**25)  # 256 MiB
    after = C.get_memory_info("/device:CPU:0")
    assert after["current"] - before["current"] > 0.9 * held.nbytes
    assert after["peak"] >= after["current"]
    assert C.get_memory_usage("CPU:0") > 0.9 * held.nbytes
    del held
    C.reset_memory_stats("CPU:0")
    assert C.get_memory_info("CPU:0")["peak"] < after["peak"]
    for function in (C.get_memory_info, C.get_memory_usage, C.reset_memory_stats):
        with pytest.raises(ValueError, match="no device 'GPU:0'"):
            function("GPU:0")


def test_memory_growth_is_about_gpus() -> None:
    with pytest.raises(ValueError, match="is no GPU"):
        C.set_memory_growth(CPU, True)
    with pytest.raises(ValueError, match="is no GPU"):
        C.get_memory_growth(CPU)
    with pytest.raises(ValueError, match="is no device"):
        C.set_memory_growth("GPU:0", True)
    assert C.get_device_details(CPU) == {}


@pytest.mark.parametrize(
    ("read", "write", "first", "other"),
    [
        (C.get_device_policy, C.set_device_policy, "silent", "warn"),
        (C.tensor_float_32_execution_enabled, C.enable_tensor_float_32_execution, True, False),
        (
            tf.debugging.get_log_device_placement,
            tf.debugging.set_log_device_placement,
            False,
            True,
        ),
    ],
)
def test_what_is_remembered(
    read: Callable[[], object], write: Callable[[object], None], first: object, other: object
) -> None:
    assert read() == first
    write(other)
    assert read() == other
    write(first)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="device_policy must be one of"):
        C.set_device_policy("loud")
    C.set_synchronous_execution(True)
    assert C.get_synchronous_execution()
    with pytest.raises(tf.errors.UnsupportedError, match="always done"):
        C.set_synchronous_execution(False)
    with pytest.raises(tf.errors.UnsupportedError, match="enable_check_numerics"):
        tf.debugging.experimental.enable_dump_debug_info("x")


def test_options_of_the_optimizer() -> None:
    O = tf.config.optimizer
    with pytest.raises(ValueError, match="no options"):
        O.set_experimental_options({"speed": True})
    with pytest.raises(TypeError, match="must be a dict"):
        O.set_experimental_options([])  # type: ignore[arg-type]
    O.set_experimental_options({"constant_folding": False})
    assert O.get_experimental_options()["constant_folding"] is False
    O.set_experimental_options({"constant_folding": True})
    assert tf.config.experimental_functions_run_eagerly() is False
    tf.config.experimental_run_functions_eagerly(False)
