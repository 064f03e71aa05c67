"""Recorded calls of raw ops that change variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.raw_call import Call, f32, i32, i64, numbers

M = numbers(3, 4)

# --- optimizers ----------------------------------------------------------------------------------

RATES = {"lr": f32(0.1)}
DECAYS = {"beta1_power": f32(0.9), "lr": f32(0.1), "beta1": f32(0.8), "beta2": f32(0.95),
          "epsilon": f32(1e-3)}  # fmt: skip
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "GradientDescent": ("var", {"alpha": f32(0.1)}),
    "ProximalGradientDescent": ("var", {"alpha": f32(0.3), "l1": f32(0.7), "l2": f32(0.2)}),
    "Momentum": ("var accum", {**RATES, "momentum": f32(0.9)}),
    "KerasMomentum": ("var accum", {**RATES, "momentum": f32(0.9)}),
    "AddSign": ("var m", {**RATES, "alpha": f32(1.2), "sign_decay": f32(0.6), "beta": f32(0.8)}),
    "PowerSign": ("var m", {**RATES, "logbase": f32(1), "sign_decay": f32(0.6), "beta": f32(0.8)}),
    "Adagrad": ("var accum", RATES),
    "AdagradV2": ("var accum", {**RATES, "epsilon": f32(0.01)}),
    "AdagradDA": (
        "var gradient_accumulator gradient_squared_accumulator",
        {**RATES, "l1": f32(0.2), "l2": f32(0.3), "global_step": i64(3)},
    ),
    "ProximalAdagrad": ("var accum", {**RATES, "l1": f32(0.7), "l2": f32(0.2)}),
    "Adadelta": ("var accum accum_update", {**RATES, "rho": f32(0.9), "epsilon": f32(0.01)}),
    "RMSProp": ("var ms mom", {**RATES, "rho": f32(0.9), "momentum": f32(0.5),
                               "epsilon": f32(0.01)}),
    "CenteredRMSProp": ("var mg ms mom", {**RATES, "rho": f32(0.9), "momentum": f32(0.5),
                                          "epsilon": f32(0.01)}),
    "Adam": ("var m v", {**DECAYS, "beta2_power": f32(0.97)}),
    "AdamWithAmsgrad": ("var m v vhat", {**DECAYS, "beta2_power": f32(0.97)}),
    "AdaMax": ("var m v", DECAYS),
    "Ftrl": ("var accum linear", {**RATES, "l1": f32(0.4), "l2": f32(0.2), "lr_power": f32(-0.6)}),
    "FtrlV2": ("var accum linear", {**RATES, "l1": f32(0.4), "l2": f32(0.2),
                                    "l2_shrinkage": f32(0.3), "lr_power": f32(-0.5)}),
}  # fmt: skip
SWITCHES = {
    "Momentum": ({}, {"use_nesterov": True}),
    "KerasMomentum": ({}, {"use_nesterov": True, "use_locking": True}),
    "Adagrad": ({}, {"update_slots": False}),
    "AdagradV2": ({}, {"update_slots": False}),
    "Adam": ({}, {"use_nesterov": True}),
    "Ftrl": ({}, {"multiply_linear_by_lr": True}),
    "FtrlV2": ({}, {"multiply_linear_by_lr": True}),
}
WITHOUT_ROWS = ("GradientDescent", "AddSign", "PowerSign", "Adam", "AdamWithAmsgrad", "AdaMax")


def _optimizers() -> list[Call]:
    out = []
    for rule, (names, settings) in RULES.items():
        signed = ("var", "mg", "m", "mom", "linear", "gradient_accumulator")
        variables = {
            name: numbers(4, 3, low=-0.1 if name == "mg" else -1 if name in signed else 0.5)
            for name in names.split()
        }
        for form in SWITCHES.get(rule, ({},)):
            gradient = "delta" if rule.endswith("GradientDescent") else "grad"
            whole = {**settings, gradient: numbers(4, 3, high=2), **form}
            out.append(Call(f"ResourceApply{rule}", whole, (), variables))
            if rule in WITHOUT_ROWS:
                continue
            for rows in ([2, 0], [3, 1, 3, 3]):  # a row that is named several times
                g = numbers(len(rows), 3, high=2)
                some = {**settings, "grad": g, "indices": i32(rows), **form}
                out.append(Call(f"ResourceSparseApply{rule}", some, (), variables))
    return out


def _generators() -> list[Call]:
    state = {"resource": i64([1, 2, 3])}
    alg = {"algorithm": i64(1)}
    shape = {"shape": i32([2, 3])}
    known = ("algorithm", "alg")
    return [
        Call("RngReadAndSkip", {"alg": i32(1), "delta": np.uint64(7)}, known, state),
        Call("RngSkip", {**alg, "delta": i64(7)}, known, state),
        Call("StatefulStandardNormalV2", {**alg, **shape}, known, state),
        Call("StatefulTruncatedNormal", {**alg, **shape}, known, state),
        Call("StatefulUniform", {**alg, **shape, "dtype": "float64"}, known, state),
        Call("StatefulUniformFullInt", {**alg, **shape, "dtype": "int32"}, known, state),
        Call("StatefulUniformInt", {**alg, **shape, "minval": i32(-5), "maxval": i32(90)}, known,
             state),
    ]  # fmt: skip


def _variables() -> list[Call]:
    entries = {"begin": i32([1, 0]), "end": i32([3, 4]), "strides": i32([1, 2])}
    return [
        Call("ResourceStridedSliceAssign", {**entries, "value": numbers(2, 2)}, (), {"ref": M}),
        Call("ResourceStridedSliceAssign", {**entries, "value": numbers(2), "shrink_axis_mask": 1},
             (), {"ref": M}),
        Call("ResourceCountUpTo", {"limit": 5, "T": "int64"}, (), {"resource": i64(3)}),
        Call("VariableShape", {"out_type": "int64"}, (), {"input": M}),
        Call("ReadVariableOp", {"dtype": "float32"}, (), {"resource": M}),
        Call("ResourceGather", {"indices": i32([[2], [0]]), "dtype": "float32"}, (),
             {"resource": M}),
        Call("ResourceGather", {"indices": i32([[2], [0], [1]]), "dtype": "float32",
                                "batch_dims": 1}, (), {"resource": M}),
    ]  # fmt: skip


def calls() -> list[Call]:
    """All of them."""
    return [*_optimizers(), *_generators(), *_variables()]
