"""tf.debugging: checked at once where values are known, else in every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace

D = tf.debugging
Invalid = tf.errors.InvalidArgumentError
NAN, INF = float("nan"), float("inf")

# name, arguments that pass, arguments that fail, part of the text
VALUES: list[tuple[str, tuple[Any, ...], tuple[Any, ...], str]] = [
    ("assert_equal", ([1, 2], [1, 2]), ([1, 2], [1, 3]), "x == y does not hold"),
    ("assert_equal", (["a"], "a"), (["a"], "b"), "x == y"),
    ("assert_equal", (np.zeros((0, 3)), 1.0), (NAN, NAN), "x == y"),
    ("assert_equal", ([True], True), ([True], False), "x == y"),
    ("assert_none_equal", ([1, 2], 3), ([1, 2], [3, 2]), "x != y"),
    ("assert_less", ([1, 2], 3), ([1, 2], 2), "x < y"),
    ("assert_less_equal", ([1, 2], 2), ([1, 2], 1), "x <= y"),
    ("assert_greater", ([1.5, 2], 1), ([1, 2], 1), "x > y"),
    ("assert_greater_equal", ([1, 2], 1), ([1, 2], 2), "x >= y"),
    ("assert_positive", ([1, 2],), ([1, 0],), "x > 0"),
    ("assert_negative", ([-1.0],), ([-1.0, 0.0],), "x < 0"),
    ("assert_non_negative", ([0, 1],), ([0, -1],), "x >= 0"),
    ("assert_non_positive", (np.array([0], np.uint8),), ([1],), "x <= 0"),
    ("assert_near", ([1.0, 2.0], [1.0, 2.0000002]), ([1.0, 2.0], [1.0, 2.1]), "not near"),
    ("assert_near", ([100.0], [101.0], 0.1), ([100.0], [101.0], 1e-3), "not near"),
    ("assert_near", ([0.0], [0.0], 0.0, 0.0), (INF, INF), "not near"),
    ("assert_near", (1j, 1j + 1e-16), (1j, 1j + 1e-9), "not near"),
]


def tensors(args: tuple[Any, ...]) -> list[tf.Tensor]:
    x = tf.convert_to_tensor(args[0])
    return [x, *[tf.convert_to_tensor(a, dtype_hint=x.dtype) for a in args[1:]]]


def run_traced(function: Callable[..., Any], args: list[tf.Tensor], rank: str) -> None:
    """Runs the function as a graph, on both executors, with as much known as `rank` says."""
    shapes = {
        "known": lambda t: t.shape,
        "sizes": lambda t: [None] * t.ndim,
        "none": lambda t: None,
    }
    specs = [tf.TensorSpec(shapes[rank](t), t.dtype) for t in args]
    values = [t._value for t in args]
    graph = trace(lambda *xs: function(*xs), specs)
    assert any(node.op.name in ("Assert", "CheckNumerics") for node in optimize(graph).nodes)
    reference.run(graph, values)
    NumpyPlan(optimize(graph))(*values)


@pytest.mark.parametrize(("name", "good", "bad", "text"), VALUES)
def test_values(name: str, good: Any, bad: Any, text: str) -> None:
    check = getattr(D, name)
    assert check(*good) is None
    with pytest.raises(Invalid, match=f"{name}: hello. .*{text}"):
        check(*bad, message="hello")
    for rank in ("known", "sizes", "none"):
        run_traced(check, tensors(good), rank)
        with pytest.raises(Invalid, match=text):
            run_traced(check, tensors(bad), rank)


@pytest.mark.parametrize(("name", "good", "bad", "text"), VALUES)
def test_known_values_are_checked_while_tracing(name: str, good: Any, bad: Any, text: str) -> None:
    check = getattr(D, name)
    graph = trace(lambda: check(*good), [])
    assert not any(node.op.name == "Assert" for node in graph.nodes)
    with pytest.raises(Invalid, match=text):
        trace(lambda: check(*bad), [])


def test_texts() -> None:
    with pytest.raises(
        Invalid, match=r"^assert_equal: x == y does not hold at \[1\]: x = \[1 2\] y"
    ):
        D.assert_equal([1, 2], [1, 3])
    with pytest.raises(Invalid, match=r"x = \[0 \.\.\. 9\]"):
        D.assert_positive(tf.range(10), summarize=1)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        D.assert_less(x, 3, message="too much")  # here
        return x

    assert f(tf.constant([1, 2])).numpy().tolist() == [1, 2]
    with pytest.raises(Invalid, match=r"too much\. x < y does not hold: x = \[1 3\] y = 3") as e:
        f(tf.constant([1, 3]))
    assert "# here" in str(e.value)
    with pytest.raises(Invalid, match="x = 3 y = 2"):
        tf.function(lambda x: D.assert_equal(tf.shape(x)[0], 2))(tf.ones([3]))


def test_values_of_wrong_kinds() -> None:
    with pytest.raises(Invalid, match=r"\(2,\) and \(3,\)"):
        D.assert_equal([1, 1], [1, 1, 1])
    with pytest.raises(TypeError, match="int32.*float32"):
        D.assert_equal(1, 1.5)
    with pytest.raises(TypeError, match="assert_positive: x must hold real numbers, got dtype str"):
        D.assert_positive("a")
    with pytest.raises(ValueError, match="assert_near: x and y must be floating"):
        D.assert_near([1], [1])
    with pytest.raises(ValueError, match="float32, but y has dtype float64"):
        D.assert_near(tf.constant(1.0), tf.constant(1.0, tf.float64))
    with pytest.raises(TypeError, match="summarize must be an integer"):
        D.assert_equal(1, 1, summarize="all")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_tolerances_follow_the_dtype(dtype: str) -> None:
    eps = {"float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-52}[dtype]
    x = tf.constant(1.0, dtype)
    D.assert_near(x, tf.cast(tf.constant(1 + 8 * eps, tf.float64), dtype))
    with pytest.raises(Invalid):
        D.assert_near(x, tf.cast(tf.constant(1 + 64 * eps, tf.float64), dtype))


def test_assertions_in_control_flow() -> None:
    @tf.function
    def f(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            D.assert_less(y, 100.0)
            return i + 1, y * 2.0

        def checked() -> tf.Tensor:
            D.assert_positive(x)
            return x

        x = tf.cond(n > 0, checked, lambda: x)
        return tf.while_loop(lambda i, y: i < n, body, (0, x))[1]

    assert f(tf.constant(1.0), tf.constant(3)).numpy() == 8
    assert f(tf.constant(-1.0), tf.constant(0)).numpy() == -1
    with pytest.raises(Invalid, match="x > 0"):
        f(tf.constant(-1.0), tf.constant(1))
    with pytest.raises(Invalid, match="x < y does not hold: x = 128"):
        f(tf.constant(1.0), tf.constant(9))


def test_assertions_under_a_tape() -> None:
    x = tf.Variable(3.0)

    def loss() -> tf.Tensor:
        D.assert_positive(x)
        D.assert_near(x, x * 1.0)
        return x * x

    for run in (loss, tf.function(loss)):
        with tf.GradientTape() as tape:
            y = run()
        assert tape.gradient(y, x).numpy() == 6


# --- ranks and shapes ---------------------------------------------------------------------------

RANKS: list[tuple[Callable[[Any], Any], tuple[int, ...], tuple[int, ...], str]] = [
    (lambda x: D.assert_rank(x, 2), (2, 3), (2,), "rank 2"),
    (lambda x: D.assert_rank_at_least(x, 1), (2, 3), (), "rank at least 1"),
    (lambda x: D.assert_rank_in(x, (0, 2)), (), (2,), r"one of the ranks \[0, 2\]"),
    (lambda x: D.assert_scalar(x), (), (1,), "rank 0"),
    (lambda x: D.assert_shapes([(x, ("n", "n"))]), (3, 3), (3, 2), "size 'n' must be the same"),
    (lambda x: D.assert_shapes([(x, (2, None))]), (2, 3), (3, 2), "must have size 2"),
    (lambda x: D.assert_shapes([(x, (..., 2))]), (4, 3, 2), (2, 3), "axis -1 .* must have size 2"),
    (lambda x: D.assert_shapes([(x, ("*", 2, "."))]), (2, 3), (2,), "rank at least 2"),
    (lambda x: D.assert_shapes([(x, "ab")]), (2, 3), (2, 3, 4), "rank 2"),
    (lambda x: D.assert_shapes([(x, "3a")]), (3, 1), (2, 1), "must have size 3"),
    (lambda x: D.assert_shapes([(x, ())]), (1,), (2,), "must have size 1"),
    (lambda x: D.assert_shapes([(x, (1,))]), (), (2, 2), "rank 1"),
    (lambda x: D.assert_shapes([(x, ("n",)), (np.ones((2, 3)), ("n", "m"))]), (2,), (3,), "'n'"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "good", "bad", "text"), RANKS)
def test_ranks_and_shapes(check: Any, good: Any, bad: Any, text: str) -> None:
    assert check(tf.ones(good)) is None
    for attempt in (lambda: check(tf.ones(bad)), lambda: trace(check, [tf.TensorSpec(bad)])):
        with pytest.raises(ValueError, match=text) as e:
            attempt()
        assert isinstance(e.value, Invalid)
    run_traced(check, [tf.ones(good)], "none")
    with pytest.raises(Invalid):
        run_traced(check, [tf.ones(bad)], "none")


def test_unknown_sizes() -> None:
    f = tf.function(
        lambda x, y: D.assert_shapes([(x, ("n", "k")), (y, ("k", 5))], data=["seen"], message="M"),
        input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])],
    )
    f(tf.ones([2, 3]), tf.ones([3, 5]))
    with pytest.raises(Invalid, match=r"assert_shapes: M\. size 'k' .*= 3.*= 4 seen"):
        f(tf.ones([2, 3]), tf.ones([4, 5]))
    with pytest.raises(Invalid, match="must have size 5: got = 6 wanted = 5"):
        f(tf.ones([2, 3]), tf.ones([3, 6]))


def test_ranks_given_as_tensors() -> None:
    D.assert_rank([1.0], tf.constant(1))
    D.assert_rank([1.0], np.int64(1))
    f = tf.function(lambda x, r: D.assert_rank(x, r))
    f(tf.ones([3]), tf.constant(1))
    with pytest.raises(Invalid, match="got = 1 wanted = 2"):
        f(tf.ones([3]), tf.constant(2))
    with pytest.raises(TypeError, match="rank must have dtype int32, got int64"):
        f(tf.ones([3]), tf.constant(1, tf.int64))
    with pytest.raises(TypeError, match="rank must be an integer, got 1.5"):
        D.assert_rank([1.0], 1.5)
    with pytest.raises(ValueError, match="rank must be a scalar"):
        D.assert_rank([1.0], [1])
    with pytest.raises(TypeError, match="ranks must be a list"):
        D.assert_rank_in([1.0], 1)
    with pytest.raises(ValueError, match=r"one of the ranks \[\]"):
        D.assert_rank_in([1.0], [])


def test_forms_of_assert_shapes() -> None:
    x = tf.ones([2, 3])
    D.assert_shapes({x.ref(): ("a", "b")})
    D.assert_shapes([(x, tf.TensorShape([2, 3])), (x, None), ([1.0], (1,))])
    D.assert_shapes([(tf.constant(1.0), (...,))])
    for wrong, error, text in (
        ([(x, ("a", ...))], ValueError, "must be the first"),
        ([(x, 2)], ValueError, "list or tuple, got 2"),
        ([(x, (2, 1j))], ValueError, "a number, a name or None, got 1j"),
        ([1], TypeError, r"\(tensor, sizes\), got 1"),
        (None, TypeError, "list of"),
    ):
        with pytest.raises(error, match=text):
            D.assert_shapes(wrong)


# --- types --------------------------------------------------------------------------------------


def test_types() -> None:
    D.assert_integer([1])
    D.assert_type([1], tf.int32)
    D.assert_type(tf.Variable(1.0), "float32")
    D.assert_proper_iterable([1])
    D.assert_proper_iterable({})
    for wrong in ([1.0], True):
        with pytest.raises(TypeError, match="assert_integer: M. x must be of an integer dtype"):
            D.assert_integer(wrong, message="M")
    with pytest.raises(TypeError, match="assert_type: tensor must have dtype int32, got float32"):
        D.assert_type([1.0], tf.int32)
    for wrong in ("ab", b"ab", 1, tf.constant([1]), np.ones(2)):
        with pytest.raises(TypeError, match="assert_proper_iterable"):
            D.assert_proper_iterable(wrong)
    numeric = [tf.constant(1), tf.constant(1j), 1, tf.constant("a"), tf.constant(True)]
    assert [D.is_numeric_tensor(x) for x in numeric] == [True, True, False, False, False]


def test_same_float_dtype() -> None:
    one, two = tf.constant(1.0), tf.constant(2.0, tf.float64)
    assert D.assert_same_float_dtype() is tf.float32
    assert D.assert_same_float_dtype([None, two]) is tf.float64
    assert D.assert_same_float_dtype([], tf.float16) is tf.float16
    for args in (([one, two],), ([one], tf.float64), ([tf.constant(1)],), (None, tf.int32)):
        with pytest.raises(ValueError, match="assert_same_float_dtype"):
            D.assert_same_float_dtype(*args)


# --- numerics -----------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [D.check_numerics, D.assert_all_finite])
def test_numerics(check: Any) -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = tf.constant([1.0, 2.0], dtype)
        assert check(x, "m").numpy().tolist() == [1, 2]
        run_traced(lambda x: check(x, "m"), [x], "none")
        for bad, kind in (
            ([NAN], "NaN"),
            ([INF], "Inf"),
            ([-INF, NAN], "Inf and NaN"),
            (NAN, "NaN"),
        ):
            x = tf.constant(bad, dtype)
            with pytest.raises(Invalid, match=f"m: the tensor has {kind} values"):
                check(x, "m")
            with pytest.raises(Invalid, match=f"m: the tensor has {kind} values"):
                run_traced(lambda x: (check(x, "m"), 1)[1], [x], "sizes")
    with pytest.raises(TypeError, match="CheckNumerics: tensor has dtype int32"):
        check([1], "m")
    with pytest.raises(TypeError, match="message must be a string"):
        check([1.0], 3)


def test_the_gradient_is_checked_too() -> None:
    def gradient(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(D.check_numerics(x, "m"))
        return tape.gradient(y, x)

    for run in (gradient, tf.function(gradient)):
        assert run(tf.constant(4.0)).numpy() == 0.25
        with pytest.raises(Invalid, match="the gradient of: m: the tensor has Inf"):
            run(tf.constant(0.0))


def test_traceback_filtering_is_a_flag() -> None:
    assert D.is_traceback_filtering_enabled()
    D.disable_traceback_filtering()
    try:
        assert not D.is_traceback_filtering_enabled()
    finally:
        D.enable_traceback_filtering()
    assert D.is_traceback_filtering_enabled()
    assert D.Assert is tf.Assert
    assert tf.assert_equal is D.assert_equal


@pytest.fixture
def checked_numerics() -> Iterator[None]:
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


@pytest.mark.usefixtures("checked_numerics")
def test_every_op_is_checked_for_nan_and_infinity() -> None:
    zero = tf.constant(0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="op RealDiv: .* Inf"):
        _ = tf.constant(1.0) / zero
    with pytest.raises(tf.errors.InvalidArgumentError, match="op Log: .* NaN"):
        tf.math.log(tf.constant([1.0, -1.0]))
    f = tf.function(lambda x: tf.sqrt(x) + 1)
    assert f(tf.constant(4.0)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="op Sqrt: .* NaN"):
        f(tf.constant(-4.0))
    loop = tf.function(lambda x: tf.while_loop(lambda y: y > 0, lambda y: (y - 1e38 * 1e5,), (x,)))
    assert tf.constant(np.inf) == np.inf  # a constant is nobody's fault
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        loop(tf.constant(1.0) * 3)
    with tf.GradientTape() as tape:
        tape.watch(zero)
        y = tf.sqrt(zero)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf|NaN"):
        tape.gradient(y, zero)


def test_numerics_are_not_checked_afterwards() -> None:
    tf.debugging.enable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(tf.constant(-1.0)))
    assert np.isinf(tf.constant(1.0) / tf.constant(0.0))


def test_messages_that_are_sentences_have_one_period() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r": No debts\. x >= 0 does not hold"):
        tf.debugging.assert_non_negative(-1, message="No debts.")
