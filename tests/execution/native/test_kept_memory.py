"""Memory of large results is used again when they are gone, and never before."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import compile_native
from weft._src.core.flags import flags
from weft._src.execution.native.machine import kept_memory

handler_name = np._core.multiarray.get_handler_name  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _usual_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "guard_pages", "")


def compiled(*shape: int) -> tuple[Any, list[Any]]:
    return compile_native(lambda x: (x + 1.0, x * 2.0), np.ones(shape, np.float32))


def test_a_result_lies_where_one_has_lain() -> None:
    call, values = compiled(600, 500)
    first = call(*values)
    places = {x.ctypes.data for x in first}
    assert all(place % 64 == 0 for place in places)
    del first
    again = call(*values)
    assert {x.ctypes.data for x in again} == places


def test_what_is_used_is_not_touched() -> None:
    call, values = compiled(600, 500)
    kept = []
    for i in range(70):  # more than are kept
        values[0] = np.full((600, 500), i, np.float32)
        plus, twice = call(*values)
        kept.append((i, plus if i % 2 else twice))
        del plus, twice
    for i, array in kept:
        np.testing.assert_array_equal(array, i + 1 if i % 2 else 2 * i)
    view = kept.pop(3)[1][10:20]  # all that is left of a result
    del kept, array
    for _ in range(3):
        call(*values)
    np.testing.assert_array_equal(view, 4)


def test_arrays_are_arrays_like_any() -> None:
    call, values = compiled(300, 400)
    plus, _ = call(*values)
    assert handler_name(plus) == "weft"
    assert plus.flags.owndata
    assert plus.base is None
    plus.resize((800, 900), refcheck=False)
    np.testing.assert_array_equal(plus.ravel()[:120_000], 2)
    plus.resize((3,), refcheck=False)
    np.testing.assert_array_equal(plus, 2)


def test_other_arrays_have_the_usual_allocator() -> None:
    call, values = compiled(300, 400)
    call(*values)
    assert handler_name() == "default_allocator"
    assert handler_name(np.ones((1000, 1000))) == "default_allocator"
    small, small_values = compiled(3, 4)
    assert handler_name(small(*small_values)[0]) == "default_allocator"


def test_an_allocator_of_the_user_is_there_again() -> None:
    """Also where there is no memory for a result."""
    call, values = compiled(300, 400)
    call(*values)
    huge = tf.function(lambda x: tf.fill((1 << 22, 1 << 22), x), jit_compile=True)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        huge(tf.constant(1.0))
    assert handler_name() == "default_allocator"


PROGRAM = """
import resource
import numpy as np
import weft as tf
double = tf.function(lambda x: x * 2.0, jit_compile=True)
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for n in range(60):
    x = tf.constant(np.ones((8 << 20) + 64 * n, np.float32))
    double(x)
    if n == 20:
        before = most()
print(most() - before < 100_000)
last = double(x)  # still there when the process ends
"""


def test_no_more_than_so_much_is_kept() -> None:
    """Sixty results of different sizes, 32 MB each: what is kept does not grow."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


def test_where_keeping_begins() -> None:
    assert kept_memory.LEAST % 4 == 0
    call, values = compiled(kept_memory.LEAST // 4)
    assert handler_name(call(*values)[0]) == "weft"
    call, values = compiled(kept_memory.LEAST // 4 - 1)
    assert handler_name(call(*values)[0]) == "default_allocator"
