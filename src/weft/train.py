"""Training examples as files hold them: `tf.train`."""

from weft._src.fileio.example_proto import Example, Feature, Features
from weft._src.fileio.value_lists import BytesList, FloatList, Int64List
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["BytesList", "Example", "Feature", "Features", "FloatList", "Int64List"]

_open_namespace(__name__)
