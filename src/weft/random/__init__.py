"""`tf.random`: random numbers."""

from weft._src.ops.sampling.algorithms import Algorithm
from weft._src.ops.sampling.bounded import stateless_parameterized_truncated_normal
from weft._src.ops.sampling.candidates import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from weft._src.ops.sampling.learned_candidates import learned_unigram_candidate_sampler
from weft._src.ops.sampling.stateful import (
    categorical,
    gamma,
    normal,
    poisson,
    shuffle,
    truncated_normal,
    uniform,
)
from weft._src.ops.sampling.stateless import (
    fold_in,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_poisson,
    stateless_truncated_normal,
    stateless_uniform,
)
from weft._src.ops.sampling.streams import set_seed
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.state.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from weft.random import experimental

__all__ = [
    "Algorithm",
    "Generator",
    "all_candidate_sampler",
    "categorical",
    "create_rng_state",
    "experimental",
    "fixed_unigram_candidate_sampler",
    "fold_in",
    "gamma",
    "get_global_generator",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_binomial",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_parameterized_truncated_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]

_open_namespace(__name__)
