"""An op is one block: what its fields name exists, and no other file speaks of it by its name."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import weft as tf
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.execution.native.front.lowering import graphs as graphs
from weft._src.execution.native.front.lowering.rules import lowering_rules, rule_of
from weft._src.execution.native.loops.scalars import scalar_rules
from weft._src.ops import worth
from weft._src.ops.ragged import rules as ragged_rules
from weft._src.ops.registry import FOLDED, Op, all_ops, define_op

SOURCE = Path(tf.__file__).parent / "_src"
NATIVE = [op for op in all_ops() if isinstance(op.native, NativeRule)]

# --- what blocks name ----------------------------------------------------------------------------


@pytest.mark.parametrize("op", NATIVE, ids=lambda op: op.name)
def test_the_native_rule_that_a_block_names_exists(op: Op) -> None:
    if isinstance(op.native, Pointwise):
        assert op.native.name in scalar_rules()
    rule = rule_of(op)
    assert rule is not None
    inspect.signature(rule).bind("lowering", "node", "inputs")  # and takes the options


def test_every_lowering_rule_is_named_by_a_block() -> None:
    named = {op.native.name for op in NATIVE if not isinstance(op.native, Pointwise)}
    assert set(lowering_rules()) - named == {"pointwise"}  # that of all Pointwise ops


def test_ops_without_machine_code_are_not_compiled_in_vain() -> None:
    for op in all_ops():
        if not isinstance(op.native, NativeRule):
            assert op.worth_compiling_from == worth.NEVER, op
            assert rule_of(op) is None


def test_ops_that_disappear_before_code_is_made() -> None:
    assert {op.name for op in all_ops() if op.native is FOLDED} == {
        "BroadcastArgs", "PartitionedCall", "Placeholder", "Rank", "ReducedShape", "Shape", "Size",
    }  # fmt: skip


def test_the_ragged_rule_that_a_block_names_exists() -> None:
    named = {op.ragged for op in all_ops() if op.ragged is not None}
    assert named == set(ragged_rules.RULES)


def test_every_field_of_an_op_is_explained() -> None:
    keywords = set(inspect.signature(define_op).parameters) - {"name", "inputs"}
    follows = {"name", "args", "has_resources", "worth_compiling_from", "accepted"}
    assert keywords == set(Op.__slots__) - follows
    text = inspect.getdoc(define_op) or ""
    named = {name for line in text.splitlines() for name in line.partition(":")[0].split(", ")}
    assert keywords <= named


# --- no other file lists ops by name -------------------------------------------------------------

# Ops that are part of what a graph is: nested graphs, constants and parameters.
STRUCTURAL = {"Case", "Const", "If", "PartitionedCall", "Placeholder", "While"}

EXCEPTIONS = {
    "graph/passes/simplify.py": "algebra: patterns of ops, which belong to none of them",
    "data/transforms/vectorizing.py": "its rules become the field `batch`",
    "raw_ops": "tables of TensorFlow's names and signatures",
}

# Says in which file each op is defined: the module that is being imported meanwhile.
WHERE = """
import json, pkgutil, sys

places = {}

def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "define_op":
        name, at = frame.f_locals["name"], frame
        while at.f_code.co_name != "<module>":
            at = at.f_back
        places[name] = at.f_code.co_filename

sys.setprofile(watch)
import weft._src
for module in pkgutil.walk_packages(weft._src.__path__, "weft._src."):
    __import__(module.name)
sys.setprofile(None)
print(json.dumps(places))
"""


def op_names(source: str, defined_elsewhere: set[str]) -> list[str]:
    """The names of ops that a file has as text."""
    return [
        f"line {node.lineno}: {node.value!r}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in defined_elsewhere
    ]


def test_ops_are_named_in_their_own_blocks_only() -> None:
    run = subprocess.run([sys.executable, "-c", WHERE], capture_output=True, text=True, check=True)
    places: dict[str, str] = json.loads(run.stdout)
    assert set(places) >= {op.name for op in all_ops() if op.infer.__module__.startswith("weft.")}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE).as_posix()
        if relative in EXCEPTIONS or relative.split("/")[0] in EXCEPTIONS:
            continue
        others = {name for name, place in places.items() if place != str(path)} - STRUCTURAL
        found += [f"{relative}, {line}" for line in op_names(path.read_text("utf-8"), others)]
    assert not found, (
        "These files name ops of others. Make it a field of `define_op`, or compare with the op "
        "itself (`node.op is read_op`):\n" + "\n".join(found)
    )


def test_a_name_elsewhere_is_found() -> None:
    assert op_names('TABLE = {"Softmax", "other"}', {"Softmax"}) == ["line 1: 'Softmax'"]
