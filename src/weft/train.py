"""Training examples as files hold them: `tf.train`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.io.example_proto import (
    Example as Example,
    Feature as Feature,
    Features as Features,
)
from weft.io.value_lists import (
    BytesList as BytesList,
    FloatList as FloatList,
    Int64List as Int64List,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
