"""The compiler is loaded between a decorator and the first call, and is in nobody's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from weft._src.execution import preloading, turns

_LLVM = "'llvmlite.binding' in sys.modules"
_MAKE = """
import os, sys, time
import weft as tf
from weft._src.execution import preloading
preloading.is_one_idle = lambda: {idle}
def loaded(seconds):
    until = time.monotonic() + seconds
    while "weft._src.execution.native.driver" not in sys.modules and time.monotonic() < until:
        time.sleep(0.01)
    return "weft._src.execution.native.driver" in sys.modules
@tf.function
def f(x):
    return x + 1
"""


def _run(folder: Path, source: str, *, idle: bool = True, before: str = "") -> list[str]:
    file = folder / "program.py"
    file.write_text(before + _MAKE.format(idle=idle) + source, encoding="utf-8")
    command = [sys.executable, "-W", "error", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_a_function_will_need_is_loaded_after_it_was_made(tmp_path: Path) -> None:
    assert _run(tmp_path, "print(loaded(30.0))") == ["True"]


def test_nothing_is_loaded_where_no_processor_is_idle(tmp_path: Path) -> None:
    assert _run(tmp_path, f"print(loaded(0.5), {_LLVM})", idle=False) == ["False", "False"]


def test_nothing_is_loaded_for_programs_that_want_numpy(tmp_path: Path) -> None:
    before = "import weft; weft.config.execution = 'numpy'"
    assert _run(tmp_path, "print(loaded(0.5))", before=before) == ["False"]


def test_a_call_right_away_is_not_held_up(tmp_path: Path) -> None:
    source = f"f(tf.constant(1.0)); time.sleep(0.3); print({_LLVM})"
    assert _run(tmp_path, source) == ["False"]


def test_a_process_may_end_while_it_loads(tmp_path: Path) -> None:
    assert _run(tmp_path, "time.sleep(0.02)") == []


def test_a_process_may_fork_while_it_loads(tmp_path: Path) -> None:
    source = """
import warnings
warnings.simplefilter("ignore")  # there are threads, as Python 3.12 says
time.sleep(0.02)
child = os.fork()
if not child:
    g = tf.function(lambda x: x * 2, jit_compile=True)
    os._exit(int(g(tf.constant(3))))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert _run(tmp_path, source) == ["6"]


def test_short_turns_end_where_they_began() -> None:
    before = sys.getswitchinterval()
    with turns.short_turns():
        assert sys.getswitchinterval() == pytest.approx(5e-4)
        with turns.short_turns():
            pass
        assert sys.getswitchinterval() == pytest.approx(5e-4)
    assert sys.getswitchinterval() == before


def test_a_forked_process_has_usual_turns(tmp_path: Path) -> None:
    source = """
import threading, warnings
from weft._src.execution.turns import short_turns
warnings.simplefilter("ignore")
before = sys.getswitchinterval()
with short_turns():
    child = os.fork()
    if not child:
        usual = sys.getswitchinterval() == before
        f(tf.constant(1.0))
        with short_turns():
            pass
        os._exit(7 if usual and sys.getswitchinterval() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sys.getswitchinterval() == before)
"""
    assert _run(tmp_path, source, idle=False) == ["7", "True"]


def test_an_interval_that_is_set_meanwhile_stays() -> None:
    before = sys.getswitchinterval()
    try:
        with turns.short_turns():
            sys.setswitchinterval(0.01)
        assert sys.getswitchinterval() == pytest.approx(0.01)
    finally:
        sys.setswitchinterval(before)


def test_it_begins_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloading, "is_one_idle", lambda: True)
    one = preloading._Preloading()
    one.begin()
    thread = one._thread
    one.begin()
    assert one._thread is thread
    one.stop()
    assert thread is not None
    assert not thread.is_alive()
