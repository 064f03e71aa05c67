"""Programs of XLA as text, and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, UnimplementedError, UnsupportedError

w = tf.Variable([[0.5], [1.0], [1.5]])


def body(x: Any) -> Any:
    return tf.tanh(x @ w), tf.argmax(x, 1)


@pytest.mark.parametrize(
    ("stage", "text"),
    [("stablehlo", "stablehlo.tanh"), ("hlo", "HloModule"), ("optimized_hlo", "tanh")],
)
def test_text(stage: str, text: str) -> None:
    ir = tf.function(body).experimental_get_compiler_ir(tf.ones([4, 3]))
    assert text in ir(stage=stage)


def test_what_is_no_program() -> None:
    ir = tf.function(tf.where).experimental_get_compiler_ir(tf.constant([True, False]))
    with pytest.raises(UnimplementedError, match="cannot be one program of XLA, Where gives a"):
        ir(stage="hlo")


def test_a_file_that_jax_runs(tmp_path: Path) -> None:
    function = tf.function(body)
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    wanted = function(tf.constant(x))
    tf.export(function, tmp_path / "f.stablehlo", format="stablehlo")
    loaded = jax.export.deserialize(bytearray((tmp_path / "f.stablehlo").read_bytes()))
    with jax.enable_x64(True):
        got = loaded.call(x)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-6)
    np.testing.assert_array_equal(got[1], wanted[1])


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with pytest.raises(ValueError, match="format must be 'stablehlo', got 'onnx'"):
        tf.export(tf.function(body), path, format="onnx")
    with pytest.raises(ValueError, match="has 0 traces. Choose one with get_concrete_function"):
        tf.export(tf.function(body), path)
    with pytest.raises(ValueError, match="function must be a tf.function, got 3"):
        tf.export(3, path)
    writes = tf.function(lambda: w.assign_add(w)).get_concrete_function()
    with pytest.raises(UnsupportedError, match="writes variables, which are constants in a file"):
        tf.export(writes, path)
    open_ = tf.function(tf.tanh).get_concrete_function(tf.TensorSpec([None, 3]))
    with pytest.raises(InvalidArgumentError, match=r"has shape \(None, 3\); a program is for one"):
        tf.export(open_, path)
    assert not path.exists()
