"""Wild indices: every op that takes places from data, given places that are not there.

A case is run on the NumPy tier and as machine code between forbidden pages, so that an access
outside of a buffer ends the process. Both must give the same results, or the same error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.flags import flags

Case = tuple[Callable[..., Any], list[Any], int, int]  # function, arguments, which is wild, size

_X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def wild_numbers(size: int) -> list[int]:
    """Numbers around the borders of [0, size), and those whose products overflow."""
    return [0, -1, size, size + 1, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**62), 2**63 - 1]


def _gathers() -> dict[str, Case]:
    rows, x = np.array([2, 0]), _X
    per_row = np.array([[0, 3], [1, 1], [2, 0]])
    constant = tf.constant(x)
    captured = tf.Variable(x)

    def looped(x: Any, i: Any) -> Any:
        return tf.while_loop(
            lambda k, _: k < 2, lambda k, s: (k + 1, s + tf.gather(x, i[k])), (0, tf.zeros([4, 5]))
        )

    return {
        "gather": (tf.gather, [x, rows], 1, 3),
        "gather a scalar": (tf.gather, [x, np.array(1)], 1, 3),
        "gather along 1": (lambda x, i: tf.gather(x, i, axis=1), [x, rows], 1, 4),
        "gather in batches": (
            lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), [x[:, :, 0], per_row], 1, 4,
        ),
        "gather along 2 in batches": (
            lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), [x, per_row], 1, 5,
        ),
        "gather of a constant": (lambda i: tf.gather(constant, i), [rows], 0, 3),
        "gather of a variable": (lambda i: tf.gather(captured, i), [rows], 0, 3),
        "gather of nothing": (tf.gather, [x[:0], rows], 1, 0),
        "gather empty rows": (tf.gather, [x[:, :0], rows], 1, 3),
        "gather sums": (lambda x, i: tf.gather(x * 2.0 + 1.0, i), [x, rows], 1, 3),
        "gather_nd": (tf.gather_nd, [x, np.array([[2, 3], [0, 1]])], 1, 3),
        "gather_nd in batches": (
            lambda x, i: tf.gather_nd(x, i, batch_dims=1), [x, per_row[:, :1]], 1, 4,
        ),
        "embedding_lookup": (tf.nn.embedding_lookup, [x[:, :, 0], rows], 1, 3),
        "take_along_axis": (
            lambda x, i: tf.experimental.numpy.take_along_axis(x, i, 1),
            [x[:, :, 0], per_row], 1, 4,
        ),
        "gather in a loop": (looped, [x, rows], 1, 3),
        "gather in a branch": (
            lambda x, i: tf.cond(i[0] > 0, lambda: tf.gather(x, i), lambda: tf.gather(x, i + 1)),
            [x, rows], 1, 3,
        ),
        "gradient of gather": (_gradient(lambda x, i: tf.gather(x * x, i)), [x, rows], 1, 3),
        "gradient of gather in batches": (
            _gradient(lambda x, i: tf.gather(x * x, i, axis=1, batch_dims=1)),
            [x[:, :, 0], per_row], 1, 4,
        ),
        "gradient of gather_nd": (
            _gradient(lambda x, i: tf.gather_nd(x * x, i)), [x, np.array([[2, 3], [0, 1]])], 1, 3,
        ),
    }  # fmt: skip


def _slices() -> dict[str, Case]:
    x, at = _X, np.array(1)
    return {
        "x[i]": (lambda x, i: x[i], [x, at], 1, 3),
        "x[:, i]": (lambda x, i: x[:, i], [x, at], 1, 4),
        "x[i, j]": (lambda x, i: x[i, i, 1:], [x, at], 1, 3),
        "x[i:i + 2]": (lambda x, i: x[i : i + 2], [x, at], 1, 3),
        "x[:i]": (lambda x, i: x[:i], [x, at], 1, 3),
        "sum of x[i]": (lambda x, i: tf.reduce_sum(x[i] * 2.0), [x, at], 1, 3),
        "gradient of x[i]": (_gradient(lambda x, i: (x * x)[i]), [x, at], 1, 3),
        "gradient of x[..., i]": (_gradient(lambda x, i: (x * x)[..., i]), [x, at], 1, 5),
        "slice": (
            lambda x, i: tf.slice(x, tf.stack([i, 0, i]), [2, 3, 3]), [x, at], 1, 3,
        ),
        "slice of nothing": (
            lambda x, i: tf.slice(x, tf.stack([0, i, 0]), [2, 0, 2]), [x, at], 1, 4,
        ),
        "roll": (lambda x, i: tf.roll(x, i, 1), [x, at], 1, 4),
        "switch_case": (
            lambda x, i: tf.switch_case(i, [lambda: x + 1.0, lambda: x * 2.0]), [x, at], 1, 2,
        ),
    }  # fmt: skip


def _scatters() -> dict[str, Case]:
    x, rows = _X, np.array([2, 0])
    updates = np.ones((2, 4, 5), np.float32)
    cases: dict[str, Case] = {
        "scatter_nd": (
            lambda i: tf.scatter_nd(i[:, None], tf.constant(updates), [3, 4, 5]), [rows], 0, 3,
        ),
        "scatter_nd of nothing": (
            lambda i: tf.scatter_nd(i[:, None], tf.constant(updates), [0, 4, 5]), [rows], 0, 0,
        ),
        "put_along_axis": (
            _gradient(lambda x, i: tf.experimental.numpy.take_along_axis(x * x, i, 1)),
            [x[:, :, 0], np.array([[0, 3], [1, 1], [2, 0]])], 1, 4,
        ),
        "invert_permutation": (tf.math.invert_permutation, [np.array([2, 0, 1])], 0, 3),
    }  # fmt: skip
    for name in ("update", "add", "sub", "max", "min"):
        change = getattr(tf, f"tensor_scatter_nd_{name}")
        cases[f"tensor_scatter_nd_{name}"] = (
            lambda x, i, change=change: change(x, i[:, None], tf.constant(updates)),
            [x, rows], 1, 3,
        )  # fmt: skip
    for name in ("update", "add", "sub", "max", "min", "mul", "div", "nd_add", "nd_update"):
        cases[f"Variable.scatter_{name}"] = (_variable_scatter(name, updates), [rows], 0, 3)
    return cases


def _variable_scatter(name: str, updates: Any) -> Callable[..., Any]:
    variable = tf.Variable(_X)

    def change(i: Any) -> Any:
        if name.startswith("nd"):
            getattr(variable, f"scatter_{name}")(i[:, None], tf.constant(updates))
        else:
            getattr(variable, f"scatter_{name}")(tf.IndexedSlices(tf.constant(updates), i))
        return variable * 1.0

    def from_the_start(i: Any) -> Any:
        variable.assign(_X)
        return change(i)

    return from_the_start


def _bins() -> dict[str, Case]:
    x, ids = _X, np.array([1, 0, 1])
    labels = np.array([0, 3, 1])
    cases: dict[str, Case] = {
        "bincount": (lambda i: tf.math.bincount(i, maxlength=4, minlength=4), [labels], 0, 4),
        "one_hot": (lambda i: tf.one_hot(i, 4), [labels], 0, 4),
        "one_hot along 0": (lambda i: tf.one_hot(i, 4, axis=0), [labels], 0, 4),
        "sparse cross entropy": (
            lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x),
            [x[:, :, 0], labels], 1, 4,
        ),
        "gradient of sparse cross entropy": (
            _gradient(lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x)),
            [x[:, :, 0], labels], 1, 4,
        ),
        "reverse_sequence": (
            lambda x, i: tf.reverse_sequence(x, i, seq_axis=1, batch_axis=0), [x, labels], 1, 4,
        ),
        "sequence_mask": (lambda i: tf.sequence_mask(i, 4), [labels], 0, 4),
        "unravel_index": (lambda i: tf.unravel_index(i, [3, 4]), [labels], 0, 12),
        "in_top_k": (
            lambda x, i: tf.math.in_top_k(i, x, 2), [x[:, :, 0], labels], 1, 4,
        ),
    }  # fmt: skip
    for name in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
        combine = getattr(tf.math, f"unsorted_segment_{name}")
        cases[f"unsorted_segment_{name}"] = (
            lambda x, i, combine=combine: combine(x, i, 2), [x, ids], 1, 2,
        )  # fmt: skip
        cases[f"gradient of unsorted_segment_{name}"] = (
            _gradient(lambda x, i, combine=combine: combine(x, i, 2)), [x + 1.0, ids], 1, 2,
        )  # fmt: skip
    for name in ("sum", "mean", "max", "min", "prod"):
        combine = getattr(tf.math, f"segment_{name}")
        cases[f"segment_{name}"] = (combine, [x, np.array([0, 0, 1])], 1, 2)
    return cases


def _arrays() -> dict[str, Case]:
    x, at, rows = _X, np.array(1), np.array([2, 0])

    def written(x: Any, i: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3).unstack(x)
        return array.write(i, x[0] * 2.0).stack()

    def grown(x: Any, i: Any) -> Any:
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[4, 5])
        for k in range(3):
            array = array.write(k, x[k])
        return array.read(i)

    def in_loop(x: Any, i: Any) -> Any:
        array = tf.TensorArray(tf.float32, 3, element_shape=[4, 5])

        def step(k: Any, array: Any) -> Any:
            return k + 1, array.write(tf.where(k == 1, i, k), x[k])

        return tf.while_loop(lambda k, _: k < 3, step, (0, array))[1].stack()

    def cast(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, i: function(x, tf.cast(i, tf.int32))

    return {
        "TensorArray.read": (
            cast(lambda x, i: tf.TensorArray(tf.float32, 3).unstack(x).read(i)), [x, at], 1, 3,
        ),
        "gradient of TensorArray.read": (
            cast(_gradient(lambda x, i: tf.TensorArray(tf.float32, 3).unstack(x * x).read(i))),
            [x, at], 1, 3,
        ),
        "TensorArray.gather": (
            cast(lambda x, i: tf.TensorArray(tf.float32, 3).unstack(x).gather(i)), [x, rows], 1, 3,
        ),
        "TensorArray.write": (cast(written), [x, at], 1, 3),
        "TensorArray grown and read": (cast(grown), [x, at], 1, 3),
        "TensorArray written in a loop": (cast(in_loop), [x, at], 1, 3),
    }  # fmt: skip


def _gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(x: Any, i: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, i)
        return tf.convert_to_tensor(tape.gradient(y, x))

    return gradient


def cases() -> dict[str, Case]:
    """What is tried, by name."""
    return {**_gathers(), **_slices(), **_scatters(), **_bins(), **_arrays()}


def check_indices(seed: int) -> str | None:
    """Ops that take places from data, given wild ones: machine code against NumPy.

    None if both agree, else the case and what differed.
    """
    rng = np.random.default_rng(seed)
    table = cases()
    name = list(table)[seed % len(table)]
    dtype = (np.int32, np.int64)[seed // len(table) % 2]
    flags.guard_pages = str(rng.choice(["end", "start"]))
    try:
        return _check(name, table[name], dtype, rng)
    finally:
        flags.guard_pages = ""


def _check(name: str, case: Case, dtype: type, rng: np.random.Generator) -> str | None:
    function, arguments, which, size = case
    runs = {tier: tf.function(function) for tier in ("numpy", "native")}
    for number in wild_numbers(size):
        if not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
            continue
        wild = arguments[which].astype(dtype)
        wild.reshape(-1)[rng.integers(wild.size)] = number
        given = [wild if i == which else a for i, a in enumerate(arguments)]
        outcomes = {tier: _outcome(tier, run, given) for tier, run in runs.items()}
        if not _agree(*outcomes.values()):
            found = "\n".join(f"{tier}: {outcome}" for tier, outcome in outcomes.items())
            return f"{name} with {np.dtype(dtype).name} {wild.tolist()}\n{found}\n"
    return None


def _outcome(tier: str, run: Callable[..., Any], given: list[Any]) -> Any:
    before, tf.config.execution = tf.config.execution, tier
    try:
        return [np.asarray(t) for t in tf.nest.flatten(run(*[tf.constant(a) for a in given]))]
    except Exception as error:  # noqa: BLE001 - what it is, is what is compared
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    finally:
        tf.config.execution = before


def _agree(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b if isinstance(a, type(b)) else False
    return all(np.allclose(x, y, 1e-5, 1e-5, equal_nan=True) for x, y in zip(a, b, strict=True))
