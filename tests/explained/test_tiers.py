"""Which tier served the calls of a function, and why it is where it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.explained import Program, Run, changed, missing

import weft as tf
from weft._src.core.flags import flags
from weft._src.execution import tiers

PROGRAMS = [
    Program(
        "not called yet",
        """
        @tf.function
        def f(x):
            return tf.exp(x) * 2.0
        f.get_concrete_function(tf.TensorSpec([3]))
        """,
        says=(r"not called yet",),
    ),
    Program(
        "waiting until it is worth it",
        """
        @tf.function
        def f(x):
            return tf.exp(x) * 2.0
        for _ in range(5):
            f(tf.ones([3]))
        """,
        says=(
            r"5 calls: 5 on NumPy",
            r"waiting: NumPy has spent 0\.\d+ s, compiling takes about \d\.\d+ s and begins at",
        ),
    ),
    Program(
        "compiled at the first call",
        """
        @tf.function(jit_compile=True)
        def f(x):
            return tf.exp(x) * 2.0
        for _ in range(5):
            f(tf.ones([3]))
        """,
        says=(
            r"5 calls: 5 on machine code",
            r"compiled at the first call \(jit_compile=True\) in \d+ ms",
        ),
    ),
    Program(
        "an argument that does not switch it off",
        """
        @tf.function(jit_compile=False)
        def f(x):
            return tf.exp(x) * 2.0
        f(tf.ones([3]))
        """,
        says=(r"1 call: 1 on NumPy", r"jit_compile=False leaves it to Weft"),
        change=(("jit_compile=False", "jit_compile=True"),),
    ),
    Program(
        "off by a setting",
        """
        tf.config.execution = "numpy"
        @tf.function
        def f(x):
            return tf.exp(x) * 2.0
        f(tf.ones([3]))
        """,
        says=(
            r"off: weft\.config\.execution was 'numpy' at the first call",
            r"Set weft\.config\.execution = 'auto'",
        ),
        change=(('"numpy"', '"native"'),),
    ),
    Program(
        "an op without a native form",
        """
        tf.config.execution = "native"
        @tf.function
        def f(x):
            return tf.strings.upper(x)
        f(tf.constant("a"))
        """,
        says=(
            r"1 call: 1 on NumPy",
            r"nothing in f can be compiled: StringUpper takes strings",
            r"'StringUpper', .*program\.py:7, in f",
        ),
    ),
    Program(
        "one op among others without a native form",
        """
        tf.config.execution = "native"
        @tf.function
        def f(x):
            y = tf.exp(x) * 2.0
            return tf.reduce_sum(y), tf.strings.as_string(y)
        f(tf.ones([3]))
        """,
        says=(
            r"1 call: 1 on machine code",
            r"left to NumPy: AsString has no native form \('AsString', .*program\.py:8, in f\)",
        ),
        change=((", tf.strings.as_string(y)", ""),),
    ),
    Program(
        "a Python function in the middle",
        """
        tf.config.execution = "native"
        @tf.function
        def f(x):
            y = tf.exp(x) * 2.0
            z = tf.py_function(lambda v: v, [y], tf.float32)
            return tf.reduce_sum(z * y)
        f(tf.ones([3]))
        """,
        says=(r"left to NumPy: .*\('.*', .*program\.py:8, in f\)",),
        change=(("tf.py_function(lambda v: v, [y], tf.float32)", "y"),),
    ),
    Program(
        "more shapes than versions",
        """
        @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
        def f(x):
            return tf.exp(x) * 2.0
        for n in range(1, 8):
            f(tf.ones([n]))
        """,
        says=(
            r"7 calls: 3 on NumPy, 4 on machine code",
            r"more shapes than versions: 4 are compiled, and 3 calls with other shapes",
            r"Pad to a few sizes",
        ),
        change=(("tf.ones([n])", "tf.ones([8])"),),
    ),
    Program(
        "calls that another function has taken in",
        """
        @tf.function
        def f(x):
            return tf.exp(x) * 2.0
        @tf.function
        def outer(x):
            return f(x) + 1.0
        for _ in range(3):
            outer(tf.ones([3]))
        f(tf.ones([3]))
        """,
        says=(r"2 calls: 1 on NumPy, 1 on a tape or in another function, whose graph",),
    ),
    Program(
        "deterministic ops",
        """
        tf.config.experimental.enable_op_determinism()
        @tf.function
        def f(x):
            return tf.exp(x) * 2.0
        f(tf.ones([3]))
        """,
        says=(r"waiting: op determinism is on, so it is compiled at call 10",),
    ),
    Program(
        "other shapes after the first",
        """
        @tf.function(jit_compile=True, reduce_retracing=True)
        def f(x):
            return tf.exp(x) * 2.0
        for n in (1, 2, 3, 2, 3):
            f(tf.ones([n]))
        """,
        says=(r"4 calls: 4 on machine code", r"2 sets of shapes"),
    ),
]


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    before = flags.execution, flags.deterministic
    yield
    flags.execution, flags.deterministic = before


def outcome(program: Program) -> list[str]:
    """What is wrong with the account of a program; a remedy must bring it to machine code."""
    run = Run(program.text)
    if run.error is not None:
        return [f"failed: {run.error!r}"]
    said = run.explained()
    found = missing(program, said)
    if found:
        return [*found, said]
    if not program.change:
        return []
    after = Run(changed(program, said))
    last = tf.explain(after.namespace["f"]).traces[-1]
    if last["calls by tier"]["numpy"] or "left to NumPy" in last["native"]:
        return ["the remedy does not help", after.explained()]
    return []


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_tier_is_explained(program: Program) -> None:
    assert outcome(program) == []


def traced() -> Any:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.exp(x) * 2.0

    return f


def test_compiling_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers.worker, "submit", lambda work: tiers.Job(work))
    f = traced()
    f(tf.ones([3]))
    plan = f.get_concrete_function(tf.ones([3])).graph.plan
    plan._spent = 100.0
    plan._consider([tf.ones([3])._value])
    assert "compiling: waits for other functions" in repr(tf.explain(f))
    plan._compilation.begin()
    assert re.search(r"compiling since 0\.\d+ s, about \d+\.\d+ s are left", repr(tf.explain(f)))


def test_the_calls_of_both_tiers_are_counted() -> None:
    f = traced()
    for _ in range(4):
        f(tf.ones([3]))
    plan = f.get_concrete_function(tf.ones([3])).graph.plan
    assert plan._compile([tf.ones([3])._value])
    plan._decide(native=1e-6, numpy=4e-6)
    for _ in range(7):
        f(tf.ones([3]))
    assert tf.explain(f).traces[0]["calls by tier"] == {"numpy": 4, "native": 7, "recorded": 0}
    assert "4.0x as fast as NumPy: 1.0 us against 4.0 us" in repr(tf.explain(f))
    plan._decide(native=3e-6, numpy=2e-6)
    f(tf.ones([3]))
    assert tf.explain(f).traces[0]["calls by tier"] == {"numpy": 5, "native": 7, "recorded": 0}
    assert "slower than NumPy by 1.50x: 2.0 us with NumPy against 3.0 us" in repr(tf.explain(f))
    plan._decide(native=1.97e-6, numpy=2e-6)
    assert "NumPy is as fast: 2.0 us with NumPy against 2.0 us" in repr(tf.explain(f))


def test_a_machine_without_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_reason_off", lambda: "LLVM is not installed")
    flags.execution = "native"
    f = traced()
    f(tf.ones([3]))
    assert "not compiled: the native tier is off: LLVM is not installed" in repr(tf.explain(f))
    assert tf.explain(f).traces[0]["calls by tier"] == {"numpy": 1, "native": 0, "recorded": 0}


_TWICE = """
import weft as tf
@tf.function(jit_compile=True)
def f(x):
    return tf.exp(x) * 2.0
f(tf.ones([3]))
print(tf.explain(f))
"""


def test_code_that_was_kept(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(_TWICE)
    told = [
        subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "kept")},
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert "compiled at the first call" in told[0]
    assert re.search(r"kept from disk, loaded at the first call \(jit_compile=True\) in", told[1])


def test_off_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_EXECUTION", "numpy")
    flags.execution = "numpy"
    f = traced()
    f(tf.ones([3]))
    assert "off: WEFT_EXECUTION=numpy in the environment" in repr(tf.explain(f))
