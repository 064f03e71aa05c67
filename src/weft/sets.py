"""`tf.sets`: rows as sets."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.sparse.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
