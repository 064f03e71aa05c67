"""Extension types as arguments, results, loop variables, branches, captures, in tapes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import agree

ExtensionType = tf.experimental.ExtensionType


class Masked(ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    n: int = 3

    def filled(self, default: float) -> Any:
        return tf.where(self.mask, self.values, default)


class Deep(ExtensionType):
    """Everything that a field may hold."""

    masked: Masked
    ragged: tf.RaggedTensor
    sparse: tf.SparseTensor
    named: Mapping[str, tf.Tensor]
    several: tuple[tf.Tensor, ...]
    shape: tf.TensorShape
    dtype: tf.DType
    optional: tf.Tensor | None = None


def masked(size: int = 3, n: int = 3) -> Masked:
    values = tf.range(float(size))
    return Masked(values, values > 0.5, n)


def deep() -> Deep:
    return Deep(
        masked=masked(),
        ragged=tf.ragged.constant([[1.0], [2.0, 3.0]]),
        sparse=tf.sparse.from_dense([0.0, 5.0]),
        named={"b": 1.0, "a": [2.0, 4.0]},
        several=([1], [[2.0]]),
        shape=[None, 2],
        dtype="float16",
    )


def flat(value: Any) -> list[Any]:
    return [t.numpy() for t in tf.nest.flatten(value, expand_composites=True)]


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    assert a._type_spec == b._type_spec
    for x, y in zip(flat(a), flat(b), strict=True):
        np.testing.assert_array_equal(x, y)


def test_arguments_and_results() -> None:
    f = tf.function(lambda x: {"x": [x], "filled": x.filled(-1.0)})
    out = f(masked())
    assert_same(out["x"][0], masked())
    np.testing.assert_array_equal(out["filled"], [-1.0, 1.0, 2.0])


def test_everything_in_one_value() -> None:
    f = tf.function(lambda d: d)
    assert_same(f(deep()), deep())


def test_every_part_is_mapped() -> None:
    def twice(t: tf.Tensor) -> tf.Tensor:
        return t * 2.0 if t.dtype.is_floating else t

    doubled = tf.function(lambda d: tf.nest.map_structure(twice, d, expand_composites=True))
    for x, y in zip(flat(doubled(deep())), flat(deep()), strict=True):
        np.testing.assert_array_equal(x, y * 2 if y.dtype == np.float32 else y)
    assert doubled(deep()).dtype is tf.float16


def test_retraces_for_another_type_only() -> None:
    traces = []

    @tf.function
    def f(x: Masked) -> Any:
        traces.append(x.n)
        return x.filled(0.0) * float(x.n)

    for _ in range(3):
        f(masked())
    assert traces == [3]
    f(masked(n=4))
    assert traces == [3, 4]
    f(masked(n=4))
    np.testing.assert_array_equal(f(masked(n=5)), [0.0, 5.0, 10.0])
    assert traces == [3, 4, 5]
    f(Masked(np.ones(3, np.float64), [True] * 3))
    f(masked(4))
    assert len(traces) == 5


def test_values_of_other_types_have_other_keys() -> None:
    class Plain(ExtensionType):
        v: float | int | bool | str | np.float32 | tuple[int, ...] | None

    seen = []
    f = tf.function(lambda x: seen.append(x.v))
    values = [1, True, 1.0, "1", np.float32(1), None, (1,), float("nan"), 0.0, -0.0]
    for v in values * 2:
        f(Plain(v))
    assert len(seen) == len(values)


def test_shapes_that_are_fields() -> None:
    class Shaped(ExtensionType):
        shape: tf.TensorShape

    seen = []
    f = tf.function(lambda x: seen.append(x.shape))
    for shape in ([1], [None], [1], [None], [2]):  # a trace for [None] serves [2], too
        f(Shaped(shape))
    assert seen == [[1], [None]]


def test_reduce_retracing() -> None:
    shapes = []

    @tf.function(reduce_retracing=True)
    def f(x: Masked) -> Any:
        shapes.append(x.values.shape.as_list())
        return tf.reduce_sum(x.values)

    for size in (2, 3, 4, 5):
        assert float(f(masked(size))) == sum(range(size))
    assert shapes == [[2], [None]]


def test_input_signature() -> None:
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 3)

    @tf.function(input_signature=[spec])
    def f(x: Masked) -> Any:
        return x.filled(7.0)

    np.testing.assert_array_equal(f(masked(2)), [7.0, 1.0])
    np.testing.assert_array_equal(f(masked(3)), [7.0, 1.0, 2.0])
    with pytest.raises(TypeError):
        f(masked(n=4))
    concrete = tf.function(lambda x: x).get_concrete_function(spec)
    assert_same(concrete(masked(4)), masked(4))


@pytest.mark.parametrize("choice", [True, False])
def test_branches(choice: bool) -> None:
    def chosen(p: Any, x: Masked) -> Any:
        return tf.cond(p, lambda: x, lambda: Masked(x.values * 2.0, ~x.mask, x.n)).filled(-1.0)

    def written(p: Any, x: Masked) -> Any:
        if p:
            y = x
        else:
            y = Masked(x.values * 2.0, ~x.mask, x.n)
        return y.filled(-1.0)

    out = agree(chosen, tf.constant(choice), masked())
    again = agree(written, tf.constant(choice), masked())
    np.testing.assert_array_equal(out, [-1, 1, 2] if choice else [0, -1, -1])
    np.testing.assert_array_equal(out, again)


def test_branches_with_other_types() -> None:
    @tf.function
    def f(p: Any) -> Any:
        return tf.cond(p, lambda: masked(n=1), lambda: masked(n=2))

    with pytest.raises(TypeError, match="same structure"):
        f(tf.constant(True))


def test_loops() -> None:
    def loop(x: Masked) -> Any:
        _, out = tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, Masked(x.values * 2.0, x.mask, x.n)), (0, x)
        )
        return out.values

    def written(x: Masked) -> Any:
        i = tf.constant(0)
        while i < 3:
            x = Masked(x.values * 2.0, x.mask, x.n)
            i += 1
        return x.values

    np.testing.assert_array_equal(agree(loop, masked()), [0, 8, 16])
    np.testing.assert_array_equal(agree(written, masked()), [0, 8, 16])


def test_a_loop_may_not_change_the_type() -> None:
    @tf.function
    def f(x: Masked) -> Any:
        return tf.while_loop(lambda x: True, lambda x: Masked(x.values, x.mask, x.n + 1), [x])

    with pytest.raises(ValueError, match="structure"):
        f(masked())


def test_captured() -> None:
    held = masked()
    f = tf.function(lambda: held.filled(5.0) + 1.0)
    np.testing.assert_array_equal(f(), [6, 2, 3])


def test_nested_functions() -> None:
    inner = tf.function(lambda x: Masked(x.values + 1.0, x.mask, x.n))
    outer = tf.function(lambda x: inner(inner(x)))
    np.testing.assert_array_equal(outer(masked()).values, [2, 3, 4])


def test_without_tensors() -> None:
    class Settings(ExtensionType):
        n: int

    f = tf.function(lambda s, x: (s, x * s.n))
    settings, out = f(Settings(3), tf.constant(2))
    assert settings.n == 3
    assert int(out) == 6


def test_gradients() -> None:
    x = Masked([1.0, 2.0, 3.0], [True, False, True])

    def gradient(x: Masked) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x.filled(0.0) ** 2)
        return tape.gradient(y, {"x": x})["x"]

    for run in (gradient, tf.function(gradient)):
        g = run(x)
        np.testing.assert_array_equal(g.values, [2, 0, 6])
        np.testing.assert_array_equal(g.mask, x.mask)
        assert g.n == 3


class Pair(ExtensionType):
    a: tf.Tensor
    b: tf.Tensor


def pair() -> Pair:
    return Pair([1.0, 2.0], [[3.0]])


def test_gradients_of_parts() -> None:
    with tf.GradientTape(persistent=True) as tape:
        x = pair()
        tape.watch(x)
        y = tf.reduce_sum(x.a * 3.0)
        both = Pair(x.a * 2.0, x.b * 5.0)
        other = tf.constant(1.0) * 2.0
    g = tape.gradient(y, x)
    np.testing.assert_array_equal(g.a, [3, 3])
    np.testing.assert_array_equal(g.b, [[0]])
    assert tape.gradient(other, x) is None
    zero = tape.gradient(other, x, unconnected_gradients="zero")
    np.testing.assert_array_equal(zero.b, [[0]])
    g, x_a = tape.gradient(both, [x, x.a])
    np.testing.assert_array_equal(g.b, [[5]])
    np.testing.assert_array_equal(x_a, [2, 2])
    g = tape.gradient(both, x, output_gradients=Pair([1.0, 10.0], [[100.0]]))
    np.testing.assert_array_equal(g.a, [2, 20])
    np.testing.assert_array_equal(g.b, [[500]])


def test_gradients_of_what_is_deep() -> None:
    with tf.GradientTape() as tape:
        x = deep()
        tape.watch(x)
        y = tf.reduce_sum(x.masked.values * 2.0) + tf.reduce_sum(x.ragged.flat_values * 3.0)
    g = tape.gradient(y, x)
    np.testing.assert_array_equal(g.masked.values, [2, 2, 2])
    np.testing.assert_array_equal(g.ragged.flat_values, [3, 3, 3])
    np.testing.assert_array_equal(g.named["a"], [0, 0])


@pytest.mark.parametrize("shape", [[None], None])
def test_unknown_shapes(shape: Any) -> None:
    spec = Masked.Spec(tf.TensorSpec(shape), tf.TensorSpec(shape, tf.bool), 3)

    @tf.function(input_signature=[spec])
    def f(x: Masked) -> Any:
        for _ in tf.range(2):
            x = Masked(x.values + 1.0, x.mask, x.n)
        return tf.cond(tf.reduce_any(x.mask), lambda: x, lambda: Masked(-x.values, x.mask, x.n))

    np.testing.assert_array_equal(f(masked(2)).values, [2, 3])
    np.testing.assert_array_equal(f(masked(0)).values, [])


def test_every_tier_gives_the_same() -> None:
    def f(x: Masked) -> Any:
        y = Masked(tf.exp(x.values) * 2.0, x.mask, x.n)
        return Masked(y.filled(1.0), ~y.mask, y.n + 1)

    expected = f(masked())
    for compiled in (True, False):
        out = tf.function(f, jit_compile=compiled)(masked())
        np.testing.assert_allclose(out.values, expected.values, rtol=1e-6)
        assert out.n == 4


def test_functions_that_do_not_know_the_type_say_so() -> None:
    with pytest.raises(ValueError, match="dispatch_for_api"):
        tf.exp(masked())
    with pytest.raises(ValueError, match="dispatch_for_api"):
        tf.function(tf.exp)(masked())


class TestSpec:
    def test_written_by_users(self) -> None:
        class Sized(ExtensionType):
            x: tf.Tensor

            class Spec:
                def __init__(self, n: int) -> None:
                    self.x = tf.TensorSpec([n], tf.float32)

                @property
                def size(self) -> Any:
                    return self.x.shape[0]

        assert Sized.Spec(3).size == 3
        assert Sized([1.0, 2.0])._type_spec.size == 2
        assert tf.type_spec_from_value(Sized([1.0, 2.0])) == Sized.Spec(2)
        assert isinstance(Sized.Spec(3), tf.experimental.ExtensionTypeSpec)
        f = tf.function(lambda x: x.x, input_signature=[Sized.Spec(2)])
        np.testing.assert_array_equal(f(Sized([1.0, 2.0])), [1, 2])

    def test_compared(self) -> None:
        known, open_ = masked()._type_spec, Masked.Spec(
            tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 3
        )  # fmt: skip
        assert known.is_subtype_of(open_)
        assert not open_.is_subtype_of(known)
        assert open_.is_compatible_with(masked())
        assert not open_.is_compatible_with(masked(n=4))
        assert known.most_specific_common_supertype([masked(2)._type_spec]) == open_
        assert known.most_specific_common_supertype([masked(n=4)._type_spec]) is None
        with pytest.raises(ValueError, match="No type holds both"):
            known.most_specific_compatible_type(masked(n=4)._type_spec)
        assert known.value_type is Masked


def test_saved_models_say_what_to_do(tmp_path: Any) -> None:
    module = tf.Module()
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 3)
    module.f = tf.function(lambda x: x.values, input_signature=[spec])
    with pytest.raises(TypeError, match="no form for Masked.Spec. Take and return the tensors"):
        tf.saved_model.save(module, str(tmp_path / "model"))


def test_in_datasets() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda i: (deep(), Pair(tf.cast(i, tf.float32), 1.0)))
    elements = list(dataset)
    assert_same(elements[1][0], deep())
    assert [float(b.a) for _, b in elements] == [0, 1, 2]
    assert isinstance(dataset.element_spec[0], Deep.Spec)
    once = tf.data.Dataset.from_tensors({"x": deep()})
    assert_same(next(iter(once))["x"], deep())

    @tf.function
    def total(dataset: Any) -> Any:
        out = tf.constant(0.0)
        for _, b in dataset:
            out += b.a
        return out

    assert float(total(dataset)) == 3.0
    spec = Pair.Spec(tf.TensorSpec([None]), tf.TensorSpec([1, 1]))
    made = tf.data.Dataset.from_generator(lambda: iter([pair(), pair()]), output_signature=spec)
    for x in made:
        assert_same(x, pair())
    assert len(list(made)) == 2
    with pytest.raises(TypeError, match="BatchableExtensionType"):
        dataset.batch(2)
    with pytest.raises(TypeError, match="BatchableExtensionType"):
        tf.data.Dataset.from_tensor_slices(pair())
