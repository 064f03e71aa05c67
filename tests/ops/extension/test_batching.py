"""Batchable extension types: datasets that stack them, maps over their rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import weft as tf

Batchable = tf.experimental.BatchableExtensionType


class Masked(Batchable):
    values: tf.Tensor
    mask: tf.Tensor
    unit: str = "m"


class Shaped(Batchable):
    """The shape of one value is a field."""

    parts: Mapping[str, tf.Tensor]
    ragged: tf.RaggedTensor
    inner: Masked
    shape: tf.TensorShape


def masked(rows: int = 4) -> Masked:
    values = tf.reshape(tf.range(float(rows * 3)), [rows, 3])
    return Masked(values, values > 4.0)


def shaped() -> Shaped:
    return Shaped(
        {"a": tf.reshape(tf.range(8), [4, 2])},
        tf.ragged.constant([[1.0], [], [2.0, 3.0], [4.0]]),
        masked(),
        [4, 3],
    )


def flat(value: Any) -> list[Any]:
    return [t.numpy() for t in tf.nest.flatten(value, expand_composites=True)]


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    for x, y in zip(flat(a), flat(b), strict=True):
        np.testing.assert_array_equal(x, y)


def test_rows_and_batches() -> None:
    rows = tf.data.Dataset.from_tensor_slices(masked())
    assert rows.element_spec == Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool), "m")
    assert [r.values.numpy().tolist() for r in rows][1] == [3, 4, 5]
    batches = list(rows.batch(3))
    assert_same(
        batches[0], tf.nest.map_structure(lambda t: t[:3], masked(), expand_composites=True)
    )
    assert batches[1].values.shape == [1, 3]
    full = rows.batch(2, drop_remainder=True)
    assert full.element_spec.values.shape == [2, 3]
    assert_same(next(iter(rows.batch(4))), masked())
    again = rows.batch(2).unbatch()
    assert [r.values.numpy().tolist() for r in again] == [r.values.numpy().tolist() for r in rows]
    assert [len(b.values) for b in rows.batch(2).rebatch(3)] == [3, 1]


def test_rows_in_structures() -> None:
    data = tf.data.Dataset.from_tensor_slices((masked(), {"n": tf.range(4)}))
    batch, others = next(iter(data.batch(4)))
    assert_same(batch, masked())
    np.testing.assert_array_equal(others["n"], range(4))
    assert isinstance(data.batch(2).element_spec, tuple)


def test_rows_of_what_is_deep() -> None:
    rows = list(tf.data.Dataset.from_tensor_slices(shaped()))
    assert rows[2].shape == [3]
    np.testing.assert_array_equal(rows[2].ragged, [2.0, 3.0])
    np.testing.assert_array_equal(rows[2].inner.values, [6, 7, 8])
    data = tf.data.Dataset.from_tensor_slices(shaped()).batch(4)
    assert data.element_spec.shape.as_list() == [None, 3]
    assert_same(next(iter(data)), shaped())


def test_map_fn() -> None:
    def twice(row: Masked) -> Masked:
        return Masked(row.values * 2.0, ~row.mask, row.unit)

    for run in (tf.map_fn, tf.vectorized_map):
        for call in (run, tf.function(run)):
            out = call(twice, masked())
            np.testing.assert_array_equal(out.values, masked().values * 2.0)
            np.testing.assert_array_equal(out.mask, ~masked().mask)
            assert out.unit == "m"


def test_map_fn_with_a_signature() -> None:
    sums = tf.map_fn(lambda r: tf.reduce_sum(r.values), masked(), fn_output_signature=tf.float32)
    np.testing.assert_array_equal(sums, [3, 12, 21, 30])
    spec = Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool), "m")
    made = tf.map_fn(lambda v: Masked(v, v > 4.0), masked().values, fn_output_signature=spec)
    assert_same(made, masked())
    made = tf.map_fn(
        lambda pair: (pair[1], pair[0]),
        (masked(), tf.range(4)),
        fn_output_signature=(tf.int32, spec),
    )
    assert_same(made[1], masked())
    np.testing.assert_array_equal(made[0], range(4))


def test_vectorized_map_of_structures() -> None:
    out = tf.vectorized_map(
        lambda pair: {"row": pair[0], "sum": tf.reduce_sum(pair[0].values) + pair[1]},
        (masked(), tf.range(4.0)),
    )
    assert_same(out["row"], masked())
    np.testing.assert_array_equal(out["sum"], [3, 13, 23, 33])


def test_gradients_through_maps() -> None:
    values = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for run in (tf.map_fn, tf.vectorized_map):
        with tf.GradientTape() as tape:
            tape.watch(values)
            out = run(lambda r: Masked(r.values**2, r.mask), Masked(values, values > 2.0))
        np.testing.assert_allclose(tape.gradient(out, values), values * 2.0, rtol=1e-6)


def test_other_types_have_no_rows() -> None:
    class Plain(tf.experimental.ExtensionType):
        x: tf.Tensor

    for run in (tf.map_fn, tf.vectorized_map):
        with pytest.raises(TypeError, match="Plain has no rows.*BatchableExtensionType"):
            run(lambda row: row.x, Plain([1, 2]))


def test_scalars_have_no_rows() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="first axis"):
        tf.data.Dataset.from_tensor_slices(Masked(1.0, True))


class Packed(tf.experimental.ExtensionTypeBatchEncoder):
    """Both numbers of a point in one tensor."""

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        return Point.Spec(*[tf.TensorSpec([batch_size, *s.shape]) for s in (spec.x, spec.y)])

    def unbatch(self, spec: Any) -> Any:
        return Point.Spec(*[tf.TensorSpec(s.shape[1:]) for s in (spec.x, spec.y)])

    def encode(self, value: Any, minimum_rank: int = 0) -> Any:
        return tf.stack([value.x, value.y], -1)

    def encoding_specs(self, spec: Any) -> Any:
        return tf.TensorSpec([*spec.x.shape, 2])

    def decode(self, spec: Any, encoding: Any) -> Any:
        x, y = tf.unstack(encoding, 2, axis=-1)
        return Point(x, y)


class Point(Batchable):
    x: tf.Tensor
    y: tf.Tensor
    __batch_encoder__ = Packed()


def test_encoders_of_users() -> None:
    points = Point([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    swapped = tf.map_fn(lambda p: Point(p.y, p.x), points)
    assert_same(swapped, Point(points.y, points.x))
    assert_same(tf.vectorized_map(lambda p: Point(p.y, p.x), points), swapped)
    rows = tf.data.Dataset.from_tensor_slices(points)
    assert [(float(p.x), float(p.y)) for p in rows] == [(1, 4), (2, 5), (3, 6)]
    assert_same(next(iter(rows.batch(3))), points)


def test_specs() -> None:
    encoder = tf.experimental.ExtensionTypeBatchEncoder()
    spec = tf.type_spec_from_value(shaped())
    wide = encoder.batch(spec, 7)
    assert wide.shape == [7, 4, 3]
    assert wide.parts["a"].shape == [7, 4, 2]
    assert wide.ragged.ragged_rank == 2
    assert wide.inner.values.shape == [7, 4, 3]
    assert encoder.unbatch(wide) == spec
    assert len(encoder.encoding_specs(spec)) == 3
