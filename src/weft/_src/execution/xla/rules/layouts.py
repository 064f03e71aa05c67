"""Layouts: which devices have which parts of a value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from weft._src.execution.xla.lowering import Lowering, Value
from weft._src.execution.xla.meshes import sharding_of
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node


@lowers("relayout")
def _relayout(lowering: Lowering, node: Node, x: Value) -> Any:
    layout = node.attrs["layout"]
    layout.check(tuple(x.shape))
    return jax.lax.with_sharding_constraint(jnp.asarray(x), sharding_of(layout))
