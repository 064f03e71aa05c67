"""Gradients: the backward sweep, the tape, and what is built on them. Public as `tf.autodiff`."""

from typing import Any as _Any

from weft.autodiff import callbacks as callbacks  # registers a gradient
from weft.autodiff.forward import (
    ForwardAccumulator as ForwardAccumulator,
)
from weft.autodiff.tape import (
    GradientTape as GradientTape,
)
from weft.core.missing import missing_name as _missing_name


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
