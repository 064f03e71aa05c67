"""Gradients: the backward sweep, the tape, and what is built on them. Public as `tf.autodiff`."""

from weft.autodiff import callbacks as callbacks  # registers a gradient
from weft.autodiff.forward import (
    ForwardAccumulator as ForwardAccumulator,
)
from weft.autodiff.tape import (
    GradientTape as GradientTape,
)
