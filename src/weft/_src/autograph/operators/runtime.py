"""What converted code refers to as `ag__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
