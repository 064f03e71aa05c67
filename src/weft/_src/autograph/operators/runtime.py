"""What converted code refers to as `ag__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.autograph.operators.conditional import if_exp as if_exp, if_stmt as if_stmt
from weft._src.autograph.operators.exceptions import (
    assert_stmt as assert_stmt,
    raise_stmt as raise_stmt,
)
from weft._src.autograph.operators.grown_list import (
    list_append as list_append,
    list_change as list_change,
    list_extend as list_extend,
    list_pop as list_pop,
)
from weft._src.autograph.operators.logical import (
    and_ as and_,
    compare_chain as compare_chain,
    in_ as in_,
    not_ as not_,
    or_ as or_,
)
from weft._src.autograph.operators.loops import (
    LoopOptions as LoopOptions,
    for_stmt as for_stmt,
    while_stmt as while_stmt,
)
from weft._src.autograph.operators.undefined import (
    Undefined as Undefined,
    is_undefined as is_undefined,
    load_or_undefined as load_or_undefined,
)

# Set by weft.autograph.conversion: what to call instead of a function.
converted: Callable[[Any], Any]


def install_converter(convert: Callable[[Any], Any]) -> None:
    """The conversion layer says how called functions are converted."""
    global converted  # noqa: PLW0603 - a hook, set once at import
    converted = convert


def mark_converted(function: Any) -> Any:
    """Innermost decorator of functions defined in converted code: they are converted already."""
    function.__ag_converted__ = function.__code__
    return function
