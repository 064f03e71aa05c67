"""The registry is complete, and every op is reachable and tested."""

from __future__ import annotations

import inspect

import weft as tf
from weft._src.core.native_rules import NativeRule
from weft._src.core.xla_rules import XlaRule
from weft._src.ops.registry import (
    DATA_SHAPED,
    FOLDED,
    HOST_ONLY,
    NO_NATIVE,
    NO_XLA,
    STRINGS,
    STRUCTURED,
    Absent,
    all_ops,
    incomplete_ops,
)


def test_nothing_is_missing_by_accident() -> None:
    assert incomplete_ops() == []
    assert len(all_ops()) >= 120


def test_rules_have_the_right_form() -> None:
    for op in all_ops():
        assert callable(op.infer), op
        assert callable(op.kernel) or op.kernel is STRUCTURED, op
        assert callable(op.vjp) or isinstance(op.vjp, Absent), op
        assert isinstance(op.native, NativeRule) or op.native in (NO_NATIVE, HOST_ONLY, FOLDED), op
        absent = (NO_XLA, DATA_SHAPED, STRINGS, HOST_ONLY, FOLDED)
        assert isinstance(op.xla, XlaRule) or op.xla in absent, op


def test_kernels_take_arrays_by_position_and_attributes_by_name() -> None:
    for op in all_ops():
        if op.kernel is STRUCTURED:
            continue
        parameters = list(inspect.signature(op.kernel).parameters.values())
        assert parameters[0].name == "xp", op
        arrays = [p for p in parameters[1:] if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in arrays)
        required = [p for p in arrays if p.default is p.empty]
        assert variadic or len(required) <= len(op.args) <= len(arrays), op


def test_effects_are_declared_on_resources() -> None:
    resource = tf.resource
    for op in all_ops():
        for i in (*op.reads, *op.writes):
            assert resource in op.args[i].allowed, op
