"""Tensors as text inside of a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, string
from weft._src.core.growing import GrowingList
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import composed_graph_forms, static
from weft._src.ops.host.formatting import as_bytes, format_exactly
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.ragged.text import as_text
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, define_op, each
from weft._src.ops.strings.elements import as_array, text_argument


def _format_kernel(
    xp: ArrayNamespace,
    *inputs: Any,
    template: str,
    placeholder: str,
    summarize: int,
    bare: tuple[int, ...],
) -> Array:
    pieces = template.split(placeholder)
    texts = [
        format_exactly(as_array(x), summarize, quote_scalars=i not in bare)
        for i, x in enumerate(inputs)
    ]
    joined = pieces[0] + "".join(text + piece for text, piece in zip(texts, pieces[1:]))
    return xp.as_strings([as_bytes(joined)], ())


format_op = define_op(
    "StringFormat",
    each("*inputs", DATA),
    infer=lambda *_, **__: TensorSpec.of(string, ()),
    kernel=_format_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    graphdef=composed_graph_forms.formatted,
)


def format(
    template: str,
    inputs: Sequence[Any],
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A text in which placeholders stand for tensors, shown as `tf.print` does.

    Args:
      template: a Python string with as many placeholders as there are inputs.
      inputs: a tensor, or a list of tensors, ragged ones too.
      placeholder: what stands for a tensor in the template.
      summarize: how many elements are shown at each end of an axis; -1 means all.

    Returns:
      A string scalar.

    Raises:
      ValueError: if the numbers of placeholders and inputs differ, or the placeholder is empty.
      TypeError: if the template or the placeholder is no Python string.

    >>> tf.strings.format("x = {}", tf.constant([1, 2, 3]))
    <tf.Tensor: shape=(), dtype=string, numpy=b'x = [1 2 3]'>
    """
    text = text_argument("strings.format", template, "template")
    mark = text_argument("strings.format", placeholder, "placeholder")
    if not mark:
        raise ValueError("strings.format: placeholder must not be empty.")
    if isinstance(inputs, GrowingList):
        raise inputs.refusal("strings.format")
    parts = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    slots = text.count(mark)
    if slots != len(parts):
        raise ValueError(
            f"strings.format: template has {slots} placeholders {mark!r}, inputs {len(parts)} "
            "tensors."
        )
    limit = static.static_int("strings.format", summarize, "summarize")
    ragged = [isinstance(part, RaggedTensor) for part in parts]
    return format_op(
        *[as_text(x, limit) if r else convert_to_tensor(x) for x, r in zip(parts, ragged)],
        template=text,
        placeholder=mark,
        summarize=limit,
        bare=tuple([i for i, r in enumerate(ragged) if r]),
        name=name,
    )
