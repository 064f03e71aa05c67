"""Ragged tensors as variants: what lists and datasets of TensorFlow's graphs hold.

A variant scalar is one ragged tensor, a vector of variants has one for each row of another.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import DATA, DType
from weft._src.core.resources import Variant, VariantVector
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, UnsupportedError
from weft._src.ops.contexts import VjpContext
from weft._src.ops.registry import HOST_ONLY, Op, args, define_op, each

_VARIANT = frozenset({dtypes.variant})


class RaggedValue(Variant):
    """The splits of a ragged tensor, from the outermost to the innermost, and its values."""

    __slots__ = ("splits", "values")

    def __init__(self, splits: tuple[Array, ...], values: Array) -> None:
        self.splits = splits
        self.values = values

    def rows(self) -> list[RaggedValue]:
        """Each row alone, one axis less."""
        if not self.splits:
            return [RaggedValue((), row) for row in self.values]
        outer, inner = self.splits[0].tolist(), self.splits[1:]
        return [self._part(inner, a, b) for a, b in itertools.pairwise(outer)]

    def _part(self, splits: tuple[Array, ...], start: int, stop: int) -> RaggedValue:
        """The rows from `start` to `stop` of what the splits partition."""
        made = []
        for level in splits:
            cut = level[start : stop + 1]
            start, stop = int(cut[0]), int(cut[-1])
            made.append(cut - cut[0])
        return RaggedValue(tuple(made), self.values[start:stop])

    def __repr__(self) -> str:
        return f"<ragged value of {len(self.splits)} partitions, {self.values.shape}>"


def _refuse(ctx: VjpContext, *gs: Tensor | None) -> Any:
    raise UnsupportedError(
        "A gradient cannot pass through ragged tensors in variants, which graphs of TensorFlow use "
        "for tf.map_fn over ragged tensors. Map over rows of a padded tensor instead."
    )


def _to_infer(*parts: TensorSpec, batched: bool) -> TensorSpec:
    if not batched:
        return TensorSpec.of(dtypes.variant, ())
    outer = parts[0]  # the splits, or the values if there are none
    if outer.dims is None:
        return TensorSpec.of(dtypes.variant, (Dim(),))
    size = outer.dims[0]
    rows = size if len(parts) == 1 else Dim() if isinstance(size, Dim) else size - 1
    return TensorSpec.of(dtypes.variant, (rows,))


def _to_kernel(xp: ArrayNamespace, *parts: Array, batched: bool) -> Variant:
    whole = RaggedValue(parts[:-1], parts[-1])
    return VariantVector(whole.rows()) if batched else whole


to_variant_op: Op = define_op(
    "RaggedTensorToVariant",
    each("*parts", DATA),
    infer=_to_infer,
    kernel=_to_kernel,
    native=HOST_ONLY,
    vjp=_refuse,
    trusts_kernel=True,
)


def _from_infer(
    variant: TensorSpec, *, rank: int, splits: DType, values: DType
) -> tuple[TensorSpec, ...]:
    level = TensorSpec.of(splits, (Dim(),))
    return (*[level] * rank, TensorSpec.of(values, None))


def _from_kernel(
    xp: ArrayNamespace, variant: Variant, *, rank: int, splits: DType, values: DType
) -> tuple[Array, ...]:
    whole = _joined(variant, splits, values)
    if len(whole.splits) != rank:
        raise InvalidArgumentError(
            None,
            None,
            f"RaggedTensorFromVariant: {rank} partitions are expected, there are "
            f"{len(whole.splits)}.",
        )
    return (*whole.splits, whole.values)


def _joined(variant: Variant, splits: DType, values: DType) -> RaggedValue:
    """One ragged tensor of a vector of them, with one axis more."""
    if isinstance(variant, RaggedValue):
        return variant
    if not isinstance(variant, VariantVector):
        raise InvalidArgumentError(
            None, None, f"RaggedTensorFromVariant: a ragged tensor is expected, got {variant!r}."
        )
    rows = [_joined(item, splits, values) for item in variant.items]
    depth = len(rows[0].splits) if rows else 0
    outer = [len(row.splits[0]) - 1 if depth else len(row.values) for row in rows]
    inner = [[n for row in rows for n in np.diff(row.splits[i]).tolist()] for i in range(depth)]
    levels = [outer, *inner]
    made = [np.cumsum([0, *lengths]).astype(splits.numpy_dtype) for lengths in levels]
    flat = [row.values for row in rows]
    joined = np.concatenate(flat) if flat else np.zeros(0, values.numpy_dtype)
    return RaggedValue(tuple(made), joined)


from_variant_op: Op = define_op(
    "RaggedTensorFromVariant",
    args("encoded_ragged", _VARIANT),
    infer=_from_infer,
    kernel=_from_kernel,
    native=HOST_ONLY,
    vjp=_refuse,
    outputs=None,
    trusts_kernel=True,
)
