"""`tf.bitwise`: operations on the bits of integers."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.math.bitwise import (
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    invert as invert,
    left_shift as left_shift,
    right_shift as right_shift,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
