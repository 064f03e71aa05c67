"""Elementary functions of float32 as machine code: at most 4 ulp from float64, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import weft as tf
from support.native import check, run_native

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp": (tf.exp, np.exp),
    "expm1": (tf.math.expm1, np.expm1),
    "log": (tf.math.log, np.log),
    "log1p": (tf.math.log1p, np.log1p),
    "tanh": (tf.tanh, np.tanh),
    "sigmoid": (tf.sigmoid, scipy.special.expit),
    "erf": (tf.math.erf, scipy.special.erf),
    "erfc": (tf.math.erfc, scipy.special.erfc),
    "sin": (tf.sin, np.sin),
    "cos": (tf.cos, np.cos),
    "tan": (tf.tan, np.tan),
    "sqrt": (tf.sqrt, np.sqrt),
    "rsqrt": (tf.math.rsqrt, lambda x: 1.0 / np.sqrt(x)),
    "reciprocal": (tf.math.reciprocal, lambda x: 1.0 / x),
    "asin": (tf.asin, np.arcsin),
    "acos": (tf.acos, np.arccos),
    "atan": (tf.atan, np.arctan),
    "sinh": (tf.sinh, np.sinh),
    "cosh": (tf.cosh, np.cosh),
    "asinh": (tf.asinh, np.arcsinh),
    "acosh": (tf.acosh, np.arccosh),
    "atanh": (tf.atanh, np.arctanh),
    "lgamma": (tf.math.lgamma, lambda x: np.where(np.isinf(x), np.inf, scipy.special.gammaln(x))),
}
FUNCTIONS |= {
    name: (getattr(tf.math.special, name), getattr(scipy.special, name.removeprefix("bessel_")))
    for name in (
        "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_k0", "bessel_k0e",
        "bessel_k1", "bessel_k1e",
    )
}  # fmt: skip
FUNCTIONS |= {
    "erfinv": (tf.math.erfinv, scipy.special.erfinv),
    "dawsn": (tf.math.special.dawsn, scipy.special.dawsn),
    "fresnel_sin": (tf.math.special.fresnel_sin, lambda x: scipy.special.fresnel(x)[0]),
    "fresnel_cos": (tf.math.special.fresnel_cos, lambda x: scipy.special.fresnel(x)[1]),
    "ndtri": (tf.math.ndtri, scipy.special.ndtri),
    "expint": (
        tf.math.special.expint,
        lambda x: np.where(x == np.inf, np.inf, scipy.special.expi(x)),  # NaN in older versions
    ),
}
SPECIAL = np.float32(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, 1e-45, -1e-45, 1.1754942e-38,
     1.1754944e-38, 3.4028235e38, -3.4028235e38, 88.72284, 88.7229, -87.33655, -103.97208, -103.98,
     0.625, -0.625, 0.92, 4.0, 9.0, 2.0**30, 1e22, 16777216.0, 0.70710677, 0.99999994, 1.0000001,
     -0.99999994, 1.5707964, 3.1415927, 6.2831855]
)  # fmt: skip


def _everywhere() -> np.ndarray:
    """All exponents and signs, NaN included, more of the numbers people use, and odd ones."""
    bits = np.arange(0, 2**32, 40_009, dtype=np.uint64).astype(np.uint32)
    usual = np.linspace(-110, 110, 20_001, dtype=np.float32)
    return np.concatenate([bits.view(np.float32), usual, usual / 100, SPECIAL])


X = _everywhere()


@pytest.fixture(scope="module")
def native() -> dict[str, np.ndarray]:
    out = run_native(lambda x: [f(x) for f, _ in FUNCTIONS.values()], X)
    return dict(zip(FUNCTIONS, out, strict=True))


def _ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distances in units of the last place of float32; 0 where both are the same special value."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(np.float32)
        spacing = np.spacing(np.abs(rounded)).astype(np.float64)
        # Where float32 overflows the largest number counts as one place away.
        top = np.float64(np.finfo(np.float32).max)
        a = np.where(np.isinf(got), np.copysign(top * (1 + 2**-24), got), got).astype(np.float64)
        b = np.clip(wanted, -top * (1 + 2**-24), top * (1 + 2**-24))
        spacing = np.where(np.abs(rounded) >= top, 2.0**104, spacing)
        distance = np.abs(a - b) / spacing
    same = (np.isnan(got) & np.isnan(wanted)) | (got == rounded)
    return np.where(same, 0.0, np.where(np.isnan(got) | np.isnan(wanted), np.inf, distance))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_within_four_units(name: str, native: dict[str, np.ndarray]) -> None:
    with np.errstate(all="ignore"):
        wanted = FUNCTIONS[name][1](X.astype(np.float64))
    distance = _ulps(native[name], wanted)
    worst = int(distance.argmax())
    assert distance[worst] <= 4, (
        f"{name}({X[worst]!r}) = {native[name][worst]!r}, {wanted[worst]!r} is right"
    )


@pytest.mark.parametrize(
    "name",
    [
        "expm1",
        "log1p",
        "tanh",
        "erf",
        "sin",
        "tan",
        "asin",
        "atan",
        "sinh",
        "asinh",
        "atanh",
        "sqrt",
    ],
)
def test_zeros_keep_their_sign(name: str, native: dict[str, np.ndarray]) -> None:
    at_zeros = native[name][X == 0]
    assert (at_zeros == 0).all()
    np.testing.assert_array_equal(np.signbit(at_zeros), np.signbit(X[X == 0]))


def test_the_measure_of_distance_is_not_blind() -> None:
    one = np.array([1.0])
    assert _ulps(np.float32([np.nextafter(np.float32(1), np.float32(2))]), one) == 1
    assert _ulps(np.float32([np.inf]), one) > 4
    assert _ulps(np.float32([np.nan]), one) == np.inf
    assert _ulps(np.float32([-1e-45]), np.array([2.0**-149])) == 2
    assert _ulps(np.float32([np.inf]), np.array([-np.inf])) > 4
    assert _ulps(np.float32([np.inf]), np.array([3e38])) > 4


def test_softplus_and_gelu_are_close() -> None:
    x = X[~(np.abs(X) > 1e6)]
    got = run_native(lambda x: [tf.math.softplus(x), tf.nn.gelu(x), tf.nn.gelu(x, True)], x)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        exact = wide * scipy.special.ndtr(wide)
        rough = np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))
        wanted = [np.logaddexp(wide, 0.0), exact, 0.5 * wide * (1 + rough)]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=5e-7, atol=5e-7)


def test_powers() -> None:
    bases = np.concatenate([SPECIAL, np.float32([3, -3, -2, 0.1, 1.5, 1e-40, 1e10, 1e-10])])
    exponents = np.float32(
        [0, -0.0, 1, -1, 2, 3, -3, 0.5, -0.5, 1 / 3, 7, 20.5, -60, 1e-3, 127, np.inf, -np.inf,
         np.nan, 16777217, 8388609, 1e30]
    )  # fmt: skip
    x, y = [a.reshape(-1) for a in np.meshgrid(bases, exponents)]
    (got,) = run_native(lambda x, y: x**y, x, y)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
    distance = _ulps(got, wanted)
    worst = int(distance.argmax())
    assert distance[worst] <= 4, (x[worst], y[worst], got[worst], wanted[worst])


def test_constant_powers_and_two_arguments() -> None:
    x = np.concatenate([SPECIAL, np.float32([3, -3, 0.1, 1e20])])
    y = x[::-1].copy()
    check(
        lambda x, y: {
            "atan2": tf.atan2(y, x),
            "two": x**2.0,
            "three": x**3.0,
            "minus one": x**-1.0,
            "one": x**1.0,
        },
        x,
        y,
        rtol=5e-7,
    )


def test_angles_of_points() -> None:
    rng = np.random.default_rng(0)
    y, x = [a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL)]
    bits = rng.integers(0, 2**32, (2, 100_000), dtype=np.uint32).view(np.float32)
    y = np.concatenate([y, bits[0], rng.normal(size=50_000).astype(np.float32)])
    x = np.concatenate([x, bits[1], rng.normal(size=50_000).astype(np.float32)])
    (got,) = run_native(tf.atan2, y, x)
    with np.errstate(all="ignore"):
        wanted = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    distance = _ulps(got, wanted)
    worst = int(distance.argmax())
    assert distance[worst] <= 4, (y[worst], x[worst], got[worst], wanted[worst])
    is_zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[is_zero]), np.signbit(wanted[is_zero]))


def test_the_power_one_half() -> None:
    """As C has it: NumPy takes the root, which differs at -0.0 and -inf."""
    (got,) = run_native(lambda x: x**0.5, np.float32([4, 2, 0, -0.0, -1, np.inf, -np.inf]))
    root = np.sqrt(np.float32(2))
    np.testing.assert_allclose(got, [2, root, 0, 0, np.nan, np.inf, np.inf], rtol=1e-7)


@pytest.mark.parametrize("exact", [False, True], ids=["small", "with large"])
def test_large_angles_are_noticed(exact: bool) -> None:
    """Large angles are left to the C library; the nest is computed again when one occurs."""
    x = np.linspace(-9, 9, 101, dtype=np.float32)
    if exact:
        x[50] = 3e38
    got = run_native(lambda x: [tf.sin(x), tf.cos(x)], x)
    wide = x.astype(np.float64)
    for a, b in zip(got, [np.sin(wide), np.cos(wide)], strict=True):
        assert _ulps(a, b).max() <= 4


@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_sine_and_cosine_are_accurate_near_their_zeros(beside: int) -> None:
    """Up to where large angles begin: there nothing is left of an angle but what rounding lost."""
    x = (np.arange(1, 166_000) * (np.pi / 2)).astype(np.float32)
    x = x if beside == 0 else np.nextafter(x, np.float32(beside * np.inf))
    got = run_native(lambda x: [tf.sin(x), tf.cos(x)], x)
    for a, b in zip(got, [np.sin(x.astype(np.float64)), np.cos(x.astype(np.float64))], strict=True):
        assert _ulps(a, b).max() <= 2


def test_float64() -> None:
    x = np.concatenate([SPECIAL, np.linspace(-3, 3, 51)]).astype(np.float64)
    x = x[x != -np.inf]  # lgamma is infinite there, SciPy's is -inf
    functions = {n: f for n, (f, _) in FUNCTIONS.items() if not n.startswith("fresnel")}
    check(lambda x: {name: f(x) for name, f in functions.items()}, x, rtol=1e-12, atol=1e-16)
