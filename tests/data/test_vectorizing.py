"""Maps that run on whole batches give, bit for bit, what they give element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.flags import flags
from weft._src.data.core.traced import Call, of_element
from weft._src.data.transforms.vectorizing import vectorized

D = tf.data.Dataset
RNG = np.random.default_rng(5)
SCALARS = RNG.normal(size=37).astype(np.float32) * 3
ROWS = RNG.normal(size=(37, 5)).astype(np.float32)
IMAGES = RNG.integers(0, 255, (37, 3, 4, 2)).astype(np.uint8)
NUMBERS = RNG.integers(-50, 50, 37)
WORDS = np.array([b"ab", b"c", b"Def"], object)[RNG.integers(3, size=37)]
TABLE = tf.constant(RNG.normal(size=(100, 3)))

VECTORISED: list[tuple[str, Any, Any]] = [
    ("arithmetic", SCALARS, lambda x: x * 2.0 + 1.0),
    ("transcendental", SCALARS, lambda x: tf.exp(tf.sin(x)) - tf.tanh(x) * tf.math.log1p(x * x)),
    ("special", SCALARS, lambda x: tf.math.erf(x) + tf.sigmoid(x)),
    ("integers", NUMBERS, lambda x: (x // 7, x % 7, -x, abs(x))),
    ("casts", NUMBERS, lambda x: tf.cast(x, tf.float32) / 255.0),
    ("images", IMAGES, lambda x: tf.transpose(tf.cast(x, tf.float32) / 127.5 - 1.0, [2, 0, 1])),
    ("broadcast", (ROWS, SCALARS), lambda a, b: a * b + tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])),
    ("outer", (ROWS, SCALARS), lambda a, b: a[:, tf.newaxis] * a + b),
    ("where", SCALARS, lambda x: tf.where(x > 0.0, x, 0.0)),
    ("slices", ROWS, lambda x: (x[0], x[-2:], x[::-1])),
    ("reshape", ROWS, lambda x: tf.reshape(x, [5, 1])),
    ("squeeze", ROWS, lambda x: tf.squeeze(tf.expand_dims(x, -1))),
    ("concat", ROWS, lambda x: tf.concat([x, 2.0 * x], 0)),
    ("sum", ROWS, lambda x: tf.reduce_sum(x)),
    ("mean of an image", IMAGES, lambda x: tf.reduce_mean(tf.cast(x, tf.float32))),
    ("largest", ROWS, lambda x: (tf.reduce_max(x), tf.reduce_min(x, axis=0, keepdims=True))),
    ("one_hot", NUMBERS, lambda x: tf.one_hot(x, 7)),
    ("gather", NUMBERS, lambda x: tf.gather(TABLE, tf.abs(x))),
    ("strings", WORDS, lambda x: tf.strings.length(tf.strings.upper(x))),
    ("complex", SCALARS, lambda x: tf.math.real(tf.complex(x, 2.0 * x))),
    ("constant", NUMBERS, lambda x: (x, tf.constant([1, 2]))),
    ("cond", SCALARS, lambda x: tf.cond(x > 0.0, lambda: x, lambda: -x)),
    ("loop", SCALARS, lambda x: tf.while_loop(lambda y: y < 9.0, lambda y: y + 2.0, [x])[0]),
    ("structure", ROWS, lambda x: {"a": x, "b": (x + 1.0,)}),
]  # fmt: skip

NOT_VECTORISED: list[tuple[str, Any, Any]] = [
    ("callback", NUMBERS, lambda x: tf.py_function(lambda y: y + 1, [x], tf.int64)),
    ("random", SCALARS, lambda x: x + tf.random.uniform([])),
    ("some axes of floats", IMAGES, lambda x: tf.reduce_sum(tf.cast(x, tf.float32), [0, 1])),
    ("print", SCALARS, lambda x: (tf.print(x), x)[1]),
]


@pytest.fixture(autouse=True)
def _one_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiers may differ in the last bit, and how long calls take decides which of them runs."""
    monkeypatch.setattr(flags, "execution", "numpy")


def is_vectorised(data: Any, function: Any) -> bool:
    f = of_element(function, D.from_tensor_slices(data).element_spec, "map")
    return vectorized(f.graph) is not None


@pytest.mark.parametrize("name", [c[0] for c in VECTORISED])
def test_vectorised_and_equal(name: str) -> None:
    data, function = next(c[1:] for c in VECTORISED if c[0] == name)
    assert is_vectorised(data, function)
    rows = D.from_tensor_slices(data)
    mapped = rows.map(function)
    f = of_element(function, rows.element_spec, "map")
    call = Call(f, [t._value for t in f.captures])  # type: ignore[attr-defined]
    one_by_one = [call(values) for values in rows._stage.cursor(None)]  # type: ignore[arg-type]
    expected = [np.stack(column) for column in zip(*one_by_one, strict=True)]
    for size in (1, 8, 64):
        batches = [tf.nest.flatten(b) for b in mapped.batch(size)]
        found = [np.concatenate(c) for c in zip(*batches, strict=True)]
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
    singles = [tf.nest.flatten(x) for x in mapped]
    for a, b in zip([np.stack(c) for c in zip(*singles, strict=True)], expected, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", [c[0] for c in NOT_VECTORISED])
def test_what_might_differ_is_left_alone(name: str) -> None:
    data, function = next(c[1:] for c in NOT_VECTORISED if c[0] == name)
    assert not is_vectorised(data, function)


def test_a_bias_of_channels_that_come_first() -> None:
    bias = tf.constant([1.0, 2.0, 4.0])
    images = IMAGES.transpose(0, 2, 1, 3)[:, None, :3].astype(np.float32)
    dataset = D.from_tensor_slices(images).map(lambda x: tf.nn.bias_add(x, bias, "NCHW"))
    found = np.stack([x.numpy() for x in dataset])
    np.testing.assert_array_equal(found, images + np.array([1.0, 2.0, 4.0])[:, None, None])


def test_a_variable_is_read_anew_for_each_element() -> None:
    v = tf.Variable(1)
    out = []
    for x in D.from_tensor_slices([1, 2, 3]).map(lambda x: x * v):
        out.append(int(x))
        v.assign_add(10)
    assert out == [1, 22, 63]


def test_elements_of_different_shapes() -> None:
    rows = D.range(1, 4).map(lambda n: tf.fill([n], n))
    assert [x.numpy().tolist() for x in rows.map(lambda x: x[:1] * 2).batch(3)] == [[[2], [4], [6]]]


def test_many_elements_are_not_read_ahead_of_effects() -> None:
    seen = []

    def numbers() -> Any:
        for i in range(10):
            seen.append(i)
            yield i

    generated = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32))
    next(iter(generated.map(lambda x: x + 1)))
    assert seen == [0]
