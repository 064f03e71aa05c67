"""Every op that claims a form in XLA is run there, in rows of the op tables.

A sample that has every op with every combination of dtypes; `WEFT_XLA_TABLES=all` runs all rows.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from support import xla
from weft._src.core.xla_rules import XlaRule
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.ops.registry import all_ops

ALL = os.environ.get("WEFT_XLA_TABLES") == "all"

# Rows whose sizes are arguments of the function are no programs, and say so.
EXPECTED_REFUSALS = re.compile(
    "depends on data|a DCT of type [134] stays with NumPy|(BroadcastArgs|ReducedShapes) is folded"
)

# The right edge of the image is computed as a number that rounding decides about.
ON_THE_EDGE = {"crop_and_resize", "crop_and_resize gradients"}

# Ops that no row of the tables has in a graph of known sizes, and where they are tested here.
ELSEWHERE = {
    "test_state": """
        AssignAddVariableOp AssignSubVariableOp AssignVariableOp Case ReadVariableOp ResourceGather
        ResourceGatherNd ResourceScatterAdd ResourceScatterMax ResourceScatterMin
        ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin
        ResourceScatterNdSub ResourceScatterNdUpdate ResourceScatterSub ResourceScatterUpdate
        ResourceStridedSlice ResourceStridedSliceAssign ResourceStridedSliceAssignAdd
        ResourceStridedSliceAssignSub VarIsInitializedOp
    """,
    "test_stacks": """
        StackAdd StackAddRows StackClearItem StackGetShapedItem StackPopShaped StackReadRows
        If StackToShape StackZeros StackZerosLike TensorListFromTensor
        TensorListGetItem TensorListLength TensorListStack TensorListPopBack TensorListPushBack
        TensorListReserve TensorListSetItem While
    """,
    "test_checks": "Assert CheckNumerics Raise",
    "test_random": """
        RngReadAndSkip StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2
        StatelessTruncatedNormalV2
    """,
    "test_more_ops": """
        CustomGradient MaxPool3DGradGrad MaxPoolGradGrad NextAfter NoOp PartitionedCall RangeShape
        Resample ResizeAxisBack SumToShape TakeAlongAxis TensorListResize
    """,
    "tests/distribute": """
        CollectiveGather CollectiveOwnPart CollectiveReduce ReplicaId ReplicaRun
    """,
    "tests/dtensor": "Relayout",
    "every graph": "Const",
}


def test_the_op_tables_on_xla() -> None:
    met: Counter[tuple[str, ...]] = Counter()
    compared: set[str] = set()
    wrong, refused = [], []
    for table in xla.table_names():
        rows = xla.rows_of(table)
        for row in rows if ALL else xla.sample(rows, met):
            if row.name in ON_THE_EDGE or not xla.has_form(row.graph):
                continue
            try:
                xla.compare(row)
                compared |= {kind[0] for kind in xla.kinds_of(row.graph)}
            except NotCompilableError as reason:
                met.subtract(xla.kinds_of(row.graph))  # another row has to show them
                if not EXPECTED_REFUSALS.search(str(reason)):
                    refused.append(f"{table}, {row.name}: {reason}")
            except AssertionError as difference:
                wrong.append(f"{table}, {row.name}: {difference}")
    assert not wrong, "\n".join(wrong)
    assert not refused, "\n".join(refused)
    claimed = {op.name for op in all_ops() if isinstance(op.xla, XlaRule)}
    elsewhere = {name for names in ELSEWHERE.values() for name in names.split()}
    missing = claimed - compared - elsewhere
    assert not missing, f"No row shows that these work on XLA: {sorted(missing)}"


def kind(name: str) -> tuple[str, ...]:
    return (name, "int32", "int32")


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from weft._src.execution.xla.rules import all_rules, rule_of

    row = next(
        r for r in xla.rows_of("test_arithmetic.py") if kind("FloorDiv") in xla.kinds_of(r.graph)
    )
    rule = all_rules()["floor_divide"]
    monkeypatch.setitem(all_rules(), "floor_divide", lambda *inputs: rule(*inputs) + 1)
    rule_of.cache_clear()
    with pytest.raises(AssertionError):
        xla.compare(row)
    rule_of.cache_clear()
