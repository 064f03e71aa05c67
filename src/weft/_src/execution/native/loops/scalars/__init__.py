"""What a pointwise op does to one element: a rule for each name that op blocks use.

A rule gets the builder, the dtype of the operands, the attributes of the op, and the operands.
"""

from __future__ import annotations

from weft._src.execution.native.loops.scalars import (
    activations as activations,
    arithmetic as arithmetic,
    comparisons as comparisons,
    functions as functions,
    quantizing as quantizing,
    rounding as rounding,
)
from weft._src.execution.native.loops.scalars.casts import cast as cast
from weft._src.execution.native.loops.scalars.registry import (
    cost_of as cost_of,
    is_doubtful as is_doubtful,
    rule_for as rule_for,
    scalar_rules as scalar_rules,
)
