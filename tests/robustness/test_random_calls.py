"""Ops and public functions with random dtypes, sizes and numbers agree in every mode.

    python -m fuzzing ops --count 20000 --table

does the same for longer, and says how often each op was compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzing import campaign, corpus, differential, ops
from fuzzing.__main__ import main as fuzzing_main
from weft._src.execution.native.loops.scalars import registry
from weft._src.ops.registry import STRUCTURED, all_ops

SAMPLE = 160
# Ops without arrays to vary: callbacks, files, streams of random numbers, what only passes make,
# what only says where a value is.
NOT_VARIED = {
    "Assert", "Const", "DestroyResourceOp", "Dilation2DPick", "EagerPyFunc", "FusedAttention",
    "FusedAttentionGrad", "LearnedUnigrams",
    "MaxPool3DGradGrad", "MaxPoolGradGrad", "MutexLock", "NoOp", "Placeholder", "PrintV2", "PyFunc",
    "RaggedTensorFromVariant", "RaggedTensorToVariant", "RaggedText", "RangeShape",
    "ReducedShape", "Relayout", "ResizePixels", "ReverseBy", "RngReadAndSkip", "RollBy",
    "Timestamp", "VarIsInitializedOp", "ResourceStridedSliceAssignAdd",
    "ResourceStridedSliceAssignSub", "StackAdd", "StackAddRows", "StackClearItem", "StackConcat",
    "StackGetShapedItem", "StackPopShaped", "StackRowLengths", "StackToShape", "StackZeros",
    "StackZerosLike", "TensorListElementShape", "TensorListPopBack", "TensorListReserve",
    "TensorListResize", "TransposeBy",
}  # fmt: skip


@pytest.mark.parametrize("part", range(8))
def test_ops_agree_in_every_mode(part: int) -> None:
    cells = len(ops.cells())
    for k in range(part, SAMPLE, 8):  # spread over all ops
        assert ops.check_op(k * cells // SAMPLE) is None


@pytest.mark.parametrize("part", range(4))
def test_public_functions_agree_in_every_mode(part: int) -> None:
    calls = len(corpus.functions())
    for k in range(part, SAMPLE, 4):
        assert ops.check_function(k * calls // SAMPLE) is None


def test_every_op_is_varied_or_said_not_to_be() -> None:
    known = {op.name for op in all_ops() if op.kernel is not STRUCTURED and _is_ours(op)}
    assert known - set(corpus.ops()) == NOT_VARIED & known
    assert known >= NOT_VARIED


def _is_ours(op: Any) -> bool:
    """Whether an op belongs to the core; those of datasets come with their modules."""
    return op.infer.__module__.startswith("weft._src.ops.")


def test_a_planted_bug_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    right = registry._rules["tanh"]
    wrong = right._replace(function=lambda b, t, attrs, x: x)
    monkeypatch.setitem(registry._rules, "tanh", wrong)
    (call,) = [c for c in corpus.ops()["Tanh"] if c.arrays[0].dtype == np.float32][:1]
    wrong = [np.linspace(-2.0, 2.0, 35, dtype=np.float32).reshape(5, 7)]
    with pytest.raises(differential.Disagreement) as found:
        differential.check(call, wrong)
    arrays, smaller = ops._shrunk(call, wrong, found.value)
    assert arrays[0].size <= 2
    report = ops.report(call, arrays, smaller, seed=7)
    assert report.startswith("--- seed 7: Tanh: native:")
    program = report.partition("\n")[2]
    exec(compile(program, "report", "exec"), {})  # it runs as it is


def test_summary_counts_what_was_compared() -> None:
    ops.compared.clear()
    names = [name for name, _ in ops.cells()]
    assert ops.check_op(names.index("AddV2")) is None
    table = ops.summary()
    row = next(line for line in table.splitlines() if line.startswith("AddV2"))
    assert row.split()[:2] == ["AddV2", "float"]
    assert {"1"} <= set(row.split())
    assert "rarest: AddV2 " in table


def test_counts_of_several_runs_are_added(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    seed = [name for name, _ in ops.cells()].index("AddV2")
    for runs in (1, 2):
        ops.compared.clear()  # another process
        ops._reaching.clear()
        assert (
            fuzzing_main(["ops", "--seed", str(seed), "--count", "1", "--counts", str(file)]) == 0
        )
        assert ops.compared["AddV2", "reference", "float"] == runs
        assert ops._reaching["AddV2", "reference", "float"]


def test_seeds_of_rare_cells_choose_calls_that_got_there() -> None:
    ops.compared.clear()
    ops._reaching.clear()
    ops._tried.clear()
    cell = ("AddV2", "float")
    place = ops.cells().index(cell)
    assert len(ops._calls_of(*cell)) > 2
    for name, kind in ops.cells():
        ops.compared[name, "eager", kind] = 5
    ops.compared["AddV2", "native", "float"] = 1
    ops._reaching["AddV2", "native", "float"] = {2}
    for _ in range(4):
        (seed,) = ops.seeds_of_rare_cells(1_000_000, least=5)
        assert seed >= 1_000_000
        assert seed % len(ops.cells()) == place
        assert ops._chosen(seed)[0] == 2
        assert ops.seeds_of_rare_cells(1_000_000, least=5) != [seed]  # never the same again


def test_data_and_indices_are_both_varied() -> None:
    (call,) = [c for c in corpus.ops()["GatherV2"] if len(c.arrays) == 2][:1]
    rng = np.random.default_rng(0)
    drawn = [ops._varied(call, "int", rng, wildness=0) for _ in range(40)]
    assert len({data.dtype for data, _ in drawn}) > 2
    assert {indices.dtype.name for _, indices in drawn} >= {"int32", "int64"}


def test_lists_of_indices_and_data_keep_their_kinds() -> None:
    ops.compared.clear()
    every = ops.cells()
    place = every.index(("DynamicStitch", "float"))
    for k in range(3):
        assert ops.check_op(k * len(every) + place) is None
    assert ops.compared["DynamicStitch", "reference", "float"] == 3


def test_a_case_that_hangs_is_reported_whatever_it_catches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(campaign._MOST_SECONDS, "of work", 0.2)

    def hangs(seed: int) -> str | None:
        while True:
            try:
                sum(range(100_000))
            except Exception:  # noqa: BLE001 - as some fuzzers do
                continue

    reports = campaign.run(hangs, [7]).reports
    assert "TookTooLong: seed 7 takes longer than 0.2 s of work" in reports[7]


def test_shapes_do_not_become_huge() -> None:
    rng = np.random.default_rng(0)
    for call in corpus.ops()["Fill"]:
        for _ in range(20):
            shape, _ = ops._varied(call, "int", rng, wildness=5)
            assert np.prod(shape) <= np.prod(np.maximum(call.arrays[0], 1).astype(np.int64)) ** 2
