"""`tf.random.experimental`: names that `tf.random` has by now, and shuffling by a seed."""

from weft._src.ops.sampling.algorithms import Algorithm
from weft._src.ops.sampling.parametric import index_shuffle
from weft._src.ops.sampling.stateless import (
    fold_in as stateless_fold_in,
    split as stateless_split,
    stateless_shuffle,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.state.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)

__all__ = [
    "Algorithm",
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "index_shuffle",
    "set_global_generator",
    "stateless_fold_in",
    "stateless_shuffle",
    "stateless_split",
]

_open_namespace(__name__)
