"""Values in messages: never too long, and without the help of the user's `__repr__` if need be."""

from __future__ import annotations

import os
import types
from typing import Any

_LONGEST = 100  # characters of a value in a message


def short_repr(value: Any) -> str:
    """A value in a message: never too long, and a `__repr__` that fails does no harm."""
    try:
        text = function_words(value) or repr(value)
    except Exception:  # noqa: BLE001 - code of the user, which nobody asked to run
        return f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def function_words(value: Any) -> str | None:
    """A function by its name and place, None for anything else."""
    if isinstance(value, types.MethodType):
        return f"the method {value.__name__} of {short_repr(value.__self__)}"
    function = value
    code = getattr(function, "__code__", None)
    if not isinstance(function, types.FunctionType) or code is None:
        return None
    place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return f"the function {function.__name__} ({place})"
