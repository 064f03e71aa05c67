"""`tf.random.experimental`: names that `tf.random` has by now, and shuffling by a seed."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.ops.random.algorithms import (
    Algorithm as Algorithm,
)
from weft.ops.random.generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from weft.ops.random.parametric import (
    index_shuffle as index_shuffle,
)
from weft.ops.random.stateless import (
    fold_in as _fold_in,
    split as _split,
    stateless_shuffle as stateless_shuffle,
)

stateless_fold_in = _fold_in
stateless_split = _split


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
