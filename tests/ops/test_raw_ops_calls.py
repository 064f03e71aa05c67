"""tf.raw_ops that call functions: calls, branches and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, ShapeError

raw = tf.raw_ops
f32 = tf.TensorSpec([None], tf.float32)

NAMES = {
    *"Case For If PartitionedCall StatefulPartitionedCall StatelessCase StatelessIf".split(),
    *"StatelessWhile While".split(),
}


def plain(x: Any) -> Any:
    return [np.asarray(value).tolist() for value in x]


def on_every_tier(function: Any, *args: Any) -> list[Any]:
    """The results eagerly, in a graph, and in one whose sizes are not known."""
    specs = [tf.TensorSpec([None] * tf.constant(a).ndim, tf.constant(a).dtype) for a in args]
    tensors = [tf.constant(a) for a in args]
    wide = tf.function(function).get_concrete_function(*specs)
    return [function(*tensors), tf.function(function)(*tensors), wide(*tensors)]


# --- calls ---------------------------------------------------------------------------------------

V = tf.Variable([1.0, 10.0])


@tf.function
def scaled(x):
    return x * V, x + 1.0


CONCRETE = scaled.get_concrete_function(f32)


@pytest.mark.parametrize("call", [raw.PartitionedCall, raw.StatefulPartitionedCall])
@pytest.mark.parametrize(
    "function",
    [scaled, CONCRETE, CONCRETE.graph, scaled.python_function, lambda x: [x * V, x + 1.0]],
    ids=["function", "concrete", "graph", "python", "list"],
)
def test_calls(call: Any, function: Any) -> None:
    def run(x):
        return call(args=[x], Tout=[tf.float32, tf.float32], f=function, config_proto="any")

    for found in on_every_tier(run, [2.0, 3.0]):
        assert plain(found) == [[2.0, 30.0], [3.0, 4.0]]
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = run(x)
    assert plain(tape.gradient(y, [x, V])) == [[1.0, 10.0], [2.0, 3.0]]


def test_captures_may_be_passed() -> None:
    other = tf.Variable([2.0, 20.0])
    given = {"Tout": [tf.float32, tf.float32], "f": CONCRETE}
    found = raw.PartitionedCall(args=[[2.0, 3.0], other.handle], **given)
    assert plain(found) == [[4.0, 60.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="scaled takes 1 tensors, or 2 with .* captures, got 3"):
        raw.PartitionedCall(args=[[1.0], other.handle, other.handle], **given)


def test_wrong_functions() -> None:
    with pytest.raises(
        TypeError, match=r"must return \['int32'\], as Tout says; got \['float32'\]"
    ):
        raw.PartitionedCall(args=[[1.0]], Tout=[tf.int32], f=lambda x: x)
    with pytest.raises(TypeError, match="PartitionedCall: a function is expected, got 3"):
        raw.PartitionedCall(args=[], Tout=[], f=3)


# --- branches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [raw.If, raw.StatelessIf])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [(True, True), (False, False), (2, True), (0.0, False), ("text", True), ("", False)],
)
def test_conditions_of_any_type(op: Any, condition: Any, holds: bool) -> None:
    def run(c, x):
        return op(
            cond=c,
            input=[x],
            Tout=[tf.float32],
            then_branch=lambda x: x + 1.0,
            else_branch=lambda x: [x * 2.0],
            output_shapes=[[2]],
        )

    for found in on_every_tier(run, condition, [5.0, 7.0]):
        assert plain(found) == [[6.0, 8.0] if holds else [10.0, 14.0]]
        assert found[0].shape == [2]


def test_branches_must_be_what_the_attributes_say() -> None:
    def run(**more):
        form = {"Tout": [tf.int32], "then_branch": lambda x: x, "else_branch": lambda x: x, **more}
        return tf.function(lambda c, x: raw.If(cond=c, input=[x], **form))(tf.constant(True), 5)

    with pytest.raises(
        TypeError, match=r"must return \['int32'\], as Tout says; got \['float32'\]"
    ):
        run(else_branch=lambda x: 1.0)
    with pytest.raises(ShapeError, match=r"If: result 0 has shape \(\), where \(2,\) is expected"):
        run(output_shapes=[[2]])
    with pytest.raises(ShapeError, match="If: the condition must be a scalar"):
        raw.If(cond=[True], input=[], Tout=[], then_branch=list, else_branch=list)


@pytest.mark.parametrize("op", [raw.Case, raw.StatelessCase])
@pytest.mark.parametrize(("number", "expected"), [(0, 6.0), (1, 10.0), (2, -5.0), (7, -5.0)])
def test_cases(op: Any, number: int, expected: float) -> None:
    def run(i, x):
        branches = [lambda x: x + 1.0, lambda x: x * 2.0, lambda x: -x]
        return op(branch_index=i, input=[x], Tout=[tf.float32], branches=branches)

    for found in on_every_tier(run, number, [5.0]):
        assert plain(found) == [[expected]]


def test_what_is_known_outside_is_known_in_a_branch() -> None:
    @tf.function
    def f(c, x):
        axis = tf.constant(1)
        return raw.If(
            cond=c, input=[x, axis], Tout=[tf.float32],
            then_branch=lambda x, axis: raw.Max(input=x, axis=axis),
            else_branch=lambda x, axis: raw.Min(input=x, axis=axis),
        )  # fmt: skip

    assert plain(f(tf.constant(True), [[1.0, 2.0], [4.0, 3.0]])) == [[2.0, 4.0]]


# --- loops ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [raw.While, raw.StatelessWhile])
def test_loops(op: Any) -> None:
    def run(n, x):
        # As TensorFlow writes it: what the body only reads is handed on.
        return op(
            input=[0, n, x],
            cond=lambda i, n, x: i < n,
            body=lambda i, n, x: [i + 1, n, x * 2.0],
            parallel_iterations=3,
        )

    for found in on_every_tier(run, 3, [1.0, 5.0]):
        assert plain(found) == [3, 3, [8.0, 40.0]]
    x = tf.constant([1.0, 5.0])
    for call in (run, tf.function(run)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(tf.constant(4), x)[2]
        assert tape.gradient(y, x).numpy().tolist() == [16.0, 16.0]


def test_functions_of_every_kind_are_loops() -> None:
    cond = tf.function(lambda i, h: i < 3)
    total = tf.Variable([0.0])

    @tf.function
    def body(i, h):
        raw.AssignAddVariableOp(resource=h, value=[1.5])
        return i + 1, h

    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.resource)]
    concrete = [f.get_concrete_function(*specs) for f in (cond, body)]
    graphs = [f.graph for f in concrete]
    for goes_on, step in ([cond, body], concrete, graphs):
        total.assign([0.0])
        loop = tf.function(
            lambda goes_on=goes_on, step=step: raw.While(
                input=[0, total.handle], cond=goes_on, body=step
            )[0]
        )
        assert int(loop()) == 3
        assert total.numpy().tolist() == [4.5]


def test_shapes_that_change() -> None:
    def run(x):
        return raw.While(
            input=[0, x],
            cond=lambda i, x: i < 2,
            body=lambda i, x: [i + 1, tf.concat([x, x], 0)],
            output_shapes=[[], [None]],
        )

    assert plain(tf.function(run)([1.0, 2.0]))[1] == [1.0, 2.0] * 4
    with pytest.raises(ShapeError, match=r"result 1 has shape \(1,\), where \(2,\) is expected"):
        tf.function(
            lambda x: raw.While(
                input=[0, x], cond=lambda i, x: i < 2, body=lambda i, x: [i + 1, x[:1]]
            )
        )(tf.constant([1.0, 2.0]))


def test_what_a_body_does_not_tell_is_checked_when_it_runs() -> None:
    def run(x, n):
        return raw.While(
            input=[0, x],
            cond=lambda i, x: i < 2,
            body=lambda i, x: [i + 1, tf.reshape(tf.tile(x, [n]), tf.ones([1], tf.int32) * -1)],
            output_shapes=[[], [2]],
        )[1]

    graph = tf.function(run).get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    assert graph(tf.constant([1.0, 2.0]), 1).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(InvalidArgumentError, match="ensure_shape"):
        graph(tf.constant([1.0, 2.0]), 2)


def test_what_a_function_says_of_itself() -> None:
    class Body:
        unchanged = (1,)
        calls = 0

        def __call__(self, i, n):
            Body.calls += 1
            return [i + 1, n]

    @tf.function
    def f(n):
        return raw.While(input=[0, n], cond=lambda i, n: i < n, body=Body())

    assert plain(f(5)) == [5, 5]
    assert Body.calls == 1  # not traced to find out


def test_wrong_loops() -> None:
    @tf.function
    def f(x, body):
        return raw.While(input=[x], cond=lambda x: x < 3, body=body)

    with pytest.raises(ValueError, match="the body changes nothing"):
        f(tf.constant(1), lambda x: x)
    with pytest.raises(
        TypeError, match=r"must return what it takes: \['int32'\], got \['float32'\]"
    ):
        f(tf.constant(1), lambda x: 1.0)
    with pytest.raises(ValueError, match="must return resources as it got them"):
        tf.function(
            lambda: raw.While(
                input=[0, V.handle],
                cond=lambda i, h: i < 3,
                body=lambda i, h: [i + 1, tf.Variable(1.0).handle],
            )
        )()


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((0, 5, 2), [0, 2, 4]), ((5, 0, -2), [5, 3, 1]), ((3, 3, 1), []), ((0, -3, 1), [])],
)
def test_counted_loops(numbers: tuple[int, ...], expected: list[int]) -> None:
    def run(start, limit, delta, seen):
        return raw.For(
            start=start, limit=limit, delta=delta, input=[seen], body=lambda i, x: [x * 10 + i]
        )

    wanted = int("7" + "".join(map(str, expected)))
    for found in on_every_tier(run, *numbers, 7):
        assert plain(found) == [wanted]


def test_no_step_at_all() -> None:
    with pytest.raises(InvalidArgumentError, match="For: delta must not be 0"):
        raw.For(start=0, limit=1, delta=0, input=[1], body=lambda i, x: [x])
