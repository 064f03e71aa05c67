"""tf.test: each assertion passes and fails; Jacobians are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
T = tf.test.TestCase("assertTrue")
NAN = np.array([1.0, np.nan])

PASSING = [
    lambda: T.assertAllEqual(tf.constant(X), X.tolist()),
    lambda: T.assertAllEqual(NAN, NAN),
    lambda: T.assertAllEqual(tf.constant(["a", "b"]), [b"a", b"b"]),
    lambda: T.assertNotAllEqual(X, X + 1),
    lambda: T.assertAllClose(X, X + 1e-7),
    lambda: T.assertAllClose({"a": X, "b": [X, 1.0]}, {"a": tf.constant(X), "b": [X, 1.0]}),
    lambda: T.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0])),
    lambda: T.assertAllCloseAccordingToType(X.astype(np.float16), X + 5e-4),
    lambda: T.assertNotAllClose(X, X + 1e-2),
    lambda: T.assertNear(1.0, 1.05, 0.1),
    lambda: T.assertArrayNear([1.0], [1.05], 0.1),
    lambda: T.assertAllGreater(X, 0.5),
    lambda: T.assertAllGreaterEqual(X, 1),
    lambda: T.assertAllLess(X, 7),
    lambda: T.assertAllLessEqual(X, 6),
    lambda: T.assertAllInRange(X, 1, 6),
    lambda: T.assertAllInSet(X, {1, 2, 3, 4, 5, 6}),
    lambda: T.assertShapeEqual(X, tf.constant(X)),
    lambda: T.assertDTypeEqual(tf.constant(X), tf.float32),
    lambda: T.assertAllEqual(T.evaluate({"a": tf.constant(3)})["a"], 3),
]

FAILING = [
    (lambda: T.assertAllEqual(X, X[:1]), "Shapes differ"),
    (lambda: T.assertAllEqual([1, 2, 3], [1, 5, 3]), r"1 of 3 elements are not equal: .* \[1\]"),
    (lambda: T.assertNotAllEqual(X, X), "equal at all places"),
    (lambda: T.assertAllClose(X, X + 1e-3, msg="my words"), "my words: 6 of 6"),
    (lambda: T.assertAllClose({"a": X}, {"a": X + 1}), "not close"),
    (lambda: T.assertNotAllClose(X, X + 1e-9), "close at all places"),
    (lambda: T.assertNear(1.0, 1.5, 0.1), "differ by more than 0.1"),
    (lambda: T.assertAllGreater(X, 1), "not > the target"),
    (lambda: T.assertAllLess(X, 6), "not < the target"),
    (lambda: T.assertAllInRange(X, 1, 6, open_lower_bound=True), "not >"),
    (lambda: T.assertAllInSet(X, {1, 2}), "are not in the set"),
    (lambda: T.assertShapeEqual(X, X[0]), "not equal"),
    (lambda: T.assertDTypeEqual(X, tf.int32), "float32, expected int32"),
]


@pytest.mark.parametrize("call", PASSING)
def test_passing(call: Any) -> None:
    call()


@pytest.mark.parametrize(("call", "text"), FAILING)
def test_failing(call: Any, text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        call()


def test_errors_of_ops() -> None:
    with T.assertRaisesOpError("Matrix|matmul|MatMul"):
        tf.matmul(X, X)
    with pytest.raises(AssertionError), T.assertRaisesOpError("another text"):
        tf.matmul(X, X)
    with T.assertRaisesWithPredicateMatch(ValueError, lambda e: "matmul" in str(e).lower()):
        tf.matmul(X, X)


class Seeded(tf.test.TestCase):
    def runTest(self) -> None:
        self.numbers = tf.random.normal([3]).numpy().tolist()
        with self.cached_session():
            self.folder = self.get_temp_dir()


def test_each_test_is_seeded() -> None:
    one, two = Seeded(), Seeded()
    assert one.run().wasSuccessful()
    assert two.run().wasSuccessful()
    assert one.numbers == two.numbers


def test_compute_gradient() -> None:
    exact, estimated = tf.test.compute_gradient(
        lambda x, y: tf.reduce_sum(x * y, 1), [X, X.astype(np.float32)]
    )
    expected = np.zeros((2, 6))
    expected[0, :3], expected[1, 3:] = X[0], X[1]
    for found in (*exact, *estimated):
        np.testing.assert_allclose(found, expected, rtol=1e-2)
    assert exact[0].dtype == np.float32
    (unused,), _ = tf.test.compute_gradient(lambda x: tf.floor(x), [X[0]])
    np.testing.assert_array_equal(unused, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="list of inputs"):
        tf.test.compute_gradient(lambda x: x, X)
    with pytest.raises(ValueError, match=r"x\[0\] must be floating"):
        tf.test.compute_gradient(lambda x: x, [[1, 2]])


def test_no_gradient() -> None:
    tf.no_gradient("Floor")
    with pytest.raises(KeyError, match="Exp has a gradient"):
        tf.no_gradient("Exp")
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.no_gradient(3)
