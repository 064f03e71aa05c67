"""`tf.linalg`: matrices."""

from weft.ops.linalg.products import (
    matmul as matmul,
)
