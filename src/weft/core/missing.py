"""What `tf.some_name` says when Weft does not have that name."""

from weft.errors import _missing_name as missing_name

__all__ = ["missing_name"]
