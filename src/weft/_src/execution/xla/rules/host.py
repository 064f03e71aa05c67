"""Ops that are there to raise: XLA notes that they would, and NumPy raises."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.execution.xla.lowering import Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node


@lowers("assert")
def _assert(lowering: Lowering, node: Node, condition: Value, *data: Value) -> tuple[()]:
    fails = np.logical_not if isinstance(condition, np.ndarray) else jnp.logical_not
    lowering.check(fails(condition))
    return ()


@lowers("check_numerics")
def _check_numerics(lowering: Lowering, node: Node, x: Value) -> Any:
    lowering.check(~jnp.all(jnp.isfinite(x)))
    return x


@lowers("raise")
def _raise(lowering: Lowering, node: Node) -> tuple[()]:
    lowering.check(np.asarray(True))
    return ()


@lowers("nothing")
def _nothing(lowering: Lowering, node: Node, *inputs: Value) -> tuple[()]:
    return ()
