"""Special functions: machine code calls SciPy's, as the kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, run_native

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


def test_incomplete_functions() -> None:
    a, x = [v.astype(np.float32) for v in np.meshgrid([0.0, 0.3, 2.0, 40.0, np.nan], NUMBERS)]
    check(
        lambda a, x: [tf.math.igamma(a, x), tf.math.igammac(a, x), tf.math.betainc(a, a + 1, x)],
        a,
        x,
        rtol=2e-6,
        atol=1e-7,
    )


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
