"""Calling a graph from a graph; inlined before anything runs."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import ANY
from weft._src.core.specs import TensorSpec
from weft._src.core.xla_rules import Lowered
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.registry import FOLDED, REGISTERED_LATER, STRUCTURED, define_op, each


def _call_infer(*inputs: TensorSpec, body: Any) -> tuple[TensorSpec, ...]:
    return tuple([out.spec.with_fresh_dims() for out in body.outputs])


call_op = define_op(
    "PartitionedCall",
    each("*args", ANY),
    infer=_call_infer,
    kernel=STRUCTURED,
    native=FOLDED,
    xla=Lowered("call"),
    vjp=REGISTERED_LATER,
    outputs=None,
    graphdef=forms.call_form,
)
