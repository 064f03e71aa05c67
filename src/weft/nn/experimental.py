"""`tf.nn.experimental`."""

from weft._src.ops.nn.dropout import general_dropout, stateless_dropout
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["general_dropout", "stateless_dropout"]

_open_namespace(__name__)
