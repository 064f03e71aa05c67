"""Raw ops that draw candidates: classes beside the true ones, for losses of few of many classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.raw_ops.drawing import seed_of

Candidates = tuple[tf.Tensor, tf.Tensor, tf.Tensor]


def all_of_them(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Candidates:
    given = (true_classes, num_true, num_sampled, unique)
    return tf.random.all_candidate_sampler(*given, seed_of(seed, seed2), name)


def _below(sampler: Callable[..., Candidates]) -> Callable[..., Candidates]:
    """One that draws classes below a number."""

    def draw(
        true_classes: TensorLike,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> Candidates:
        given = (true_classes, num_true, num_sampled, unique, range_max)
        return sampler(*given, seed_of(seed, seed2), name)

    return draw


uniform = _below(tf.random.uniform_candidate_sampler)
log_uniform = _below(tf.random.log_uniform_candidate_sampler)


def fixed_unigram(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Candidates:
    return tf.random.fixed_unigram_candidate_sampler(
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file,
        distortion,
        num_reserved_ids,
        num_shards,
        shard,
        tuple(unigrams),
        seed_of(seed, seed2),
        name,
    )
