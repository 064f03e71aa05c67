"""What a program does several times is compiled once: equal steps, and elementary functions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf


def llvm_text(function: Any, *args: Any) -> str:
    return str(function.experimental_get_compiler_ir(*args)(stage="llvm"))


def bodies(text: str, stem: str) -> tuple[int, int]:
    """How many shared bodies there are, and how many steps call one."""
    shared = set(re.findall(rf"^define internal \w+ @({stem}_\d+\.shared)\(", text, re.MULTILINE))
    calls = re.findall(rf"call \w+ @({stem}_\d+\.shared)\(", text)
    assert set(calls) == shared
    return len(shared), len(calls)


def rng(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def test_unrolled_steps_share_their_code() -> None:
    w, x = rng(5, 5), rng(3, 5)

    @tf.function(jit_compile=True)
    def unrolled(x: Any) -> Any:
        for _ in range(7):
            x = tf.tanh(x @ w)
        return x

    text = llvm_text(unrolled, tf.constant(x))
    assert bodies(text, "product") == (1, 7)
    assert bodies(text, "nest") == (1, 7)
    expected = x
    for _ in range(7):
        expected = np.tanh(expected @ w)
    np.testing.assert_allclose(unrolled(tf.constant(x)), expected, rtol=1e-5)


def test_updates_of_many_variables_share_their_code() -> None:
    variables = [tf.Variable(rng(i + 1, 7)) for i in range(2) for _ in range(24)]
    before = [v.numpy() for v in variables]

    @tf.function(jit_compile=True)
    def update(scale: Any) -> None:
        for v in variables:
            v.assign_sub(scale * v)

    text = llvm_text(update, tf.constant(0.25))
    assert bodies(text, "nest") == (2, 4)  # twelve roots each, of two shapes
    update(tf.constant(0.25))
    for v, old in zip(variables, before, strict=True):
        np.testing.assert_allclose(v, 0.75 * old, rtol=1e-6)


def test_pieces_of_threads_share_their_code() -> None:
    x = rng(600, 500)
    factors = tf.constant([2.0, 3.0])

    @tf.function(jit_compile=True)
    def sums(x: Any) -> Any:
        first = tf.reduce_sum(tf.exp(x * 0.5), 1)
        second = tf.reduce_sum(tf.exp(first[:, tf.newaxis] * 1e-4 + x * factors[0]), 1)
        return tf.reduce_sum(tf.exp(second[:, tf.newaxis] * 1e-4 + x * factors[0]), 1)

    text = llvm_text(sums, tf.constant(x))
    assert "call void @weft_parallel(" in text
    assert bodies(text, "nest") == (2, 4)  # the sums, and what they are multiplied with before
    wide = x.astype("float64")
    expected = np.exp(wide * 0.5).sum(1)
    for _ in range(2):
        expected = np.exp(expected[:, None] * 1e-4 + wide * 2).sum(1)
    np.testing.assert_allclose(sums(tf.constant(x)), expected, rtol=1e-4)


def test_what_differs_in_a_number_is_not_shared() -> None:
    w, x = rng(4, 4), rng(2, 4)

    @tf.function(jit_compile=True)
    def scaled(x: Any) -> Any:
        return tf.tanh((tf.tanh((x @ w) * 2.0) @ w) * 3.0)

    text = llvm_text(scaled, tf.constant(x))
    assert bodies(text, "product") == (1, 2)
    assert bodies(text, "nest") == (0, 0)
    expected = np.tanh((np.tanh((x @ w) * 2) @ w) * 3)
    np.testing.assert_allclose(scaled(tf.constant(x)), expected, rtol=1e-5)


# --- elementary functions ----------------------------------------------------------------------

FUNCTIONS = {
    "exp": tf.exp, "expm1": tf.math.expm1, "log": tf.math.log, "log1p": tf.math.log1p,
    "tanh": tf.tanh, "sigmoid": tf.sigmoid, "softplus": tf.math.softplus, "erf": tf.math.erf,
    "sin": tf.sin, "cos": tf.cos, "lgamma": tf.math.lgamma,
}  # fmt: skip


def edges(dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers of all sizes, with some that are none."""
    n = int(np.prod(shape))
    numbers = np.random.default_rng(n).normal(size=n) * 10.0 ** np.linspace(-6, 4, n)
    numbers[: n // 2 : 5] = [np.nan, np.inf, -np.inf, 0.0, -0.0][n % 5]
    return tf.constant(numbers.reshape(shape).astype(dtype))


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("float32", ()), ("float32", (16,)), ("float32", (31,)), ("float32", (200, 500)),
        ("float16", (100,)), ("float64", (3, 17)),
    ],
)  # fmt: skip
def test_called_functions_are_those_that_are_written_out(
    dtype: str, shape: tuple[int, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    x = edges(dtype, shape)
    together = tf.function(
        lambda x: [*[f(x) for f in FUNCTIONS.values()], tf.abs(x) ** 1.7], jit_compile=True
    )
    names = [*FUNCTIONS, *([] if dtype == "float64" else ["power"])]
    kind = "double" if dtype == "float64" else "float"
    text = llvm_text(together, x)
    called = set(re.findall(r"call \w+ @weft_math_(\w+)_x1(?:of\d+)?\(", text))
    assert called == {f"{n}_{kind}" for n in names if (n, kind) != ("lgamma", "double")}
    for name, out in zip([*FUNCTIONS, "power"], together(x), strict=True):
        form = FUNCTIONS.get(name, lambda x: tf.abs(x) ** 1.7)
        alone = tf.function(form, jit_compile=True)
        # An exact form of a whole nest calls functions: it is there for numbers that are in doubt.
        # And in long loops, functions for one number ask those for many.
        exact = re.compile(r"^define [^\n]*@(exact_nest|weft_math).*?^}", re.MULTILINE | re.DOTALL)
        usual = exact.sub("", llvm_text(alone, x))
        assert not re.search(r"call .*@weft_math", usual)
        # Far angles of float64 are left to C: those of a vector, or those of the whole array.
        tolerance = 3e-16 if dtype == "float64" and name in {"sin", "cos"} else 0
        np.testing.assert_allclose(out, alone(x), rtol=tolerance, err_msg=name)
    assert capfd.readouterr().err == ""  # LLVM says so if it cannot do what it is told


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_angles_are_exact_where_functions_are_called(dtype: str) -> None:
    angles = np.linspace(-3, 3, 333).astype(dtype)
    angles[[5, 100, 332]] = [2.0**31 + 12345, -3e18, 1e30]

    @tf.function(jit_compile=True)
    def four(x: Any) -> Any:
        return tf.sin(x) + tf.cos(x), tf.sin(-x) - tf.cos(-x)

    text = llvm_text(four, tf.constant(angles))
    assert "weft_math_sin" in text
    assert "exact_nest" not in text  # the functions see to it themselves
    wide = angles.astype("float64")
    expected = np.sin(wide) + np.cos(wide), np.sin(-wide) - np.cos(-wide)
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    for out, right in zip(four(tf.constant(angles)), expected, strict=True):
        np.testing.assert_allclose(out, right, rtol=tolerance, atol=tolerance)


_PROGRAM = """
import numpy as np, weft as tf
@tf.function(jit_compile=True)
def chain(x):
    for _ in range(6):
        x = tf.tanh(x) + tf.exp(-x)
    return x
x = np.linspace(-1, 1, 40).astype("float32")
expected = x
for _ in range(6):
    expected = np.tanh(expected) + np.exp(-expected)
np.testing.assert_allclose(chain(tf.constant(x)), expected, rtol=1e-5)
"""


def test_called_functions_are_kept_on_disk(tmp_path: Path) -> None:
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path)}
    kept = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, check=True)
        kept.append({path.name for path in tmp_path.glob("*.o")})
    assert len(kept[0]) >= 3  # the program, and a form of each of the two functions
    assert kept[0] == kept[1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_left_over_of_long_loops_has_the_same_bits(dtype: str) -> None:
    """There a function for one number asks that for many; in short loops it is one of its own."""

    def many(x: Any) -> Any:
        return tf.exp(x) * tf.sin(x) + tf.tanh(x) * tf.math.log(tf.abs(x) + 1.0) + tf.atan2(x, 2.0)

    x = np.resize(edges(dtype, (1000,)).numpy(), (1 << 15) + 13)
    x[-2:] = [np.nan, 3e7 if dtype == "float32" else 3e18]  # an angle of which sin is in doubt
    long = tf.function(many, jit_compile=True)
    assert re.search(r"define \w+ @weft_math_exp_\w+_x1of\d+", llvm_text(long, x))
    short = tf.function(many, jit_compile=True)
    np.testing.assert_array_equal(long(x)[-13:], short(x[-13:]))
