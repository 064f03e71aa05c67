"""Ragged tensors as text: their repr, and what `tf.print` and `tf.strings.format` show."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import INDEX, STRING, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.ops.host.formatting import as_bytes, format_number
from weft._src.ops.ragged import sparse, tensor as ragged
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, define_op, each
from weft._src.ops.strings import number_text

_SHOWN_WHOLE = 1000  # elements; of larger ones the repr has the first and last three of each axis


def nested(texts: Sequence[str], splits: Sequence[Array], ends: int) -> str:
    """Texts in brackets, row by row; of each row the first and last `ends` (-1: all)."""
    for row_splits in reversed(splits):
        pairs = itertools.pairwise(row_splits.tolist())
        texts = [_row(texts[a:b], ends) for a, b in pairs]
    return _row(texts, ends)


def _row(texts: Sequence[str], ends: int) -> str:
    if ends >= 0 and len(texts) > 2 * ends:
        texts = [*texts[:ends], "...", *texts[len(texts) - ends :]]
    return f"[{', '.join(texts)}]"


def shown(rt: ragged.RaggedTensor) -> str:
    """The nested lists of a ragged tensor whose values are known, for its repr."""
    flat = rt.flat_values.numpy()
    ends = -1 if flat.size <= _SHOWN_WHOLE else 3
    texts = [_element(item, ends) for item in flat]
    return nested(texts, [splits.numpy() for splits in rt.nested_row_splits], ends)


def _element(item: Any, ends: int) -> str:
    if isinstance(item, np.ndarray):
        return _row([_element(inner, ends) for inner in item], ends)
    if isinstance(item, (np.floating, np.complexfloating)):
        return str(item)  # as short as the dtype allows
    return repr(item.item() if isinstance(item, np.generic) else item)


def _text_kernel(
    xp: ArrayNamespace, texts: Array, *splits: Array, summarize: int, quote: bool
) -> Array:
    shown = [format_number(text) for text in texts.tolist()]
    if quote:
        shown = ["'" + text.replace("'", "\\'") + "'" for text in shown]
    return xp.as_strings([as_bytes(nested(shown, splits, summarize))], ())


text_op = define_op(
    "RaggedText",
    each("texts", STRING) + each("*splits", INDEX),
    infer=lambda *_, **__: TensorSpec.of(string, ()),
    kernel=_text_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def as_text(rt: ragged.RaggedTensor, summarize: int) -> Tensor:
    """The nested lists of a ragged tensor, as a string tensor."""
    rank = rt.shape.rank
    if rank is None:
        raise ValueError("The rank of a RaggedTensor that is printed must be known while tracing.")
    whole = sparse.ragged_throughout(rt, rank - 1)
    flat = whole.flat_values
    texts = flat if flat.dtype is string else number_text.as_string(flat)
    quote = flat.dtype is string
    return text_op(texts, *whole.nested_row_splits, summarize=summarize, quote=quote)
