"""`tf.test.TestCase`: unittest's, with assertions about tensors and arrays."""

# ruff: noqa: N802, PT009, PT027 - unittest's way of naming and of asserting

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core.aliases import TensorNest
from weft._src.core.composite import CompositeTensor
from weft._src.core.dtypes import as_dtype
from weft._src.errors import InvalidArgumentError, OpError
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.sampling import streams
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.testing.absl_assertions import AbslAssertions
from weft._src.testing.watching import CapturedWrites, CheckedThread

Array = np.ndarray[Any, Any]


class TestCase(AbslAssertions):
    """Base class of tests. The global seed is set before each test.

    >>> class MyTest(tf.test.TestCase):
    ...     def test_sum(self):
    ...         self.assertAllClose(tf.reduce_sum([1.0, 2.0]), 3.0)
    >>> unittest = __import__("unittest")
    >>> MyTest("test_sum").run().wasSuccessful()
    True
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        # Not a method: unittest would take it for a test because of its name.
        self.test_session = self.session

    def setUp(self) -> None:
        """Sets the global seed, so that tests do not depend on their order."""
        super().setUp()
        streams.set_seed(87654321)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in a nest, as NumPy arrays; of a function, those it returns.

        Args:
          tensors: a tensor, variable or nest, or a function of nothing that returns one.

        Returns:
          A nest of the same structure; what has no `numpy()` stays what it is.
        """
        return nest.map_structure(_value, tensors() if callable(tensors) else tensors)

    def get_temp_dir(self) -> str:
        """A directory of this test, which is gone after it.

        Returns:
          Its name, another one each time.
        """
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    @contextlib.contextmanager
    def cached_session(self, *_: Any, **__: Any) -> Iterator[TestCase]:
        """Programs of TensorFlow 1 open a session; ops run at once, so there is nothing to open.

        Args:
          *_: accepted for compatibility.
          **__: accepted for compatibility.

        Returns:
          A context manager that gives this test case.
        """
        yield self

    session = cached_session

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread that is over at the end of the test, and whose exceptions fail the test.

        Args:
          target: the function that it runs.
          args: its arguments; None is none.
          kwargs: its keyword arguments; None is none.

        Returns:
          A `CheckedThread`, with `start` and `join`.
        """
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self.addCleanup(thread.join_if_started)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """A context in which what is written to a stream with a file descriptor is kept.

        Args:
          stream: the stream, such as `sys.stderr`.

        Returns:
          A context manager that gives an object whose `contents()` is the text so far.
        """
        descriptor = stream.fileno()
        stream.flush()
        before = os.dup(descriptor)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)

            def contents() -> str:
                stream.flush()
                file.seek(0)
                return file.read().decode()

            captured = CapturedWrites(contents)
            try:
                yield captured
            finally:
                captured.freeze()
                os.dup2(before, descriptor)
                os.close(before)

    # --- equal, close ----------------------------------------------------------------------

    def assertAllEqual(self, a: TensorNest, b: TensorNest, msg: str | None = None) -> None:
        """The same shape and the same elements; NaN equals NaN.

        Args:
          a: an array, tensor or composite tensor, or what can become one.
          b: the other one.
          msg: what the failure says besides.

        Raises:
          AssertionError: if shapes or elements differ.
        """
        if isinstance(a, CompositeTensor) or isinstance(b, CompositeTensor):
            self._parts(self.assertAllEqual, a, b, msg)
            return
        a, b = self._same_shape(a, b, msg)
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
        self._all(same, a, b, "not equal", msg)

    def assertNotAllEqual(self, a: TensorNest, b: TensorNest, msg: str | None = None) -> None:
        """At least one element differs.

        Args:
          a: an array, tensor or composite tensor, or what can become one.
          b: the other one. Different shapes are different too.
          msg: what the failure says instead.

        Raises:
          AssertionError: if they are equal.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(msg or "The two values are equal at all places.")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Nests of arrays whose elements differ by at most `atol + rtol * |b|`.

        Args:
          a: an array, tensor or composite tensor, or lists and dicts of them.
          b: the other one, of the same structure.
          rtol: the tolerance relative to `|b|`.
          atol: the tolerance that does not depend on the size of the numbers.
          msg: what the failure says besides.

        Raises:
          AssertionError: if structures or shapes differ, or elements by more. NaN is close to NaN.
        """

        def close(x: TensorNest, y: TensorNest, msg: str | None) -> None:
            self.assertAllClose(x, y, rtol, atol, msg)

        if isinstance(a, CompositeTensor) or isinstance(b, CompositeTensor):
            self._parts(close, a, b, msg)
        elif isinstance(a, Mapping) or isinstance(b, Mapping):
            if not isinstance(a, Mapping) or not isinstance(b, Mapping) or set(a) != set(b):
                self._differs(f"The keys differ:\n{a!r}\n{b!r}", msg)
            for key in a:
                close(a[key], b[key], msg)
        elif isinstance(a, (list, tuple)) and not (_is_regular(a) and _is_regular(b)):
            if not isinstance(b, (list, tuple)) or len(a) != len(b):
                self._differs(f"The lengths differ:\n{a!r}\n{b!r}", msg)
            for x, y in zip(a, b, strict=True):
                close(x, y, msg)
        else:
            a, b = self._same_shape(a, b, msg)
            good = np.isclose(_wide(a), _wide(b), rtol=rtol, atol=atol, equal_nan=True)
            self._all(good, a, b, f"not close (rtol={rtol}, atol={atol})", msg)

    def assertAllCloseAccordingToType(
        self,
        a: TensorNest,
        b: TensorNest,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Close with the tolerance of the less exact of both dtypes.

        Args:
          a: an array or tensor.
          b: the other one.
          rtol: the least relative tolerance, which is that of float64.
          atol: the least absolute tolerance.
          float_rtol: the relative tolerance of float32 and complex64.
          float_atol: their absolute tolerance.
          half_rtol: the relative tolerance of float16.
          half_atol: its absolute tolerance.
          bfloat16_rtol: the relative tolerance of bfloat16.
          bfloat16_atol: its absolute tolerance.
          msg: what the failure says besides.

        Raises:
          AssertionError: if shapes differ, or elements by more.
          TypeError: if one of them is a composite tensor.
        """
        tolerances = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for x in (_array(a), _array(b)):
            least = tolerances.get(x.dtype.name, (0.0, 0.0))
            rtol, atol = max(rtol, least[0]), max(atol, least[1])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(
        self,
        a: TensorNest,
        b: TensorNest,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        msg: str | None = None,
    ) -> None:
        """At least one element differs by more than the tolerance.

        Args:
          a: an array, tensor or composite tensor, or lists and dicts of them.
          b: the other one. Different shapes are not close either.
          rtol: the tolerance relative to `|b|`.
          atol: the tolerance that does not depend on the size of the numbers.
          msg: what the failure says instead.

        Raises:
          AssertionError: if all are close.
        """
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(msg or "The two values are close at all places.")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers that differ by at most `err`.

        Args:
          f1: a number.
          f2: the other one.
          err: the largest difference.
          msg: what the failure says instead.

        Raises:
          AssertionError: if they differ by more, or one is NaN.
        """
        if not (f1 == f2 or abs(f1 - f2) <= err):
            self.fail(msg or f"{f1} and {f2} differ by more than {err}.")

    def assertArrayNear(
        self, farray1: TensorNest, farray2: TensorNest, err: float, msg: str | None = None
    ) -> None:
        """Arrays whose elements differ by at most `err`.

        Args:
          farray1: an array or tensor.
          farray2: the other one.
          err: the largest difference.
          msg: what the failure says besides.

        Raises:
          AssertionError: if shapes differ, or elements by more.
        """
        self.assertAllClose(farray1, farray2, rtol=0.0, atol=err, msg=msg)

    def assertNDArrayNear(
        self, ndarray1: TensorNest, ndarray2: TensorNest, err: float, msg: str | None = None
    ) -> None:
        """Arrays the difference of which has a (Euclidean) norm of at most `err`.

        Args:
          ndarray1: an array or tensor.
          ndarray2: the other one.
          err: the largest norm.
          msg: what the failure says besides.

        Raises:
          AssertionError: if shapes differ, or the norm is larger.
        """
        a, b = self._same_shape(ndarray1, ndarray2, msg)
        distance = np.linalg.norm((_wide(a) - _wide(b)).reshape(-1))
        if not distance <= err:
            self._differs(f"The norm of the difference is {distance}, more than {err}.", msg)

    # --- bounds ----------------------------------------------------------------------------

    def assertAllGreater(self, a: TensorNest, comparison_target: TensorNest) -> None:
        """Every element is greater.

        Args:
          a: an array or tensor.
          comparison_target: a number, or an array that broadcasts with `a`.

        Raises:
          AssertionError: if one element is not.
        """
        self._compare(a, comparison_target, np.greater, ">")

    def assertAllGreaterEqual(self, a: TensorNest, comparison_target: TensorNest) -> None:
        """Every element is greater, or equal.

        Args:
          a: an array or tensor.
          comparison_target: a number, or an array that broadcasts with `a`.

        Raises:
          AssertionError: if one element is not.
        """
        self._compare(a, comparison_target, np.greater_equal, ">=")

    def assertAllLess(self, a: TensorNest, comparison_target: TensorNest) -> None:
        """Every element is less.

        Args:
          a: an array or tensor.
          comparison_target: a number, or an array that broadcasts with `a`.

        Raises:
          AssertionError: if one element is not.
        """
        self._compare(a, comparison_target, np.less, "<")

    def assertAllLessEqual(self, a: TensorNest, comparison_target: TensorNest) -> None:
        """Every element is less, or equal.

        Args:
          a: an array or tensor.
          comparison_target: a number, or an array that broadcasts with `a`.

        Raises:
          AssertionError: if one element is not.
        """
        self._compare(a, comparison_target, np.less_equal, "<=")

    def assertAllInRange(
        self,
        target: TensorNest,
        lower_bound: TensorNest,
        upper_bound: TensorNest,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element lies between two bounds.

        Args:
          target: an array or tensor.
          lower_bound: a number, or an array that broadcasts with it.
          upper_bound: a number, or an array that broadcasts with it.
          open_lower_bound: whether the lower bound itself is too small.
          open_upper_bound: whether the upper bound itself is too large.

        Raises:
          AssertionError: if one element does not.
        """
        (self.assertAllGreater if open_lower_bound else self.assertAllGreaterEqual)(
            target, lower_bound
        )
        (self.assertAllLess if open_upper_bound else self.assertAllLessEqual)(target, upper_bound)

    def assertAllInSet(self, target: TensorNest, expected_set: Iterable[Any]) -> None:
        """Every element is one of a set.

        Args:
          target: an array or tensor.
          expected_set: the Python values that elements may have.

        Raises:
          AssertionError: if one element is not.
        """
        rest = set(_array(target).reshape(-1).tolist()) - set(expected_set)
        if rest:
            self.fail(f"{sorted(rest)} are not in the set {expected_set!r}.")

    # --- types, shapes, errors -------------------------------------------------------------

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Two arrays or tensors of the same shape.

        Args:
          input_a: an array or tensor.
          input_b: the other one.
          msg: what the failure says instead.

        Raises:
          AssertionError: if the shapes differ.
        """
        a, b = tuple(input_a.shape), tuple(input_b.shape)
        if a != b:
            self.fail(msg or f"The shapes {a} and {b} are not equal.")

    def assertDTypeEqual(self, target: TensorNest, expected_dtype: Any) -> None:
        """An array or tensor of the dtype.

        Args:
          target: an array or tensor, or what can become an array.
          expected_dtype: the dtype, or what `tf.as_dtype` turns into one.

        Raises:
          AssertionError: if the dtype is another one.
        """
        found, wanted = as_dtype(_array(target).dtype), as_dtype(expected_dtype)
        if found is not wanted:
            self.fail(f"The dtype is {found.name}, expected {wanted.name}.")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """A context in which an error of an op must be raised, with a text that matches.

        Args:
          expected_err_re_or_predicate: a regular expression that is searched for, or a function of
            the exception that returns whether it is the right one.

        Returns:
          A context manager.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """A context in which an exception must be raised that matches a text or a predicate.

        Args:
          exception_type: the class of the exception.
          expected_err_re_or_predicate: a regular expression that is searched for, or a function of
            the exception that returns whether it is the right one.

        Returns:
          A context manager, which raises AssertionError if there is no such exception.
        """
        if not callable(expected_err_re_or_predicate):
            with self.assertRaisesRegex(exception_type, expected_err_re_or_predicate):
                yield
            return
        with self.assertRaises(exception_type) as caught:
            yield
        self.assertTrue(expected_err_re_or_predicate(caught.exception), repr(caught.exception))

    def assertRaisesIncompatibleShapesError(
        self, exception_type: type[BaseException] = InvalidArgumentError
    ) -> Any:
        """A context in which shapes must turn out not to fit.

        Args:
          exception_type: the class of the exception.

        Returns:
          A context manager, which raises AssertionError if there is no such exception, or if its
          text speaks of no shape or size.
        """
        return self.assertRaisesRegex(exception_type, "(?i)shape|size|broadcast|dimension")

    # --- helpers ---------------------------------------------------------------------------

    def _parts(
        self, check: Callable[..., None], a: TensorNest, b: TensorNest, msg: str | None
    ) -> None:
        """Compares sparse tensors part by part, ragged ones (with nested lists) row by row."""
        if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
            for part in ("indices", "values", "dense_shape"):
                check(getattr(a, part), getattr(b, part), msg)
            return
        if isinstance(a, SparseTensor) or isinstance(b, SparseTensor):
            kinds = f"a {type(a).__name__} and a {type(b).__name__}"
            self._differs(f"Cannot compare {kinds}: convert one of them.", msg)
        self._rows(check, _lists(a), _lists(b), msg)

    def _rows(
        self, check: Callable[..., None], a: TensorNest, b: TensorNest, msg: str | None
    ) -> None:
        if not isinstance(a, list) or not isinstance(b, list):
            check(a, b, msg)
            return
        if len(a) != len(b):
            self._differs(f"The rows {a!r} and {b!r} differ in length.", msg)
        for x, y in zip(a, b, strict=True):
            self._rows(check, x, y, msg)

    def _same_shape(self, a: TensorNest, b: TensorNest, msg: str | None) -> tuple[Array, Array]:
        a, b = _array(a), _array(b)
        if a.shape != b.shape:
            self.fail(msg or f"Shapes differ: {a.shape} and {b.shape}.\n{a!r}\n{b!r}")
        return a, b

    def _all(self, good: Any, a: Array, b: Array, what: str, msg: str | None) -> None:
        good = np.asarray(good)
        if good.all():
            return
        bad = np.argwhere(~good)
        first = tuple(bad[0].tolist())
        where = f" at {list(first)}" if first else ""
        text = f"{len(bad)} of {good.size} elements are {what}: the first{where} are "
        text += f"{a[first]!r} and {b[first]!r}."
        self.fail(f"{msg}: {text}" if msg else text)

    def _compare(self, a: TensorNest, target: TensorNest, good: Any, sign: str) -> None:
        a, target = _array(a), _array(target)
        try:
            a, target = np.broadcast_arrays(a, target)
        except ValueError:
            self.fail(f"Shapes {a.shape} and {target.shape} cannot be broadcast to be compared.")
        self._all(good(a, target), a, target, f"not {sign} the target", None)


def _is_regular(value: Any) -> bool:
    """Whether a nest of numbers, arrays and tensors is one array."""
    if any(isinstance(leaf, CompositeTensor) for leaf in nest.flatten(value)):
        return False
    try:
        return np.asarray(nest.map_structure(_value, value)).dtype != object
    except ValueError:  # rows of different lengths
        return False


def _lists(value: Any) -> Any:
    """Nested Python lists of whatever has rows."""
    if isinstance(value, RaggedTensor):
        return value.to_list()
    if isinstance(value, (list, tuple)):
        return [_lists(item) for item in value]
    return _array(value).tolist()


def _wide(x: Array) -> Array:
    return x if x.dtype.kind in "biufc" and x.dtype.itemsize > 2 else x.astype(np.float64)


def _value(x: Any) -> Any:
    return x.numpy() if hasattr(x, "numpy") else x


def _array(x: TensorNest) -> Array:
    if isinstance(x, CompositeTensor):
        raise TypeError(f"Compare the parts of a {type(x).__name__}, or a tensor made of it.")
    return np.asarray(_value(x))
