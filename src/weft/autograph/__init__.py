"""`tf.autograph`: Python control flow on tensors becomes graph control flow."""

from typing import Any as _Any

from weft.autograph import experimental as experimental
from weft.autograph.api import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from weft.core.missing import missing_name as _missing_name


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
