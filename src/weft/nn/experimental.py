"""`tf.nn.experimental`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.ops.nn.dropout import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
