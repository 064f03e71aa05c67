"""Matrix products as machine code: by loops when small, by BLAS when large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, compile_native
from weft._src.execution.native.front.lowering import rules

rng = np.random.default_rng(5)


def _matrix(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return rng.normal(size=shape).astype(dtype)


@pytest.mark.parametrize(
    "sizes", [(2, 3, 4), (1, 5, 1), (67, 33, 70)], ids=["small", "row", "large"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_transposes(sizes: tuple[int, int, int], dtype: Any) -> None:
    n, k, m = sizes

    def function(a: Any, b: Any, at: Any, bt: Any) -> list[Any]:
        return [
            a @ b,
            tf.matmul(at, b, transpose_a=True),
            tf.matmul(a, bt, transpose_b=True),
            tf.matmul(at, bt, transpose_a=True, transpose_b=True),
            tf.transpose(b) @ tf.transpose(a),
        ]

    tolerance = 1e-5 if dtype is np.float32 else 1e-13
    check(
        function, _matrix(n, k, dtype=dtype), _matrix(k, m, dtype=dtype),
        _matrix(k, n, dtype=dtype), _matrix(m, k, dtype=dtype),
        rtol=tolerance, atol=10 * tolerance,
    )  # fmt: skip


@pytest.mark.parametrize("size", [3, 41], ids=["loops", "blas"])
def test_batches_broadcast(size: int) -> None:
    check(
        lambda a, b, c, d: {
            "same": a @ a,
            "one for all": a @ c,
            "all for one": c @ a,
            "axes": b @ d,
            "transposed": tf.matmul(a, a, transpose_b=True),
        },
        _matrix(4, size, size),
        _matrix(2, 1, size, size),
        _matrix(size, size),
        _matrix(3, size, size),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "sizes",
    [(70, 9, 3, 11), (100, 33, 7, 20), (64, 8, 200, 9), (65, 17, 5, 50), (300, 4, 4, 4),
     (90, 10, 1, 100), (66, 40, 6, 16)],
    ids=str,
)  # fmt: skip
def test_batches_of_small_products(sizes: tuple[int, int, int, int], dtype: Any) -> None:
    """Tiles of right sides that are arranged all at once, whatever is left of their rows."""
    count, m, k, n = sizes
    tolerance = 1e-5 if dtype is np.float32 else 1e-13
    check(
        lambda a, at, b, bt: [
            a @ b,
            tf.matmul(at, b, transpose_a=True),
            tf.matmul(a, bt, transpose_b=True),
            tf.matmul(at, bt, transpose_a=True, transpose_b=True),
        ],
        _matrix(count, m, k, dtype=dtype), _matrix(count, k, m, dtype=dtype),
        _matrix(count, k, n, dtype=dtype), _matrix(count, n, k, dtype=dtype),
        rtol=tolerance, atol=10 * tolerance,
    )  # fmt: skip


def test_nothing_to_sum() -> None:
    check(lambda a, b: [a @ b], np.zeros((3, 0), np.float32), np.zeros((0, 4), np.float32))
    check(lambda a, b: [a @ b], np.zeros((0, 2), np.float32), _matrix(2, 4))


@pytest.mark.parametrize("name", ["int32", "float16"])
def test_other_dtypes(name: str) -> None:
    a, b = [rng.integers(-4, 5, shape).astype(name) for shape in ((3, 5), (5, 2))]
    check(lambda a, b: [a @ b], a, b)


def test_vectors_and_contractions() -> None:
    check(
        lambda a, b, v: {
            "matvec": tf.linalg.matvec(a, v),
            "tensordot": tf.tensordot(a, b, [[1], [0]]),
            "einsum": tf.einsum("ij,jk->ki", a, b),
            "outer": tf.einsum("i,j->ij", v, v),
            "batched": tf.einsum("bij,bjk->bik", tf.stack([a, a]), tf.stack([b, 2 * b])),
            "dot": tf.tensordot(v, v, 1),
        },
        _matrix(4, 5), _matrix(5, 3), _matrix(5),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip


def test_infinities_and_nan_spread_as_they_should() -> None:
    a = np.float32([[1, np.inf], [0, 2], [np.nan, 0]])
    check(lambda a, b: [a @ b], a, np.float32([[1, 0], [0, 1]]))


@pytest.mark.parametrize("sizes", [(3, 4, 2), (64, 80, 48)], ids=["loops", "blas"])
def test_a_layer_with_gradients(sizes: tuple[int, int, int]) -> None:
    n, k, m = sizes

    def function(x: Any, w: Any, b: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            y = tf.reduce_mean(tf.tanh(x @ w + b) ** 2)
        return [y, *tape.gradient(y, [x, w, b])]

    check(function, _matrix(n, k), _matrix(k, m), _matrix(m), rtol=1e-4, atol=1e-6)


def test_operands_that_are_computed_or_moved() -> None:
    check(
        lambda a: [(a * 2) @ tf.transpose(a + 1), a[1:] @ tf.reverse(tf.transpose(a), [0]),
                   tf.reshape(a, [7, 10]) @ tf.reshape(a, [10, 7])],
        _matrix(10, 7),
        rtol=1e-5,
        atol=1e-5,
    )  # fmt: skip


def test_results_do_not_depend_on_what_lay_in_memory() -> None:
    """BLAS adds to what is there; the second call finds the scratch of the first."""
    compiled, values = compile_native(lambda a: [tf.exp(-((a @ a) ** 2)), a @ a], _matrix(48, 48))
    first = compiled(*values)
    compiled(np.full((48, 48), np.nan, np.float32))
    for a, b in zip(compiled(*values), first, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_one_matrix_for_a_batch_of_narrow_numbers(name: str) -> None:
    dtype = tf.as_dtype(name).as_numpy_dtype
    check(
        lambda a, b, c: [a @ b, tf.matmul(a, c, transpose_b=True)],
        _matrix(2, 3, 5, dtype=dtype),
        _matrix(5, 4, dtype=dtype),
        _matrix(1, 4, 5, dtype=dtype),
        rtol=2e-2,
        atol=2e-2,
    )


def test_a_rule_that_gives_another_type_than_inferred_is_no_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(rules._rules, "matmul", lambda lowering, node, inputs: inputs[0])
    with pytest.raises(AssertionError, match=r"rule of MatMul gives float32\(2, 3\), but matmul"):
        compile_native(lambda x, y: x @ y, _matrix(2, 3), _matrix(3, 5))
