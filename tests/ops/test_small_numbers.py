"""Small and quantized numbers are moved, joined, picked and kept like all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, boolean, check_case, f32
from weft._src.core.dtypes import QUANTIZED, SMALL, plain

DTYPES = sorted(QUANTIZED | SMALL, key=lambda d: d.name)
names = pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)


def numbers(dtype: tf.DType, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers of a dtype that are 0 and 1 in an irregular order."""
    bits = np.random.default_rng(seed).integers(0, 2, shape)
    return tf.cast(bits, dtype)._value


def _case(label: str, dtype: tf.DType, function: Any, *inputs: Any, expect: Any) -> Case:
    """NumPy judges the bits, which it knows as integers."""

    def judged(*arrays: np.ndarray) -> Any:
        return expect(*[_as_integers(a) for a in arrays])

    return Case(
        function, inputs, {}, judged, grad=False, rtol=0, atol=0, label=f"{dtype.name} {label}"
    )


def _as_integers(x: Any) -> Any:
    return plain(x).astype(np.float32) if np.asarray(x).dtype.kind == "V" else x


def _cases(dtype: tf.DType) -> list[Case]:
    x, y = numbers(dtype, 3, 4), numbers(dtype, 2, 4, seed=1)
    cube = numbers(dtype, 2, 3, 4, seed=2)
    one = numbers(dtype, seed=3)
    at = np.array([2, 0, 1, 1], np.int32)
    rows = [
        ("reshape", lambda x: tf.reshape(x, [2, -1]), [x], lambda x: x.reshape(2, 6)),
        ("transpose", lambda x: tf.transpose(x, [2, 0, 1]), [cube], lambda x: x.transpose(2, 0, 1)),
        ("concat", lambda x, y: tf.concat([x, y], 0), [x, y], lambda x, y: np.concatenate([x, y])),
        ("stack", lambda x: tf.stack([x, x], 1), [x], lambda x: np.stack([x, x], 1)),
        ("unstack", lambda x: tf.unstack(x, 3), [x], list),
        ("split", lambda x: tf.split(x, [1, 3], 1), [x], lambda x: [x[:, :1], x[:, 1:]]),
        ("slice", lambda x: x[1:, ::-2], [x], lambda x: x[1:, ::-2]),
        ("tf.slice", lambda x: tf.slice(x, [1, 0], [2, 3]), [x], lambda x: x[1:3, :3]),
        ("gather", lambda x, i: tf.gather(x, i, axis=0), [x, at], lambda x, i: x[i]),
        ("gather_nd", lambda x, i: tf.gather_nd(x, i[:, None]), [x, at], lambda x, i: x[i]),
        ("where", tf.where, [boolean(3, 4), x, one], np.where),
        ("pad", lambda x: tf.pad(x, [[1, 0], [2, 1]]), [x], lambda x: np.pad(x, [[1, 0], [2, 1]])),
        ("mirror", lambda x: tf.pad(x, [[1, 1], [0, 2]], "REFLECT"), [x],
         lambda x: np.pad(x, [[1, 1], [0, 2]], "reflect")),
        ("tile", lambda x: tf.tile(x, [2, 3]), [x], lambda x: np.tile(x, [2, 3])),
        ("repeat", lambda x: tf.repeat(x, 3, 1), [x], lambda x: np.repeat(x, 3, 1)),
        ("reverse", lambda x: tf.reverse(x, [1]), [x], lambda x: x[:, ::-1]),
        ("roll", lambda x: tf.roll(x, 1, 0), [x], lambda x: np.roll(x, 1, 0)),
        ("broadcast", lambda x: tf.broadcast_to(x, [5, 3, 4]), [x],
         lambda x: np.broadcast_to(x, (5, 3, 4))),
        ("expand", lambda x: tf.squeeze(tf.expand_dims(x, 1), 1), [x], lambda x: x),
        ("zeros", tf.zeros_like, [x], np.zeros_like),
        ("ones", tf.ones_like, [x], np.ones_like),
        ("fill", lambda v: tf.fill([2, 3], v), [one], lambda v: np.full((2, 3), v)),
        ("equal", lambda x, y: [tf.equal(x[:2], y), tf.not_equal(x[:2], y)], [x, y],
         lambda x, y: [x[:2] == y, x[:2] != y]),
        ("scatter", lambda x, y: tf.tensor_scatter_nd_update(x, [[2], [0]], y), [x, y],
         lambda x, y: np.concatenate([y[1:2], x[1:2], y[:1], x[3:]])),
        ("mask", lambda x: tf.boolean_mask(x, [True, False, True]), [x], lambda x: x[[0, 2]]),
        ("partition", lambda x: tf.dynamic_partition(x, [1, 0, 1], 2), [x],
         lambda x: [x[1:2], x[[0, 2]]]),
        ("diagonal", tf.linalg.diag_part, [x], np.diag),
        ("identity", lambda x: tf.identity_n([x, tf.stop_gradient(x)]), [x], lambda x: [x, x]),
        ("cast", lambda x: tf.cast(x, tf.float32), [x], lambda x: x),
        ("cast to", lambda x: tf.cast(x, dtype), [f32(3, 4, low=0.0, high=1.9)],
         lambda x: tf.cast(x, dtype).numpy().astype(np.float32)),
        ("shape", lambda x: [tf.shape(x), tf.size(x), tf.rank(x)], [cube],
         lambda x: [np.array(x.shape), x.size, x.ndim]),
        ("empty", lambda x: tf.concat([x[:0], x[:0]], 1), [x], lambda x: x[:0].repeat(2, 1)),
    ]  # fmt: skip
    return [_case(label, dtype, fn, *inputs, expect=expect) for label, fn, inputs, expect in rows]


def _bits(dtype: tf.DType) -> Case:
    x = numbers(dtype, 3, 4)
    wide = tf.as_dtype(f"uint{8 * dtype.size}")
    there = lambda x: [tf.bitcast(x, wide), tf.bitcast(tf.bitcast(x, wide), dtype)]  # noqa: E731
    numbers_of = wide.numpy_dtype
    return Case(
        there, [x], {}, lambda x: [x.view(numbers_of), plain(x)], grad=False,
        label=f"bitcast {dtype.name}",
    )  # fmt: skip


WHOLE_BYTES = [d for d in DTYPES if d.is_quantized or d.name.startswith("float8")]
CASES = [
    *[case for dtype in DTYPES for case in _cases(dtype)],
    *[_bits(dtype) for dtype in WHOLE_BYTES],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_every_mode(case: Case) -> None:
    check_case(case)


def test_bits_of_half_a_byte_are_refused() -> None:
    for name in ("int4", "uint2", "float4_e2m1fn"):
        with pytest.raises(TypeError, match=f"type must be numeric, of whole bytes, got {name}"):
            tf.bitcast(tf.constant([1], tf.uint8), name)
        with pytest.raises(TypeError, match=f"input has dtype {name}"):
            tf.bitcast(tf.cast([1], name), tf.uint8)


def _same(x: tf.Tensor, wanted: Any) -> None:
    other = tf.constant(wanted)
    assert x.dtype is other.dtype
    assert bool(tf.reduce_all(x == other))


@names
def test_variables(dtype: tf.DType) -> None:
    x, y = tf.constant(numbers(dtype, 3, 4)), tf.constant(numbers(dtype, 3, 4, seed=5))
    v = tf.Variable(x)
    assert v.dtype is dtype

    @tf.function
    def change(value: tf.Tensor) -> tf.Tensor:
        old = tf.identity(v)
        v.assign(value)
        v[1].assign(old[0])
        v.scatter_nd_update([[2]], old[:1])
        return v.sparse_read([0, 2])

    _same(change(y), tf.stack([y[0], x[0]]))
    _same(v.read_value(), tf.stack([y[0], x[0], x[0]]))
    with pytest.raises(TypeError):
        v.assign_add(x)
    with pytest.raises(ValueError, match=rf"dtype {dtype.name} is wanted"):
        v.assign(tf.zeros([3, 4], tf.float32))
    assert tf.Variable([1, 0, 1], dtype=dtype).numpy().astype(int).tolist() == [1, 0, 1]


@names
def test_functions_branches_and_loops(dtype: tf.DType) -> None:
    traces = []

    @tf.function(reduce_retracing=True)
    def f(x: Any, times: Any, named: Any) -> Any:
        traces.append(x)
        kept = tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=[None])
        last = tf.zeros_like(x[0])
        for i in tf.range(times):
            row = x[i % tf.shape(x)[0]]
            if i % 2 == 0:
                last = row
            else:
                last = tf.reverse(row, [0])
            kept = kept.write(i, last)
        return kept.stack(), {"last": last, **named}

    x = tf.constant(numbers(dtype, 3, 4))
    rows, others = f(x, 4, {"x": x[0]})
    _same(rows, tf.stack([x[0], x[1][::-1], x[2], x[0][::-1]]))
    _same(others["last"], x[0][::-1])
    assert others["x"].dtype is dtype
    f(tf.identity(x), 4, {"x": x[1]})
    assert len(traces) == 1


@names
def test_signatures_tell_them_apart(dtype: tf.DType) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], dtype)])
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.concat([x, x], 0)

    x = tf.constant(numbers(dtype, 3))
    assert f(x).dtype is dtype
    assert f([1, 0]).numpy().astype(int).tolist() == [1, 0, 1, 0]
    with pytest.raises(TypeError):
        f(tf.zeros([3], tf.float32))
    count = []

    @tf.function
    def g(x: tf.Tensor) -> tf.Tensor:
        count.append(x.dtype)
        return x

    stored = np.int8([1, 0]) if dtype.is_quantized else np.uint8([1, 0])
    assert g(stored).dtype is not dtype
    assert g(tf.constant([1, 0], dtype)).dtype is dtype
    assert count[1:] == [dtype]


@names
def test_datasets(dtype: tf.DType) -> None:
    x = tf.constant(numbers(dtype, 5, 2))
    data = tf.data.Dataset.from_tensor_slices(x)
    assert data.element_spec == tf.TensorSpec([2], dtype)
    batches = list(data.map(lambda row: row[::-1]).batch(2))
    _same(batches[0], x[:2, ::-1])
    _same(batches[2], x[4:, ::-1])
    shuffled = list(data.shuffle(5, seed=1).repeat(2).batch(10))
    assert shuffled[0].dtype is dtype
    padded = next(iter(data.take(2).padded_batch(2, [3])))
    _same(padded, tf.pad(x[:2], [[0, 0], [0, 1]]))
    made = tf.data.Dataset.from_generator(
        lambda: iter([[1, 0], [0, 1]]), output_signature=tf.TensorSpec([2], dtype)
    )
    _same(next(iter(made.batch(2))), tf.constant([[1, 0], [0, 1]], dtype))
    plain_rows = list(data.as_numpy_iterator())
    assert plain_rows[0].dtype == x.numpy().dtype
    (whole,) = data.window(5).flat_map(lambda w: w.batch(5))
    _same(whole, x)


@names
def test_lists_maps_and_callbacks(dtype: tf.DType) -> None:
    x = tf.constant(numbers(dtype, 3, 2))
    kept = tf.TensorArray(dtype, 3).unstack(x)
    _same(kept.gather([2, 0]), tf.gather(x, [2, 0]))
    _same(tf.map_fn(lambda row: row[::-1], x), x[:, ::-1])
    _same(
        tf.vectorized_map(lambda row: tf.concat([row, row[:1]], 0), x), tf.concat([x, x[:, :1]], 1)
    )
    _same(tf.numpy_function(lambda a: a, [x], dtype), x)
    _same(tf.function(lambda x: tf.numpy_function(lambda a: a, [x], dtype))(x), x)
    _same(tf.py_function(lambda t: t[::-1], [x], dtype), x[::-1])
    seen = []
    tf.numpy_function(lambda a: seen.append(a.dtype), [x], [])
    assert seen == [x.numpy().dtype]


@names
def test_ragged_and_sparse(dtype: tf.DType) -> None:
    rows = tf.RaggedTensor.from_row_lengths(tf.constant(numbers(dtype, 5)), [2, 0, 3])
    assert rows.dtype is dtype
    assert rows.to_tensor().shape == (3, 3)
    assert rows.numpy()[0].dtype == rows.values.numpy().dtype
    assert [[int(v) for v in row] for row in rows.to_list()][1] == []
    sparse = tf.SparseTensor([[0], [2]], tf.constant([1, 1], dtype), [4])
    assert tf.sparse.to_dense(sparse).numpy().astype(int).tolist() == [1, 0, 1, 0]


@names
def test_checkpoints(dtype: tf.DType, tmp_path: Path) -> None:
    x = tf.constant(numbers(dtype, 3, 4))
    path = tf.train.Checkpoint(v=tf.Variable(x)).write(str(tmp_path / "saved"))
    v = tf.Variable(tf.zeros_like(x))
    tf.train.Checkpoint(v=v).read(path).assert_consumed()
    _same(v.read_value(), x)
    reader = tf.train.load_checkpoint(path)
    name = "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.get_variable_to_dtype_map()[name] is dtype
    assert reader.get_tensor(name).dtype == x.numpy().dtype


def test_printing(capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def show(x: tf.Tensor) -> None:
        tf.print("x =", x, x[0])

    show(tf.constant([1, -2, 3], tf.qint8))
    show(tf.constant([1.5, -2, 3], "float8_e5m2"))
    show(tf.constant([1, -2, 3], "int4"))
    wanted = "x = [1 -2 3] 1\nx = [1.5 -2 3] 1.5\nx = [1 -2 3] 1\n"
    assert capfd.readouterr().err == wanted


def test_gradients_pass_by() -> None:
    """A function that stores numbers in eight bits on its way has the gradients of the rest."""
    x = tf.constant([1.5, -2.5, 3.0])

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        stored = tf.cast(x, tf.dtypes.experimental.float8_e4m3fn)
        other = tf.TensorArray(stored.dtype, 1).write(0, stored).read(0)
        return x * tf.cast(other, tf.float32) + x

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x))
    np.testing.assert_array_equal(tape.gradient(y, x), x + 1)


def test_large_arrays_eagerly() -> None:
    """Above a size, eager ops look whether machine code would be faster: NumPy stays."""
    x = tf.random.stateless_normal([1 << 17], [1, 2])
    for dtype in (tf.qint8, tf.dtypes.experimental.float8_e4m3fn, tf.dtypes.experimental.int4):
        for _ in range(8):
            there = tf.cast(x, dtype)
            back = tf.cast(there, tf.float32)
            joined = tf.concat([there, there], 0)
            assert bool(tf.reduce_all(joined[: 1 << 17] == there))
        few = tf.cast(tf.cast(x[:50], dtype), tf.float32)
        np.testing.assert_array_equal(back[:50], few)
