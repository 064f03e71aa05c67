"""Raw ops on optionals: what branches give for values that only the other branch has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.data.core import optional as ops


def from_value(components: Sequence[Any], name: str | None = None) -> tf.Tensor:
    return ops.from_value_op(*[tf.convert_to_tensor(x) for x in components], name=name)


def none(name: str | None = None) -> tf.Tensor:
    return ops.none_op(name=name)


def has_value(optional: tf.Tensor, name: str | None = None) -> tf.Tensor:
    return ops.has_value_op(optional, name=name)


def value(
    optional: tf.Tensor,
    output_types: Sequence[Any],
    output_shapes: Sequence[Any],
    name: str | None = None,
) -> list[tf.Tensor]:
    pairs = zip(output_shapes, output_types, strict=True)
    specs = tuple([tf.TensorSpec(shape, dtype) for shape, dtype in pairs])
    return list(ops.get_value_op(optional, specs=specs, name=name))
