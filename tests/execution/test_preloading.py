"""The compiler is loaded when a function is made, and only then; threads take short turns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from weft._src.execution import turns

_LOADED = "'weft._src.execution.native.driver' in sys.modules, 'llvmlite.binding' in sys.modules"
_IMPORT = """
import os, sys
import weft as tf
"""
_MAKE = """
@tf.function
def f(x):
    return x + 1
"""


def _run(folder: Path, source: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(_IMPORT + source, encoding="utf-8")
    command = [sys.executable, "-W", "error", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_a_function_will_need_is_loaded_when_it_is_made(tmp_path: Path) -> None:
    source = f"x = tf.constant(1.0) + 1\nprint({_LOADED}){_MAKE}print({_LOADED})"
    assert _run(tmp_path, source) == ["False", "False", "True", "True"]


def test_nothing_is_loaded_for_programs_that_want_numpy(tmp_path: Path) -> None:
    source = f"tf.config.execution = 'numpy'{_MAKE}print(f(tf.constant(1.0)).numpy(), {_LOADED})"
    assert _run(tmp_path, source) == ["2.0", "False", "False"]


def test_functions_run_where_there_is_no_compiler(tmp_path: Path) -> None:
    source = f"sys.modules['llvmlite'] = None{_MAKE}print(f(tf.constant(1.0)).numpy())"
    assert _run(tmp_path, source) == ["2.0"]


def test_short_turns_end_where_they_began() -> None:
    before = sys.getswitchinterval()
    with turns.short_turns():
        assert sys.getswitchinterval() == pytest.approx(5e-4)
        with turns.short_turns():
            pass
        assert sys.getswitchinterval() == pytest.approx(5e-4)
    assert sys.getswitchinterval() == before


def test_a_forked_process_has_usual_turns(tmp_path: Path) -> None:
    source = f"""{_MAKE}
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
    assert _run(tmp_path, source) == ["7", "True"]


def test_an_interval_that_is_set_meanwhile_stays() -> None:
    before = sys.getswitchinterval()
    try:
        with turns.short_turns():
            sys.setswitchinterval(0.01)
        assert sys.getswitchinterval() == pytest.approx(0.01)
    finally:
        sys.setswitchinterval(before)
