"""Training examples as files hold them: `tf.train`."""

from weft.io.example_proto import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
)
