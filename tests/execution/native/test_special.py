"""Special functions: machine code calls SciPy's, as the kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import weft as tf
from support.native import check, check_program, run_native
from weft._src.core.flags import flags

NUMBERS = [
    -np.inf,
    -7.3,
    -2.0,
    -0.7,
    -0.0,
    0.0,
    1e-30,
    0.2,
    0.5,
    0.9,
    1.0,
    3.7,
    60.0,
    np.inf,
    np.nan,
]

FUNCTIONS = {
    "digamma": tf.math.digamma, "erfinv": tf.math.erfinv, "ndtri": tf.math.ndtri,
    "dawsn": tf.math.special.dawsn, "expint": tf.math.special.expint,
    "spence": tf.math.special.spence,
    **{name: getattr(tf.math.special, f"bessel_{name}") for name in (
        "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1",
    )},
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_of_one_number(dtype: str) -> None:
    x = np.array(NUMBERS).astype(dtype)
    tolerance = {"float16": 1e-3, "float32": 2e-6, "float64": 0.0}[dtype]
    check(
        lambda x: {name: function(x) for name, function in FUNCTIONS.items()},
        x,
        rtol=tolerance,
        atol=tolerance / 10,
    )


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fresnel_integrals(dtype: str) -> None:
    functions = [tf.math.special.fresnel_sin, tf.math.special.fresnel_cos]
    x = np.array(NUMBERS).astype(dtype)
    check(
        lambda x: [function(x) for function in functions],
        x,
        rtol=1e-3 if dtype == "float16" else 1e-6,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_has_no_form_stays_with_numpy(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Any) -> Any:
        y = tf.math.special.fresnel_sin(x) + tf.math.special.fresnel_cos(x)
        return tf.exp(-y) * tf.math.zeta(x + 2.0, x) + tf.math.polygamma(tf.ones_like(x), x)

    x = tf.constant(np.linspace(0.5, 4, 40).astype(dtype))
    expected = function(x)
    monkeypatch.setattr(flags, "execution", "native")
    found = tf.function(function)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-12)


def test_incomplete_functions() -> None:
    a, x = [v.astype(np.float32) for v in np.meshgrid([0.0, 0.3, 2.0, 40.0, np.nan], NUMBERS)]
    check(
        lambda a, x: [tf.math.igamma(a, x), tf.math.igammac(a, x), tf.math.betainc(a, a + 1, x)],
        a,
        x,
        rtol=2e-6,
        atol=1e-7,
    )


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_zeta_and_polygamma(dtype: str) -> None:
    """Also where there are poles, no numbers, or only whole exponents."""
    orders = [-np.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 40.0, 180.0, 3e4, np.inf, np.nan]
    a, x = [v.astype(dtype) for v in np.meshgrid(orders, [*NUMBERS, -20.5, -3.25, 2e8, 1e20])]
    check(
        lambda a, x: [tf.math.zeta(a, x), tf.math.polygamma(a, x)],
        a,
        x,
        rtol={"float16": 2e-3, "float32": 1e-6}[dtype],
    )


@pytest.mark.parametrize("seed", range(3))
def test_zeta_and_polygamma_are_right_to_the_last_digit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = [1 + np.exp(rng.uniform(-14, 0, 20_000)), rng.uniform(1, 60, 20_000)]
    x += [np.exp(rng.uniform(0.001, 7.5, 20_000)), rng.integers(-1, 9, 20_000)]
    q = [np.exp(rng.uniform(-20, 20, 40_000)), rng.uniform(-9, 60, 40_000)]
    x, q = np.concatenate(x).astype(np.float32), np.concatenate(q).astype(np.float32)
    order = rng.integers(0, 160, len(x)).astype(np.float32)
    wide_x, wide_q, wide_order = [v.astype(np.float64) for v in (x, q, order)]
    zeta, polygamma = run_native(
        lambda x, q, order: [tf.math.zeta(x, q), tf.math.polygamma(order, q)], x, q, order
    )
    with np.errstate(all="ignore"):
        expected = scipy.special.zeta(wide_x, wide_q).astype(np.float32)
        factor = (-1) ** (wide_order + 1) * scipy.special.gamma(wide_order + 1)
        derivative = factor * scipy.special.zeta(wide_order + 1, wide_q)
        derivative = np.where(order == 0, scipy.special.digamma(wide_q), derivative)
        derivative = derivative.astype(np.float32)
    np.testing.assert_array_max_ulp(*_finite(zeta, expected), 1)
    np.testing.assert_array_max_ulp(*_finite(polygamma, derivative), 1)


@pytest.mark.parametrize("seed", range(3))
def test_betainc_is_right_to_the_last_digit(seed: int) -> None:
    """Within the parameters for which there is arithmetic, and without."""
    rng = np.random.default_rng(seed)
    a, b = [
        np.concatenate([np.exp(rng.uniform(-3.1, 4.7, 20_000)), np.exp(rng.uniform(-20, 20, 4000))])
        for _ in range(2)
    ]
    x = np.concatenate([rng.uniform(-0.1, 1.1, 20_000), np.exp(rng.uniform(-60, 0, 4000))])
    a, b, x = [v.astype(np.float32) for v in (a, b, x)]
    (found,) = run_native(tf.math.betainc, a, b, x)
    expected = scipy.special.betainc(*[v.astype(np.float64) for v in (a, b, x)])
    np.testing.assert_array_max_ulp(*_finite(found, expected.astype(np.float32)), 1)


def _finite(found: Any, expected: Any) -> tuple[Any, Any]:
    """Both where the second is a normal number; elsewhere they are told to be equal."""
    is_normal = np.isfinite(expected) & (np.abs(expected) > 1.2e-38)
    np.testing.assert_allclose(found[~is_normal], expected[~is_normal], rtol=0, atol=3e-45)
    return found[is_normal], expected[is_normal]


def test_large_orders_of_polygamma() -> None:
    """One factor is too large for float32, the other too small."""
    a, x = np.float32([28.0, 34.0, 60.0]), np.float32([50.0, 33.0, 45.0])
    wide = a.astype(np.float64)
    expected = -scipy.special.gamma(wide + 1) * scipy.special.zeta(wide + 1, x.astype(np.float64))
    np.testing.assert_allclose(tf.math.polygamma(a, x), expected, rtol=1e-6)


def test_a_likelihood_and_its_gradient() -> None:
    """The gradient of lgamma is digamma."""

    def function(alpha: Any, x: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(alpha)
            density = (alpha - 1.0) * tf.math.log(x) - x - tf.math.lgamma(alpha)
            loss = -tf.reduce_sum(density)
        return [loss, tape.gradient(loss, alpha)]

    x = np.random.default_rng(3).gamma(2.0, size=50)
    check(function, np.array(1.7), x, rtol=1e-12)

    def fitted(alpha: Any, x: Any) -> Any:
        for _ in tf.range(5):
            alpha -= 0.1 * (tf.math.digamma(alpha) - tf.reduce_mean(tf.math.log(x)))
        return alpha

    check_program(fitted, np.array(1.7), x, rtol=1e-12)


def test_code_that_was_kept_finds_the_functions() -> None:
    for _ in range(2):  # the second time from the cache
        jitted = tf.function(lambda x: tf.math.digamma(x) * 2.5, jit_compile=True)
        np.testing.assert_allclose(jitted(tf.constant(1.0)), -0.5772157 * 2.5, rtol=1e-6)


_NONE, _INF = np.nan, np.inf
# At the edges, where versions of SciPy differ: the arguments, and what is right.
EDGES = {
    "expint": (tf.math.special.expint, [((_INF,), _INF), ((-_INF,), 0.0), ((_NONE,), _NONE)]),
    "igamma": (tf.math.igamma, [
        ((_NONE, 0.0), _NONE), ((_NONE, _INF), _NONE), ((_INF, _NONE), _NONE),
        ((1.0, _INF), 1.0), ((1.0, 0.0), 0.0), ((0.0, 1.0), 1.0), ((-1.0, _INF), _NONE),
    ]),
    "igammac": (tf.math.igammac, [
        ((_NONE, 0.0), _NONE), ((_NONE, _INF), _NONE), ((_INF, _NONE), _NONE),
        ((1.0, _INF), 0.0), ((1.0, 0.0), 1.0), ((0.0, 1.0), 0.0), ((-1.0, _INF), _NONE),
    ]),
    "betainc": (tf.math.betainc, [
        ((0.0, 1.5, 0.0), 0.0), ((0.0, 1.5, 0.5), 1.0), ((1.5, _INF, 0.5), 1.0),
        ((1.5, 0.0, 0.5), 0.0), ((1.5, 0.0, 1.0), 1.0), ((_INF, 1.5, 0.5), 0.0),
        ((_INF, 1.5, 1.0), 1.0), ((0.0, 0.0, 0.5), _NONE), ((_INF, _INF, 0.5), _NONE),
        ((0.0, _INF, 0.5), 1.0), ((_INF, 0.0, 0.5), 0.0), ((0.0, 1.5, 2.0), _NONE),
        ((0.0, -1.0, 0.5), _NONE), ((0.0, _NONE, 0.5), _NONE), ((0.0, 1.5, _NONE), _NONE),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_do_not_depend_on_the_version_of_scipy(name: str, dtype: str) -> None:
    function, rows = EDGES[name]
    arguments = [np.array(column, dtype) for column in zip(*[given for given, _ in rows])]
    wanted = np.array([value for _, value in rows], dtype)
    eager = function(*[tf.constant(a) for a in arguments])
    np.testing.assert_array_equal(eager, wanted)
    (native,) = run_native(function, *arguments)
    np.testing.assert_array_equal(native, wanted)
