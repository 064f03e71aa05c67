"""`tf.TypeSpec` subclasses of users: compared part by part, and in functions, loops, datasets."""

import pickle
from typing import Any

import numpy as np
import pytest

import weft as tf


class Scaled:
    """A tensor and what it is multiplied by, which is known while tracing."""

    def __init__(self, values: Any, factor: int = 1) -> None:
        self.values = values
        self.factor = factor

    @property
    def _type_spec(self) -> "ScaledSpec":
        return ScaledSpec(self.values.shape, self.values.dtype, {"factor": self.factor})


class ScaledSpec(tf.TypeSpec):
    def __init__(self, shape: Any, dtype: Any, options: Any) -> None:
        self.shape = tf.TensorShape(shape)
        self.dtype = dtype
        self.options = options

    @property
    def value_type(self) -> type:
        return Scaled

    def _serialize(self) -> Any:
        return self.shape, self.dtype, self.options

    @property
    def _component_specs(self) -> Any:
        return {"values": tf.TensorSpec(self.shape, self.dtype)}

    def _to_components(self, value: Scaled) -> Any:
        return {"values": value.values}

    def _from_components(self, components: Any) -> Scaled:
        return Scaled(components["values"], self.options["factor"])


def spec(*shape: Any, dtype: Any = tf.float32, factor: int = 1) -> ScaledSpec:
    return ScaledSpec(list(shape), dtype, {"factor": factor})


def scaled(factor: int = 1) -> Scaled:
    return Scaled(tf.constant([1.0, 2.0, 3.0]), factor)


def test_compared_part_by_part() -> None:
    assert spec(2) == spec(2)
    assert hash(spec(2)) == hash(spec(2))
    assert spec(2) != spec(3)
    assert spec(2) != spec(2, factor=2)
    assert repr(spec(2)) == "ScaledSpec(TensorShape([2]), tf.float32, {'factor': 1})"
    assert spec(None).is_compatible_with(spec(2))
    assert spec(None).is_compatible_with(scaled())
    assert not spec(2).is_compatible_with(scaled())
    assert not spec(2).is_compatible_with(3)
    assert spec(2).is_subtype_of(spec(None))
    assert not spec(None).is_subtype_of(spec(2))
    assert not spec(2).is_subtype_of(3)
    assert spec(2).most_specific_common_supertype([]) == spec(2)
    assert spec(2).most_specific_common_supertype([spec(3), spec(4)]) == spec(None)
    assert spec(2).most_specific_common_supertype([spec(2, dtype=tf.int32)]) is None
    assert spec(2).most_specific_common_supertype([3]) is None  # type: ignore[list-item]
    with pytest.raises(ValueError, match="No type holds both"):
        spec(2).most_specific_compatible_type(spec(2, factor=3))
    assert pickle.loads(pickle.dumps(spec(2))) == spec(2)
    assert tf.type_spec_from_value(scaled()) == spec(3)


def test_plain_parts_must_be_of_one_type() -> None:
    assert spec(2, factor=1) != spec(2, factor=True)
    assert spec(2, factor=float("nan")) == spec(2, factor=float("nan"))  # type: ignore[arg-type]
    assert hash(spec(2, factor=float("nan"))) == hash(spec(2, factor=float("nan")))  # type: ignore[arg-type]


def test_a_spec_without_parts_says_what_is_missing() -> None:
    class Opaque(tf.TypeSpec):
        pass

    one, other = Opaque(), Opaque()
    assert one == one  # noqa: PLR0124
    assert one != other
    with pytest.raises(NotImplementedError, match="Opaque must have a method `_serialize`"):
        one._serialize()


def test_in_functions() -> None:
    traces = []

    @tf.function
    def twice(x: Scaled) -> Scaled:
        traces.append(x.factor)
        return Scaled(x.values * float(2 * x.factor), x.factor)

    for _ in range(2):
        out = twice(scaled(3))
        np.testing.assert_array_equal(out.values, [6, 12, 18])
        assert out.factor == 3
    twice(scaled(4))
    assert traces == [3, 4]
    signed = tf.function(lambda x: x.values, input_signature=[spec(None)])
    np.testing.assert_array_equal(signed(scaled()), [1, 2, 3])
    with pytest.raises(TypeError):
        signed(scaled(2))


def test_in_control_flow() -> None:
    @tf.function
    def f(p: Any, x: Scaled) -> Any:
        y = tf.cond(p, lambda: x, lambda: Scaled(-x.values, x.factor))
        _, z = tf.while_loop(
            lambda i, z: i < 3, lambda i, z: (i + 1, Scaled(z.values + 1.0, z.factor)), (0, y)
        )
        return z.values

    np.testing.assert_array_equal(f(tf.constant(True), scaled()), [4, 5, 6])
    np.testing.assert_array_equal(f(tf.constant(False), scaled()), [2, 1, 0])


def test_in_nests_and_datasets() -> None:
    assert len(tf.nest.flatten([scaled()])) == 1
    (part,) = tf.nest.flatten([scaled()], expand_composites=True)
    assert part.shape == [3]
    data = tf.data.Dataset.range(2).map(lambda i: Scaled(tf.cast(i, tf.float32)[None], 5))
    assert data.element_spec == spec(1, factor=5)
    assert [(float(x.values[0]), x.factor) for x in data] == [(0, 5), (1, 5)]
    with pytest.raises(TypeError, match="cannot be handled"):
        data.batch(2)


def test_in_tapes() -> None:
    x = scaled(7)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Scaled(x.values * x.values)
    g = tape.gradient(y, x)
    np.testing.assert_array_equal(g.values, [2, 4, 6])
    assert g.factor == 7
