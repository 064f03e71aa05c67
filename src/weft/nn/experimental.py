"""`tf.nn.experimental`."""

from weft.ops.nn.dropout import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)
