"""What notebooks show of values: HTML that is well formed, and says what matters."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import weft as tf


def shown(value: Any) -> str:
    """The HTML of a value, which must be well formed."""
    text = value._repr_html_()
    ET.fromstring(f"<all>{text.replace('&nbsp;', ' ')}</all>".replace("<br>", "<br/>"))
    return str(text)


class Dense(tf.Module):
    """A layer with a traced method."""

    def __init__(self) -> None:
        super().__init__("dense")
        self.w = tf.Variable(tf.ones([3, 2]), name="w")
        self.frozen = tf.Variable(1.0, trainable=False, name="frozen")

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return x @ self.w


def test_tensors() -> None:
    text = shown(tf.constant([[1.5, 2.0], [np.nan, -4.0]]))
    assert "tf.Tensor float32 (2, 2)" in text
    assert "from -4 to 2, mean -0.166667; 1 of 4 are NaN or infinite" in text
    assert text.count("<td") == 4
    assert "1.5" in text


def test_large_tensors_show_their_corners() -> None:
    text = shown(tf.reshape(tf.range(10_000), [100, 100]))
    assert text.count("<td") == 81
    assert "9999" in text
    assert "…" in text
    assert "<pre>" in shown(tf.zeros([5, 6, 7, 8]))


def test_text_is_escaped() -> None:
    text = shown(tf.constant(["<b>", "&"]))
    assert "&lt;b&gt;" in text


@pytest.mark.parametrize(
    "image",
    [
        tf.zeros([16, 9, 3], tf.uint8),
        tf.random.stateless_uniform([16, 9, 1], [1, 2]),
        tf.zeros([16, 9], tf.uint8),
    ],
)
def test_images_are_drawn(image: tf.Tensor) -> None:
    text = shown(image)
    data = re.search(r"base64,([^\"]+)", text)
    assert data is not None
    pixels = tf.io.decode_png(base64.b64decode(data[1]))
    assert pixels.shape[:2] == [16, 9]
    assert 'alt="the tensor as an image of 9 x 16 pixels"' in text


@pytest.mark.parametrize("shape", [[3, 3, 3], [16, 9, 2], [16, 9]])
def test_other_tensors_are_not(shape: list[int]) -> None:
    assert "<img" not in shown(tf.zeros(shape))
    assert "<img" not in shown(tf.fill([16, 9, 3], 7.5))


def test_variables() -> None:
    text = shown(tf.Variable([1.0, 2.0], name="weight"))
    assert "tf.Variable &#x27;weight:0&#x27; float32 (2,), trainable" in text


def test_functions() -> None:
    f = tf.function(lambda x: x + 1.0)
    f(tf.ones([2]))
    f(tf.ones([3]))
    assert "and is now (3,)" in shown(f)
    concrete = f.get_concrete_function(tf.ones([2]))
    assert "<svg" in shown(concrete)
    assert "<svg" in shown(concrete.graph)
    layer = Dense()
    layer(tf.ones([4, 3]))
    assert "1 traces, 1 calls" in shown(layer.__call__)


def test_large_graphs_are_summed_up() -> None:
    @tf.function(autograph=False)
    def long(x: tf.Tensor) -> tf.Tensor:
        for _ in range(150):
            x = x * 2.0
        return x

    text = shown(long.get_concrete_function(tf.TensorSpec([3])).graph)
    assert re.search(r"graph long\(x:0: float32\[3\]\)", text)
    assert "<svg" not in text


def test_datasets() -> None:
    def double(x: tf.Tensor) -> tf.Tensor:
        return x * 2

    data = tf.data.Dataset.range(100).map(double).shuffle(10).batch(8)
    text = shown(data)
    names = re.findall(r"<b>(\w+)</b>", text)
    assert names == ["Range", "Map", "Shuffle", "Batch"]
    assert "13 elements" in text
    assert "call=double" in text
    assert "batch_size=8" in text
    both = shown(tf.data.Dataset.zip((data, tf.data.Dataset.range(3).repeat())))
    assert both.count("<b>Range</b>") == 2
    assert "endless" in both


def test_modules() -> None:
    text = shown(Dense())
    assert "Dense &#x27;dense&#x27;: 2 variables, 7 numbers" in text
    assert "w:0" in text
    assert "traced methods: __call__" in text


def test_symbolic_values_are_left_to_their_text() -> None:
    @tf.function
    def f(v: tf.Variable) -> tf.Tensor:
        assert v._repr_html_() is None
        return v + 1.0

    f(tf.Variable(1.0))
