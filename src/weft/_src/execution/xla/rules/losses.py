"""Cross entropy with labels that are numbers of classes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value
from weft._src.execution.xla.rules import lowers
from weft._src.execution.xla.rules.indexing import rows_outside
from weft._src.graph.ir import Node


@lowers("sparse_softmax_cross_entropy")
def _sparse(lowering: Lowering, node: Node, logits: Value, labels: Value) -> tuple[Any, Any]:
    dtype = logits.dtype
    wide = xp.widen(jnp.asarray(logits))
    classes = wide.shape[-1]
    lowering.check(rows_outside(labels, classes))
    log_probabilities = jax.nn.log_softmax(wide, -1)
    safe = jnp.clip(labels, 0, max(classes - 1, 0))
    loss = -jnp.take_along_axis(log_probabilities, safe[..., None], -1)[..., 0]
    hot = jax.nn.one_hot(safe, classes, dtype=wide.dtype)
    return loss.astype(dtype), (jnp.exp(log_probabilities) - hot).astype(dtype)
