"""Machine code among threads, forks and signals; each program runs in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import compile_native


class Program:
    """Runs programs from a file, where AutoGraph finds their source."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "program.py"

    def start(self, source: str, **settings: str) -> subprocess.Popen[str]:
        self._file.write_text(textwrap.dedent(source), encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, self._file],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        )

    def __call__(self, source: str, **settings: str) -> tuple[str, str]:
        """What a program printed and what it complained about; it has to end well."""
        process = self.start(source, **settings)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        assert process.returncode == 0, err
        return out, err


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


# --- Ctrl-C -------------------------------------------------------------------------------------

ENDLESS = """
import weft as tf
v, w = tf.Variable(0), tf.Variable(0)
late = tf.Variable([1.0, 2.0])

@tf.function(jit_compile=True)
def run(forever):
    i = tf.constant(0)
    while forever or i < 10:
        v.assign_add(1)
        w.assign(v * 2)
        i += 1
    late.assign([0.0, 0.0])
    return i

assert run(tf.constant(False)).numpy() == 10
assert v.numpy() == 10 and w.numpy() == 20 and late.numpy()[0] == 0
late.assign([1.0, 2.0])
try:
    print("ready", flush=True)
    run(tf.constant(True))
except KeyboardInterrupt:
    print("stopped", flush=True)
assert v.numpy() >= 10, v
assert w.numpy() == 2 * v.numpy(), (v, w)  # the iteration was completed
assert late.numpy().tolist() == [1.0, 2.0]  # what stands after the loop has not happened
assert run(tf.constant(False)).numpy() == 10  # and the function goes on working
print("fine", flush=True)
"""


def test_an_endless_loop_can_be_interrupted(program: Program) -> None:
    process = program.start(ENDLESS)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        threading.Event().wait(0.2)  # until it is in the loop
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        watchdog.cancel()
    assert [ready, *out.splitlines()] == ["ready\n", "stopped", "fine"], err


def test_variables_written_at_the_end_stay_when_a_loop_is_interrupted(program: Program) -> None:
    out, _ = program(
        """
        import os, signal, threading
        import weft as tf

        v = tf.Variable([1.0, 2.0])

        @tf.function(jit_compile=True)
        def run(forever):
            x = v * 1.0
            i = 0
            while forever or i < 3:
                x = x * 0.5 + 1.0
                i += 1
            v.assign(x)

        run(tf.constant(False))
        before = v.numpy().tolist()
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            run(tf.constant(True))
        except KeyboardInterrupt:
            print("stopped")
        assert v.numpy().tolist() == before
        """
    )
    assert out == "stopped\n"


# --- threads ------------------------------------------------------------------------------------


def test_one_executable_in_many_threads() -> None:
    """Scratch memory and results are those of the call, not of the executable."""

    def function(x: Any, n: Any) -> Any:
        y = tf.nn.softmax(x @ tf.transpose(x))
        z = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y @ y), (0, y))[1]
        return tf.reduce_sum(z, 0), z

    compiled, _ = compile_native(function, np.ones((40, 8), np.float32), np.int32(1))
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(40, 8)).astype(np.float32) for _ in range(8)]
    n = np.array(20, np.int32)
    wanted = [compiled(x, n) for x in inputs]

    def many(k: int) -> None:
        for _ in range(30):
            for a, b in zip(compiled(inputs[k], n), wanted[k], strict=True):
                np.testing.assert_array_equal(a, b)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(many, range(8)))


def test_updates_from_many_threads_are_all_counted() -> None:
    v = tf.Variable(tf.zeros([50]))
    step = tf.function(lambda x: v.assign_add(x), jit_compile=True)
    one = tf.ones([50])
    step(one)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: [step(one) for _ in range(100)], range(6)))
    assert v.numpy().tolist() == [601.0] * 50


def test_readers_never_see_half_an_update() -> None:
    v = tf.Variable(tf.zeros([20_000]))
    step = tf.function(lambda: v.assign_add(tf.ones([20_000])), jit_compile=True)
    spread = tf.function(lambda: tf.reduce_max(v) - tf.reduce_min(v), jit_compile=True)
    step(), spread()
    with ThreadPoolExecutor(3) as pool:
        writer = pool.submit(lambda: [step() for _ in range(200)])
        readers = [pool.submit(lambda: {float(spread()) for _ in range(200)}) for _ in range(2)]
        writer.result()
        assert [r.result() for r in readers] == [{0.0}, {0.0}]


def test_threads_that_compile_at_the_same_time() -> None:
    functions = [tf.function(lambda x, k=k: tf.sin(x) * k, jit_compile=True) for k in range(4)]
    x = tf.constant(np.linspace(0, 1, 9, dtype=np.float32))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: functions[i % 4](x), range(16)))
    for i, result in enumerate(results):
        np.testing.assert_allclose(result, np.sin(x.numpy()) * (i % 4), rtol=1e-6)


def test_results_do_not_depend_on_the_number_of_threads(program: Program) -> None:
    out, _ = program(
        """
        import sys
        import numpy as np
        import weft as tf

        @tf.function(jit_compile=True)
        def f(x):
            y = tf.sin(x) * 3.0 + x
            middle = tf.reduce_sum(tf.reshape(x, [30, 10, 4001]), 1)
            return tf.reduce_sum(y), tf.reduce_mean(y * y), tf.reduce_max(y, 0), y, middle

        shape = (300, 4001)
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        if len(sys.argv) > 1:  # each number of threads needs a process of its own
            tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
            sys.stdout.buffer.write(b"".join(t.numpy().tobytes() for t in f(x)))
        else:
            import hashlib, subprocess
            runs = [subprocess.Popen([sys.executable, __file__, n], stdout=-1) for n in "123"]
            print(len({hashlib.sha256(run.communicate()[0]).hexdigest() for run in runs}))
            assert not any(run.returncode for run in runs)
            wanted = np.sin(x, dtype=np.float64) * 3 + x
            np.testing.assert_allclose(f(x)[0], wanted.sum(), rtol=1e-4)
            np.testing.assert_allclose(f(x)[3], wanted, rtol=1e-5, atol=1e-5)
            rows = x.reshape(30, 10, 4001).sum(1, np.float64)
            np.testing.assert_allclose(f(x)[4], rows, rtol=1e-5, atol=1e-5)
        """
    )
    assert out == "1\n"


# --- forks --------------------------------------------------------------------------------------

FORK = """
import os, sys, threading, warnings
import numpy as np
import weft as tf
warnings.simplefilter("ignore")  # Python warns of forks in processes with threads

def child(run):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status

x = tf.constant(np.linspace(-1, 1, 300_000, dtype=np.float32))
f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * x), jit_compile=True)
new = lambda k: tf.function(lambda x: tf.reduce_sum(tf.exp(x) * k), jit_compile=True)
"""


def test_a_fork_after_compiling(program: Program) -> None:
    out, _ = program(
        FORK
        + """
wanted = f(x).numpy()

def run():
    assert f(x).numpy() == wanted  # the code is there, and needs no threads of the parent
    assert new(2.0)(x).numpy() > 0  # and more can be compiled

child(run)
assert f(x).numpy() == wanted
print("fine")
"""
    )
    assert out == "fine\n"


def test_a_fork_while_compiling(program: Program) -> None:
    out, _ = program(
        FORK
        + """
stop = threading.Event()

def compile_all_the_time():
    k = 0.0
    while not stop.is_set():
        k += 1.0
        new(k)(x)

sys.setswitchinterval(1e-5)  # so that forks meet every kind of work
thread = threading.Thread(target=compile_all_the_time)
thread.start()
for k in range(10):
    child(lambda: new(-1.0 - k)(x))
stop.set()
thread.join()
print("fine")
"""
    )
    assert out == "fine\n"


def test_a_fork_while_compiling_in_the_background(program: Program) -> None:
    out, _ = program(
        FORK
        + """
from weft._src.execution import tiers
tiers._LEAST_SPENT, tiers.seconds_for = 0.0, lambda graph: 0.0
g = tf.function(lambda x: tf.reduce_sum(tf.sin(x) * tf.sin(x)))
wanted = [g(x).numpy() for _ in range(3)][0]  # the third call starts the thread

def run():
    for _ in range(20):
        np.testing.assert_allclose(g(x), wanted, rtol=1e-3)
    h = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * 2.0 + tf.exp(x)))
    for _ in range(4):
        h(x)
    h.get_concrete_function(x).graph.plan.wait()  # it has a thread of its own

child(run)
print("fine")
"""
    )
    assert out == "fine\n"


def test_a_fork_while_a_function_waits_for_its_code(program: Program) -> None:
    out, _ = program(
        FORK
        + """
@tf.function
def g(x):
    for k in range(60):
        x = tf.sin(x) * tf.reduce_sum(x * float(k)) + tf.linalg.norm(x)
    return x

few = x[:3000]
g(few)
plan = g.get_concrete_function(few).graph.plan
while plan._compilation is None:
    g(few)
while not plan._compilation.began:
    threading.Event().wait(0.001)
assert plan.run == plan._waiting

def run():
    assert "waiting" in plan.account()  # the thread of the parent is not here
    for _ in range(3):
        g(few)
    plan.wait()

child(run)
print("fine")
"""
    )
    assert out == "fine\n"


def test_threads_that_compile_share_one_pool(program: Program) -> None:
    out, _ = program(
        FORK
        + """
from concurrent.futures import ThreadPoolExecutor
from weft._src.execution.native.machine import llvm, pool

plain_code, made = llvm.plain_code, []

def slowly(text):
    if text == pool._text():
        made.append(threading.get_ident())
        threading.Event().wait(0.2)  # all threads have come here, if they may
    return plain_code(text)

llvm.plain_code = slowly
together = threading.Barrier(4)

def work(k):
    together.wait()
    return new(k)(x).numpy()

with ThreadPoolExecutor(4) as threads:
    results = list(threads.map(work, [1.0, 2.0, 4.0, 8.0]))
assert len(made) == 1, made
assert results == [results[0] * k for k in (1.0, 2.0, 4.0, 8.0)], results
print("fine")
"""
    )
    assert out == "fine\n"


def test_the_interpreter_ends_while_compiling(program: Program) -> None:
    out, err = program(
        """
        import weft as tf
        from weft._src.execution import tiers
        tiers._LEAST_SPENT, tiers.seconds_for = 0.0, lambda graph: 0.0

        @tf.function
        def f(x):
            for k in range(20):
                x = tf.sin(x) * tf.reduce_sum(x) + float(k)
            return x

        for _ in range(3):
            f(tf.ones([5]))
        print("fine")
        """
    )
    assert (out, err) == ("fine\n", "")


@pytest.mark.parametrize("execution", ["numpy", "native"])
def test_the_environment_sets_the_tier(execution: str, program: Program) -> None:
    out, _ = program(
        """
        import weft as tf
        f = tf.function(lambda x: tf.sin(x) * 2.0)
        f(tf.ones([3]))
        print(tf.explain(f).traces[0]["tier"])
        """,
        WEFT_EXECUTION=execution,
    )
    assert out == f"{execution}\n"
