"""tf.Module: what it finds, in which order, and its names."""

from __future__ import annotations

import collections
import copy
from typing import Any

import pytest

import weft as tf


def names(values: Any) -> list[str]:
    return [v.name for v in values]


class Leaf(tf.Module):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.z = tf.Variable(1.0, name=f"{name}.z")
        self.a = tf.Variable(2.0, name=f"{name}.a", trainable=False)


class MyLSTMCell(tf.Module):
    pass


class HTTPServer2Net(tf.Module):
    pass


class A1b2C(tf.Module):
    pass


class _Private(tf.Module):
    pass


def test_names() -> None:
    assert tf.Module().name == "module"
    assert [cls().name for cls in (MyLSTMCell, HTTPServer2Net, A1b2C, _Private)] == [
        "my_lstm_cell", "http_server2_net", "a1b2_c", "__private",
    ]  # fmt: skip
    assert tf.Module("x1").name == "x1"
    for wrong in ("", "1x", "a/b", "a b"):
        with pytest.raises(ValueError, match="must be a Python identifier"):
            tf.Module(wrong)
    with pytest.raises(TypeError, match="got 3"):
        tf.Module(3)


def test_attributes_by_name_and_containers_by_position_or_key() -> None:
    m = tf.Module()
    v = {n: tf.Variable(1.0, name=n) for n in "abcdefghi"}
    pair = collections.namedtuple("pair", "y x")
    m.z, m._private, m.B = v["a"], v["b"], v["c"]
    m.list = [v["d"], {"y": v["e"], "x": v["f"]}, (v["g"], "text", None)]
    m.pair = pair(v["h"], v["i"])
    m.number, m.set = 3, {1, 2}
    assert names(m.variables) == [f"{n}:0" for n in "cbdfeghia"]


def test_each_once_and_no_endless_walk() -> None:
    m = tf.Module("m")
    m.sub = Leaf("sub")
    m.same = m.sub
    m.sub.parent = m
    m.all = [m.sub, m.sub.z]
    assert names(m.variables) == ["sub.z:0", "sub.a:0"]
    assert m.submodules == (m.sub,)
    assert m.sub.submodules == (m,)
    assert isinstance(m.variables, tuple)
    m.loop = []
    m.loop.append(m.loop)
    with pytest.raises(ValueError, match=r"attribute 'loop' of Module .* contains itself"):
        _ = m.variables


def test_order_of_submodules() -> None:
    # As TensorFlow 2.21: what a module holds itself, then the submodules, depth first.
    o = tf.Module("o")
    o.b, o.a, o.own = Leaf("b"), Leaf("a"), tf.Variable(0.0, name="own")
    o.a.x, o.b.x = Leaf("ax"), Leaf("bx")
    o.a.x.y = Leaf("axy")
    o.c = [o.b, Leaf("c")]
    assert names(o.submodules) == ["a", "b", "c", "ax", "axy", "bx"]
    order = ["own"] + [f"{m}.{v}" for m in ("a", "ax", "axy", "b", "bx", "c") for v in "az"]
    assert names(o.variables) == [f"{n}:0" for n in order]
    assert names(o.trainable_variables) == [f"{n}:0" for n in order if not n.endswith(".a")]
    assert names(o.non_trainable_variables) == [f"{n}:0" for n in order if n.endswith(".a")]


def test_flatten() -> None:
    o = tf.Module("o")
    o.b = Leaf("b")
    o.c = [o.b, {"k": Leaf("c")}]
    is_variable = lambda x: isinstance(x, tf.Variable)  # noqa: E731
    paths = [path for path, _ in o._flatten(predicate=is_variable, with_path=True)]
    assert paths == [
        ("b", "a"), ("b", "z"), ("c", 0, "a"), ("c", 0, "z"), ("c", 1, "k", "a"),
        ("c", 1, "k", "z"),
    ]  # fmt: skip
    assert list(o._flatten(recursive=False, predicate=is_variable)) == []
    backwards = o.b._flatten(predicate=is_variable, attribute_traversal_key=lambda k: -ord(k[0]))
    assert names(backwards) == ["b.z:0", "b.a:0"]
    assert "o" in list(o._flatten())


def test_dicts_that_cannot_be_sorted() -> None:
    m = tf.Module()
    m.mixed = {1: tf.Variable(1.0), "a": tf.Variable(2.0)}
    with pytest.raises(ValueError, match=r"attribute 'mixed' of Module .* must be sortable"):
        _ = m.variables


def test_variables_need_no_constructor() -> None:
    class Careless(tf.Module):
        shared = tf.Variable(1.0)  # of the class, not of an instance

        def __init__(self) -> None:
            self.v = tf.Variable(1.0)

    m = Careless()
    assert m.variables == (m.v,)
    with pytest.raises(AttributeError):
        _ = m.name


def test_a_module_without_super_init_has_no_name() -> None:
    class Bare(tf.Module):
        def __init__(self) -> None:
            self.v = tf.Variable(1.0)

    assert len(Bare().variables) == 1
    for attribute in ("name", "name_scope"):
        with pytest.raises(AttributeError, match=r"Bare has no name: .* super\(\).__init__"):
            getattr(Bare(), attribute)


def test_name_scopes() -> None:
    class Inner(tf.Module):
        @tf.Module.with_name_scope
        def build(self) -> tf.Variable:
            """Doc."""
            return tf.Variable(1.0, name="v")

    class Outer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope:
                self.inner = Inner()

    outer = Outer()
    assert outer.inner.build().name == "outer/inner/v:0"
    assert outer.inner.name_scope.name == "outer/inner/"
    assert Inner.build.__doc__ == "Doc."
    with tf.name_scope("scope"):
        assert Inner("x").name_scope.name == "scope/x/"
    scope = outer.name_scope
    with scope, scope:
        assert tf.Variable(1.0, name="v").name == "outer/v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"
    with pytest.raises(ValueError, match="must be a string"):
        tf.name_scope(3)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with outer.name_scope:
            return tf.identity(x, name="mine")

    graph = f.get_concrete_function(tf.TensorSpec([])).graph
    assert "outer/mine" in [node.name for node in graph.nodes]


def test_modules_with_functions() -> None:
    class Dense(tf.Module):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.units, self.w = units, None

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if self.w is None:
                self.w = tf.Variable(tf.ones([x.shape[-1], self.units]), name="w")
            return x @ self.w

    class Net(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Dense(3), Dense(1)]

        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            for layer in self.layers:
                x = layer(x)
            return x

    net = Net()
    with tf.GradientTape() as tape:
        y = net(tf.ones([2, 4]))
    assert y.numpy().tolist() == [[12], [12]]
    assert [v.shape.as_list() for v in net.trainable_variables] == [[4, 3], [3, 1]]
    gradients = tape.gradient(y, net.trainable_variables)
    assert [g.shape.as_list() for g in gradients] == [[4, 3], [3, 1]]
    other = copy.deepcopy(net)
    other.variables[0].assign_add(tf.ones([4, 3]))
    assert net.variables[0].numpy()[0, 0] == 1
    assert other.variables[0] is not net.variables[0]
