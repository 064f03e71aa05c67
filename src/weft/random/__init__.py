"""`tf.random`: random numbers."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.random.algorithms import (
    Algorithm as Algorithm,
)
from weft.ops.random.generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from weft.ops.random.stateful import (
    categorical as categorical,
    gamma as gamma,
    normal as normal,
    poisson as poisson,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from weft.ops.random.stateless import (
    fold_in as fold_in,
    split as split,
    stateless_binomial as stateless_binomial,
    stateless_categorical as stateless_categorical,
    stateless_gamma as stateless_gamma,
    stateless_normal as stateless_normal,
    stateless_poisson as stateless_poisson,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)
from weft.ops.random.streams import (
    set_seed as set_seed,
)
from weft.random import (
    experimental as experimental,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
