"""`tf.strings`: operations on strings."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.strings.joining import (
    join as join,
    reduce_join as reduce_join,
)
from weft.ops.strings.numbers import (
    as_string as as_string,
    to_number as to_number,
)
from weft.ops.strings.regex import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
)
from weft.ops.strings.text import (
    length as length,
    lower as lower,
    strip as strip,
    substr as substr,
    upper as upper,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
