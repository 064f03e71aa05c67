"""Attention as one step of machine code, held against the products and softmax it is made of."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, compile_native, run_native
from weft._src.core.flags import flags
from weft._src.execution.native.loops.kernels import attention_blocks
from weft._src.execution.native.machine import llvm
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.passes.attention import fuse_attention
from weft._src.graph.tracing import trace

rng = np.random.default_rng(7)
F32, F64 = np.float32, np.float64
TOLERANCE = {F32: 3e-5, F64: 1e-12}


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse_attention, "__defaults__", (1,))


@pytest.fixture(params=[16, 32, 64], ids=lambda n: f"{n} bytes")
def _vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "vector_bytes", lambda: request.param)


def normal(*shape: int, dtype: Any = F32) -> Any:
    return rng.normal(size=shape).astype(dtype)


def by_matmul(q: Any, k: Any, v: Any, change: Any) -> Any:
    return tf.matmul(tf.nn.softmax(change(tf.matmul(q, k, transpose_b=True))), v)


def by_einsum(q: Any, k: Any, v: Any, change: Any) -> Any:
    """As Keras has it: heads behind positions, keys first."""
    scores = change(tf.einsum("aecd,abcd->acbe", k, q))
    return tf.einsum("acbe,aecd->abcd", tf.nn.softmax(scores, axis=-1), v)


def by_transposes(q: Any, k: Any, v: Any, change: Any) -> Any:
    """As it is written by hand: heads behind positions in memory only."""
    q, v = [tf.transpose(x, (0, 2, 1, 3)) for x in (q, v)]
    scores = change(tf.matmul(q, tf.transpose(k, (0, 2, 3, 1))))
    return tf.transpose(tf.matmul(tf.nn.softmax(scores), v), (0, 2, 1, 3))


FORMS = {"matmul": by_matmul, "einsum": by_einsum, "transposes": by_transposes}


def tensors(form: str, sizes: tuple[int, ...], dtype: Any) -> list[Any]:
    """q, k and v for sizes of the batch, heads, queries, keys, and what they are long."""
    b, h, m, n, d, e = sizes
    shapes = ((b, h, m, d), (b, h, n, d), (b, h, n, e))
    if form != "matmul":
        shapes = ((b, m, h, d), (b, n, h, d), (b, n, h, e))
    return [normal(*shape, dtype=dtype) for shape in shapes]


def with_gradients(form: str, change: Any) -> Any:
    """The result and the gradients of q, k and v; others change scores."""

    def function(q: Any, k: Any, v: Any, *others: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([q, k, v])
            out = FORMS[form](q, k, v, lambda s: change(s, *others))
        return out, tape.gradient(out, [q, k, v], output_gradients=tf.cos(out))

    return function


def steps_of(function: Any, *arrays: Any) -> list[str]:
    """The names of attention among the steps of the machine code."""
    ir = tf.function(function).experimental_get_compiler_ir(*map(tf.constant, arrays))
    lines = [line.strip() for line in ir(stage="loops").splitlines()]
    return [line.partition("(")[0] for line in lines if line.startswith("attention")]


BOTH = ["attention", "attention gradient"]


def check_all(function: Any, *arrays: Any, dtype: Any = F32) -> None:
    """Machine code and NumPy agree with the ops one by one, and both have it as single ops."""
    tolerance = TOLERANCE[dtype]
    assert steps_of(function, *arrays) == BOTH
    check(function, *arrays, rtol=tolerance, atol=tolerance, signs=False)
    specs = [tf.TensorSpec(np.shape(x), np.asarray(x).dtype) for x in arrays]
    fused = fuse_attention(optimize(trace(function, specs)))
    assert [n.op.name for n in fused.nodes if n.op.name.startswith("Fused")] == [
        "FusedAttention", "FusedAttentionGrad",
    ]  # fmt: skip
    wanted = tf.nest.flatten(function(*map(tf.constant, arrays)))
    for got, eager in zip(NumpyPlan(fused)(*map(np.asarray, arrays)), wanted, strict=True):
        np.testing.assert_allclose(got, eager.numpy(), rtol=tolerance, atol=tolerance)


# batch, heads, queries, keys, and what keys and values are long
SIZES = [
    (2, 3, 40, 48, 16, 32),
    (1, 2, 131, 70, 5, 3),
    (3, 1, 1, 1, 1, 1),
    (2, 1, 1, 37, 8, 8),
    (1, 3, 29, 1, 17, 20),
    (2, 2, 65, 300, 33, 16),
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [F32, F64])
def test_sizes_and_forms(form: str, sizes: tuple[int, ...], dtype: Any) -> None:
    function = with_gradients(form, lambda s: s / 3.0)
    check_all(function, *tensors(form, sizes, dtype), dtype=dtype)


@pytest.mark.parametrize("form", ["matmul", "einsum"])
@pytest.mark.usefixtures("_vectors")
def test_every_width_of_vector_registers(form: str) -> None:
    def change(s: Any, mask: Any) -> Any:
        return s * 0.5 + mask

    mask = np.where(np.tri(67, 150), 0, -1e9).astype(F32)
    check_all(with_gradients(form, change), *tensors(form, (2, 3, 67, 150, 21, 24), F32), mask)


def _masks() -> dict[str, tuple[Any, list[Any]]]:
    m, n = 90, 140
    causal = np.tri(m, n, n - m, dtype=bool)
    padding = np.ones((2, 1, 1, n), bool)
    padding[0, ..., 100:] = padding[1, ..., :30] = False
    low = np.float32(-1e9)
    return {
        "added": (lambda s, x: s * 0.3 + x, [np.where(causal, 0, low).astype(F32)]),
        "added first": (lambda s, x: (x + s) * 0.3, [normal(3, m, n)]),
        "subtracted": (lambda s, x: s - x, [(~padding * 1e4).astype(F32)]),
        "infinite": (lambda s, x: s + x, [np.where(causal, 0, -np.inf).astype(F32)]),
        "selected": (lambda s, x: tf.where(x, s * 0.3, low), [causal]),
        "selected, not": (lambda s, x: tf.where(x, low, s), [~causal & padding]),
        "two": (lambda s, x, y: tf.where(x, s / 4.0, low) + y, [padding, normal(m, 1)]),
        "one for each query": (lambda s, x: s * x, [np.float32([[0.1]] * m)]),
        "one for each score": (lambda s, x: s * x, [normal(2, 3, m, n)]),
        "of every score": (lambda s, x: tf.where(x, s, low), [rng.random((2, 3, m, n)) < 0.5]),
        "constant": (lambda s: tf.where(causal, s, low), []),
        "of Keras": (
            lambda s, x: tf.where(
                tf.logical_and(tf.logical_and(tf.ones_like(s, "bool"), x), causal), s, low
            ),
            [padding],
        ),
    }


@pytest.mark.parametrize("name", _masks())
@pytest.mark.parametrize("form", ["matmul", "einsum"])
def test_changed_scores(form: str, name: str) -> None:
    change, others = _masks()[name]
    check_all(with_gradients(form, change), *tensors(form, (2, 3, 90, 140, 24, 16), F32), *others)


def test_masks_need_not_be_as_large_as_scores() -> None:
    change, others = _masks()["of Keras"]
    arrays = [*tensors("einsum", (2, 3, 90, 140, 24, 16), F32), *others]
    ir = tf.function(with_gradients("einsum", change)).experimental_get_compiler_ir(*arrays)
    assert "bool[2, 1, 90, 140]" in ir(stage="graph")
    assert "bool[2, 3, 90, 140]" not in ir(stage="graph")


SPECIAL = {
    "NaN in q": (0, np.nan), "NaN in k": (1, np.nan), "NaN in v": (2, np.nan),
    "infinity in q": (0, np.inf), "infinity in k": (1, -np.inf), "infinity in v": (2, np.inf),
    "large q": (0, 3e38),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("mask", ["none", "added", "infinite", "selected"])
def test_what_is_not_finite_goes_where_it_went(name: str, mask: str) -> None:
    """Blocks that a mask rules out are not left out where that would hide a NaN."""
    change, others = _masks().get(mask, (lambda s: s, []))
    arrays = tensors("matmul", (2, 3, 90, 140, 24, 16), F32)
    which, number = SPECIAL[name]
    arrays[which][0, 1, -3, 2] = number
    function = with_gradients("matmul", change)
    got = run_native(function, *arrays, *others)
    wanted = tf.nest.flatten(function(*map(tf.constant, [*arrays, *others])))
    for one, other in zip(got, [x.numpy() for x in wanted], strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        finite = np.isfinite(other) & np.isfinite(one)
        np.testing.assert_allclose(one[finite], other[finite], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("columns", [32, 128])
def test_rows_that_are_masked_altogether(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_blocks, "_MASKED_COLUMNS", columns)
    mask = np.zeros((40, 200), F32)
    mask[3], mask[5, :150], mask[7, 20:] = -np.inf, -np.inf, -np.inf
    arrays = tensors("matmul", (1, 2, 40, 200, 16, 16), F32)
    check_all(with_gradients("matmul", lambda s, x: s + x), *arrays, mask)
    (out, *_) = run_native(with_gradients("matmul", lambda s, x: s + x), *arrays, mask)
    assert np.isnan(out[:, :, 3]).all()
    assert np.isfinite(np.delete(out, 3, axis=2)).all()


def test_equal_scores_everywhere_although_masked() -> None:
    """A mask that rules out everything, with a finite number, leaves the mean."""
    arrays = tensors("matmul", (1, 2, 30, 300, 16, 8), F32)
    mask = np.zeros((30, 300), bool)
    check_all(with_gradients("matmul", lambda s, x: tf.where(x, s, -1e9)), *arrays, mask)
    (out, *_) = run_native(
        with_gradients("matmul", lambda s, x: tf.where(x, s, -1e9)), *arrays, mask
    )
    np.testing.assert_allclose(out, np.broadcast_to(arrays[2].mean(2, keepdims=True), out.shape),
                               rtol=1e-4, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 2, 5, 6, 4, 3), (2, 2, 0, 6, 4, 3), (1, 2, 5, 6, 4, 0)])
def test_nothing(shape: tuple[int, ...]) -> None:
    for got in check(with_gradients("matmul", lambda s: s), *tensors("matmul", shape, F32)):
        assert got.size == 0 or not got.any()


def test_blocks_that_are_left_out_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 queries by 128 keys, of which a causal mask leaves 20 of 32, both ways."""
    counter = ctypes.c_int64(0)
    plain = attention_blocks.Writer.unless

    @contextmanager
    def counted(writer: Any, condition: str) -> Iterator[None]:
        with plain(writer, condition):
            place = f"inttoptr (i64 {ctypes.addressof(counter)} to ptr)"
            writer.line(f"atomicrmw add ptr {place}, i64 1 monotonic")
            yield

    monkeypatch.setattr(attention_blocks.Writer, "unless", counted)
    monkeypatch.setattr(flags, "guard_pages", "")
    change, _ = _masks()["added"]
    arrays = tensors("matmul", (1, 3, 512, 512, 16, 16), F32)
    for mask, blocks in ((np.ones((512, 512)), 32), (np.tri(512), 20)):
        others = np.where(mask, 0, -1e9).astype(F32)
        compiled, values = compile_native(with_gradients("matmul", change), *arrays, others)
        counter.value = 0
        compiled(*values)
        assert counter.value == 2 * 3 * blocks


def test_guards_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "guard_pages", "start")
    arrays = tensors("einsum", (2, 3, 70, 75, 21, 24), F32)
    check_all(with_gradients("einsum", lambda s: s * 0.1), *arrays)


def test_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = tensors("matmul", (2, 4, 200, 200, 32, 32), F32)
    function = with_gradients("matmul", lambda s: s)
    compiled, values = compile_native(function, *arrays)
    assert compiled.translation.program.uses_pool
    shared = compiled(*values)
    monkeypatch.setattr("weft._src.execution.native.machine.pool.SHARED_FROM", 10**12)
    monkeypatch.setattr(attention_blocks, "threads_per_op", lambda: 1)
    alone, values = compile_native(function, *arrays)
    assert not alone.translation.program.uses_pool
    for one, other in zip(alone(*values), shared, strict=True):
        np.testing.assert_array_equal(one, other)


# --- what is not attention, or not only --------------------------------------------------------


def _dropout(s: Any, v: Any) -> Any:
    p = tf.nn.softmax(s)
    return tf.matmul(p * tf.cast(p > 0.01, p.dtype), v)


def _returned(s: Any, v: Any) -> Any:
    p = tf.nn.softmax(s)
    return tf.matmul(p, v), p


def _other_axis(s: Any, v: Any) -> Any:
    return tf.matmul(tf.nn.softmax(s, axis=-2), v)


def _scores_used(s: Any, v: Any) -> Any:
    return tf.matmul(tf.nn.softmax(s), v), tf.reduce_sum(s)


@pytest.mark.parametrize("rest", [_dropout, _returned, _other_axis, _scores_used])
def test_other_uses_of_scores_and_weights(rest: Any) -> None:
    def function(q: Any, k: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([q, k, v])
            out = rest(tf.matmul(q, k, transpose_b=True), v)
        return out, tape.gradient(out, [q, k, v])

    arrays = tensors("matmul", (2, 3, 30, 30, 16, 16), F32)
    assert steps_of(function, *arrays) == []
    check(function, *arrays, rtol=1e-4, atol=1e-4, signs=False)


def test_gradients_of_what_was_added_to_scores() -> None:
    def function(q: Any, k: Any, v: Any, bias: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([q, bias])
            out = by_matmul(q, k, v, lambda s: s + bias)
        return out, tape.gradient(out, [q, bias])

    arrays = [*tensors("matmul", (2, 3, 30, 31, 16, 16), F32), normal(30, 31)]
    assert steps_of(function, *arrays) == []
    check(function, *arrays, rtol=1e-4, atol=1e-4, signs=False)


@pytest.mark.parametrize("dtype", [np.float16, tf.bfloat16.as_numpy_dtype])
def test_narrow_floats_stay_products_and_a_softmax(dtype: Any) -> None:
    function = with_gradients("matmul", lambda s: s)
    arrays = tensors("matmul", (2, 3, 30, 31, 16, 16), dtype)
    assert steps_of(function, *arrays) == []
    check(function, *arrays, rtol=0.1, atol=0.1, signs=False)


def test_without_all_gradients() -> None:
    def function(q: Any, k: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(k)
            out = by_matmul(q, k, v, lambda s: s)
        return out, tape.gradient(out, k)

    arrays = tensors("matmul", (2, 3, 30, 31, 16, 18), F32)
    assert steps_of(function, *arrays) == BOTH
    check(function, *arrays, rtol=1e-4, atol=1e-4, signs=False)


def test_one_tensor_for_all() -> None:
    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = by_matmul(x, x, x, lambda s: s * 0.2)
        return out, tape.gradient(out, x)

    x = normal(2, 40, 24)
    assert steps_of(function, x) == BOTH
    check(function, x, rtol=1e-4, atol=1e-4, signs=False)


def test_sizes_that_are_not_known_while_tracing() -> None:
    @tf.function(input_signature=[tf.TensorSpec((None, None, 2, 8))] * 3, jit_compile=True)
    def function(q: Any, k: Any, v: Any) -> Any:
        return with_gradients("einsum", lambda s: s * 0.3)(q, k, v)

    for sizes in ((2, 2, 30, 41, 8, 8), (1, 2, 17, 5, 8, 8)):
        arrays = tensors("einsum", sizes, F32)
        got = tf.nest.flatten(function(*arrays))
        wanted = with_gradients("einsum", lambda s: s * 0.3)(*map(tf.constant, arrays))
        for one, other in zip(got, tf.nest.flatten(wanted), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_inside_of_loops_and_branches() -> None:
    def function(q: Any, k: Any, v: Any) -> Any:
        for _ in tf.range(3):
            q = by_matmul(q, k, v, lambda s: s)
        return tf.cond(tf.reduce_sum(q) > 0.0, lambda: by_matmul(k, k, q, tf.sin), lambda: q)

    arrays = tensors("matmul", (2, 2, 40, 40, 16, 16), F32)
    converted = tf.autograph.to_graph(function)
    ir = tf.function(function).experimental_get_compiler_ir(*arrays)
    assert "attention(" in ir(stage="loops")
    compiled, values = compile_native(converted, *arrays)
    (got,) = compiled(*values)
    np.testing.assert_allclose(got, function(*map(tf.constant, arrays)), rtol=1e-4, atol=1e-4)


def test_a_tape_around_a_function() -> None:
    """Weights are kept for the gradient there, so that nothing changes."""
    function = tf.function(lambda q, k, v: by_matmul(q, k, v, lambda s: s), jit_compile=True)
    arrays = [tf.constant(x) for x in tensors("matmul", (2, 2, 30, 30, 16, 16), F32)]
    found = []
    for call in (function, lambda q, k, v: by_matmul(q, k, v, lambda s: s)):
        with tf.GradientTape() as tape:
            tape.watch(arrays)
            out = call(*arrays)
        found.append(tape.gradient(out, arrays))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
