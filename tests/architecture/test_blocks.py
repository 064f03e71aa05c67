"""An op is one block: what its fields name exists, and no other file speaks of it by its name."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.native_rules import NativeRule, Pointwise
from weft._src.core.xla_rules import KERNEL, XlaRule
from weft._src.distribute import (  # define ops, and are loaded late
    collectives as collectives,
    replica_run as replica_run,
)
from weft._src.execution.native.front.lowering import graphs as graphs
from weft._src.execution.native.front.lowering.rules import lowering_rules, rule_of
from weft._src.execution.native.loops.scalars import scalar_rules
from weft._src.execution.xla import rules as xla_rules
from weft._src.fileio import tensors as tensors  # defines ops, and is loaded late
from weft._src.ops import worth
from weft._src.ops.ragged import rules as ragged_rules
from weft._src.ops.registry import FOLDED, Op, all_ops, define_op

SOURCE = Path(tf.__file__).parent / "_src"
LOWERED = [op for op in all_ops() if isinstance(op.xla, XlaRule) and op.xla is not KERNEL]
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


@pytest.mark.parametrize("op", LOWERED, ids=lambda op: op.name)
def test_the_rule_of_xla_that_a_block_names_exists(op: Op) -> None:
    assert op.xla.name in xla_rules.all_rules()
    rule = xla_rules.rule_of(op)
    inputs = ["input"] * len(op.args)
    inspect.signature(rule).bind("lowering", "node", *inputs)  # and takes the options


def test_every_rule_of_xla_is_named_by_a_block() -> None:
    assert set(xla_rules.all_rules()) == {op.xla.name for op in LOWERED}


def test_ops_without_machine_code_are_not_compiled_in_vain() -> None:
    for op in all_ops():
        if not isinstance(op.native, NativeRule):
            assert op.worth_compiling_from == worth.NEVER, op
            assert rule_of(op) is None


def test_ops_that_disappear_before_code_is_made() -> None:
    assert {op.name for op in all_ops() if op.native is FOLDED} == {
        "BroadcastArgs", "BroadcastGradientArgs", "PartitionedCall", "Placeholder", "Rank",
        "ReducedShape", "ReducedShapes", "Shape", "Size",
    }  # fmt: skip


def test_the_ragged_rule_that_a_block_names_exists() -> None:
    named = {op.ragged for op in all_ops() if op.ragged is not None}
    assert named == set(ragged_rules.RULES)


def test_every_field_of_an_op_is_explained() -> None:
    keywords = set(inspect.signature(define_op).parameters) - {"name", "inputs"}
    follows = {"name", "args", "has_resources", "worth_compiling_from", "accepted", "passed"}
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
    "ops/graph_forms.py": "TensorFlow's ops, of which the forms in SavedModels consist",
    "ops/control/graph_forms.py": "the same",
    "ops/sampling/graph_forms.py": "the same",
    "lookup/graph_forms.py": "the same",
    "ops/shape_graph_forms.py": "the same",
    "ops/composed_graph_forms.py": "the same",
    "saved_model": "graphs of TensorFlow, with the names of its ops",
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


# --- what blocks say of ops ----------------------------------------------------------------------

QUANTIZED = {
    "signed_input": True,
    "num_bits": 4,
    "range_given": False,
    "round_mode": "HALF_UP",
    "narrow_range": False,
}
ATTRS = {
    "AsString": {"form": "%g"},
    "Cast": {"dtype": tf.float64},
    "CheckNumerics": {"message": "m"},
    "DecodeCompressed": {"compression_type": ""},
    "EncodeBase64": {"pad": False},
    "FakeQuantSide": {"num_bits": 3, "narrow_range": False},
    "FakeQuantWithMinMaxVars": {"num_bits": 3, "narrow_range": False, "divides": True},
    "LeakyRelu": {"alpha": 0.2},
    "LeakyReluGrad": {"alpha": 0.2},
    "QuantizeAndDequantizeV2": QUANTIZED,
    "QuantizeAndDequantizeV4": QUANTIZED,
    "StringLength": {"unit": "BYTE"},
    "StringLower": {"encoding": ""},
    "StringToHashBucket": {"num_buckets": 7},
    "StringToHashBucketFast": {"num_buckets": 7},
    "StringToHashBucketStrong": {"num_buckets": 7, "key": (1, 2)},
    "StringToNumber": {"out_type": tf.float32},
    "StringUpper": {"encoding": ""},
    "UnicodeTranscode": {
        "input_encoding": "UTF-8",
        "output_encoding": "UTF-16-BE",
        "errors": "strict",
        "replacement_char": 65533,
        "replace_control_characters": False,
    },
}
SHAPES = [(2, 3), (2, 1), (3,)]  # of the inputs, the first of which is full
ELEMENTWISE = [op for op in all_ops() if op.elementwise]


def numbers(op: Op, i: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Values that the op takes as an input."""
    shape = SHAPES[i] if len(op.args) > 1 else (2, 3)
    allowed = op.args[i].allowed
    if allowed == {tf.string}:
        return np.array([b"MTI", b"Mjc4", b"Mw"], object)[rng.integers(3, size=shape)]
    for dtype in (tf.float32, tf.complex64, tf.int32, tf.bool):
        if dtype in allowed:
            return rng.uniform(0.2, 0.8, shape).astype(dtype.as_numpy_dtype)
    raise AssertionError(f"no values for {op}")


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_an_elementwise_op_takes_elements_one_by_one(op: Op) -> None:
    rng = np.random.default_rng(len(op.name))
    arrays = [numbers(op, i, rng) for i in range(len(op.args))]
    if op.name == "StringToNumber":
        arrays = [np.array([[b"1", b"2.5", b"-3"], [b"4", b"0", b"7"]], object)]
    if op.name in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Polygamma"):
        arrays = [np.ceil(4 * x) for x in arrays]
    attrs = ATTRS.get(op.name, {})
    whole = op(*[tf.constant(x) for x in arrays], **attrs).numpy()
    assert whole.shape == (2, 3)
    spread = np.broadcast_arrays(*arrays)
    for place in np.ndindex(2, 3):
        alone = op(*[tf.constant(x[place]) for x in spread], **attrs).numpy()
        if whole.dtype == object:
            assert alone == whole[place]
        else:
            np.testing.assert_allclose(alone, whole[place], rtol=1e-5)


def test_what_is_zero_at_zero_is() -> None:
    for op in all_ops():
        if op.zero_at_zero:
            attrs = ATTRS.get(op.name, {})
            dtype = tf.float32 if tf.float32 in op.args[0].allowed else tf.complex64
            assert op(tf.zeros([], dtype), **attrs).numpy() == 0, op


@pytest.mark.parametrize("op", [op for op in all_ops() if op.infix], ids=lambda op: op.name)
def test_an_infix_operator_computes_the_same(op: Op) -> None:
    for x, y in ((2.5, -1.5), (1.0, 1.0), (-3.0, 2.0)):
        expected = eval(f"x {op.infix} y", {"x": np.float32(x), "y": np.float32(y)})
        assert op(tf.constant(x), tf.constant(y)).numpy() == expected


def test_what_measures_a_shape_tells_the_result() -> None:
    x = tf.zeros([2, 3, 5])
    measuring = [op for op in all_ops() if op.measures is not None]
    assert {op.name for op in measuring} == {"Rank", "Shape", "Size"}
    for op in measuring:
        attrs = {} if op.name == "Rank" else {"out_type": tf.int32}
        np.testing.assert_array_equal(op(x, **attrs).numpy(), op.measures((2, 3, 5)))
