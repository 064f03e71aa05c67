"""Keras' attention is one step of machine code, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft import keras


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention_is_found_in_a_training_step(causal: bool) -> None:
    x = np.random.default_rng(0).normal(size=(3, 40, 24)).astype("float32")
    layer = keras.layers.MultiHeadAttention(4, 16)
    layer(x, x)
    mask = np.ones((3, 40), bool)
    mask[1, 30:] = False

    def step(x: Any, mask: Any) -> Any:
        with tf.GradientTape() as tape:
            y = layer(x, x, use_causal_mask=causal, value_mask=mask)
            loss = tf.reduce_mean(y * y)
        return loss, tape.gradient(loss, layer.trainable_variables)

    compiled = tf.function(step, jit_compile=True)
    graph = compiled.experimental_get_compiler_ir(x, mask)(stage="graph")
    assert "FusedAttention(" in graph
    assert "FusedAttentionGrad(" in graph
    assert "Softmax" not in graph
    wanted = tf.nest.flatten(step(tf.constant(x), tf.constant(mask)))
    for got, expected in zip(tf.nest.flatten(compiled(x, mask)), wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)
