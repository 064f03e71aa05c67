"""cond, case, switch_case and while_loop: eager and in graphs, nested, with effects."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution import reference
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.passes import optimize
from weft._src.graph.tracing import trace
from weft._src.graph.verify import verify

I32 = tf.TensorSpec([], tf.int32)
F32 = tf.TensorSpec([])


def everywhere(fn: object, *arrays: object, unknown: bool = True) -> list[object]:
    """The flattened results, which must be the same eagerly and in graphs on every tier."""
    tensors = [tf.constant(a) for a in arrays]
    expected = [t.numpy() for t in tf.nest.flatten(fn(*tensors))]  # type: ignore[operator]
    specs = [[tf.TensorSpec(t.shape, t.dtype) for t in tensors]]
    if unknown:
        specs.append([tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors])
    for spec in specs:
        graph = trace(fn, spec)  # type: ignore[arg-type]
        verify(graph)
        values = [t._value for t in tensors] + [t._value for t, _ in graph.captures]
        for got in (
            reference.run(graph, values),
            NumpyPlan(graph)(*values),
            NumpyPlan(optimize(graph))(*values),
        ):
            for g, e in zip(got, expected, strict=True):
                np.testing.assert_array_equal(g, e)
    return expected


def test_cond() -> None:
    def f(x: tf.Tensor, y: tf.Tensor) -> object:
        return tf.cond(x > y, lambda: x - y, lambda: y * 2)

    assert everywhere(f, 5, 3) == [2]
    assert everywhere(f, 3, 5) == [10]


def test_cond_with_structures_and_none() -> None:
    Pair = namedtuple("Pair", "a b")

    def f(p: tf.Tensor, x: tf.Tensor) -> object:
        out = tf.cond(
            p, lambda: Pair(x, {"k": x + 1.0, "n": None}), lambda: Pair(-x, {"k": x, "n": None})
        )
        assert isinstance(out, Pair)
        assert out.b["n"] is None
        return out.a, out.b["k"]

    assert everywhere(f, True, 2.0) == [2, 3]
    assert everywhere(f, False, 2.0) == [-2, 2]


def test_only_the_taken_branch_has_effects() -> None:
    v = tf.Variable(0.0)

    def f(p: tf.Tensor) -> object:
        return tf.cond(p, lambda: v.assign_add(1.0).value(), lambda: v.assign_add(10.0).value())

    graph = trace(f, [tf.TensorSpec([], tf.bool)])
    plan = NumpyPlan(optimize(graph))
    captured = [t._value for t, _ in graph.captures]
    plan(np.True_, *captured)
    plan(np.True_, *captured)
    plan(np.False_, *captured)
    assert v.numpy() == 12


def test_branches_must_agree() -> None:
    p = tf.TensorSpec([], tf.bool)
    with pytest.raises(TypeError, match="dtype float32 in true_fn and int32 in false_fn"):
        trace(lambda p: tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(1)), [p])
    with pytest.raises(TypeError, match="same structure"):
        trace(lambda p: tf.cond(p, lambda: (1, 2), lambda: 1), [p])
    with pytest.raises(TypeError, match="None"):
        trace(lambda p: tf.cond(p, lambda: 1, lambda: None), [p])
    with pytest.raises(TypeError, match="callable"):
        tf.cond(True, 1, lambda: 2)
    with pytest.raises(ValueError, match="scalar"):
        tf.cond(tf.constant([True]), lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="rank 0"):
        trace(lambda p: tf.cond(p, lambda: 1, lambda: 2), [tf.TensorSpec([2], tf.bool)])
    with pytest.raises(TypeError, match="pred has dtype int32"):
        trace(lambda p: tf.cond(p, lambda: 1, lambda: 2), [I32])


def test_branch_shapes_are_joined() -> None:
    def f(p: tf.Tensor) -> tf.Tensor:
        out = tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([4, 3]))
        assert out.shape.as_list() == [None, 3]
        return out

    trace(f, [tf.TensorSpec([], tf.bool)])


def test_numbers_adopt_the_dtype_of_the_other_branch() -> None:
    def f(p: tf.Tensor, x: tf.Tensor) -> object:
        return tf.cond(p, lambda: x * 2.0, lambda: 1)

    assert everywhere(lambda p, x: tf.cast(f(p, x), tf.float32), False, 2.0) == [1]


@pytest.mark.parametrize(("i", "expected"), [(0, 10), (1, 20), (2, 30), (7, 30), (-1, 30)])
def test_switch_case(i: int, expected: int) -> None:
    def f(i: tf.Tensor) -> object:
        branches = [lambda: tf.constant(10), lambda: tf.constant(20), lambda: tf.constant(30)]
        return tf.switch_case(i, branches)

    assert everywhere(f, i) == [expected]


@pytest.mark.parametrize(("i", "expected"), [(0, 1), (3, 2), (5, 9)])
def test_switch_case_with_gaps_and_default(i: int, expected: int) -> None:
    def f(i: tf.Tensor) -> object:
        return tf.switch_case(
            i,
            {0: lambda: tf.constant(1), 3: lambda: tf.constant(2)},
            default=lambda: tf.constant(9),
        )

    assert everywhere(f, i) == [expected]


@pytest.mark.parametrize(("x", "expected"), [(1, 1), (5, 2), (50, 3)])
def test_case(x: int, expected: int) -> None:
    def f(x: tf.Tensor) -> object:
        pairs = [(x < 3, lambda: tf.constant(1)), (x < 9, lambda: tf.constant(2))]
        return tf.case(pairs, default=lambda: tf.constant(3))

    assert everywhere(f, x) == [expected]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_case_without_a_default_or_exclusive(wrap: Any) -> None:
    def f(a: Any, b: Any, **options: bool) -> Any:
        return tf.case([(a, lambda: tf.constant(1)), (b, lambda: tf.constant(2))], **options)

    yes, no = tf.constant(True), tf.constant(False)
    assert wrap(f)(no, yes).numpy() == 2
    assert wrap(f)(yes, no).numpy() == 1
    assert wrap(f)(yes, yes).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of the conditions holds"):
        wrap(f)(no, no)
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of the conditions holds"):
        wrap(lambda p: tf.case([(p, lambda: 1)]))(no)
    assert wrap(f)(no, yes, exclusive=True).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0, 1\] hold together"):
        wrap(f)(yes, yes, exclusive=True)


def test_case_misuse() -> None:
    with pytest.raises(TypeError, match="pairs"):
        tf.case([lambda: 1])
    with pytest.raises(ValueError, match="neither"):
        tf.case([])
    with pytest.raises(TypeError, match="int32"):
        tf.case([(tf.constant(1), lambda: 1), (True, lambda: 2)], exclusive=True)
    with pytest.raises(TypeError, match="int32"):
        tf.switch_case(tf.constant(1.0), [lambda: 1])
    with pytest.raises(ValueError, match="empty"):
        tf.switch_case(0, [])


def test_while_loop() -> None:
    def f(n: tf.Tensor, x: tf.Tensor) -> object:
        return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a + x), (0, tf.zeros([2])))

    i, a = everywhere(f, 3, np.array([1.0, 2.0], np.float32), unknown=False)
    assert i == 3
    assert a.tolist() == [3, 6]
    assert everywhere(f, 0, np.array([1.0, 2.0], np.float32), unknown=False)[0] == 0


def test_nested_loops_and_conditions() -> None:
    def f(n: tf.Tensor) -> object:
        def outer(i: tf.Tensor, total: tf.Tensor) -> object:
            def inner(j: tf.Tensor, t: tf.Tensor) -> object:
                return j + 1, tf.cond((i + j) % 2 == 0, lambda: t + i * j, lambda: t - 1)

            _, total = tf.while_loop(lambda j, t: j <= i, inner, (0, total))
            return i + 1, total

        return tf.while_loop(lambda i, t: i < n, outer, (0, 0))[1]

    def plain(n: int) -> int:
        total = 0
        for i in range(n):
            for j in range(i + 1):
                total = total + i * j if (i + j) % 2 == 0 else total - 1
        return total

    for n in (0, 1, 6):
        assert everywhere(f, n) == [plain(n)]


def test_loop_variables_of_any_structure() -> None:
    def f(x: tf.Tensor) -> object:
        out = tf.while_loop(
            lambda s: s["i"] < 3,
            lambda s: [{"i": s["i"] + 1, "xs": (s["xs"][0] * 2.0, s["xs"][1] + 1.0)}],
            [{"i": tf.constant(0), "xs": (x, x)}],
        )
        return out[0]["xs"]

    assert everywhere(f, 1.5) == [12, 4.5]


def test_single_variable_may_be_returned_bare() -> None:
    def f(n: tf.Tensor) -> object:
        return tf.while_loop(lambda i: i < n, lambda i: i + 2, [tf.constant(0)])

    assert everywhere(f, 5) == [6]
    assert isinstance(f(tf.constant(5)), list)


def test_maximum_iterations() -> None:
    def fixed(n: tf.Tensor) -> object:
        return tf.while_loop(lambda i: True, lambda i: i + 1, [n], maximum_iterations=4)

    def dynamic(n: tf.Tensor) -> object:
        return tf.while_loop(
            lambda i: tf.constant(True), lambda i: i + 1, [tf.constant(0)], maximum_iterations=n
        )

    assert everywhere(fixed, 10) == [14]
    assert everywhere(dynamic, 3) == [3]


def test_shape_invariants() -> None:
    def f(n: tf.Tensor) -> object:
        return tf.while_loop(
            lambda i, x: i < n,
            lambda i, x: (i + 1, tf.concat([x, tf.ones([1, 2])], 0)),
            (tf.constant(0), tf.zeros([0, 2])),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])),
        )[1]

    assert everywhere(f, 3)[0].shape == (3, 2)


def test_loop_errors_name_what_changed() -> None:
    zero = tf.constant(0)
    with pytest.raises(TypeError, match="variable 1 has dtype float32 before .* int32 after") as e:
        trace(
            lambda n: tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, i), (zero, 0.0)), [I32]
        )
    assert isinstance(e.value, tf.errors.InvalidArgumentError)
    with pytest.raises(ValueError, match=r"shape \(0,\) before .* \(1,\) after .*shape_invariants"):
        trace(
            lambda n: tf.while_loop(
                lambda i, x: i < n,
                lambda i, x: (i + 1, tf.concat([x, [1.0]], 0)),
                (zero, tf.zeros([0])),
            ),
            [I32],
        )
    with pytest.raises(ValueError, match="structure"):
        trace(lambda n: tf.while_loop(lambda i, x: i < n, lambda i, x: i, (zero, 0.0)), [I32])
    with pytest.raises(TypeError, match="scalar bool"):
        trace(lambda n: tf.while_loop(lambda i: i, lambda i: i, [n]), [I32])
    with pytest.raises(ValueError, match="no loop variables"):
        tf.while_loop(lambda: True, lambda: (), [])
    with pytest.raises(TypeError, match="callable"):
        tf.while_loop(True, lambda i: i, [1])


def test_variables_change_inside_loops() -> None:
    v = tf.Variable(1.0)

    def f(n: tf.Tensor) -> object:
        def step(i: tf.Tensor) -> object:
            v.assign(v * 2.0)
            return i + 1

        tf.while_loop(lambda i: i < n, step, [tf.constant(0)])
        return v.value()

    graph = trace(f, [I32])
    captured = [t._value for t, _ in graph.captures]
    for i, run in enumerate((NumpyPlan(graph), NumpyPlan(optimize(graph)))):
        assert run(np.int32(3), *captured)[0] == 8 ** (i + 1)


def test_eager_control_flow_is_differentiable() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]
        z = tf.cond(y > 0, lambda: y * y, lambda: y)
    assert tape.gradient(z, x).numpy() == 8 * 2.0**7


def test_an_eager_loop_keeps_python_numbers_until_the_end() -> None:
    seen = []

    def body(i: int, total: float) -> tuple[int, float]:
        seen.append((type(i), type(total)))
        return i + 1, total + 0.5

    i, total = tf.while_loop(lambda i, total: i < 2, body, [0, 0.0])
    assert seen == [(int, float)] * 2
    assert (i.dtype, i.numpy(), total.dtype, total.numpy()) == (tf.int32, 2, tf.float32, 1.0)


@pytest.mark.parametrize("traced", [False, True])
def test_an_optional_whose_element_is_known_later(traced: bool) -> None:
    optional = tf.experimental.Optional

    def last(iterator: Any) -> Any:
        found = optional.empty(None)
        for _ in tf.range(3):
            found = optional.from_value({"a": next(iterator)})
        return found.get_value()["a"]

    def told(iterator: Any) -> Any:
        empty = optional.empty(None)

        def body(i: Any, before: Any) -> Any:
            def more() -> Any:
                made = optional.from_value(iterator.get_next() * 2)
                empty._element_spec = made.element_spec
                return made

            def less() -> Any:
                before._element_spec = empty._element_spec
                return before

            return i + 1, tf.cond(i < 3, more, less)

        return tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), empty])[1].get_value()

    for function, wanted in ((last, 2), (told, 4)):
        run = tf.function(function) if traced else function
        assert run(iter(tf.data.Dataset.range(9))).numpy() == wanted
