"""Softmax, cross entropies, and losses element by element."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, check_case, f32, f64

INF = np.inf
_P = np.random.default_rng(3).dirichlet(np.ones(4), (2, 3))  # rows that sum to 1


def _cross_entropy(labels: np.ndarray, logits: np.ndarray, axis: int = -1) -> np.ndarray:
    return -np.sum(labels * special.log_softmax(logits, axis), axis)


def _sparse(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    return _cross_entropy(np.eye(logits.shape[-1])[labels], logits)


def _sigmoid_loss(z: np.ndarray, x: np.ndarray, w: float = 1.0) -> np.ndarray:
    return (1 - z) * np.logaddexp(x, 0) + w * z * np.logaddexp(-x, 0)


_COUNTS = f32(2, 3, low=2, high=5)
CASES = [
    *[
        Case(fn, [f32(2, 3, 4)], {"axis": a}, lambda x, a=a, r=ref: r(x, -1 if a is None else a))
        for fn, ref in [(tf.nn.softmax, special.softmax), (tf.nn.log_softmax, special.log_softmax)]
        for a in (None, 0, 1, -1)
    ],
    *[
        Case(tf.nn.softmax, [shape], {}, lambda x: special.softmax(x, -1) if x.size else x)
        for shape in (f32(2, 0), f32(0, 2))
    ],
    # TensorFlow's gradient for the logits takes it that labels sum to 1, so they are not varied.
    Case(
        tf.nn.softmax_cross_entropy_with_logits,
        [_P, f64(2, 3, 4)],
        {},
        _cross_entropy,
        grad=False,
    ),
    Case(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(_P, x),
        [f64(2, 3, 4)],
        {},
        lambda x: _cross_entropy(_P, x),
        label="logits",
    ),
    Case(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(_P[:1], x),
        [f64(2, 3, 4)],
        {},
        lambda x: _cross_entropy(_P[:1], x),
        label="labels that broadcast",
    ),
    Case(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(np.swapaxes(_P, 1, 2), x, axis=1),
        [f64(2, 4, 3)],
        {},
        lambda x: _cross_entropy(np.swapaxes(_P, 1, 2), x, 1),
        label="another axis",
        unknown_shapes=False,
    ),
    *[
        Case(tf.nn.sparse_softmax_cross_entropy_with_logits, [labels, logits], {}, _sparse)
        for labels, logits in [
            (np.array([2, 0]), f32(2, 3)),
            (np.int32([[2, 0, 1]]), f32(1, 3, 4)),
            (np.int32(1), f32(3)),
        ]
    ],
    Case(tf.nn.sigmoid_cross_entropy_with_logits, [f32(2, 3), f32(2, 3)], {}, _sigmoid_loss),
    Case(
        lambda z, x: tf.nn.weighted_cross_entropy_with_logits(z, x, 2.0),
        [f32(2, 3), f32(2, 3)],
        {},
        lambda z, x: _sigmoid_loss(z, x, 2.0),
        label="weighted",
    ),
    Case(tf.nn.log_poisson_loss, [_COUNTS, f32(2, 3)], {}, lambda z, x: np.exp(x) - z * x),
    Case(tf.nn.log_poisson_loss, [_COUNTS, f32(2, 3)], {"compute_full_loss": True}),
    Case(tf.nn.l2_loss, [f32(2, 3)], {}, lambda x: np.sum(x**2) / 2),
    Case(tf.nn.l2_loss, [f32(0)], {}, lambda x: np.float32(0)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_add_in_float32(dtype: type) -> None:
    x = np.zeros(5000, dtype)
    np.testing.assert_allclose(tf.nn.softmax(x).numpy().astype(float), 1 / 5000, rtol=1e-2)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits([0], x[None])
    assert loss.dtype == dtype
    np.testing.assert_allclose(loss.numpy().astype(float), np.log(5000), rtol=1e-2)
    assert float(tf.nn.l2_loss(np.ones(5000, np.float16))) == 2500


def test_extreme_logits() -> None:
    x = tf.constant([[1e4, 0.0, -1e4]])
    assert tf.nn.softmax(x).numpy().tolist() == [[1, 0, 0]]
    assert tf.nn.log_softmax(x).numpy().tolist() == [[0, -1e4, -2e4]]
    assert tf.nn.log_softmax([-INF, 0.0]).numpy().tolist() == [-INF, 0]
    assert tf.nn.sparse_softmax_cross_entropy_with_logits([2], x).numpy().tolist() == [2e4]
    loss = tf.nn.sigmoid_cross_entropy_with_logits([1.0, 1.0, 0.0], [-1e4, 1e4, 1e4])
    assert loss.numpy().tolist() == [1e4, 0, 1e4]


def test_gradient_of_labels_that_do_not_sum_to_one() -> None:
    """TensorFlow's gradient is softmax - labels, whatever the labels sum to."""
    logits = tf.constant([[1.0, 2.0, 3.0]])
    labels = tf.constant([[0.2, 0.5, 0.1]])
    with tf.GradientTape() as tape:
        tape.watch([labels, logits])
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    g_labels, g_logits = tape.gradient(loss, [labels, logits])
    np.testing.assert_allclose(loss, [1.2260848], rtol=1e-6)
    np.testing.assert_allclose(g_logits, [[-0.10996943, -0.25527152, 0.5652409]], rtol=1e-6)
    np.testing.assert_allclose(g_labels, [[2.4076059, 1.4076059, 0.40760595]], rtol=1e-6)


def test_sigmoid_gradient_at_zero() -> None:
    labels, logits = tf.constant([1.0, 0.0, 0.5]), tf.zeros([3])
    with tf.GradientTape() as tape:
        tape.watch([labels, logits])
        loss = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    g_labels, g_logits = tape.gradient(loss, [labels, logits])
    assert g_logits.numpy().tolist() == [-0.5, 0.5, 0.0]
    assert g_labels.numpy().tolist() == [0, 0, 0]


def test_labels_take_the_dtype_of_the_logits() -> None:
    out = tf.nn.softmax_cross_entropy_with_logits(tf.constant([[0, 1]]), tf.zeros([1, 2]))
    np.testing.assert_allclose(out, [np.log(2)], rtol=1e-6)


def test_full_poisson_loss() -> None:
    """As TensorFlow 2.21; below 1 Stirling's approximation is left out."""
    out = tf.nn.log_poisson_loss([1.0, 0.0, 3.0], [1.0, 2.0, -3.0], compute_full_loss=True)
    np.testing.assert_allclose(out, [1.7182817, 7.3890562, 10.813869], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.softmax(1.0), "softmax: axis -1 is out of range; allowed is nothing"),
        (lambda: tf.nn.softmax(tf.ones([2, 3]), axis=2), r"softmax: axis 2 is out of range; allow"),
        (
            lambda: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 3]), tf.ones([2, 4])),
            r"softmax_cross_entropy_with_logits: shapes \(2, 4\) and \(2, 3\) cannot be broadcast",
        ),
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0], tf.ones([2, 3])),
            r"labels must have the shape of logits without its last axis, got labels of shape \(1,",
        ),
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 3], tf.ones([2, 3])),
            r"labels must be from 0 to 2, as there are 3 classes, got 3",
        ),
        (
            lambda: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([2]), tf.ones([3])),
            r"labels and logits must have the same shape, got \(2,\) and \(3,\)",
        ),
        (lambda: tf.nn.softmax([1, 2]), "Softmax: logits has dtype int32, expected one of"),
        (lambda: tf.nn.l2_loss([1, 2]), "L2Loss: t has dtype int32, expected one of"),
    ],
)
def test_errors(call: object, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()


def test_an_axis_is_one_number() -> None:
    with pytest.raises(TypeError, match=r"softmax: axis must be an integer, got \[0\]"):
        tf.nn.softmax([1.0, 2.0], axis=[0])


@pytest.mark.parametrize("shape", [(4, 1), (None, None), None])
def test_one_logit_for_several_classes(shape: tuple[int | None, ...] | None) -> None:
    labels = np.array([[0.5, 0.25, 0.25]], np.float32)
    loss = tf.function(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(labels, x),
        input_signature=[tf.TensorSpec(shape)],
    )
    x = np.arange(4.0, dtype=np.float32)[:, None]
    np.testing.assert_allclose(loss(x), np.full(4, np.log(3.0)), 1e-6)


def test_cross_entropy_needs_classes() -> None:
    with pytest.raises(ValueError, match="logits must have rank at least 1"):
        tf.nn.softmax_cross_entropy_with_logits([[0.5, 0.5]], 2.5)
