"""`tf.types`: the protocols that other classes can take part in."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.types import experimental as experimental


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
