"""Adds ops by doing what CONTRIBUTING.md says, and takes them away again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import run_native
from support.op_cases import Case, check_case, f32
from weft._src.core.dtypes import FLOATING
from weft._src.core.native_rules import Pointwise, Reduction
from weft._src.core.specs import TensorSpec
from weft._src.execution.native.front.lowering import rules as lowering_rules
from weft._src.execution.native.loops.scalars import registry as scalar_rules
from weft._src.ops import rules
from weft._src.ops.registry import Op, all_ops, args, define_op, find_op, remove_op

X = np.linspace(-2, 3, 6, dtype=np.float32).reshape(2, 3)

# --- an elementwise op: x / (1 + x^2) ------------------------------------------------------------


def _bump_vjp(ctx: Any, g: tf.Tensor) -> tuple[tf.Tensor]:
    square = ctx.inputs[0] * ctx.inputs[0]
    return (g * (1 - square) / ((1 + square) * (1 + square)),)


def define_bump() -> Op:
    return define_op(
        "Bump",
        args("x", FLOATING),
        infer=rules.same,
        kernel=lambda xp, x: x / (1 + x * x),
        native=Pointwise("bump"),
        vjp=_bump_vjp,
        trusts_kernel=True,
        fresh=True,
        zero_at_zero=True,
    )


def _bump_scalar(b: Any, t: Any, attrs: Any, x: Any) -> Any:
    return b.div(x, b.add(b.like(x, 1.0), b.mul(x, x)))


# --- an op with a lowering of its own: the sum of squares of each row -----------------------------


def _energy_infer(x: TensorSpec) -> TensorSpec:
    return x.with_dims(None if x.dims is None else x.dims[:-1])


def define_energy() -> Op:
    return define_op(
        "RowEnergy",
        args("x", FLOATING),
        infer=_energy_infer,
        kernel=lambda xp, x: xp.sum(x * x, -1),
        native=Reduction("row_energy"),
        vjp=lambda ctx, g: (2 * ctx.inputs[0] * tf.expand_dims(g, -1),),
        trusts_kernel=True,
        fresh=True,
    )


def _lower_energy(lowering: Any, node: Any, inputs: list[Any]) -> Any:
    (x,) = inputs
    squares = lowering_rules.apply("multiply", x, x)
    return lowering_rules.reduced(squares, (len(x.shape) - 1,), "add", node.name)


@pytest.fixture
def bump(monkeypatch: pytest.MonkeyPatch) -> Iterator[Op]:
    monkeypatch.setattr(scalar_rules, "_rules", dict(scalar_rules._rules))
    scalar_rules.rule("bump")(_bump_scalar)
    op = define_bump()
    yield op
    remove_op(op)


@pytest.fixture
def energy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Op]:
    monkeypatch.setattr(lowering_rules, "_rules", dict(lowering_rules._rules))
    lowering_rules.lowers("row_energy")(_lower_energy)
    op = define_energy()
    yield op
    remove_op(op)


def test_the_row_of_a_table_checks_all_modes(bump: Op, energy: Op) -> None:
    check_case(Case(bump, [f32(2, 3)], {}, lambda x: x / (1 + x * x), label="bump"))
    check_case(
        Case(energy, [f32(2, 3)], {}, lambda x: (x * x).sum(-1), unknown_rank=False, label="energy")
    )


def test_it_becomes_machine_code(bump: Op, energy: Op) -> None:
    np.testing.assert_allclose(run_native(bump, X)[0], X / (1 + X * X), rtol=1e-6)
    (found,) = run_native(lambda x: energy(bump(x)), X)
    np.testing.assert_allclose(found, ((X / (1 + X * X)) ** 2).sum(-1), rtol=1e-6)


def test_its_flags_tell_what_else_it_does(bump: Op, energy: Op) -> None:
    ragged = tf.ragged.constant([[1.0], [2.0, -1.0]])
    assert bump(ragged).to_list() == [[0.5], pytest.approx([0.4, -0.5])]
    with pytest.raises(TypeError, match="RowEnergy"):
        energy(ragged)
    sparse = tf.sparse.from_dense([0.0, 1.0])
    np.testing.assert_array_equal(bump(sparse).values, [0.5])
    assert bump.cheap
    assert not energy.cheap


def test_it_is_gone_afterwards() -> None:
    before = all_ops()
    op = define_bump()
    try:
        assert find_op("Bump") is op
        with pytest.raises(ValueError, match="defined twice"):
            define_bump()
    finally:
        remove_op(op)
    assert all_ops() == before
    with pytest.raises(KeyError, match="no op named 'Bump'"):
        find_op("Bump")
