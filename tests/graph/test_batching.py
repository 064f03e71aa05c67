"""Functions of one row, done for all rows at once: as a loop over the rows, in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.graph import row_maps
from weft._src.graph.batching import Batch, rule_of
from weft._src.ops.registry import find_op

rng = np.random.default_rng(3)


def made(*shape: int, dtype: Any = np.float32) -> tf.Tensor:
    return tf.constant(rng.normal(size=shape).astype(dtype))


MATRICES, VECTORS, SCALARS = made(7, 3, 5), made(7, 5), made(7)
PLACES = tf.constant(rng.integers(0, 5, 7))
COUNTED = tf.constant(rng.integers(0, 6, [7, 2, 3]), tf.int32)
W = made(5, 4)
SQUARE = made(7, 4, 4, dtype=np.float64)
POSITIVE = tf.matmul(SQUARE, SQUARE, transpose_b=True) + tf.eye(4, dtype=tf.float64)
RIGHT = made(7, 4, 2, dtype=np.float64)


def loop(fn: Callable[[Any], Any], elems: Any) -> list[np.ndarray]:
    """The results for each row, stacked by NumPy."""
    n = len(tf.nest.flatten(elems)[0])
    rows = [
        tf.nest.flatten(fn(tf.nest.map_structure(lambda e, i=i: e[i], elems))) for i in range(n)
    ]
    return [np.stack([np.asarray(x) for x in column]) for column in zip(*rows, strict=True)]


def check(fn: Callable[[Any], Any], elems: Any, rtol: float = 1e-5) -> None:
    wanted = loop(fn, elems)
    specs = tf.nest.map_structure(lambda e: tf.TensorSpec([None, *e.shape[1:]], e.dtype), elems)

    def at_once(x: Any) -> Any:
        return tf.vectorized_map(fn, x, fallback_to_while_loop=False)

    modes = {
        "eager": at_once,
        "function": tf.function(at_once),
        "any number of rows": tf.function(at_once, input_signature=[specs]),
        "nested": tf.function(lambda x: tf.function(at_once)(x)),
    }
    for mode, run in modes.items():
        got = [np.asarray(x) for x in tf.nest.flatten(run(elems))]
        for a, b in zip(got, wanted, strict=True):
            assert a.dtype == b.dtype, mode
            np.testing.assert_allclose(a, b, rtol, rtol, err_msg=mode)


def newton(x: Any) -> Any:
    return tf.while_loop(
        lambda v, i: (tf.abs(v * v - tf.abs(x)) > 1e-3) & (i < 50),
        lambda v, i: (0.5 * (v + tf.abs(x) / v), i + 1),
        (tf.ones_like(x), 0),
    )


def gradient(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of_row(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        return tape.gradient(y, x)

    return of_row


CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "elementwise": (lambda p: tf.tanh(p[0]) * p[1] + p[2], (MATRICES, VECTORS, SCALARS)),
    "captured": (lambda x: x @ W - tf.reduce_sum(W), MATRICES),
    "on the left": (lambda x: tf.transpose(W) @ tf.transpose(x), MATRICES),
    "both": (lambda p: tf.matmul(p[0], p[1], transpose_b=True), (MATRICES, MATRICES * 2.0)),
    "cholesky": (tf.linalg.cholesky, POSITIVE),
    "solve": (lambda p: tf.linalg.solve(p[0], p[1]), (POSITIVE, RIGHT)),
    "factors": (lambda a: (tf.linalg.inv(a), tf.linalg.det(a), tf.linalg.eigvalsh(a)), POSITIVE),
    "diagonals": (lambda a: (tf.linalg.diag_part(a), tf.linalg.band_part(a, 1, 0)), POSITIVE),
    "gather": (lambda p: tf.gather(p[0], p[1]), (VECTORS, PLACES)),
    "of one table": (lambda i: tf.gather(W, i), PLACES),
    "along an axis": (lambda i: tf.gather(W, i % 4, axis=1), PLACES),
    "same places": (lambda x: tf.gather(x, [2, 0, 2], axis=1), MATRICES),
    "index": (lambda p: (p[0][p[1]], p[0][-1 - p[1]]), (VECTORS, PLACES)),
    "gather_nd": (lambda p: tf.gather_nd(p[0], p[1][None, None]), (VECTORS, PLACES)),
    "scatter": (lambda x: tf.scatter_nd([[0], [2], [0]], x[:3], [4]), VECTORS),
    "update": (
        lambda p: tf.tensor_scatter_nd_update(p[0], p[1][None, None], [9.0]), (VECTORS, PLACES)
    ),
    "segments": (lambda x: tf.math.unsorted_segment_sum(x, [0, 2, -1, 2, 0], 3), VECTORS),
    "softmax": (lambda x: (tf.nn.softmax(x, 0), tf.nn.log_softmax(x)), MATRICES),
    "reduce": (
        lambda x: (tf.reduce_mean(x, 0), tf.reduce_max(x), tf.reduce_logsumexp(x, [0, 1]),
                   tf.argmax(x, -1), tf.reduce_sum(x, -1, keepdims=True), tf.norm(x)), MATRICES
    ),
    "scans": (lambda x: (tf.cumsum(x, 0), tf.math.cumprod(x, 1, reverse=True)), MATRICES),
    "order": (lambda x: (tf.sort(x), tf.argsort(x, 0), tf.math.top_k(x, 2)), MATRICES),
    "concat": (
        lambda p: tf.concat([p[0], tf.ones([2, 5]), p[1][None]], 0), (MATRICES, VECTORS)
    ),
    "parts": (lambda x: (tf.split(x, [2, 3], -1), tf.unstack(x), tf.stack([x, x], 1)), MATRICES),
    "shapes": (
        lambda x: (tf.reshape(x, [-1]), tf.transpose(x), tf.pad(x, [[1, 0], [0, 2]]),
                   tf.tile(x, [2, 1]), tf.reverse(x, [0]), tf.roll(x, 1, 0), x[:, None]), MATRICES
    ),
    "slices": (lambda x: (x[1:, ::2], x[..., 0], tf.slice(x, [0, 1], [2, 3])), MATRICES),
    "by shape": (lambda x: tf.reshape(x, tf.shape(x)[::-1]) + tf.cast(tf.size(x), tf.float32),
                 MATRICES),
    "fill": (lambda s: (tf.fill([2, 3], s), tf.broadcast_to(s, [4]), s * tf.eye(3)), SCALARS),
    "one_hot": (lambda i: tf.one_hot(i, 5), PLACES),
    "losses": (
        lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(p[1], p[0]), (VECTORS, PLACES)
    ),
    "einsum": (lambda x: tf.einsum("ij,ij->i", x, x), MATRICES),
    "einsum with one for all": (lambda x: tf.einsum("...j,jk->k...", x, W), MATRICES),
    "gradient of an einsum": (
        gradient(lambda x: tf.reduce_sum(tf.einsum("ij,jk,ik->i", x, W, x @ W) ** 2)), MATRICES
    ),
    "bias": (lambda x: tf.nn.bias_add(x, W[:, 0]), MATRICES),
    "images": (
        lambda x: tf.nn.max_pool2d(
            tf.nn.conv2d(tf.reshape(x, [1, 3, 5, 1]), tf.ones([2, 2, 1, 3]), 1, "SAME"),
            2, 1, "SAME",
        ), MATRICES
    ),
    "strings": (lambda i: tf.strings.length(tf.strings.as_string(i) + "a"), PLACES),
    "without a rule": (lambda x: tf.math.invert_permutation(tf.argsort(x)), VECTORS),
    "searchsorted": (lambda x: tf.searchsorted(tf.sort(x), x), VECTORS),
    "searchsorted, one sequence": (
        lambda x: tf.searchsorted([-1.0, 0.0, 1.0], x, "right", tf.int64), VECTORS
    ),
    "segments of strings": (
        lambda x: tf.strings.length(
            tf.strings.unsorted_segment_join(tf.as_string(x), [1, 0, 1, 0, 3], 4, "--")
        ), VECTORS
    ),
    **{
        f"segment_{kind}": (lambda x, f=f: f(x, [0, 0, 2]), MATRICES)
        for kind, f in (
            ("sum", tf.math.segment_sum), ("mean", tf.math.segment_mean),
            ("max", tf.math.segment_max), ("prod", tf.math.segment_prod),
        )
    },
    "segments of numbers": (lambda x: tf.math.segment_min(x, [0, 1, 1, 4, 4]), VECTORS),
    "bincount": (lambda x: tf.math.bincount(x, minlength=6, maxlength=6), COUNTED[:, 0]),
    "bincount of matrices": (
        lambda x: tf.math.bincount(x, minlength=4, maxlength=4, axis=-1, binary_output=True),
        COUNTED,
    ),
    "bincount of one number": (lambda i: tf.math.bincount(i, minlength=5, maxlength=5), PLACES),
    "bincount, weighed": (
        lambda p: tf.math.bincount(p[0], p[1], minlength=6, maxlength=6, axis=-1),
        (COUNTED, made(7, 2, 3)),
    ),
    "bincount, the same weights": (
        lambda x: tf.math.bincount(x, [0.5, 1.0, 2.0], 6, 6), COUNTED[:, 0]
    ),
    "in_top_k": (
        lambda p: tf.math.in_top_k(p[1], p[0], 2), (made(7, 2, 6), COUNTED[:, :, 0])
    ),
    "in_top_k, the same targets": (lambda x: tf.math.in_top_k([1, 0, 4], x, 3), MATRICES),
    "substr": (
        lambda x: tf.strings.length(tf.strings.substr(tf.as_string(x), [[1]] * 3, [[2], [3], [4]])),
        VECTORS[:, :3, None],
    ),
    "substr, places": (
        lambda p: tf.strings.length(tf.strings.substr(tf.as_string(p[0]), p[1], 9)),
        (VECTORS, PLACES),
    ),
    "substr of one string": (
        lambda i: tf.strings.length(tf.strings.substr(["abcdefg", "hijklm"], i, i)), PLACES
    ),
    "reverse_sequence": (
        lambda p: tf.reverse_sequence(p[0], p[1], seq_axis=1),
        (made(7, 3, 5), tf.constant(rng.integers(0, 6, [7, 3]))),
    ),
    "reverse_sequence, other axes": (
        lambda p: tf.reverse_sequence(p[0], p[1], seq_axis=0, batch_axis=2),
        (made(7, 4, 3, 5, 2), tf.constant(rng.integers(0, 5, [7, 5]))),
    ),
    "reverse_sequence, the same lengths": (
        lambda x: tf.reverse_sequence(x, [2, 0, 3, 1, 1], seq_axis=0, batch_axis=1), MATRICES
    ),
    "reverse_sequence of one tensor": (
        lambda i: tf.reverse_sequence(W, [i, 0, 2, i], seq_axis=0, batch_axis=1), PLACES
    ),
    "reverse_sequence, gradient": (
        gradient(lambda x: tf.reverse_sequence(x, [1, 5, 2], seq_axis=1) ** 2), MATRICES
    ),
    "irfft": (lambda x: tf.signal.irfft(tf.signal.rfft(x, [6]), [7]), MATRICES),
    "irfft2d": (lambda x: tf.signal.irfft2d(tf.signal.rfft2d(x)), MATRICES),
    "eigh_tridiagonal": (lambda x: tf.linalg.eigh_tridiagonal(x, x[:, 1:]), MATRICES),
    "eigh_tridiagonal, vectors": (
        lambda x: tf.abs(tf.linalg.eigh_tridiagonal(x, x[1:], eigvals_only=False)[1]), VECTORS
    ),
    "sort, gradient": (gradient(lambda x: tf.sort(x, 0) * tf.range(15.0)[:, None][:3]), MATRICES),
    "stateless": (lambda i: tf.random.stateless_normal([3], tf.stack([i, i + 1])), PLACES),
    "cond": (
        lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0), VECTORS
    ),
    "switch_case": (
        lambda i: tf.switch_case(
            tf.cast(i, tf.int32) - 1, [lambda: W[0], lambda: W[1], lambda: W[2]]
        ),
        PLACES,
    ),
    "while of its own length": (newton, SCALARS),
    "while of one length": (
        lambda x: tf.while_loop(
            lambda i, v: i < 4, lambda i, v: (i + 1, v * tf.cast(i, tf.float32) + 1.0), [0, x]
        )[1], VECTORS
    ),
    "scan": (lambda x: tf.scan(lambda a, b: a * 0.5 + b, x), MATRICES),
    "map in a map": (lambda x: tf.vectorized_map(lambda r: r * tf.reduce_sum(r), x), MATRICES),
    "gradient": (gradient(lambda x: tf.reduce_sum(tf.nn.relu(x @ W) ** 2)), MATRICES),
    "gradient of a loop": (
        gradient(lambda x: tf.while_loop(
            lambda i, v: i < 4, lambda i, v: (i + 1, tf.sin(v) * x), [0, x])[1]), VECTORS
    ),
    "second gradient": (gradient(gradient(lambda x: tf.reduce_sum(x**3))), VECTORS),
    "function": (tf.function(lambda x: tf.reduce_sum(x) * x), VECTORS),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_a_loop(name: str) -> None:
    fn, elems = CASES[name]
    check(fn, elems)


@pytest.mark.parametrize("name", ["elementwise", "captured", "reduce", "cond", "gather"])
def test_as_machine_code(name: str) -> None:
    fn, elems = CASES[name]
    compiled = tf.function(lambda x: tf.vectorized_map(fn, x), jit_compile=True)
    for a, b in zip(tf.nest.flatten(compiled(elems)), loop(fn, elems), strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5)


def test_gradients_go_through() -> None:
    def total(x: Any) -> Any:
        return tf.reduce_sum(tf.vectorized_map(lambda r: tf.sin(r) * tf.reduce_sum(r * r), x))

    def by_loop(x: Any) -> Any:
        return sum(tf.reduce_sum(tf.sin(x[i]) * tf.reduce_sum(x[i] * x[i])) for i in range(7))

    found = [gradient(total)(VECTORS), tf.function(gradient(total))(VECTORS)]
    for g in found:
        np.testing.assert_allclose(g, gradient(by_loop)(VECTORS), 1e-5)


def test_a_variable_gets_the_sum_of_the_gradients() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda r: tf.reduce_sum(r) * v * v, VECTORS))
    np.testing.assert_allclose(tape.gradient(y, v), 4.0 * tf.reduce_sum(VECTORS), 1e-5)


def test_the_branch_not_taken_does_not_raise() -> None:
    def root(x: Any) -> Any:
        def checked() -> Any:
            with tf.control_dependencies([tf.debugging.assert_greater(x, 0.0)]):
                return tf.sqrt(x)

        return tf.cond(x > 0.0, checked, lambda: x)

    for run in (tf.vectorized_map, tf.function(lambda f, x: tf.vectorized_map(f, x))):
        np.testing.assert_allclose(run(root, tf.constant([4.0, -1.0, 9.0])), [2.0, -1.0, 3.0])
        np.testing.assert_allclose(run(root, tf.constant([-4.0, -1.0])), [-4.0, -1.0])


def test_a_check_names_the_row_that_fails() -> None:
    def checked(x: Any) -> Any:
        tf.debugging.Assert(x > 0.0, ["too small:", x])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"too small:.*-7"):
        tf.vectorized_map(checked, tf.constant([4.0, -7.0, -9.0]))


def test_gradients_of_the_branch_not_taken_are_not_nan() -> None:
    def root(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: x)

    x = tf.constant([4.0, -1.0, 0.0])
    for mode in (lambda f: f, tf.function):
        of_all = mode(gradient(lambda x: tf.vectorized_map(root, x)))
        np.testing.assert_allclose(of_all(x), [0.25, 1.0, 1.0])


def test_a_loop_that_is_done_is_left_alone() -> None:
    """A row that goes on for too long would divide by zero."""

    def count_down(x: Any) -> Any:
        return tf.while_loop(lambda v, y: v > 0.5, lambda v, y: (v - 1.0, y / v), [x, x])[1]

    x = tf.constant([1.0, 3.0, 2.0])
    np.testing.assert_allclose(tf.vectorized_map(count_down, x), [1.0, 0.5, 1.0])
    g = tf.function(gradient(lambda x: tf.vectorized_map(count_down, x)))(x)
    assert np.isfinite(g).all()


def test_effects_are_those_of_a_loop() -> None:
    total = tf.Variable(0.0)

    def add(x: Any) -> Any:
        total.assign_add(x)
        return total.read_value()

    np.testing.assert_allclose(tf.vectorized_map(add, tf.constant([1.0, 2.0, 4.0])), [1, 3, 7])
    with pytest.raises(tf.errors.UnsupportedError, match="vectorized_map: fn cannot be batched"):
        tf.vectorized_map(add, tf.constant([1.0]), fallback_to_while_loop=False)


def test_what_is_saved_for_each_row_runs_row_by_row() -> None:
    """The gradient of a loop whose rows end at different times."""
    fn = gradient(lambda x: newton(x)[0])
    for run in (tf.vectorized_map, tf.function(lambda f, x: tf.vectorized_map(f, x))):
        np.testing.assert_allclose(run(fn, SCALARS), loop(fn, SCALARS)[0], 1e-5)


def test_random_numbers_are_those_of_a_loop() -> None:
    def noisy(x: Any) -> Any:
        return x + tf.random.normal([2]) * tf.random.uniform([])

    tf.random.set_seed(5)
    first = tf.function(lambda x: tf.vectorized_map(noisy, x))(SCALARS)
    tf.random.set_seed(5)
    second = tf.function(lambda x: tf.map_fn(noisy, x))(SCALARS)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first)) == first.shape.num_elements()


@pytest.mark.parametrize("most_rows", [1, 3, 100])
def test_chunks(most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: Any) -> Any:
        return x @ W, tf.reduce_sum(x)

    row = row_maps.RowFunction(fn, [tf.TensorSpec([3, 5])], "row").bytes_of_a_row
    monkeypatch.setattr(row_maps, "_MOST_BYTES", most_rows * row)
    check(fn, MATRICES)


def test_nothing_is_mapped() -> None:
    for run in (tf.vectorized_map, tf.function(tf.vectorized_map)):
        assert run(lambda x: x @ W, tf.zeros([0, 3, 5])).shape == (0, 3, 4)


def test_map_fn_of_what_is_pure_has_no_loop() -> None:
    f = tf.function(lambda x: tf.map_fn(lambda r: tf.nn.softmax(r) * 2.0, x))
    one_by_one = tf.function(
        lambda x: tf.map_fn(lambda r: tf.nn.softmax(r) * 2.0, x, parallel_iterations=1)
    )
    names = [{n.type for n in g.get_concrete_function(VECTORS).graph.get_operations()}
             for g in (f, one_by_one)]  # fmt: skip
    assert "While" not in names[0]
    assert "While" in names[1]
    np.testing.assert_allclose(f(VECTORS), one_by_one(VECTORS), 1e-6)


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_jacobians(mode: str) -> None:
    def both(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.tanh(x @ W) * tf.reduce_sum(x, 1, keepdims=True)
        return tape.jacobian(y, x), tape.batch_jacobian(y, x)

    x = MATRICES[0]
    jacobian, by_row = (tf.function(both) if mode == "function" else both)(x)
    value = x.numpy().astype(np.float64)
    w = W.numpy().astype(np.float64)
    columns = []
    for k in np.ndindex(value.shape):
        step = np.zeros_like(value)
        step[k] = 1e-5
        f = [np.tanh(v @ w) * v.sum(1, keepdims=True) for v in (value + step, value - step)]
        columns.append((f[0] - f[1]) / 2e-5)
    wanted = np.stack(columns, -1).reshape(3, 4, 3, 5)
    np.testing.assert_allclose(jacobian, wanted, 1e-3, 1e-4)
    np.testing.assert_allclose(by_row, [wanted[i, :, i] for i in range(3)], 1e-3, 1e-4)


def test_ops_of_every_family_have_a_rule() -> None:
    for name in "Sum MatMul GatherV2 Cholesky StridedSlice ConcatV2 Softmax Exp SelectV2".split():
        assert rule_of(find_op(name)) is not None, name


@pytest.mark.parametrize(
    "case",
    [
        name
        for name in CASES
        if name.startswith(
            ("searchsorted", "segment", "bincount", "in_top_k", "substr", "reverse_seq", "irfft",
             "eigh", "sort, gradient")
        )
    ],
)  # fmt: skip
def test_no_row_alone(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def looped(self: Any, node: Any, *_: Any) -> Any:
        raise AssertionError(f"{node.op.name} is run row by row")

    monkeypatch.setattr(Batch, "looped", looped)
    fn, elems = CASES[case]
    tf.vectorized_map(fn, elems)
