"""`tf.types`: the protocols that other classes can take part in."""

from weft.types import experimental as experimental
