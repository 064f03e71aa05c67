"""`tf.compat`: strings in the form one wants, and names of TensorFlow 1."""

from typing import Any as _Any

from weft.compat import v1 as v1
from weft.compat.text import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
)
from weft.core.missing import missing_name as _missing_name


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
