"""Ctrl-C ends whatever takes long, and everything goes on working afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

_PROGRAM = """
import weft as tf

v = tf.Variable(0)
{work}
try:
    print("ready", flush=True)
    run(True)
except KeyboardInterrupt:
    print("stopped", flush=True)
run(False)
v.assign_add(1)
print("fine", flush=True)
"""

_WORK = {
    "machine code, a loop in a loop": """
@tf.function(jit_compile=True)
def run(forever):
    n = tf.where(forever, tf.constant(10**12, tf.int64), 10)
    i = tf.constant(0, tf.int64)
    while i < n:
        v.assign_add(1)
        j = tf.constant(0, tf.int64)
        while j < n:
            j += 1
        i += j
run(tf.constant(False))
""",
    "generated NumPy code": """
tf.config.execution = "numpy"

@tf.function
def run(forever):
    i = tf.constant(0)
    while tf.constant(forever) or i < 10:
        v.assign_add(1)
        i += 1
""",
    "regular expressions in machine code": r"""
tf.config.execution = "native"
x = tf.constant(["ab<c>d"] * 300_000)

def run(forever):
    tf.strings.regex_replace(x, "(<[^>]+>)|(ab)", r"<\1\2>")
    while forever:
        tf.strings.regex_full_match(x, "ab.*")
        tf.strings.regex_replace(x, "(<[^>]+>)|(ab)", r"<\1\2>")
""",
    "a dataset": """
def slow(i):
    n = tf.where(forever_v, tf.constant(10**12, tf.int64), 10)
    return tf.while_loop(lambda j: j < n, lambda j: j + 1, (tf.constant(0, tf.int64),))

forever_v = tf.Variable(False)
dataset = tf.data.Dataset.range(3).map(slow, num_parallel_calls=2).prefetch(1)

def run(forever):
    forever_v.assign(forever)
    for _ in dataset:
        pass
""",
}


@pytest.mark.parametrize("work", _WORK)
def test_long_work_can_be_interrupted(work: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"  # a file: AutoGraph needs the source
    program.write_text(_PROGRAM.format(work=_WORK[work]))
    process = subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(90, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        threading.Event().wait(0.5)  # until it is at work
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        watchdog.cancel()
        process.kill()
    assert [ready, *out.splitlines()] == ["ready\n", "stopped", "fine"], err[-3000:]
