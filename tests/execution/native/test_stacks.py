"""Growing stacks as machine code: TensorArrays, gradients of loops, scan and map_fn."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, check_program, compile_native
from support.threads import in_threads
from weft._src.core.flags import flags
from weft._src.execution.native.machine import executable, trampoline

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def test_tensor_arrays() -> None:
    def function(x: Any) -> Any:
        squares = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            squares = squares.write(i, x[i] * x[i])
        last = squares.read(3)
        return squares.stack(), last, squares.gather([2, 0]), squares.concat()

    check_program(function, X)


def test_a_stack_that_grows() -> None:
    def function(n: Any, x: Any) -> Any:
        items = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        i = tf.constant(0)
        while i < n:
            items = items.write(i, x * tf.cast(i, tf.float32))
            i += 1
        return items.size(), items.read(n - 1)

    compiled, _ = compile_native(tf.autograph.to_graph(function), np.int32(3), X[0])
    for n in (1, 3, 100, 5000):  # larger than what was reserved at first
        size, last = compiled(np.array(n, np.int32), X[0])
        assert size == n
        np.testing.assert_array_equal(last, X[0] * np.float32(n - 1))
    assert compiled(np.array(0, np.int32), X[0]) is None  # there is no element -1


def test_reading_what_is_not_there_is_refused() -> None:
    def function(i: Any) -> Any:
        items = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
        return items.read(i)

    compiled, _ = compile_native(function, np.int32(0))
    assert [compiled(np.array(i, np.int32))[0] for i in range(3)] == [1.0, 2.0, 3.0]
    assert compiled(np.array(3, np.int32)) is None
    assert compiled(np.array(-1, np.int32)) is None


def _gradient(loop: Any) -> Any:
    def function(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = loop(x, w)
        return [y, *tape.gradient(y, [x, w])]

    return function


def _newton(x: Any, w: Any) -> Any:
    _, out = tf.while_loop(
        lambda i, y: i < 6,
        lambda i, y: (i + 1, y - (y * y - x) / (2.0 * y) * w),
        (0, tf.ones_like(x)),
    )
    return tf.reduce_sum(out)


def _rnn(x: Any, w: Any) -> Any:
    """Every hidden state is read again by the gradient."""
    _, h = tf.while_loop(
        lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(h @ w + x)), (0, tf.zeros([4, 3]))
    )
    return tf.reduce_sum(h * h)


def _data_dependent(x: Any, w: Any) -> Any:
    """The number of iterations is known only at run time."""
    _, y = tf.while_loop(
        lambda i, y: tf.reduce_sum(y) < 40.0, lambda i, y: (i + 1, y * (1.0 + w)), (0, tf.abs(x))
    )
    return tf.reduce_sum(y * y)


def _conditional(x: Any, w: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(i % 2 == 0, lambda: tf.sin(y) * w, lambda: y * y + x)

    return tf.reduce_sum(tf.while_loop(lambda i, y: i < 5, body, (0, x))[1])


@pytest.mark.parametrize(
    ("loop", "w"),
    [
        (_newton, np.float32(0.9)),
        (_rnn, np.float32([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6], [-0.7, 0.8, 0.9]])),
        (_data_dependent, np.float32(0.5)),
        (_conditional, np.float32(1.1)),
    ],
    ids=lambda p: getattr(p, "__name__", "").strip("_") or "w",
)
def test_gradients_of_loops(loop: Any, w: Any) -> None:
    check(_gradient(loop), np.abs(X) + np.float32(0.5), w, rtol=2e-4, atol=1e-5)


def test_scan_and_map() -> None:
    check(
        lambda x: {
            "map": tf.map_fn(lambda row: tf.reduce_sum(row) * row, x),
            "scan": tf.scan(lambda a, row: a * 0.5 + row, x),
            "scan from": tf.scan(lambda a, row: a + tf.reduce_sum(row), x, initializer=1.0),
            "fold": tf.foldl(lambda a, row: a + row, x),
        },
        X,
        rtol=1e-6,
        atol=1e-6,
    )


def test_two_stacks_in_one_loop() -> None:
    def function(x: Any) -> Any:
        evens, odds = tf.TensorArray(tf.float32, 4), tf.TensorArray(tf.int32, 4)
        for i in tf.range(4):
            evens = evens.write(3 - i, x[i, 0])
            odds = odds.write(i, 2 * i + 1)
        return evens.stack(), odds.stack()

    check_program(function, X)


def test_calls_do_not_share_stacks() -> None:
    """Memory taken during a call is given back and does not show up in the next."""
    function = tf.autograph.to_graph(lambda x: tf.map_fn(lambda row: row * 2.0, x))
    compiled, values = compile_native(function, X)
    first = compiled(*values)[0].copy()
    for k in range(50):
        np.testing.assert_array_equal(compiled(X * np.float32(k))[0], 2 * X * np.float32(k))
    np.testing.assert_array_equal(compiled(*values)[0], first)


# --- gradients of TensorArrays, nested loops and second derivatives ------------------------------


def _written(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        items = items.write(i, tf.sin(x[i]) * 2.0)
    return tf.reduce_sum(items.stack() ** 2)


def _read(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, 4).unstack(x)
    s = tf.zeros([3])
    for i in tf.range(4):
        s = tf.tanh(s + items.read(3 - i))
    return tf.reduce_sum(s)


def _gathered(x: Any) -> Any:
    return tf.reduce_sum(tf.TensorArray(tf.float32, 4).unstack(x).gather([1, 3, 1]) ** 2)


def _nested_loops(x: Any) -> Any:
    for _ in tf.range(3):
        y = x
        for _ in tf.range(4):
            y = tf.sin(y) * 1.1
        x = x * y
    return tf.reduce_sum(x)


def _inner_length_depends_on_data(x: Any) -> Any:
    i = tf.constant(0)
    while i < 3:
        j = tf.constant(0)
        while tf.cast(j, tf.float32) < tf.reduce_sum(tf.abs(x[i])) * 2.0:
            x = x * 0.9 + tf.sin(x) * 0.1
            j += 1
        i += 1
    return tf.reduce_sum(x * x)  # the sum itself is what rounding leaves of 0


def _written_in_branches(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        if tf.reduce_sum(x[i]) > 0.0:
            items = items.write(i, x[i])
        else:
            items = items.write(i, -2.0 * x[i])
    return tf.reduce_sum(items.stack() ** 3)


def _grown(x: Any) -> Any:
    items = []
    for i in tf.range(1, 4):
        items.append(x[i] * x[i - 1])  # noqa: PERF401 - the loop is what is tested
    return tf.reduce_sum(tf.stack(items) ** 2)


_LOOPS = [
    _written, _read, _gathered, _nested_loops, _inner_length_depends_on_data,
    _written_in_branches, _grown,
]  # fmt: skip


@pytest.mark.parametrize("loop", _LOOPS, ids=lambda f: f.__name__.strip("_"))
def test_first_and_second_derivatives(loop: Any) -> None:
    def function(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = loop(x)
            first = inner.gradient(y, x)
            size = tf.reduce_sum(first * first)
        return y, first, outer.gradient(size, x)

    check_program(function, X, rtol=1e-4)


# --- a stack is a value: changing it changes no other --------------------------------------------


def _older_versions(x: Any) -> Any:
    first = tf.TensorArray(tf.float32, 4).unstack(x)
    second = first.write(1, x[0])
    third = first.write(2, x[0] * 5.0)
    return first.stack(), second.stack(), third.stack()


def _used_in_a_loop_and_behind_it(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, 4).unstack(x)
    changed = items
    for i in tf.range(4):
        changed = changed.write(i, changed.read(i) + items.read(3 - i))
    return items.stack(), changed.stack()


def _exchanged(x: Any) -> Any:
    a, b = tf.TensorArray(tf.float32, 4).unstack(x), tf.TensorArray(tf.float32, 4).unstack(-x)
    for i in tf.range(3):
        a = a.write(i, x[0] * 7.0)
        a, b = b, a
    return a.stack(), b.stack()


def _two_of_one(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4).unstack(x)
    b = a
    for i in tf.range(3):
        a = a.write(i, x[3] * 7.0)
        b = b.write(3 - i, x[0] * 9.0)
        if i == 1:
            b = a
    return a.stack(), b.stack()


def _unequal_branches(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, 4).unstack(x)
    others = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x[:2])
    for i in tf.range(4):
        if i % 2 == 0:
            items = items.write(i, others.read(0))
            others = others.write(0, x[3])
    return items.stack(), others.stack()


def _begun_anew(x: Any) -> Any:
    a, b = tf.TensorArray(tf.float32, 4).unstack(x), tf.TensorArray(tf.float32, 4).unstack(-x)
    for i in tf.range(2):
        a = a.write(i, x[3] * 5.0)
        a, b = tf.TensorArray(tf.float32, 4), a
    return a.write(0, x[0]).stack(), b.stack()


_VALUES = [
    _older_versions, _used_in_a_loop_and_behind_it, _exchanged, _unequal_branches, _begun_anew,
]  # fmt: skip


@pytest.mark.parametrize("program", [*_VALUES, _two_of_one], ids=lambda f: f.__name__.strip("_"))
def test_stacks_are_values(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In graphs; eager TensorArrays change in place, as TensorFlow's do."""
    monkeypatch.setattr(tf.config, "execution", "numpy")
    wanted = tf.function(program)(tf.constant(X))
    monkeypatch.setattr(tf.config, "execution", "native")
    # A branch that hands on one of two stacks is left to NumPy.
    native = tf.function(program, jit_compile=True if program in _VALUES else None)
    for _ in range(2):
        for got, value in zip(native(tf.constant(X)), wanted, strict=True):
            np.testing.assert_array_equal(got, value)


# --- arrays whose length follows from the number of iterations -----------------------------------


def _running_sums(x: Any) -> Any:
    sums = tf.TensorArray(x.dtype, size=0, dynamic_size=True)
    total = tf.zeros([3], x.dtype)
    for i in tf.range(tf.shape(x)[0]):
        total += x[i]
        sums = sums.write(i, total)
    return sums.stack()


def _pairs(x: Any) -> Any:
    out = []
    for row in x:
        out.append(row)
        out.append(row * 2.0)
    return tf.stack(out)


@pytest.mark.parametrize("program", [_running_sums, _pairs], ids=lambda f: f.__name__.strip("_"))
def test_lengths_that_follow_from_the_iterations(program: Any) -> None:
    for rows in (4, 1):
        check_program(program, X[:rows])


def _further_on(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, size=2, dynamic_size=True)
    for i in tf.range(3):
        items = items.write(i + 1, x[i])
    return items.stack()


def _beyond_what_is_reserved(x: Any) -> Any:
    items = tf.TensorArray(tf.float32, size=2, dynamic_size=True)
    for i in tf.range(4):
        items = items.write(i, x[i])
    return items.stack()


@pytest.mark.parametrize("program", [_further_on, _beyond_what_is_reserved])
def test_lengths_that_are_not_seen_are_left_to_numpy(
    program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", "numpy")
    wanted = tf.function(program)(tf.constant(X))
    monkeypatch.setattr(tf.config, "execution", "native")
    np.testing.assert_array_equal(tf.function(program)(tf.constant(X)), wanted)


# --- memory that is kept from call to call ------------------------------------------------------


def _some_written(n: Any, x: Any) -> Any:
    """Of 30 elements every n-th is written; the others have to be zeros."""
    items = tf.TensorArray(tf.float32, 30)
    i = tf.constant(0)
    while i < 30:
        items = items.write(i, x * tf.cast(i + 1, tf.float32))
        i += n
    return items.stack()


def test_memory_of_earlier_calls_shows_no_traces() -> None:
    compiled, _ = compile_native(tf.autograph.to_graph(_some_written), np.int32(1), X[0])
    for n in (1, 7, 1, 29, 3):
        (out,) = compiled(np.array(n, np.int32), X[0])
        wanted = np.zeros((30, 3), np.float32)
        wanted[::n] = X[0] * np.arange(1, 31, n, dtype=np.float32)[:, None]
        np.testing.assert_array_equal(out, wanted)


def _two_of_different_lengths(n: Any, x: Any) -> Any:
    small = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    large = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])
    i = tf.constant(0)
    while i < n:
        small = small.write(i, tf.cast(i, tf.float32))
        large = large.write(i, x + tf.cast(i, tf.float32))
        i += 1
    return small.read(n - 1), large.read(n // 2), large.read(n - 1)


def _check_lengths(compiled: Any, n: int) -> None:
    small, middle, last = compiled(np.array(n, np.int32), X[1])
    assert small == n - 1
    np.testing.assert_array_equal(middle, X[1] + np.float32(n // 2))
    np.testing.assert_array_equal(last, X[1] + np.float32(n - 1))


def test_memory_of_longer_and_shorter_calls() -> None:
    compiled, _ = compile_native(
        tf.autograph.to_graph(_two_of_different_lengths), np.int32(3), X[1]
    )
    for n in (5, 1000, 3, 40, 20_000, 1, 500):
        _check_lengths(compiled, n)


def test_calls_at_the_same_time_have_memory_of_their_own() -> None:
    compiled, _ = compile_native(
        tf.autograph.to_graph(_two_of_different_lengths), np.int32(3), X[1]
    )

    def work(seed: int) -> None:
        for n in np.random.default_rng(seed).integers(1, 3000, 60):
            _check_lengths(compiled, int(n))

    in_threads(work)


def test_very_much_memory_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trampoline, "_MOST_SPARE", 4000)
    monkeypatch.setattr(executable, "_calling", [])
    compiled, _ = compile_native(
        tf.autograph.to_graph(_two_of_different_lengths), np.int32(3), X[1]
    )

    def kept() -> bool:
        at = 8 * trampoline.CONTEXT.index("spare")
        return struct.unpack_from("q", compiled._context, at)[0] != 0

    _check_lengths(compiled, 4)
    assert kept()
    _check_lengths(compiled, 5000)
    assert not kept()
    _check_lengths(compiled, 4)
    assert kept()


INNER = np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 5)
OUTER = np.linspace(-0.5, 0.7, 25, dtype=np.float32).reshape(5, 5)


def _recurrent(x: Any, w: Any, u: Any) -> Any:
    """A layer as libraries write it: nobody says what the lists hold."""
    steps = tf.shape(x)[1]
    inputs = tf.TensorArray(tf.float32, size=steps).unstack(tf.transpose(x, [1, 0, 2]))
    outputs = tf.TensorArray(tf.float32, size=steps)

    def body(t: Any, outputs: Any, h: Any) -> Any:
        h = tf.tanh(inputs.read(t) @ w + h @ u)
        return t + 1, outputs.write(t, h), h

    first = tf.zeros([tf.shape(x)[0], 5])
    _, outputs, h = tf.while_loop(lambda t, *_: t < steps, body, (0, outputs, first))
    return tf.transpose(outputs.stack(), [1, 0, 2]), h


def _recurrent_gradient(x: Any, w: Any, u: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([w, u])
        outputs, h = _recurrent(x, w, u)
        loss = tf.reduce_sum(outputs * outputs) + tf.reduce_sum(h)
    return tape.gradient(loss, [w, u])


def _reserved_by_hand(x: Any, w: Any, u: Any) -> Any:
    raw = tf.raw_ops
    items = raw.TensorListReserve(
        element_shape=tf.constant(-1), num_elements=4, element_dtype=tf.float32
    )

    def body(i: Any, items: Any) -> Any:
        item = x[0] * tf.cast(i, tf.float32)
        return i + 1, raw.TensorListSetItem(input_handle=items, index=i, item=item)

    _, items = tf.while_loop(lambda i, _: i < 4, body, (tf.constant(0), items))
    return raw.TensorListStack(
        input_handle=items, element_shape=tf.constant(-1), element_dtype=tf.float32, num_elements=-1
    )


def _written_in_order(x: Any, w: Any, u: Any) -> Any:
    items = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    items = items.write(0, x[0])
    for i in range(1, 4):
        items = items.write(i, items.read(i - 1) * 2.0)
    return items.stack()


@pytest.mark.parametrize("sizes", [(2, 6), (1, 1)])
@pytest.mark.parametrize(
    ("function", "is_known"),
    [
        (function, is_known)
        for function in (_recurrent, _recurrent_gradient, _reserved_by_hand, _written_in_order)
        for is_known in (True, False)
    ],
)
def test_elements_are_what_is_written(function: Any, is_known: bool, sizes: Any) -> None:
    x = np.linspace(-1, 1, math.prod(sizes) * 3, dtype=np.float32).reshape(*sizes, 3)
    signature = [tf.TensorSpec([None, None, 3]), tf.TensorSpec([3, 5]), tf.TensorSpec([5, 5])]
    compiled = tf.function(
        function, jit_compile=True, input_signature=None if is_known else signature
    )
    found, wanted = compiled(x, INNER, OUTER), function(*map(tf.constant, (x, INNER, OUTER)))
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert tf.explain(compiled).traces[0]["tier"] == "native"


def test_lists_that_begin_alike_may_hold_different_elements() -> None:
    """One empty list can be the beginning of several."""

    def function(x: Any) -> Any:
        rows, sums = tf.TensorArray(tf.float32, 4), tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            rows, sums = rows.write(i, x[i]), sums.write(i, tf.reduce_sum(x[i]))
        return rows.stack(), sums.stack()

    traced = tf.function(function, jit_compile=True, input_signature=[tf.TensorSpec([None, None])])
    for a, b in zip(traced(X), function(tf.constant(X)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_elements_whose_shapes_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")

    @tf.function
    def doubling(n: tf.Tensor) -> tf.Tensor:
        parts = [tf.ones([2])]
        for _ in tf.range(n):
            parts.append(tf.concat([parts[-1], parts[-1]], 0))
        return tf.shape(parts[-1])

    assert doubling(tf.constant(3)).numpy().tolist() == [16]
