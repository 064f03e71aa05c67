"""`tf.linalg.experimental`: solving with operators that are only applied."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.public.namespaces import open_namespace as _open_namespace

if _TYPE_CHECKING:
    from weft._src.linear_operators.iterative import (
        conjugate_gradient as conjugate_gradient,
    )

__all__ = ["conjugate_gradient"]

_open_namespace(__name__, lazy={"conjugate_gradient": "weft._src.linear_operators.iterative"})
