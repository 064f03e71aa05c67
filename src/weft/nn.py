"""`tf.nn`: neural-network functions."""

from weft import _nn_experimental
from weft.ops.math.special import (
    softplus as softplus,
)
from weft.ops.math.unary import (
    sigmoid as sigmoid,
    tanh as tanh,
)
from weft.ops.nn.dropout import (
    dropout as dropout,
)
from weft.ops.reduce.order import (
    top_k as top_k,
)

experimental = _nn_experimental
