"""`tensorflow.python.util.tf_inspect`: Python's `inspect`; decorators of Weft keep signatures."""

from __future__ import annotations

import inspect as _inspect
from collections.abc import Callable
from inspect import (
    FullArgSpec as FullArgSpec,
    Parameter as Parameter,
    getdoc as getdoc,
    getmro as getmro,
    isclass as isclass,
    signature as signature,
)
from typing import Any

__all__ = [
    "FullArgSpec", "Parameter", "_inspect", "getdoc", "getfullargspec", "getmro", "isclass",
    "signature",
]  # fmt: skip


class _Arguments(FullArgSpec):
    """The arguments of a function, equal to those of any other.

    TensorFlow Probability compares the functions it calls with its own in NumPy, which (where the
    package wrapt is installed) have taken over their signatures: all are equal by that.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Arguments)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = FullArgSpec.__hash__


def getfullargspec(function: Callable[..., Any]) -> FullArgSpec:
    """The arguments of a function, without types."""
    return _Arguments(*_inspect.getfullargspec(function)._replace(annotations={}))
