"""Bessel functions, integrals, incomplete gamma and beta functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import weft as tf
from support.op_cases import Case, check_case, f32, f64

everywhere = {name: getattr(tf.math.special, f"bessel_{name}") for name in "i0 i0e i1 i1e".split()}
everywhere |= {name: getattr(tf.math.special, f"bessel_{name}") for name in ("j0", "j1")}
positive = {
    name: getattr(tf.math.special, f"bessel_{name}") for name in "k0 k0e k1 k1e y0 y1".split()
}

CASES = [
    *[Case(fn, [f32(3, 4)], {}, getattr(special, name)) for name, fn in everywhere.items()],
    *[
        Case(fn, [f32(3, 4, low=0.5, high=3.0)], {}, getattr(special, name))
        for name, fn in positive.items()
    ],
    Case(tf.math.bessel_i0, [f64()], {}, special.i0),
    Case(tf.math.bessel_i1, [f32(0, 3)], {}, special.i1),
    Case(tf.math.special.dawsn, [f32(3, 4)], {}, special.dawsn),
    Case(tf.math.special.expint, [f32(3, 4, low=0.2)], {}, special.expi, rtol=1e-4),
    Case(tf.math.special.fresnel_sin, [f32(3, 4)], {}, lambda x: special.fresnel(x)[0]),
    Case(tf.math.special.fresnel_cos, [f32(5)], {}, lambda x: special.fresnel(x)[1]),
    Case(tf.math.special.spence, [f32(3, 4, low=0.1)], {}, special.spence),
    *[
        Case(fn, shapes, {}, expect, grad=False)
        for fn, expect in ((tf.math.igamma, special.gammainc), (tf.math.igammac, special.gammaincc))
        for shapes in (
            [f32(3, 1, low=0.2, high=5.0), f32(4, low=0.0, high=6.0)],
            [f64(low=0.2, high=5.0), f64(0, 3, low=0.0)],
        )
    ],
    *[
        Case(
            lambda x, fn=fn: fn(tf.constant([[0.5], [1.5], [4.0]], x.dtype), x),
            [f64(4, low=0.3, high=6.0)],
            label=f"{fn.__name__} by x",
        )
        for fn in (tf.math.igamma, tf.math.igammac)
    ],
    *[
        Case(
            fn,
            [f64(3, 1, low=0.5, high=5.0), f64(4, low=0.3, high=6.0)],
            second=False,
            label=f"{fn.__name__} by both",
        )
        for fn in (tf.math.igamma, tf.math.igammac)
    ],
    Case(
        lambda x: tf.math.betainc(tf.constant([[2.0], [0.5]], x.dtype), 3.0, x),
        [f32(4, low=0.1, high=0.9)],
        {},
        lambda x: special.betainc([[2.0], [0.5]], 3.0, x),
    ),
    Case(
        tf.math.betainc,
        [f32(3, 4, low=0.5), f32(low=0.5), f32(3, 4, low=0.1, high=0.9)],
        {},
        special.betainc,
        grad=False,
    ),
    Case(
        tf.math.lbeta,
        [f32(2, 3, low=0.5)],
        {},
        lambda x: special.gammaln(x).sum(-1) - special.gammaln(x.sum(-1)),
    ),
    Case(tf.math.lbeta, [f32(2, 0)], {}, lambda x: np.full(2, -np.inf, np.float32), grad=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
def test_dtypes(dtype: tf.DType) -> None:
    x = tf.cast([0.5, 1.0], dtype)
    for fn in (*everywhere.values(), *positive.values(), tf.math.special.fresnel_cos):
        assert fn(x).dtype is dtype
    assert tf.math.igamma(x, x).dtype is dtype
    assert tf.math.betainc(x, x, x).dtype is dtype


def test_the_slopes_of_odd_functions_at_zero() -> None:
    for fn in (tf.math.bessel_i1, tf.math.bessel_i1e, tf.math.special.bessel_j1):
        x = tf.constant([0.0, 0.5])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        assert tape.gradient(y, x)[0] == 0.5


def test_outside_of_the_domain_is_nan() -> None:
    for fn in positive.values():
        assert np.isnan(fn(-1.0))
    assert np.isnan(tf.math.special.spence(-1.0))
    assert np.isnan(tf.math.igamma(-1.0, 1.0))
    assert np.isnan(tf.math.igamma(1.0, -1.0))


# a, x, and the derivative of igamma by a (TensorFlow 2.21, float64).
SLOPES = [
    (0.1, 0.01, -2.77616081),
    (0.5, 3.0, -0.0472403264),
    (10.0, 9.0, -0.127036512),
    (10.0, 60.0, -5.30867755e-16),
    (200.0, 220.0, -0.0105284063),
]


def test_the_derivative_of_igamma_by_its_first_argument() -> None:
    a = tf.constant([row[0] for row in SLOPES], tf.float64)
    x = tf.constant([row[1] for row in SLOPES], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.math.igamma(a, x)
    np.testing.assert_allclose(tape.gradient(y, a), [row[2] for row in SLOPES], 1e-6)


def test_the_derivative_vanishes_far_out() -> None:
    a, x = tf.constant([1.0, 1.0, 50.0]), tf.constant([0.0, np.inf, 1e-30])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.math.igamma(a, x)
    np.testing.assert_array_equal(tape.gradient(y, a), [0.0, 0.0, 0.0])


def test_second_derivatives_by_the_first_argument_are_refused() -> None:
    a = tf.constant(1.5)
    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.math.igamma(a, 2.0)
        g = tape.gradient(y, a)
    with pytest.raises(tf.errors.UnimplementedError, match="igamma: second derivatives"):
        outer.gradient(g, a)


def test_errors() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Igamma.*cannot be broadcast"):
        tf.math.igamma([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="BesselI0: x has dtype int32"):
        tf.math.bessel_i0(1)
    with pytest.raises(ValueError, match="Betainc.*cannot be broadcast"):
        tf.math.betainc([1.0, 2.0], 1.0, [0.5, 0.5, 0.5])
    with pytest.raises(AttributeError, match="Weft does not have"):
        _ = tf.math.special.bessel_i2


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_lgamma_at_infinities_and_poles(dtype: tf.DType) -> None:
    x = tf.constant([-np.inf, np.inf, 0.0, -0.0, -1.0, np.nan], dtype)
    wanted = [np.inf] * 5 + [np.nan]
    np.testing.assert_array_equal(tf.math.lgamma(x).numpy().astype(np.float64), wanted)
    assert float(tf.math.lgamma(x[0])) == np.inf
    assert tf.math.lgamma(tf.zeros([0], dtype)).shape == [0]


@pytest.mark.parametrize("function", [tf.math.erfcinv, tf.math.reciprocal_no_nan])
def test_integers_are_refused(function: object) -> None:
    with pytest.raises(tf.errors.DTypeError, match=r"x has dtype int32, expected one of bfloat16"):
        function(1)


@pytest.mark.parametrize("jit", [False, True])
def test_betainc_of_parameters_whose_sum_overflows(jit: bool) -> None:
    largest = np.finfo(np.float32).max
    run = tf.function(tf.math.betainc, jit_compile=True) if jit else tf.math.betainc
    found = run(largest, largest, tf.constant([0.3, 0.7]))
    np.testing.assert_array_equal(found, np.float32([0, 1]))
    assert found.dtype is tf.float32


@pytest.mark.parametrize("jit", [False, True])
def test_betainc_of_the_smallest_parameters(jit: bool) -> None:
    tiny = np.finfo(np.float32).tiny
    run = tf.function(tf.math.betainc, jit_compile=True) if jit else tf.math.betainc
    found = run(tf.constant([tiny, 1.0]), tiny, 0.5)
    # As much weight at 0 as at 1; and b ln 2 of the weight below a half.
    np.testing.assert_allclose(found, [0.5, np.log(2) * tiny], rtol=1e-5)
