"""Operations on the bits of integers."""

from __future__ import annotations

import numpy as np

from weft.core.dtypes import INTEGER
from weft.ops.math.operands import binary, unary
from weft.ops.registry import NOT_DIFFERENTIABLE

and_op = binary("BitwiseAnd", np.bitwise_and, INTEGER, vjp=NOT_DIFFERENTIABLE)
or_op = binary("BitwiseOr", np.bitwise_or, INTEGER, vjp=NOT_DIFFERENTIABLE)
xor_op = binary("BitwiseXor", np.bitwise_xor, INTEGER, vjp=NOT_DIFFERENTIABLE)
invert_op = unary("Invert", np.invert, INTEGER, vjp=NOT_DIFFERENTIABLE)
