"""Functions of floats: elementary ones as arithmetic, others by calls of C's library and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.dtypes import FLOATING, DType, float64
from weft._src.execution.native.loops import elementary
from weft._src.execution.native.loops.scalars.registry import COSTLY, rule
from weft._src.execution.native.machine import outside
from weft._src.execution.native.machine.builder import Builder, Scalar

_NARROW = FLOATING - {float64}  # SciPy's functions of doubles cannot be called


def _unary(
    name: str,
    function: elementary.Unary,
    doubtful: bool = False,
    allowed: frozenset[DType] = FLOATING,
) -> None:
    rule(name, allowed, cost=COSTLY, doubtful=doubtful)(lambda b, t, attrs, x: function(b, x))


for _name in (
    "exp", "expm1", "log", "log1p", "tanh", "sigmoid", "softplus", "erf", "erfc", "lgamma",
):  # fmt: skip
    _unary(_name, getattr(elementary, _name))
for _name in ("sin", "cos"):
    _unary(_name, getattr(elementary, _name), doubtful=True)
for _name in ("asin", "acos", "atan", "asinh", "atanh"):
    _unary(f"arc{_name[1:]}", getattr(elementary, _name))
for _name in ("sinh", "cosh"):
    _unary(_name, getattr(elementary, _name))
for _name, _in_c in {"arccosh": "acosh", "tan": "tan"}.items():
    _unary(_name, elementary.by_c_library(_in_c))
for _name in ("ceil", "floor", "rint"):
    rule(_name)(lambda b, t, attrs, x, name=_name: b.intrinsic(name, x))


@rule("pow", cost=COSTLY)
def _pow(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, y: Scalar) -> Scalar:
    exponents = {b.like(x, n).text: n for n in (2.0, 3.0, 1.0, -1.0)}
    known = exponents.get(y.text)
    if known == 2.0:
        return b.mul(x, x)
    if known == 3.0:
        return b.mul(b.mul(x, x), x)
    if known == 1.0:
        return x
    if known == -1.0:
        return b.div(b.like(x, 1.0), x)
    return elementary.power(b, x, y)


@rule("atan2", cost=COSTLY)
def _atan2(b: Builder, t: DType, attrs: dict[str, Any], y: Scalar, x: Scalar) -> Scalar:
    return elementary.atan2(b, y, x)


for _name in ("fresnel_sin", "fresnel_cos"):
    _unary(_name, getattr(elementary, _name), allowed=_NARROW)


@rule("zeta", _NARROW, cost=COSTLY, doubtful=True)
def _zeta(b: Builder, t: DType, attrs: dict[str, Any], x: Scalar, q: Scalar) -> Scalar:
    return elementary.zeta(b, x, q)


@rule("polygamma", _NARROW, cost=COSTLY, doubtful=True)
def _polygamma(b: Builder, t: DType, attrs: dict[str, Any], a: Scalar, x: Scalar) -> Scalar:
    return elementary.polygamma(b, a, x)


def _call_scipy(b: Builder, name: str, operands: Sequence[Scalar]) -> Scalar:
    """A function of SciPy, of doubles."""
    # The last argument belongs to Cython, which made the function.
    found = b.call(outside.symbol_of(name), "double", *operands, b.number("i32", 0))
    edges = _EDGES.get(name)
    return found if edges is None else edges(b, found, *operands)


# What SciPy says at the edges depends on its version; the kernels of these ops do the same.


def _infinite_at_infinity(b: Builder, found: Scalar, x: Scalar) -> Scalar:
    infinite = b.like(x, math.inf)
    return b.select(b.compare("oeq", x, infinite), infinite, found)


def _nan_of_nan(b: Builder, found: Scalar, a: Scalar, x: Scalar) -> Scalar:
    return b.select(b.compare("uno", a, x), b.like(a, math.nan), found)


_EDGES: dict[str, Callable[..., Scalar]] = {
    "expint": _infinite_at_infinity,
    "gammainc": _nan_of_nan,
    "gammaincc": _nan_of_nan,
}


def _special(name: str) -> None:
    """A function of SciPy, in double for all float types; or arithmetic, if that is as exact."""
    form = elementary.SPECIAL.get(name)

    def call(b: Builder, t: DType, attrs: dict[str, Any], *operands: Scalar) -> Scalar:
        if form is not None and operands[0].type != "double":
            return form(b, *operands)
        wide = [b.convert("fpext", x, "double") for x in operands]
        found = _call_scipy(b, name, wide)
        return b.convert("fptrunc", found, operands[0].type)

    rule(name, cost=COSTLY)(call)


for _name in outside.SPECIAL:
    if _name not in ("gammaincc", "betainc"):
        _special(_name)


@rule("betainc", cost=COSTLY, doubtful=True)
def _betainc(
    b: Builder, t: DType, attrs: dict[str, Any], p: Scalar, q: Scalar, x: Scalar
) -> Scalar:
    if p.type == "double":
        return elementary.beta.of_doubles(b, p, q, x)
    return elementary.betainc(b, p, q, x)


@rule("gammaincc", cost=COSTLY)
def _gammaincc(b: Builder, t: DType, attrs: dict[str, Any], a: Scalar, x: Scalar) -> Scalar:
    """SciPy's takes ten times as long as gammainc where both are of a size.

    There float32 gets the difference to 1, in double; SciPy's is called with numbers for which it
    has nothing to compute, and not looked at.
    """
    wide = [b.convert("fpext", v, "double") for v in (a, x)]
    if a.type == "double":
        return _call_scipy(b, "gammaincc", wide)
    other = _call_scipy(b, "gammainc", wide)
    is_enough = b.compare("olt", other, b.like(other, 0.99))
    quick = [b.select(is_enough, b.like(v, n), v) for v, n in zip(wide, (0.0, 1.0), strict=True)]
    exact = _call_scipy(b, "gammaincc", quick)
    found = b.select(is_enough, b.sub(b.like(other, 1.0), other), exact)
    return b.convert("fptrunc", found, a.type)
