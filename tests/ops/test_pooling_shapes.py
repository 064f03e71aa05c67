"""Gradients of pooling: results of other sizes are refused, and not broadcast."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from weft.errors import ShapeError

_PLACES = {"ksize": [1, 2, 2, 3, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"}
_IMAGE, _POOLED = (2, 4, 3, 5, 6), (2, 4, 2, 5, 6)


def _max(x: Any, y: Any, g: Any) -> Any:
    return tf.raw_ops.MaxPool3DGrad(orig_input=x, orig_output=y, grad=g, **_PLACES)


def _picked(x: Any, y: Any, h: Any) -> Any:
    return tf.raw_ops.MaxPool3DGradGrad(orig_input=x, orig_output=y, grad=h, **_PLACES)


def _mean(x: Any, y: Any, g: Any) -> Any:
    return tf.raw_ops.AvgPool3DGrad(orig_input_shape=tf.shape(x), grad=g, **_PLACES)


@pytest.mark.parametrize("mode", ["eager", "known", "unknown sizes", "unknown rank"])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (_max, (_IMAGE, (2, 4, 1, 5, 6), _POOLED)),
        (_max, (_IMAGE, _POOLED, (2, 4, 1, 5, 6))),
        (_max, (_IMAGE, (1, 4, 2, 5, 6), (1, 4, 2, 5, 6))),
        (_picked, (_IMAGE, (2, 4, 1, 5, 6), _IMAGE)),
        (_picked, (_IMAGE, _POOLED, (1, 4, 3, 5, 6))),
        (_mean, (_IMAGE, _POOLED, (2, 4, 1, 5, 6))),
    ],
)
def test_sizes_that_do_not_belong_together(function: Any, shapes: Any, mode: str) -> None:
    given = [tf.ones(shape) for shape in shapes]
    right = (_IMAGE, _POOLED, _IMAGE if function is _picked else _POOLED)
    specs = {
        "known": [tf.TensorSpec(x.shape) for x in given],
        "unknown sizes": [tf.TensorSpec([None] * 5)] * 3,
        "unknown rank": [tf.TensorSpec(None)] * 3,
    }
    if mode == "eager":
        call = function
    else:
        call = tf.function(function, input_signature=specs[mode])
    with pytest.raises(ShapeError, match="must have equal shapes, got"):
        call(*given)
    if mode != "known":
        assert call(*[tf.ones(shape) for shape in right]).shape[0] == 2
