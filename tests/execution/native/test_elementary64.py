"""Elementary functions of float64 as machine code, against the C library's extended precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import run_native

# Where long double is float64 there is nothing to measure the last places with.
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double is not more exact than float64 here"
)

rng = np.random.default_rng(5)
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.0**-1022, 1e308, -1e308,
     709.78, 709.79, -745.1, -745.2, 0.5, -0.5, 1e-300, 1e-17, np.pi, np.pi / 2, 1e5 * np.pi,
     2.0**20, -(2.0**20), 22.0, 0.3465, 0.3466, 1e22]
)  # fmt: skip
X = np.concatenate([
    SPECIAL,
    rng.normal(size=20_000),
    rng.uniform(-7, 7, 20_000),
    rng.uniform(-800, 800, 20_000),
    rng.uniform(-1e6, 1e6, 20_000),
    np.exp(rng.uniform(-700, 700, 20_000)),
    1 + rng.normal(size=5_000) * 1e-3,
    np.arange(-400, 400) * (np.pi / 2),
])  # fmt: skip

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "exp": (tf.exp, np.exp),
    "expm1": (tf.math.expm1, np.expm1),
    "log": (tf.math.log, np.log),
    "log1p": (tf.math.log1p, np.log1p),
    "tanh": (tf.tanh, np.tanh),
    "sin": (tf.sin, np.sin),
    "cos": (tf.cos, np.cos),
    "sigmoid": (tf.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    # There is none of long double; that of the C library is exact to less than one unit.
    "erf": (tf.math.erf, lambda x: np.vectorize(math.erf)(x.astype(np.float64))),
}


def _ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distances in units of the last place of float64; 0 where both are the same special value."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(np.float64)
        spacing = np.spacing(np.abs(rounded)).astype(np.longdouble)
        distance = (np.abs(got - wanted) / spacing).astype(np.float64)
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    return np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf))


@needs_long_double
@pytest.mark.parametrize("large", [True, False], ids=["with large angles", "without"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_is_within_four_units(name: str, large: bool) -> None:
    """Large angles make a nest of sines fall back on the C library."""
    function, exact = FUNCTIONS[name]
    x = X if large else X[np.abs(X) < 2.0**20]
    (got,) = run_native(lambda x: [function(x)], x)
    with np.errstate(all="ignore"):
        wanted = exact(x.astype(np.longdouble))
    distance = _ulps(got, wanted)
    worst = int(distance.argmax())
    assert distance[worst] <= 4, f"{name}({x[worst]!r}) = {got[worst]!r}, not {wanted[worst]!r}"


@pytest.mark.parametrize("name", ["expm1", "log1p", "tanh", "sin", "erf"])
def test_zeros_keep_their_sign(name: str) -> None:
    (got,) = run_native(lambda x: [FUNCTIONS[name][0](x)], np.array([0.0, -0.0]))
    np.testing.assert_array_equal(np.signbit(got), [False, True])
    np.testing.assert_array_equal(got, [0.0, 0.0])


def test_the_measure_of_distance_is_not_blind() -> None:
    one = np.array([1.0], np.longdouble)
    assert _ulps(np.array([np.nextafter(1.0, 2.0)]), one) == 1
    assert _ulps(np.array([np.inf]), one) == np.inf
    assert _ulps(np.array([np.nan]), one) == np.inf
