"""`tf.experimental.numpy.random`: random arrays of float64 and int64."""

from weft._src.experimental.numpy.drawing import (
    poisson,
    rand,
    randint,
    randn,
    random,
    seed,
    standard_normal,
    uniform,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]

_open_namespace(__name__)
