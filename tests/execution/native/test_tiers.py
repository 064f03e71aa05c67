"""When functions become machine code, and what happens when they cannot."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.crew import crew
from weft._src.core.flags import flags
from weft._src.execution import estimates, native, tiers
from weft._src.execution.background import Job, worker
from weft._src.execution.native import pace
from weft._src.execution.native.machine import llvm
from weft._src.graph.tracing import trace


def plan_of(function: Any, *args: Any) -> Any:
    return function.get_concrete_function(*args).graph.plan


def heavy(x: Any) -> Any:
    return tf.reduce_sum(tf.sin(x) * tf.exp(-x * x)) + tf.reduce_max(tf.tanh(x) * 0.5)


X = tf.constant(np.linspace(-2, 2, 500, dtype=np.float32))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling is worth it after the third call, whatever the clock says."""
    monkeypatch.setattr(tiers, "seconds_for", lambda graph: 0.0)
    monkeypatch.setattr(tiers, "_LEAST_SPENT", 0.0)
    monkeypatch.setattr(estimates, "_LOADING", 0.0)


def test_background_compilation_swaps_the_tier(at_once: None) -> None:
    function = tf.function(heavy)
    wanted = heavy(X).numpy()
    seen = []
    for _ in range(3):
        np.testing.assert_allclose(function(X), wanted, rtol=1e-5)
        seen.append(plan_of(function, X).tier)
    plan = plan_of(function, X)
    assert seen[:2] == ["numpy"] * 2
    plan.wait()
    assert plan.tier == "native"
    for _ in range(2 * tiers._MOST_TRIALS + 2):
        np.testing.assert_allclose(function(X), wanted, rtol=1e-5)
    # Whichever was faster by measurement is kept, and the reason is told.
    account = tf.explain(function).traces[0]["native"]
    assert plan.tier == "native" or re.search("NumPy is as fast|slower than NumPy", account)
    assert "compiled in" in account


def test_a_busy_caller_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that never let go of the interpreter do not stay on NumPy for ever."""
    monkeypatch.setattr(tiers, "seconds_for", lambda graph: 1e-3)
    monkeypatch.setattr(estimates.experience, "factor", 1.0)
    monkeypatch.setattr(estimates, "_LOADING", 0.0)
    monkeypatch.setattr(estimates, "_ADVANCING", 2.0)  # as if the compiler starved
    function = tf.function(heavy)
    function(X)
    plan = plan_of(function, X)
    until = time.monotonic() + 60
    while not plan.compiled and time.monotonic() < until:  # how often depends on the processor
        function(X)
    assert plan.compiled
    assert not pace.is_in_background()  # who compiles because he waits is not slowed down


def test_variables_live_through_the_swap(at_once: None) -> None:
    v = tf.Variable(tf.zeros([7]))
    step = tf.function(lambda x: v.assign_add(tf.sin(x) * 0.0 + 1.0))
    for k in range(1, 40):
        assert float(step(tf.ones([7]))[3]) == k
        if k == 5:
            plan_of(step, tf.ones([7])).wait()
    assert v.numpy().tolist() == [39.0] * 7


def test_the_slower_tier_is_dropped(at_once: None) -> None:
    function = tf.function(heavy)
    for _ in range(3):
        function(X)
    plan = plan_of(function, X)
    plan.wait()
    plan._takes_turns = True
    plan._turns = ([1.0] * tiers._TRIALS, [0.0] * tiers._TRIALS)  # NumPy cannot be beaten
    for _ in range(2):
        function(X)
    assert plan.tier == "numpy"
    assert "slower than NumPy by" in tf.explain(function).traces[0]["native"]
    np.testing.assert_allclose(function(X), heavy(X), rtol=1e-6)


def test_threads_that_try_it_at_once(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tier is told its own times, and not those of waiting for other threads."""
    function = tf.function(heavy)
    for _ in range(3):
        function(X)
    plan = plan_of(function, X)
    plan.wait()
    by_numpy, meeting = plan.numpy, threading.Barrier(2)
    calls: list[str] = []

    def slow(*values: Any) -> Any:
        calls.append("numpy")
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass
        return by_numpy(*values)

    def waits(*values: Any) -> Any:
        calls.append("native")
        time.sleep(0.02)  # not by itself
        return by_numpy(*values)

    monkeypatch.setitem(plan.__dict__, "numpy", slow)
    monkeypatch.setattr(type(plan), "_native", property(lambda self: waits))
    monkeypatch.setattr(plan, "_trials", [])
    monkeypatch.setattr(plan, "run", plan._on_trial)

    def work() -> None:
        meeting.wait()
        for _ in range(2 * tiers._TRIALS):
            plan._on_trial(X)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plan.speed is not None
    numpy, native = plan.speed
    assert numpy > 0.005 > native
    assert plan.tier == "native"
    assert set(calls) == {"numpy", "native"}


@pytest.mark.parametrize(
    ("numpy", "native", "tier"), [(1.0, 1e-9, "native"), (1e-9, 1.0, "numpy"), (1.0, 1.0, "numpy")]
)
def test_the_trial_compares_with_earlier_calls(
    numpy: float, native: float, tier: str, at_once: None
) -> None:
    """Turns are taken only where machine code and what NumPy took before are about as fast."""
    function = tf.function(heavy)
    for _ in range(3):
        function(X)
    plan = plan_of(function, X)
    plan.wait()
    plan._best, plan._trials = numpy, [native] * (tiers._FIRST_TRIALS - 1)
    plan._decide_at_once(native) if native != numpy else None
    if native == numpy:
        plan._trials = [native] * tiers._FIRST_TRIALS
        plan._decide_at_once(native)
        assert plan._takes_turns
        plan._turns = ([native] * tiers._TRIALS, [numpy] * tiers._TRIALS)
        plan._decide(native, numpy)
    assert plan.tier == tier
    assert plan.speed == (numpy, native)


def test_what_the_first_call_loads_is_no_reason_to_compile() -> None:
    def load(x: Any) -> Any:
        if not loaded:
            loaded.append(True)
            time.sleep(0.3)
        return x

    loaded: list[bool] = []
    function = tf.function(lambda x: tf.numpy_function(load, [x], tf.float32) + 1.0)
    function(X)
    plan = plan_of(function, X)
    assert plan._spent > 0.3
    function(X)
    assert plan._spent < 0.3
    assert plan.run == plan._watched


def test_threads_that_come_together_begin_one_compilation(
    at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[Any] = []
    monkeypatch.setattr(tiers.worker, "submit", submitted.append)
    function = tf.function(heavy)
    function(X)
    plan = plan_of(function, X)
    plan._spent = 9.0
    plan._consider([X.numpy()])
    first = plan._compilation
    plan.run = plan._watched  # as another thread saw it, just before
    plan._consider([X.numpy()])
    assert plan._compilation is first
    (job,) = submitted
    job()
    assert plan.tier == "native"


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the compiler was asked to do, which is expected to take 0.8 seconds."""
    monkeypatch.setattr(tiers, "seconds_for", lambda graph: 0.8)
    monkeypatch.setattr(estimates.experience, "factor", 1.0)
    monkeypatch.setattr(estimates, "_LOADING", 0.0)
    asked: list[Any] = []
    monkeypatch.setattr(worker, "submit", asked.append)
    return asked


def test_the_compiler_does_not_begin_beside_calls_that_use_all_processors(
    began: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "is_one_idle", lambda: True)

    def plan_with(large_products: float) -> Any:
        for part in ("bound_part", "part_in_products"):
            monkeypatch.setattr(tiers, part, lambda count, best: large_products / best)
        plan = tiers.TieredPlan(trace(heavy, [tf.TensorSpec(X.shape, X.dtype)]))
        plan._best, plan._calls = 0.01, 2
        return plan

    for large_products, spent, begins in (
        (0.0, 0.06, True),
        (0.005, 0.06, False),
        (0.005, 1.5, False),
        (0.005, 1.7, True),  # half of it in products
    ):
        plan = plan_with(large_products)
        plan._spent = spent
        plan._consider([X.numpy()])
        assert bool(began) == begins
        began.clear()
    told = plan_with(0.005)
    told._spent = 1.0
    assert re.fullmatch(
        r"waiting: NumPy has spent 1\.000 s, 0\.500 s of them in large products, compiling takes "
        r"about 0\.80 s and begins at 1\.60 s",
        told._waits(),
    )


@pytest.mark.parametrize(
    ("shares", "is_idle", "spent", "begins"),
    [(False, True, 0.03, True), (False, False, 0.03, False), (False, False, 0.11, True),
     (True, True, 0.19, False), (True, True, 0.21, True), (True, False, 0.79, False),
     (True, False, 0.81, True)],
)  # fmt: skip
def test_when_the_compiler_begins_beside_calls(
    shares: bool,
    is_idle: bool,
    spent: float,
    begins: bool,
    began: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "is_one_idle", lambda: is_idle)
    plan = tiers.TieredPlan(trace(heavy, [tf.TensorSpec(X.shape, X.dtype)]))

    def call(*values: Any) -> Any:
        if shares:
            crew.share(lambda number: None, 2)

    plan.numpy = call  # what takes its place in a plan that has been used
    plan._timed([X.numpy()])
    plan._spent = spent
    plan._consider([X.numpy()])
    assert bool(began) == begins


def test_to_have_waited_for_tiles_is_no_rent() -> None:
    plan = tiers.TieredPlan(trace(heavy, [tf.TensorSpec(X.shape, X.dtype)]))
    plan.numpy = lambda *values: worker.finish(Job(lambda: time.sleep(0.2)))
    plan._timed([X.numpy()])
    assert 0.0 <= plan._spent < 0.1


def test_what_is_going_to_happen_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tiers, "seconds_for", lambda graph: 3.0)
    monkeypatch.setattr(tiers, "is_one_idle", lambda: False)
    monkeypatch.setattr(estimates.experience, "factor", 1.0)
    monkeypatch.setattr(estimates, "_LOADING", 0.0)
    function = tf.function(heavy)
    function(X)
    told = tf.explain(function).traces[0]["native"]
    assert re.fullmatch(
        r"waiting: NumPy has spent 0\.\d+ s, compiling takes about 3\.00 s and begins at 0\.38 s",
        told,
    )
    function(X)
    plan = plan_of(function, X)
    plan._spent = 2.0
    begun, go_on = threading.Event(), threading.Event()
    worker.submit(lambda: (begun.set(), go_on.wait()))  # something else is compiled first
    begun.wait()
    with caplog.at_level(logging.INFO, "weft"):
        for _ in range(3):
            function(X)
    assert "waits for other functions" in tf.explain(function).traces[0]["native"]
    assert re.search(r"heavy has taken 2\.\d+ s with NumPy and is compiled", caplog.text)
    go_on.set()
    plan.wait()
    for _ in range(2 * tiers._MOST_TRIALS + 5):
        function(X)
    told = tf.explain(function).traces[0]["native"]
    assert re.search(
        r"x as fast as NumPy: [\d.]+ us against [\d.]+ us|NumPy is as fast|slower than", told
    )


def test_estimates() -> None:
    """What costs time are different nodes; the length of the code tells more than the graph."""

    def chain(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = tf.tanh(x) + 1.0
        return x

    def seconds(function: Any) -> float:
        return estimates.seconds_for(tf.function(function).get_concrete_function(X).graph)

    assert seconds(lambda x: chain(x, 100)) < 2 * seconds(lambda x: chain(x, 3))
    assert seconds(heavy) > seconds(lambda x: chain(x, 3))
    compilation = estimates.Compilation(100.0)
    assert compilation.left > 10.0
    compilation.begin()
    compilation.code_is_written(50_000)
    assert 0.0 < compilation.left < 10.0
    compilation.end()


@pytest.mark.parametrize(
    ("jit", "execution", "tier"),
    [
        (None, "numpy", "numpy"),
        (None, "native", "native"),
        (False, "native", "native"),
        (False, "numpy", "numpy"),
        (True, "auto", "native"),
        (None, "auto", "numpy"),
    ],
)
def test_settings(
    jit: bool | None, execution: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", execution)
    function = tf.function(lambda x: tf.sin(x) * 2.0, jit_compile=jit)
    for _ in range(2):
        function(tf.ones([3]))
    assert plan_of(function, tf.ones([3])).tier == tier
    assert tf.explain(function).traces[0]["tier"] == tier


def test_a_wrong_setting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "execution", "fast")
    with pytest.raises(
        ValueError, match="must be 'auto', 'numpy', 'native', 'xla' or 'verify', got 'fast'"
    ):
        tf.function(lambda x: x + 1)(tf.constant(1))


def test_deterministic_functions_switch_at_a_fixed_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "deterministic", True)

    def run() -> tuple[list[str], list[bytes]]:
        function = tf.function(heavy)
        tiers_seen, bits = [], []
        for _ in range(14):
            bits.append(function(X).numpy().tobytes())
            tiers_seen.append(plan_of(function, X).tier)
        return tiers_seen, bits

    first, second = run(), run()
    assert first == second
    assert first[0] == ["numpy"] * 9 + ["native"] * 5


# --- shapes -------------------------------------------------------------------------------------


def test_every_shape_gets_code_of_its_own_up_to_a_bound() -> None:
    function = tf.function(heavy, jit_compile=True, input_signature=[tf.TensorSpec([None])])
    for turn in range(2):
        for n in range(1, 8):
            x = tf.constant(np.linspace(-1, 1, n, dtype=np.float32))
            np.testing.assert_allclose(function(x), heavy(x), rtol=1e-5, err_msg=f"{turn} {n}")
    plan = plan_of(function)
    assert len(plan.compiled) == tiers._MOST_SHAPES == 4
    assert function.experimental_get_tracing_count() == 1
    assert "4 sets of shapes" in tf.explain(function).traces[0]["native"]


def test_unknown_rank() -> None:
    function = tf.function(
        lambda x: tf.reduce_sum(x * x, -1), jit_compile=True, input_signature=[tf.TensorSpec(None)]
    )
    for shape in ((3,), (2, 3), (4, 2, 3), (2, 3)):
        x = tf.ones(shape)
        np.testing.assert_array_equal(function(x), np.full(shape[:-1], 3.0))


# --- bad luck -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["native", "jit", "deterministic", "background"])
def test_functions_survive_a_failure_of_llvm(
    how: str, at_once: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> Any:
        raise RuntimeError("no executable memory")

    monkeypatch.setattr(llvm, "compile_text", broken)
    monkeypatch.setattr(tf.config, "execution", "native" if how == "native" else "auto")
    monkeypatch.setattr(flags, "deterministic", how == "deterministic")
    function = tf.function(heavy, jit_compile=True if how == "jit" else None)
    with caplog.at_level(logging.WARNING, "weft"):
        for _ in range(12):
            np.testing.assert_allclose(function(X), heavy(X), rtol=1e-6)
        plan_of(function, X).wait()
        function(X)
    assert plan_of(function, X).tier == "numpy"
    (line,) = [r.getMessage() for r in caplog.records]
    assert (
        line
        == "heavy could not be compiled and goes on with NumPy: RuntimeError: no executable memory"
    )
    assert "no executable memory" in tf.explain(function).traces[0]["native"]


def test_a_failure_for_one_shape_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    function = tf.function(heavy, jit_compile=True, input_signature=[tf.TensorSpec([None])])
    function(tf.ones([3]))
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "compile_text", lambda text: 1 / 0)
        for n in (4, 3, 5, 6, 7, 8, 3):
            np.testing.assert_allclose(function(tf.ones([n])), heavy(tf.ones([n])), rtol=1e-6)
    plan = plan_of(function)
    assert plan.tier == "native"
    assert len(plan.compiled) == 1
    assert len(caplog.records) == tiers._MOST_SHAPES - 1  # it is not tried again and again


def test_functions_survive_without_llvm(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "weft._src.execution.native.driver", None)  # import fails
    monkeypatch.delattr(native, "driver", raising=False)
    function = tf.function(heavy, jit_compile=True)
    np.testing.assert_allclose(function(X), heavy(X), rtol=1e-6)
    assert len(caplog.records) == 1
    assert "goes on with NumPy" in caplog.text
