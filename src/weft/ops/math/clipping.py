"""Limiting values to a range."""

from __future__ import annotations

from typing import Any

from weft.core.convert import convert_to_tensor
from weft.core.tensor import Tensor
from weft.errors import ShapeError
from weft.ops.math import arithmetic


def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Tensor:
    """t with what lies outside of a range moved to its edge.

    >>> tf.clip_by_value([-5.0, 0.5, 7.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x = convert_to_tensor(t)
    out = arithmetic.maximum(arithmetic.minimum(x, clip_value_max), clip_value_min, name=name)
    if not x.shape.is_compatible_with(out.shape):
        raise ShapeError(
            f"clip_by_value: the limits must broadcast to the shape of t, {x.shape}; they make it "
            f"{out.shape}."
        )
    return out
