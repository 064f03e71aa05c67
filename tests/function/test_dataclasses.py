"""Frozen dataclasses as arguments and results of functions, and classes with nest's protocol."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import weft as tf


@dataclasses.dataclass(frozen=True)
class State:
    x: Any
    label: str = "a"
    more: Any = None


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("n", "x")
    x: Any
    n: int


class Traced:
    """A function that counts its traces."""

    def __init__(self, function: Any, **options: Any) -> None:
        self.count = 0

        def counted(*args: Any) -> Any:
            self.count += 1
            return function(*args)

        self._function = tf.function(counted, **options)

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)


def test_tensors_are_arguments_and_the_rest_is_the_key() -> None:
    f = Traced(lambda s: State(s.x * 2.0, s.label + "!"))
    for value in (1.0, 2.0, 3.0):
        out = f(State(tf.constant(value)))
        assert isinstance(out, State)
        assert (float(out.x), out.label) == (2 * value, "a!")
    assert f.count == 1
    assert f(State(tf.constant(1.0), "b")).label == "b!"
    assert f.count == 2
    f(State(tf.constant([1.0])))
    assert f.count == 3
    f(State(np.float32(1.0)))
    assert f.count == 3


def test_without_tensors_equal_values_do_not_retrace() -> None:
    f = Traced(lambda s, x: x * s.x)
    for _ in range(3):
        assert int(f(State(3, "k"), tf.constant(2))) == 6
    assert f.count == 1
    assert int(f(State(4, "k"), tf.constant(2))) == 8
    assert f.count == 2


def test_what_is_inside_may_be_nested() -> None:
    f = Traced(lambda s: s)
    ragged = tf.ragged.constant([[1], [2, 3]])
    value = State({"a": [tf.constant(1), ragged]}, "q", State(tf.constant(2.0), "inner"))
    for _ in range(2):
        out = f([value])[0]
        assert int(out.x["a"][0]) == 1
        assert out.x["a"][1].to_list() == [[1], [2, 3]]
        assert (float(out.more.x), out.more.label) == (2.0, "inner")
    assert f.count == 1


def test_slots() -> None:
    f = Traced(lambda s: Slotted(s.x + 1, s.n))
    out = f(Slotted(tf.constant(1), 4))
    assert (int(out.x), out.n) == (2, 4)


def test_variables() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(s: State) -> Any:
        s.x.assign_add(2.0)
        return s.x + 1.0

    assert float(f(State(v))) == 4.0
    assert float(v) == 3.0


def test_control_flow() -> None:
    @tf.function
    def f(s: State, p: Any) -> Any:
        if p:
            s = dataclasses.replace(s, x=s.x + 1.0)
        i = tf.constant(0)
        while i < 3:
            s = State(s.x * 2.0, s.label)
            i += 1
        return tf.cond(p, lambda: s, lambda: State(-s.x, s.label))

    assert float(f(State(tf.constant(1.0)), tf.constant(True)).x) == 16.0
    assert float(f(State(tf.constant(1.0)), tf.constant(False)).x) == -8.0


def test_branches_that_differ_in_what_is_no_tensor() -> None:
    @tf.function
    def f(p: Any) -> Any:
        return tf.cond(
            p, lambda: State(tf.constant(1.0), "a"), lambda: State(tf.constant(1.0), "b")
        )

    with pytest.raises(TypeError, match="same structure"):
        f(tf.constant(True))


def test_gradients() -> None:
    with tf.GradientTape() as tape:
        s = State(tf.constant(3.0), "k")
        tape.watch(s)
        y = s.x * s.x
    g = tape.gradient(y, s)
    assert (float(g.x), g.label) == (6.0, "k")


def test_reduce_retracing() -> None:
    f = Traced(lambda s: tf.reduce_sum(s.x), reduce_retracing=True)
    for size in (2, 3, 4, 5):
        assert float(f(State(tf.ones([size])))) == size
    assert f.count == 2


def test_nest_takes_them_for_leaves() -> None:
    s = State(tf.constant(1.0))
    assert tf.nest.flatten([s]) == [s]
    assert tf.nest.flatten([s], expand_composites=True) == [s.x]
    plain = State(1)
    assert tf.nest.flatten([plain], expand_composites=True) == [plain]


def test_others_stay_objects() -> None:
    @dataclasses.dataclass
    class Mutable:
        x: Any

    with pytest.raises(TypeError):
        tf.function(lambda m: m.x)(Mutable(tf.constant(1.0)))

    @dataclasses.dataclass(frozen=True, eq=False)
    class ByIdentity:
        x: int

    f = Traced(lambda b: tf.constant(b.x))
    one = ByIdentity(1)
    f(one)
    f(one)
    f(ByIdentity(1))
    assert f.count == 2


@dataclasses.dataclass
class Flat:
    """TensorFlow's protocol: what is beside the components is metadata."""

    x: Any
    label: str

    def __tf_flatten__(self) -> Any:
        return (self.label,), (self.x,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> "Flat":
        return cls(components[0], metadata[0])


def test_the_protocol_in_nests() -> None:
    value = Flat([1, 2], "k")
    assert tf.nest.is_nested(value)
    assert tf.nest.flatten([value, 3]) == [1, 2, 3]
    assert tf.nest.map_structure(lambda x: x + 1, value) == Flat([2, 3], "k")
    assert tf.nest.pack_sequence_as(value, [7, 8]) == Flat([7, 8], "k")
    tf.nest.assert_same_structure(value, Flat([3, 4], "other"))
    with pytest.raises(ValueError, match="has 2 leaves"):
        tf.nest.pack_sequence_as(value, [7])
    with pytest.raises(TypeError):
        tf.nest.assert_same_structure(value, ([1, 2],))


def test_the_protocol_in_functions() -> None:
    f = Traced(lambda v: Flat(v.x * 2, v.label))
    for label in ("a", "b", "a", "b"):
        assert f(Flat(tf.constant(2), label)) == Flat(tf.constant(4), label)
    assert f.count == 2
    assert f([Flat(tf.constant(2), "a")][0]).label == "a"
    g = Traced(lambda pair: pair[0].x)
    for label in ("a", "b", "a"):
        g((Flat(tf.constant(2), label),))
    assert g.count == 2
    out = tf.function(lambda p, v: tf.cond(p, lambda: v, lambda: Flat(-v.x, v.label)))(
        tf.constant(False), Flat(tf.constant(3), "k")
    )
    assert int(out.x) == -3


def test_the_protocol_in_datasets() -> None:
    data = tf.data.Dataset.from_tensors(Flat(tf.constant([1, 2]), "k"))
    (value,) = list(data)
    assert value.label == "k"
    assert value.x.shape == [2]


def test_input_signatures() -> None:
    spec = tf.TensorSpec([None], tf.float32)
    f = Traced(
        lambda s: State(s.x * 2.0, s.label, s.more.x + 1.0),
        input_signature=[State(spec, "k", State(spec))],
    )
    for n in (1, 2):
        out = f(State([1.0] * n, "k", State(tf.ones([n]))))
        assert (out.x.numpy().tolist(), out.label) == ([2.0] * n, "k")
        assert out.more.numpy().tolist() == [2.0] * n
    assert f.count == 1
    for wrong in (
        State(tf.ones([1]), "other", State(tf.ones([1]))),
        State(tf.ones([1]), "k"),
        State(tf.ones([1, 1]), "k", State(tf.ones([1]))),
        tf.ones([1]),
    ):
        with pytest.raises(TypeError, match="the argument .args"):
            f(wrong)
    with pytest.raises(TypeError, match="must hold tf.TensorSpec"):
        tf.function(lambda s: s.x, input_signature=[State(spec, "k", tf.constant(1))])


def test_the_protocol_in_input_signatures() -> None:
    f = Traced(
        lambda m: m["k"].x * 2, input_signature=[{"k": Flat(tf.TensorSpec([None], tf.int32), "a")}]
    )
    for n in (1, 2):
        assert f({"k": Flat([3] * n, "a")}).numpy().tolist() == [6] * n
    assert f.count == 1
    for wrong in (Flat([1], "b"), Flat([1.0], "a"), tf.constant([1]), (tf.constant([1]),)):
        with pytest.raises(TypeError, match="the argument .args"):
            f({"k": wrong})
