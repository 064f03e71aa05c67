"""`tf.autograph`: Python control flow on tensors becomes graph control flow."""

from weft.autograph import experimental as experimental
from weft.autograph.api import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
