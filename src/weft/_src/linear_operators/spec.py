"""The types of linear operators: what they are made of, and how they fall apart into tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import weft as tf


def _is_component(value: Any) -> bool:
    """Whether a parameter holds tensors, variables or operators."""
    held = (tf.Tensor, tf.Variable, tf.linalg.LinearOperator)
    return any(isinstance(item, held) for item in tf.nest.flatten(value))


def _spec_of(value: Any) -> Any:
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return tf.TensorSpec(value.shape, value.dtype)
    return value._type_spec


def components_of(operator: tf.linalg.LinearOperator) -> dict[str, Any]:
    """The parameters of an operator that hold tensors, by name, as tensors.

    Args:
      operator: an operator.

    Returns:
      Tensors, variables, operators, and nests of operators.
    """
    found = {}
    for name, value in operator.parameters.items():
        if _is_component(value):
            found[name] = value
        elif name in operator._parameter_ranks and value is not None:
            # It was given as a list or an array; the operator has it as a tensor.
            found[name] = getattr(operator, name)
    return found


def spec_of_operator(operator: tf.linalg.LinearOperator) -> LinearOperatorSpec:
    """The type of an operator.

    Args:
      operator: an operator of one of Weft's own classes.

    Returns:
      Its `LinearOperatorSpec`.
    """
    components = components_of(operator)
    others = {k: v for k, v in operator.parameters.items() if k not in components}
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in others.items()}
    specs = {name: tf.nest.map_structure(_spec_of, part) for name, part in components.items()}
    return LinearOperatorSpec(type(operator), specs, plain)


class LinearOperatorSpec(tf.TypeSpec):
    """The type of an operator: its class, the types of its tensors, and its other parameters."""

    def __init__(
        self,
        kind: type[tf.linalg.LinearOperator],
        components: Mapping[str, Any],
        others: Mapping[str, Any],
    ) -> None:
        self._kind = kind
        self._components = dict(components)
        self._others = dict(others)

    @property
    def value_type(self) -> type[tf.linalg.LinearOperator]:
        """The class of the operator."""
        return self._kind

    def _serialize(self) -> Any:
        return (self._kind, self._components, self._others)

    @property
    def _component_specs(self) -> Any:
        return self._components

    def _to_components(self, value: Any) -> Any:
        return components_of(value)

    def _from_components(self, components: Any) -> Any:
        return self._kind(**components, **self._others)
