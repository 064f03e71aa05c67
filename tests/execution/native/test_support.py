"""Where machine code cannot run: everything else does, and the reason is told."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from typing import Any

import llvmlite.binding as llvm
import pytest

from weft._src.execution.native.machine import support

# What is missing, and what is said about it.
MISSING = {
    "del os.register_at_fork, os.fork": "this Python has no os.register_at_fork",
    "sys.version_info = (3, 99, 0, 'final', 0)": "the objects of cpython 3.99 are not known to it",
    "sys.modules['llvmlite'] = None": "llvmlite cannot be imported: ModuleNotFoundError",
    "support.LAYOUT['tuple items'] = 32": "a tuple has something else where it expects its items",
}

EARLY = ("del os.register_at_fork", "sys.modules")  # before anything is imported


def run(missing: str, program: str) -> str:
    """What a process without something prints and logs; it has to end well."""
    early, late = (missing, "") if missing.startswith(EARLY) else ("", missing)
    source = f"""
        import os, sys, sysconfig
        {early}
        import weft as tf
        from weft._src.execution.native.machine import support
        {late}
        {program}
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


CALLS = (
    "f = tf.function(lambda x: tf.reduce_sum(tf.exp(x)), jit_compile=True); "
    "g = tf.function(lambda x: tf.sin(x) * 2.0); tf.config.execution = 'native'; "
    "print(f(tf.zeros([3])).numpy(), g(tf.zeros([2])).numpy(), f(tf.zeros([5])).numpy()); "
    "print(tf.explain(f)); "
    "tf.config.execution = 'verify'; print(tf.function(lambda x: x + 4)(tf.constant(3)).numpy()); "
    "from weft._src.tools.cli import main; print('exit code', main(['doctor']))"
)


@pytest.mark.parametrize("missing", MISSING)
def test_everything_runs_on_numpy_and_the_reason_is_told(missing: str) -> None:
    out = run(missing, CALLS)
    reason = MISSING[missing]
    assert "3.0 [0. 0.] 5.0" in out
    assert "\n7\n" in out
    assert out.count("The native tier is off, all functions run on NumPy:") == 1
    assert "1 call: 1 on NumPy" in out
    assert f"not compiled: the native tier is off: {reason}" in out
    assert re.search(f"tier native +off: {re.escape(reason)}", out)
    assert "exit code 1" in out


def test_where_all_is_known_nothing_is_said() -> None:
    out = run("", "print(support.reason_off())")
    assert out == "None\n"


def _without_memory(path: Any) -> object:
    return object()


@pytest.mark.parametrize(
    ("owner", "name", "value", "reason"),
    [
        (os, "name", "nt", "it is written for POSIX systems, and this one is 'nt'"),
        (support, "_WORD", 4, "it needs a process of 64 bits, and this one has 32"),
        (ctypes, "CDLL", _without_memory, "the C library of this system has no aligned_alloc"),
        (sys.implementation, "name", "pypy", "those of CPython 3.11, 3.12, 3.13 are"),
        (sysconfig, "get_config_var", lambda name: 1, "a Python without a global lock"),
        (llvm, "llvm_version_info", (15, 0, 7), "LLVM 15 does not know its code; llvmlite 0.45 or"),
        (support, "_KNOWN_NUMPY", 3, "has the version 2, and 3 is known to it"),
    ],
)
def test_other_systems(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, value: Any, reason: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, value)
        said = support.reason_off.__wrapped__()  # what is remembered is about this system
    assert reason in (said or "")


def test_every_offset_of_the_table_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert support._objects() is None
    for field in support.LAYOUT:
        with monkeypatch.context() as patch:
            patch.setitem(support.LAYOUT, field, support.LAYOUT[field] + 8)
            if field == "array sizes":  # what lies there is the pointer to the strides
                assert support._objects() is not None
            else:
                assert field.split()[-1] in (support._objects() or ""), field
        with monkeypatch.context() as patch:
            if field != "array sizes":
                patch.setitem(support.LAYOUT, field, 10_000)
                assert field.split()[-1] in (support._objects() or ""), field
