"""`tf.summary.experimental`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.summary.recording import (
    get_step as get_step,
    set_step as set_step,
)
from weft.summary.writing import (
    summary_scope as summary_scope,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
