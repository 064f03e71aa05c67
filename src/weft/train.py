"""Training examples as files hold them: `tf.train`."""

from weft._src.messages.examples import (
    BytesList,
    Example,
    Feature,
    Features,
    FloatList,
    Int64List,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["BytesList", "Example", "Feature", "Features", "FloatList", "Int64List"]

_open_namespace(__name__)
