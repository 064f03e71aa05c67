"""`tf.linalg.experimental`: solving with operators that are only applied."""

from weft._src.linear_operators.conjugate_gradient import conjugate_gradient
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["conjugate_gradient"]

_open_namespace(__name__)
