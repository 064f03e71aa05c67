"""Gamma, Poisson and binomial numbers from Philox words.

Each number has 256 counters of its own, one for each attempt, so that a number does not depend on
how often its neighbours were rejected. Like everything here the functions are pure: key, counter
and parameters determine the result. The parameters are flat arrays, one element a number.

- Gamma: Marsaglia and Tsang (2000); for alpha < 1 a gamma number of alpha + 1 times a power.
- Poisson: small rates by adding up probabilities, others by Hörmann's PTRS (1993).
- Binomial: few expected successes by adding up probabilities, others by Hörmann's BTRS (1993).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from weft._src.core import xp
from weft._src.core.random_numbers import philox

Array: TypeAlias = "np.ndarray[Any, Any]"

COUNTERS = 256  # for each number
_SMALL = 10.0  # expected values up to this are found by adding up probabilities


def _uniforms(key: int, counter: int, numbers: Array, attempt: int) -> Array:
    """Four numbers in (0, 1) for each of the given places; shape (4, n), float64."""
    offsets = numbers.astype(np.uint64) * np.uint64(COUNTERS) + np.uint64(attempt)
    words = philox.philox_at(key, counter, offsets)
    return ((words.astype(np.float64) + 0.5) * 2.0**-32).T


def _fine_uniform(key: int, counter: int, numbers: Array) -> Array:
    """Numbers in (0, 1) of 53 random bits."""
    offsets = numbers.astype(np.uint64) * np.uint64(COUNTERS)
    words = philox.philox_at(key, counter, offsets).astype(np.float64)
    return (words[:, 0] + (words[:, 1] + 0.5) * 2.0**-32) * 2.0**-32


def _until_accepted(
    key: int, counter: int, places: Array, draw: Callable[[Array, Array], tuple[Array, Array]]
) -> Array:
    """Draws for all places again and again until each is accepted: `draw(uniforms, which)`."""
    out = np.zeros(len(places))
    active = np.arange(len(places))
    for attempt in range(COUNTERS):
        if not active.size:
            break
        value, accepted = draw(_uniforms(key, counter, places[active], attempt), active)
        out[active[accepted]] = value[accepted]
        active = active[~accepted]
    return out


def gamma(key: int, counter: int, alpha: Array) -> Array:
    """Gamma numbers of scale 1; NaN for an alpha that is negative or NaN.

    >>> gamma(9, 0, np.array([0.5, 2.0, 50.0])).round(3)
    array([ 0.389,  1.243, 66.159])
    """
    valid = np.isfinite(alpha) & (alpha > 0)
    out = np.where(alpha == 0, 0.0, np.where(np.isposinf(alpha), np.inf, np.nan))
    places = np.flatnonzero(valid)
    chosen = alpha[places]
    small = chosen < 1
    d = np.where(small, chosen + 1, chosen) - 1 / 3
    c = 1 / np.sqrt(9 * d)

    def draw(u: Array, which: Array) -> tuple[Array, Array]:
        x = np.sqrt(-2 * np.log(u[0])) * np.cos(2 * np.pi * u[1])
        cube = (1 + c[which] * x) ** 3
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = 0.5 * x * x + d[which] * (1 - cube + np.log(cube))
            accepted = (cube > 0) & (np.log(u[2]) < limit)
            boost = u[3] ** (1 / chosen[which])
        return d[which] * cube * np.where(small[which], boost, 1.0), accepted

    out[places] = _until_accepted(key, counter, places, draw)
    return out


def _added_up(u: Array, first: Array, ratio: Callable[[int, Array], Array]) -> Array:
    """How many probabilities, each `ratio` times the one before, are needed to reach u."""
    count = np.zeros(len(u))
    probability, total = first.copy(), first.copy()
    active = np.flatnonzero(u > total)
    k = 0
    while active.size:
        k += 1
        probability[active] *= ratio(k, active)
        total[active] += probability[active]
        count[active] = k
        # A sum that does not grow any more has reached as much of 1 as it can.
        active = active[(u[active] > total[active]) & (probability[active] > 1e-300)]
    return count


def poisson(key: int, counter: int, rate: Array) -> Array:
    """Poisson numbers, as float64; 0 for rates that are not positive. Rates must be finite.

    >>> poisson(9, 0, np.array([0.5, 5.0, 500.0]))
    array([  1.,   6., 435.])
    """
    out = np.zeros(len(rate))
    few = np.flatnonzero((rate > 0) & (rate < _SMALL))
    mean = rate[few]
    u = _fine_uniform(key, counter, few)
    out[few] = _added_up(u, np.exp(-mean), lambda k, i: mean[i] / k)

    many = np.flatnonzero(rate >= _SMALL)
    mean = rate[many]
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def draw(words: Array, i: Array) -> tuple[Array, Array]:
        u, v = words[0] - 0.5, words[1]
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a[i] / us + b[i]) * u + mean[i] + 0.43)
        quick = (us >= 0.07) & (v <= v_r[i])
        hopeless = (k < 0) | ((us < 0.013) & (v > us))
        height = np.log(v * inverse_alpha[i] / (a[i] / (us * us) + b[i]))
        exact = height <= k * np.log(mean[i]) - mean[i] - xp.special.gammaln(np.maximum(k, 0) + 1)
        return k, quick | (~hopeless & exact)

    out[many] = _until_accepted(key, counter, many, draw)
    return out


def binomial(key: int, counter: int, counts: Array, probs: Array) -> Array:
    """Binomial numbers, as float64; probabilities are clipped to [0, 1], counts to 0 and above.

    >>> binomial(9, 0, np.array([4.0, 100.0, 9.0]), np.array([0.5, 0.3, 1.0]))
    array([ 3., 33.,  9.])
    """
    n, p = np.floor(np.maximum(counts, 0)), np.clip(probs, 0, 1)
    turned = p > 0.5  # failures are counted then
    p = np.where(turned, 1 - p, p)
    out = np.zeros(len(n))
    few = np.flatnonzero((p > 0) & (n * p < _SMALL))
    size, odds = n[few], p[few] / (1 - p[few])
    first = np.exp(size * np.log1p(-p[few]))
    u = _fine_uniform(key, counter, few)
    out[few] = _added_up(u, first, lambda k, i: np.maximum(size[i] - k + 1, 0) / k * odds[i])

    many = np.flatnonzero(n * p >= _SMALL)
    size, q = n[many], p[many]
    spread = np.sqrt(size * q * (1 - q))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    c = size * q + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = np.floor((size + 1) * q)
    peak = xp.special.gammaln(mode + 1) + xp.special.gammaln(size - mode + 1)
    log_odds = np.log(q / (1 - q))

    def draw(words: Array, i: Array) -> tuple[Array, Array]:
        u, v = words[0] - 0.5, words[1]
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a[i] / us + b[i]) * u + c[i])
        inside = (k >= 0) & (k <= size[i])
        at = np.clip(k, 0, size[i])
        height = np.log(v * alpha[i] / (a[i] / (us * us) + b[i]))
        ways = xp.special.gammaln(at + 1) + xp.special.gammaln(size[i] - at + 1)
        exact = height <= peak[i] - ways + (at - mode[i]) * log_odds[i]
        return at, inside & (((us >= 0.07) & (v <= v_r[i])) | exact)

    out[many] = _until_accepted(key, counter, many, draw)
    return np.where(turned, n - out, out)
