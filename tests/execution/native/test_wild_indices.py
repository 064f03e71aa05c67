"""Machine code stays inside of its buffers, whatever indices come in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from fuzzing import indices
from weft._src.execution.native.machine import guarded

ROOT = Path(__file__).parents[3]
PARTS = 3


def child(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, which may crash."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        check=False,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_every_op_that_indexes_reports_wild_places_as_numpy_does(part: int) -> None:
    count = 2 * len(indices.cases()) // PARTS + 1  # each with int32 and with int64
    first = part * count
    run = child("-m", "fuzzing", "indices", "--seed", str(first), "--count", str(count))
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    assert f"indices: {count} cases, 0 disagreements" in run.stdout


@pytest.mark.parametrize("which", ["end", "start"])
def test_guard_pages_catch_an_access_outside(which: str) -> None:
    program = (
        "import ctypes, sys, numpy as np\n"
        "from weft._src.execution.native.machine import guarded\n"
        "array = guarded.guarded(np.arange(3, dtype=np.int32))\n"
        "numbers = ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_int32))\n"
        "print(numbers[0], numbers[2], flush=True)\n"
        "print(numbers[int(sys.argv[1])])\n"
    )
    outside = "3" if which == "end" else "-1"
    run = child("-c", program, outside, WEFT_GUARD_PAGES=which)
    assert run.stdout == "0 2\n"
    assert run.returncode == -signal.SIGSEGV


def test_inputs_results_variables_and_temporaries_are_guarded() -> None:
    v = tf.Variable(np.ones((3, 5), np.float32))
    seen: list[Any] = []
    plain = guarded._Pages.of

    def spying(nbytes: int) -> Any:
        seen.append(nbytes)
        return plain(nbytes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guarded._Pages, "of", staticmethod(spying))

        @tf.function(jit_compile=True)
        def step(x: Any) -> Any:
            e = tf.exp(x)
            v.assign_add(e * tf.reduce_sum(e))
            return tf.cumsum(e, 1)

        out = step(tf.constant(np.zeros((3, 5), np.float32)))
    assert isinstance(out._value.base, guarded._Pages)
    assert isinstance(v.handle._value.data.base, guarded._Pages)
    assert max(seen) > guarded.PAGE  # temporaries, each with a page behind it
    np.testing.assert_array_equal(v.numpy(), np.full((3, 5), 16.0))


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (2**31 - 1, tf.errors.ResourceExhaustedError),
        (-(2**31), tf.errors.OutOfRangeError),
        (-1, tf.errors.OutOfRangeError),
    ],
)
def test_a_stack_does_not_grow_to_an_absurd_length(number: int, error: type[Exception]) -> None:
    def grown(i: Any) -> Any:
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[1000])
        array = tf.while_loop(
            lambda k, _: k < 2,
            lambda k, a: (k + 1, a.write(tf.where(k == 1, i, k), tf.ones([1000]))),
            (0, array),
        )[1]
        return array.read(0)

    jitted = tf.function(grown, jit_compile=True)
    np.testing.assert_array_equal(jitted(tf.constant(1)), np.ones(1000))
    with pytest.raises(error):
        jitted(tf.constant(number))
