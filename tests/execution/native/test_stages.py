"""The stages of compilation as text, and what `tf.explain` tells of machine code."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

w = tf.Variable([[0.5], [1.0], [1.5]], name="w")


@tf.function
def layer(x: Any) -> Any:
    y = tf.tanh(x @ w)
    w.assign_sub(tf.reduce_mean(x, 0)[:, None])
    return tf.reduce_sum(y * 2.0)


X = tf.ones([4, 3])


def stage(name: str) -> str:
    return str(layer.experimental_get_compiler_ir(X)(stage=name))


def test_graph() -> None:
    text = stage("graph")
    assert "MatMul" in text
    assert "4, 3" in text


def test_loops() -> None:
    text = stage("loops")
    assert text.startswith("main:")
    assert "for each index of [" in text
    assert "product(x, w) -> matmul: float32[4, 1]" in text
    assert "AssignSubVariableOp: float32[3, 1] <- subtract(w, " in text


def test_llvm_and_machine_code() -> None:
    text = stage("llvm")
    assert "define i32 @weft_main" in text
    assert "fmul" in text
    assembly = stage("asm")
    assert "weft_main" in assembly
    assert "ret" in assembly


def test_python() -> None:
    text = stage("python")
    assert "def " in text
    assert "test_stages.py" in text


def test_looking_runs_nothing() -> None:
    before = w.numpy().tolist()
    for name in ("graph", "loops", "llvm", "asm", "python"):
        stage(name)
    assert w.numpy().tolist() == before


def test_llvm_is_the_default() -> None:
    assert layer.experimental_get_compiler_ir(X)() == stage("llvm")


def test_loops_and_branches_have_blocks_of_their_own() -> None:
    function = tf.function(
        lambda x: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, x))
    )
    text = function.experimental_get_compiler_ir(X)(stage="loops")
    assert "block 0:" in text
    assert "loop(" in text


def test_an_unknown_stage() -> None:
    with pytest.raises(ValueError, match=r"stage must be one of 'graph', 'loops', .* got 'ptx'"):
        stage("ptx")


def test_specs_are_not_enough() -> None:
    with pytest.raises(ValueError, match="pass tensors instead of specs"):
        layer.experimental_get_compiler_ir(tf.TensorSpec([4, 3]))


def test_explain() -> None:
    function = tf.function(lambda x: tf.sin(x) + 1.0, jit_compile=True)
    function(X)
    function(X)
    text = repr(tf.explain(function))
    assert "2 calls: 2 on machine code" in text
    assert "compiled at the first call" in text
    assert "1 segments" in text
    assert "native" in tf.explain(function)._repr_html_()


def test_explain_of_what_was_not_compiled() -> None:
    function = tf.function(lambda x: tf.sin(x) + 1.0, jit_compile=False)
    function(X)
    trace = tf.explain(function).traces[0]
    assert trace["tier"] == "numpy"
    assert trace["native"].startswith("waiting: NumPy has spent 0.")


def test_what_is_not_compiled_as_a_whole() -> None:
    lengths = tf.function(tf.strings.length)
    with pytest.raises(tf.errors.UnimplementedError, match="string.*stages .graph. and .python."):
        lengths.experimental_get_compiler_ir(tf.constant("a"))(stage="llvm")
