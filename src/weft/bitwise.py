"""`tf.bitwise`: operations on the bits of integers."""

from weft._src.ops.elementwise.bitwise import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

_open_namespace(__name__)
