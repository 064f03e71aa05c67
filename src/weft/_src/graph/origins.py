"""What the tensors of a graph stand for outside of it."""

from __future__ import annotations

from typing import Any

from weft._src.core.tensor import SymbolicTensor, Tensor


def outermost(tensor: Tensor) -> Tensor:
    """What a tensor stands for outside of all graphs that capture it."""
    while isinstance(tensor, SymbolicTensor):
        outer = tensor.node.graph.outer_of(tensor)
        if outer is None:
            return tensor
        tensor = outer
    return tensor


def variable_behind(handle: Tensor) -> Any:
    """The `tf.Variable` a handle refers to: a captured one, or an argument being traced."""
    origin = outermost(handle)
    if isinstance(origin, SymbolicTensor):
        owner = getattr(origin, "owner", None)
        return None if owner is None else owner()
    return getattr(getattr(origin, "_value", None), "variable", None)
