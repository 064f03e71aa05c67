"""Hostile arguments to `tf.experimental.numpy`: a right answer or a clear error, nothing else.

As in test_bad_input: one valid call of each function, every argument replaced by hostile values.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from robustness.test_bad_input import ALLOWED, HOSTILE, SWEEP_ALL, _call, _ill_formed, limits

tnp = tf.experimental.numpy
F = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
P = np.abs(F) + 1
I = np.array([[3, 1, 2], [0, 5, 4]])
V = np.array([1, 0, 2])
B = F > 0
CUBE = np.arange(24.0).reshape(2, 3, 4)

ROWS: dict[str, dict[str, Any]] = {}


def rows(names: str, **arguments: Any) -> None:
    for name in names.split():
        ROWS[name] = arguments


rows("array", val=F)
rows("zeros ones empty", shape=[2, 3])
rows("random.random random.standard_normal", size=[2, 3])
rows("random.rand", size=(2, 3))
rows("random.randn", args=(2, 3))
rows("random.uniform random.poisson", size=[2])
rows("random.randint", low=3)
rows("random.seed", s=3)
rows("full", shape=[2], fill_value=7)
rows("full_like", a=F, fill_value=7)
rows("zeros_like ones_like empty_like copy asarray ndim shape ravel flatten transpose", a=F)
rows("size", x=F)
rows("angle", z=F)
rows("real imag", val=F)
rows("amax amin asanyarray sum prod mean var std average max min ptp all any", a=F)
rows("count_nonzero cumsum cumprod", a=F)
rows("argmax argmin sort argsort nansum nanprod nanmean nonzero diagonal trace diff around", a=F)
rows("eye", N=3)
rows("identity", n=3)
rows("tri", N=3)
rows("diag_indices", n=3)
rows("arange", start=3)
rows("linspace logspace geomspace", start=1.0, stop=2.0, num=4)
rows("meshgrid", xi=(V, V))
rows("diag diagflat", v=V)
rows("vander", x=V)
rows("tril triu flip flipud fliplr rot90", m=F)
rows("reshape", a=F, newshape=[3, 2])
rows("swapaxes", a=F, axis1=0, axis2=1)
rows("moveaxis", a=F, source=0, destination=1)
rows("expand_dims", a=F, axis=0)
rows("squeeze", a=F[None])
rows("broadcast_to", array=V, shape=[2, 3])
rows("broadcast_arrays ix_", args=(V, V))
rows("atleast_1d atleast_2d atleast_3d", arys=(F,))
rows("roll", a=F, shift=1)
rows("concatenate", arys=[F, F])
rows("stack", arrays=[F, F])
rows("vstack hstack dstack", tup=[F, F])
rows("split", ary=F, indices_or_sections=3, axis=1)
rows("hsplit", ary=F, indices_or_sections=3)
rows("vsplit", ary=F, indices_or_sections=2)
rows("dsplit", ary=CUBE, indices_or_sections=2)
rows("tile", a=F, reps=[2, 1])
rows("repeat", a=F, repeats=2)
rows("take", a=F, indices=V)
rows("take_along_axis", arr=F, indices=I % 2, axis=0)
rows("where", condition=B, x=F, y=P)
rows("select", condlist=[B], choicelist=[F])
rows("compress", condition=[True, False], a=F, axis=0)
rows("pad", array=F, pad_width=[[1, 0], [2, 1]], mode="constant")
rows("append", arr=F, values=F)
rows("array_equal", a1=F, a2=F)
rows("clip", a=F, a_min=0, a_max=1)
rows("isclose allclose outer vdot kron inner tensordot cross", a=F, b=F)
rows("dot", a=F, b=F.T)
rows("matmul", x1=F, x2=F.T)
rows("einsum", subscripts="ij->j", operands=(F,))
rows("polyval", p=V, x=F)
rows("divmod", x1=I, x2=3)
rows("gcd lcm bitwise_and bitwise_or bitwise_xor", x1=I, x2=I)
rows("bitwise_not", x=I)
rows("add subtract multiply divide floor_divide mod power float_power maximum minimum", x1=P, x2=P)
rows("hypot arctan2 logaddexp logaddexp2 nextafter heaviside equal not_equal greater", x1=P, x2=P)
rows("greater_equal less less_equal remainder true_divide", x1=P, x2=P)
rows("logical_and logical_or logical_xor", x1=B, x2=B)
rows("logical_not", x=B)
rows("abs absolute negative positive sign square reciprocal sqrt cbrt exp exp2 expm1 log", x=P)
rows("log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh", x=P)
rows("arctanh deg2rad rad2deg floor ceil fix isnan isinf isfinite conj conjugate", x=P)
rows("fabs sinc iscomplex isreal iscomplexobj isrealobj isneginf isposinf signbit", x=P)
rows("isscalar", num=3)
rows("issubdtype", arg1=tf.int32, arg2=np.inexact)
rows("finfo", dtype=tf.float32)
rows("iinfo", int_type="int32")
rows("promote_types", type1=tf.int32, type2=tf.float32)
rows("result_type", arrays_and_dtypes=(F, tf.int32))


def functions() -> dict[str, Callable[..., Any]]:
    """Every function once, under the first of its names."""
    found: dict[str, Callable[..., Any]] = {}
    seen: set[int] = set()
    for prefix, module in (("", tnp), ("random.", tnp.random)):
        for name, value in sorted(vars(module).items()):
            own = inspect.isfunction(value) and value.__module__.startswith("weft")
            if own and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                found[prefix + name] = value
    private = {f"random.{name}" for name in ("as_dtype", "asarray", "floating")}
    return {name: value for name, value in found.items() if name not in private}


FUNCTIONS = functions()
# It changes all that comes after; its tests are in tests/experimental.
del FUNCTIONS["experimental_enable_numpy_behavior"]


def test_every_function_has_a_row() -> None:
    assert sorted(set(FUNCTIONS) - set(ROWS)) == []


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_valid_calls(name: str) -> None:
    assert _ill_formed(_call(FUNCTIONS[name], ROWS[name])) is None


def _problem(name: str, arguments: dict[str, Any]) -> str | None:
    try:
        return _ill_formed(_call(FUNCTIONS[name], arguments))
    except ALLOWED as error:
        return None if str(error) else f"{type(error).__name__} without a text"
    except Exception as error:  # noqa: BLE001 - anything else is a finding
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_hostile_arguments(name: str) -> None:
    problems = []
    with limits():
        for parameter in inspect.signature(FUNCTIONS[name]).parameters:
            for label, value in HOSTILE.items():
                key = zlib.crc32(f"{name} {parameter} {label}".encode())
                if label == "structured" or (not SWEEP_ALL and key % 7):
                    continue
                problem = _problem(name, {**ROWS[name], parameter: value})
                if problem is not None:
                    problems.append(f"{name}({parameter}=<{label}>): {problem}")
    assert not problems, "\n".join(problems)
