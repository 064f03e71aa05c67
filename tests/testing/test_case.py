"""tf.test: each assertion passes and fails; Jacobians are right."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
T = tf.test.TestCase("assertTrue")
RAGGED = tf.ragged.constant([[1], [2, 3]])
SPARSE = tf.sparse.from_dense([0, 1])
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
    lambda: T.assertAllEqual(T.evaluate(lambda: tf.constant(3)), 3),
    lambda: T.assertAllClose({"a": [tf.ones([2])]}, {"a": [[1, 1]]}),
    lambda: T.assertAllClose([1, {"a": tf.ones([2])}], [1, {"a": [1, 1]}]),
    lambda: T.assertAllClose([[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0]]),
    lambda: T.assertAllClose((tf.ones([2]), tf.ones([3])), [np.ones(2), np.ones(3)]),
    lambda: T.assertAllEqual(RAGGED, [[1], [2, 3]]),
    lambda: T.assertAllEqual([[b"a"], []], tf.ragged.constant([["a"], []])),
    lambda: T.assertAllClose(RAGGED, tf.cast(RAGGED, tf.float32)),
    lambda: T.assertAllEqual(SPARSE, SPARSE),
    lambda: T.assertNDArrayNear(X, X + 0.1, 0.3),
    lambda: T.assertEmpty([]),
    lambda: T.assertNotEmpty("a"),
    lambda: T.assertLen((1, 2), 2),
    lambda: T.assertContainsSubset([1], [1, 2]),
    lambda: T.assertNoCommonElements([1], [2]),
    lambda: T.assertSameElements([1, 2, 2], [2, 1]),
    lambda: T.assertSequenceStartsWith([1], (1, 2)),
    lambda: T.assertSequenceAlmostEqual([1.0], [1.0 + 1e-9]),
    lambda: T.assertSameStructure({"a": [1, (2,)]}, {"a": (1, [2])}),
    lambda: T.assertStartsWith("abc", "a"),
    lambda: T.assertEndsWith("abc", "c"),
    lambda: T.assertContainsInOrder(["a", "c"], "abc"),
    lambda: T.assertBetween(1, 1, 2),
    lambda: T.assertTotallyOrdered([1, 1.0], [2]),
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
    (
        lambda: T.assertAllGreater([1, 2, 3], [1, 2]),
        r"Shapes \(3,\) and \(2,\) cannot be broadcast",
    ),
    (lambda: T.assertAllLess(X, 6), "not < the target"),
    (lambda: T.assertAllInRange(X, 1, 6, open_lower_bound=True), "not >"),
    (lambda: T.assertAllInSet(X, {1, 2}), "are not in the set"),
    (lambda: T.assertShapeEqual(X, X[0]), "not equal"),
    (lambda: T.assertDTypeEqual(X, tf.int32), "float32, expected int32"),
    (lambda: T.assertAllClose({"a": 1}, {"b": 1}), "keys differ"),
    (lambda: T.assertAllClose({"a": 1}, [1], msg="my words"), "my words: The keys differ"),
    (lambda: T.assertAllClose([[1.0], [2.0, 3.0]], [[1.0]]), "lengths differ"),
    (lambda: T.assertAllClose([[1.0], [2.0, 3.0]], [[1.0], [2.0, 4.0]]), "not close"),
    (lambda: T.assertAllEqual(RAGGED, [[1], [2]]), r"rows \[2, 3\] and \[2\] differ in length"),
    (lambda: T.assertAllEqual(RAGGED, [[1], [2, 4]]), "not equal"),
    (lambda: T.assertAllEqual(SPARSE, tf.sparse.from_dense([0, 2])), "not equal"),
    (lambda: T.assertAllEqual(SPARSE, [0, 1]), "Cannot compare a SparseTensor and a list"),
    (lambda: T.assertNDArrayNear(X, X + 0.1, 0.2), "norm of the difference"),
    (lambda: T.assertEmpty([1]), "expected none"),
    (lambda: T.assertNotEmpty([]), "no elements"),
    (lambda: T.assertLen([1], 2, "my words"), "my words: .* expected 2"),
    (lambda: T.assertContainsSubset([3], [1, 2]), "missing"),
    (lambda: T.assertNoCommonElements([1], [1]), "in both"),
    (lambda: T.assertSameElements([1, 2], [1]), "only one of both"),
    (lambda: T.assertSequenceStartsWith([2], (1, 2)), "does not start"),
    (lambda: T.assertSequenceAlmostEqual([1.0], [1.1]), "1.1"),
    (lambda: T.assertSameStructure({"a": [1, 2]}, {"a": [1, 3]}), r"a\['a'\]\[1\] is 2"),
    (lambda: T.assertSameStructure({"a": 1}, {"b": 1}), "differ in the keys"),
    (lambda: T.assertSameStructure([1], [1, 2]), "length 1"),
    (lambda: T.assertStartsWith("abc", "b"), "does not start"),
    (lambda: T.assertEndsWith("abc", "b"), "does not end"),
    (lambda: T.assertContainsInOrder(["c", "a"], "abc"), "'a' is not in 'abc' from character 3"),
    (lambda: T.assertBetween(0, 1, 2), "not between"),
    (lambda: T.assertTotallyOrdered([2], [1]), "not less"),
    (lambda: T.assertTotallyOrdered([1, 2]), "not equal"),
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
    with T.assertRaisesIncompatibleShapesError():
        tf.matmul(X, X)
    with T.assertRaisesWithPredicateMatch(ValueError, lambda e: "matmul" in str(e).lower()):
        tf.matmul(X, X)


class Seeded(tf.test.TestCase):
    def runTest(self) -> None:
        self.numbers = tf.random.normal([3]).numpy().tolist()
        with self.cached_session(), self.test_session():
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


def test_tolerances_of_dtypes() -> None:
    for a, b, tolerance in (
        (X, X + 1e-3, {"float_rtol": 1e-2}),
        (X.astype(np.complex64), X + 1e-3, {"float_atol": 1e-2}),
        (X.astype(np.float16), X + 5e-2, {"half_rtol": 1e-1}),
        (tf.cast(X, tf.bfloat16), X + 0.5, {"bfloat16_rtol": 0.6}),
    ):
        T.assertAllCloseAccordingToType(a, b, **tolerance)
        with pytest.raises(AssertionError, match="not close"):
            T.assertAllCloseAccordingToType(a, b)


def test_threads_are_checked() -> None:
    seen = []
    thread = T.checkedThread(seen.append, args=(1,))
    thread.start()
    thread.join()
    assert seen == [1]
    assert not thread.is_alive()
    failing = T.checkedThread(lambda: 1 / 0)
    failing.start()
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        failing.join()
    T.checkedThread(seen.clear)  # never started: nothing to wait for
    T.doCleanups()


def test_texts_of_exceptions() -> None:
    with T.assertRaisesWithLiteralMatch(ValueError, "abc"):
        raise ValueError("abc")
    with pytest.raises(AssertionError), T.assertRaisesWithLiteralMatch(ValueError, "ab"):
        raise ValueError("abc")


def test_writes_are_captured(tmp_path: Path) -> None:
    with open(tmp_path / "stream", "w") as stream:
        with T.captureWritesToStream(stream) as printed:
            print("inside", file=stream)
            assert printed.contents() == "inside\n"
            os.write(stream.fileno(), b"more")
        print("outside", file=stream)
    assert printed.contents() == "inside\nmore"
    assert (tmp_path / "stream").read_text() == "outside\n"
