"""`tf.nn`: neural-network functions."""

from weft.ops.math.special import (
    softplus as softplus,
)
from weft.ops.math.unary import (
    sigmoid as sigmoid,
    tanh as tanh,
)
