"""`tensorflow.python.framework.config`: Keras asks before it decides whether XLA is of use."""

from __future__ import annotations


def is_op_determinism_enabled() -> bool:
    """Whether ops must give the same bits in every run: Weft's always do."""
    return True


def enable_op_determinism() -> None:
    """Ops give the same bits anyway."""


def disable_op_determinism() -> None:
    """Ops give the same bits all the same."""
