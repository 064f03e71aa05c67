"""GPUs are jax's: none is looked for before jax is in use."""

from __future__ import annotations

import sys
from subprocess import run

import pytest

import weft as tf
from weft._src.core.flags import flags
from weft._src.execution.xla import runtime
from weft.errors import UnsupportedError


def test_gpus_that_jax_finds_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "xla")
    monkeypatch.setattr(runtime, "count_gpus", lambda: 2)
    names = [device.name for device in tf.config.list_physical_devices("GPU")]
    assert names == ["/physical_device:GPU:0", "/physical_device:GPU:1"]
    assert len(tf.config.list_physical_devices()) == 3
    logical = [device.name for device in tf.config.list_logical_devices("GPU")]
    assert logical == ["/device:GPU:0", "/device:GPU:1"]


def test_without_jax_there_is_none() -> None:
    code = (
        "import sys, weft as tf\n"
        "print(tf.config.list_physical_devices('GPU'), 'jax' in sys.modules)"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "count_gpus", lambda: 0)
    with pytest.raises(UnsupportedError, match="there is no /device:GPU:0"):
        tf.distribute.MirroredStrategy(["/gpu:0"])
