"""Saves models with Weft and lets TensorFlow load, call, differentiate and serve them.

    python checks/saved_models_in_tensorflow.py PYTHON [PYTHON ...] [--only NAME]

takes the interpreters of environments with TensorFlow. Each case is a function; TensorFlow's
results and gradients of the loaded function must be those of Weft, also by signature and in a
session. Results of Weft's own loader are compared as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_READER = Path(__file__).with_name("saved_models_reader.py")
CASES: dict[str, tuple[Callable[..., Any], list[Any], dict[str, Any]]] = {}


def case(*inputs: Any, **kept: Any) -> Callable[..., Any]:
    """Adds a function with the inputs it is called with, and objects that the model keeps."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = (function, [np.asarray(x) for x in inputs], kept)
        return function

    return add


def floats(*shape: int, seed: int = 0) -> Any:
    """Numbers around 0."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def tables(tf: Any) -> dict[str, Any]:
    """A table of each kind, and a file."""
    path = Path(tempfile.mkdtemp()) / "words.txt"
    path.write_text("zero\none\ntwo\n", encoding="utf-8")
    lookup, ids = tf.lookup, tf.constant([0, 1], tf.int64)
    lines = lookup.TextFileInitializer(path, tf.string, -2, tf.int64, -1)
    mutable = lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    mutable.insert(["a", "b"], tf.constant([5, 6], tf.int64))
    vectors = lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    vectors.insert(tf.constant([1, 2], tf.int64), [[1.0, 2.0], [3.0, 4.0]])
    dense = lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0.0, 9.0], -3, -2)
    dense.insert(tf.constant([1, 2], tf.int64), [[1.0, 2.0], [3.0, 4.0]])
    pairs = lookup.KeyValueTensorInitializer(["x", "y"], ids)
    numbers = lookup.KeyValueTensorInitializer(ids + 1, ids)
    return {
        "words": lookup.StaticHashTable(lines, -1),
        "buckets": lookup.StaticVocabularyTable(pairs, 3),
        "numbers": lookup.StaticVocabularyTable(numbers, 5),
        "mutable": mutable,
        "vectors": vectors,
        "dense": dense,
        "file": tf.saved_model.Asset(path),
    }


def define(tf: Any) -> None:
    """All cases, with Weft as `tf`."""
    x, image = floats(4, 3), floats(2, 6, 5, 3)

    @case(x)
    def loop(x: Any) -> Any:
        i, total = tf.constant(0), tf.zeros_like(x)
        while i < 5:
            if tf.reduce_sum(total) > 1.0:
                total = total + tf.cast(i, tf.float32) * x
            else:
                total = total - tf.tanh(x)
            i += 1
        return total

    @case(x)
    def collecting(x: Any) -> Any:
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(3):
            out = out.write(i, tf.exp(x[i]) * x[0])
        return out.stack()

    @case(x)
    def limited(x: Any) -> Any:
        step = lambda i, y: (i + 1, y * 1.5 + x)  # noqa: E731
        return tf.while_loop(lambda i, y: i < 10, step, (0, x), maximum_iterations=3)[1]

    @case(x, np.int32(2))
    def branches(x: Any, i: Any) -> Any:
        return tf.switch_case(i, [lambda: x + 1.0, lambda: x * x, lambda: tf.sin(x)])

    @case(x)
    def mapped(x: Any) -> Any:
        rows = tf.map_fn(lambda row: tf.reduce_max(row) * row, x, parallel_iterations=1)
        return rows, tf.scan(lambda a, b: a * b, x)

    @case(x)
    def reductions(x: Any) -> Any:
        found = [tf.reduce_sum(x, 1), tf.reduce_mean(x), tf.reduce_max(x, 0, keepdims=True)]
        found += [tf.reduce_prod(x, [-1]), tf.reduce_min(x), tf.math.reduce_std(x, 1)]
        return [*found, tf.reduce_logsumexp(x, 1), tf.reduce_logsumexp(x), tf.norm(x, axis=0)]

    @case(x)
    def moved(x: Any) -> Any:
        found = [tf.transpose(x), tf.reverse(x, [1]), tf.roll(x, 1, 0), tf.expand_dims(x, -1)]
        found += [tf.concat([x, 2.0 * x], 1), tf.stack([x, x], 1), *tf.unstack(x, axis=1)]
        found += [*tf.split(x, 3, 1), *tf.split(x, [1, 3], 0), tf.tile(x, [1, 2])]
        return [
            *found,
            tf.pad(x, [[1, 2], [0, 1]]),
            tf.reshape(x, [2, -1]),
            tf.squeeze(x[:, :1], 1),
        ]

    @case(x, np.int32(1))
    def sliced(x: Any, i: Any) -> Any:
        found = [x[1:, ::2], x[i], x[..., tf.newaxis], x[:, i:], x[-1], x[::-1, 0], x[i - 3 :]]
        return [*found, x[i:3, -2:], x[tf.newaxis, 0]]

    @case(x, np.array([[2, 0], [1, 1]], np.int32))
    def gathered(x: Any, k: Any) -> Any:
        found = [tf.gather(x, k), tf.gather(x, k, axis=1), tf.gather_nd(x, k)]
        found += [tf.one_hot(k, 4), tf.scatter_nd(k, x[:2, 0], [3, 4])]
        return [*found, tf.math.unsorted_segment_sum(x[:2], k[0], 3), tf.where(x > 0, x, -1.0)]

    @case(x)
    def activations(x: Any) -> Any:
        found = [tf.nn.softmax(x), tf.nn.softmax(x, 0), tf.nn.log_softmax(x), tf.nn.elu(x)]
        found += [tf.nn.log_softmax(x, 0), tf.nn.relu(x), tf.nn.relu6(x), tf.nn.selu(x)]
        found += [tf.nn.leaky_relu(x), tf.nn.gelu(x), tf.sigmoid(x), tf.nn.softplus(x)]
        return [*found, tf.nn.l2_normalize(x, 1), tf.clip_by_value(x, -0.5, 0.5), tf.nn.silu(x)]

    @case(image)
    def images(im: Any) -> Any:
        kernel, depth = tf.constant(floats(2, 3, 3, 4, seed=1)), tf.constant(floats(3, 2, 3, 2))
        found = [tf.nn.conv2d(im, kernel, 1, "SAME"), tf.nn.conv2d(im, kernel, 2, "VALID")]
        found += [tf.nn.conv2d(im, kernel, 1, [[0, 0], [1, 0], [2, 1], [0, 0]])]
        found += [tf.nn.max_pool2d(im, 2, 2, "VALID"), tf.nn.avg_pool2d(im, 3, 1, "SAME")]
        found += [tf.nn.depthwise_conv2d(im, depth, [1, 1, 1, 1], "SAME")]
        found += [tf.nn.conv2d_transpose(im, floats(2, 2, 5, 3), [2, 12, 10, 5], 2, "SAME")]
        mean, variance = tf.nn.moments(im, [0, 1, 2])
        return [*found, tf.nn.batch_normalization(im, mean, variance, 0.5, 2.0, 0.001)]

    @case(image)
    def slopes(im: Any) -> Any:
        kernel = tf.constant(floats(2, 3, 3, 4, seed=1))
        with tf.GradientTape() as tape:
            tape.watch([im, kernel])
            y = tf.nn.max_pool2d(tf.nn.elu(tf.nn.conv2d(im, kernel, 1, "SAME")), 2, 2, "SAME")
            y = (
                tf.nn.avg_pool2d(y, 2, 1, "VALID")
                / tf.reduce_sum(y * y, -1, keepdims=True)[:, :-1, :-1]
            )
            loss = tf.reduce_sum(tf.transpose(y, [0, 2, 1, 3])[..., 1:] ** 2)
        return tape.gradient(loss, [im, kernel])

    @case(floats(2, 4, 3))
    def recurrent_slopes(x: Any) -> Any:
        weights = x[0, :3] * 0.5
        with tf.GradientTape() as tape:
            tape.watch(weights)
            rows = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
            out = tf.TensorArray(tf.float32, 4)
            h = tf.zeros_like(x[:, 0])
            for i in tf.range(4):
                h = tf.tanh(h @ weights + rows.read(i))
                out = out.write(i, h)
            loss = tf.reduce_sum(out.stack() ** 2)
        return tape.gradient(loss, weights)

    @case(x, floats(3, 5, seed=2))
    def products(x: Any, y: Any) -> Any:
        found = [x @ y, tf.matmul(x, y[:, :3], transpose_b=True), tf.einsum("ij,jk->ki", x, y)]
        found += [tf.tensordot(x, y, 1), tf.einsum("...j,jk->...k", x, y)]
        return [*found, tf.matmul(x[tf.newaxis], y[tf.newaxis]), tf.linalg.matvec(x, y[:, 0])]

    @case(x, floats(3, 5, seed=2))
    def product_slopes(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.einsum("ij,jk->ki", x, y) + tf.transpose(tf.tensordot(x, y, 1))
            z += tf.transpose(tf.matmul(x[tf.newaxis], y[tf.newaxis])[0])
            loss = tf.reduce_sum(tf.gather(z, [0, 2, 2]) ** 2) + tf.reduce_sum(
                tf.gather(z, [1], axis=1)
            )
        return tape.gradient(loss, [x, y])

    @case(x)
    def ranked(x: Any) -> Any:
        found = [tf.sort(x), tf.sort(x, 0, "DESCENDING"), tf.math.top_k(x, 2)[0], tf.cumsum(x, 1)]
        return [*found, tf.math.cumprod(x, 0, exclusive=True)]

    @case(np.array([[3, -1, 7], [0, 7, 2]], np.int32), np.array([True, False, True]))
    def integers(k: Any, t: Any) -> Any:
        found = [k // 2, k % 3, tf.argmax(k, 1), tf.argsort(k), tf.argsort(k, 0, "DESCENDING")]
        found += [tf.cast(k, tf.float64), tf.reduce_any(t), tf.reduce_all(t), t & ~t, tf.size(k)]
        found += [tf.where(t), tf.boolean_mask(k, t, axis=1), tf.bitwise.bitwise_and(k, 3)]
        found += [tf.range(k[0, 0]), tf.fill([2, k[0, 0]], 7), tf.zeros_like(k), tf.unique(k[0])[0]]
        return [*found, tf.shape(k, out_type=tf.int64), tf.rank(k), tf.math.bincount([1, 1, 3])]

    @case(np.array([b"Hello you", b"x,y z"], object), np.array([1.5, -2.0], np.float32))
    def texts(s: Any, x: Any) -> Any:
        found = [tf.strings.length(s), tf.strings.lower(s), tf.strings.join([s, s], "-")]
        found += [tf.strings.substr(s, 1, 3), tf.strings.regex_replace(s, "[aeo]", "_")]
        found += [tf.strings.as_string(tf.cast(x, tf.int32)), tf.strings.reduce_join(s)]
        found += [tf.strings.to_hash_bucket_fast(s, 97), tf.strings.to_number(["1.5"])]
        return [*found, tf.strings.split(s).values, tf.constant([b"a\x00b"]), s == b"x,y z"]

    @case(np.array([3, 9], np.int32))
    def seeded(seed: Any) -> Any:
        found = [tf.random.stateless_normal([2, 3], seed), tf.random.stateless_uniform([4], seed)]
        found.append(tf.random.stateless_categorical([[0.1, 0.9, 0.3]], 7, seed, tf.int32))
        return [*found, tf.random.stateless_uniform([4], seed, 0, 100, tf.int32)]

    @case(x)
    def random(x: Any) -> Any:
        chosen = tf.random.categorical([[-1e9, 0.0], [0.0, -1e9]], 5)
        shuffled = tf.sort(tf.random.shuffle(tf.range(20)))
        return tf.random.normal([2, 3]), tf.nn.dropout(x, 0.5, seed=4), chosen, shuffled

    @case(x)
    def array_slopes(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack(x)
            out = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
            for i in tf.range(tf.shape(x)[0]):
                out = out.write(i, rows.read(i) * rows.read(0))
            loss = tf.reduce_sum(out.stack() ** 2) + tf.reduce_sum(out.read(0) * out.read(2))
            loss += tf.reduce_sum(out.gather([1, 3, 1]))
        return tape.gradient(loss, x)

    @case(floats(6, 3))
    def joined(x: Any) -> Any:
        return tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 3]).concat()

    @case(np.array([b"one", b"x", b"two", b"b"], object), **tables(tf))
    def looked_up(s: Any) -> Any:
        keep = CASES["looked_up"][2]
        k = keep["words"].lookup(s)
        found = [k, keep["buckets"].lookup(s), keep["numbers"].lookup(k), keep["mutable"].lookup(s)]
        found += [keep["vectors"].lookup(k), keep["dense"].lookup(k), keep["mutable"].size()]
        return [*found, tf.strings.length(keep["file"].asset_path) > 0]

    @case(np.array([b"q", b"r"], object), np.array([7, 9], np.int64), log=tables(tf)["mutable"])
    def inserted(s: Any, k: Any) -> Any:
        table = CASES["inserted"][2]["log"]
        before = table.lookup(s)
        table.insert(s, k)
        table.remove(s[:1])
        return before, table.lookup(s), table.size()

    @case(x)
    def nested(x: Any) -> Any:
        inner = tf.function(lambda y: {"b": y * 2.0, "a": (y, [tf.exp(y)])})
        return inner(x)


def saved(tf: Any, name: str, folder: Path) -> None:
    """One model, with its results beside it."""
    function, inputs, kept = CASES[name]
    specs = [
        tf.TensorSpec([None, *x.shape[1:]] if x.ndim else [], tf.constant(x).dtype, name=f"in_{i}")
        for i, x in enumerate(inputs)
    ]
    module = tf.Module()
    module.scale = tf.Variable(2.0)
    module.calls = tf.Variable(0, trainable=False)
    for key, value in kept.items():
        setattr(module, key, value)

    def counted(*given: Any) -> Any:
        module.calls.assign_add(1)
        first = given[0] * module.scale if given[0].dtype == tf.float32 else given[0]
        return function(first, *given[1:])

    module.f = tf.function(counted, input_signature=specs)
    flat_signature = tf.function(
        lambda *given: {f"y{i}": y for i, y in enumerate(tf.nest.flatten(module.f(*given)))}
    ).get_concrete_function(*specs)
    tf.saved_model.save(module, folder / name, signatures=flat_signature)
    tensors = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        results = tf.nest.flatten(module.f(*tensors))
        loss = sum([tf.reduce_sum(y) for y in results if y.dtype == tf.float32], tf.constant(0.0))
    slope = tape.gradient(loss, module.scale)
    loaded = tf.saved_model.load(folder / name)
    assert int(loaded.calls) == 0
    again = tf.nest.flatten(loaded.f(*tensors))
    assert int(loaded.calls) == 1
    for a, b in zip(results, again, strict=True):
        same = np.array_equal if a.dtype == tf.string else lambda a, b: np.allclose(a, b, 1e-5)
        assert same(a.numpy(), b.numpy()), (name, a, b)
    arrays = {
        f"result_{i}": np.asarray(y.numpy(), y.dtype.as_numpy_dtype) for i, y in enumerate(results)
    }
    arrays |= {f"input_{i}": x for i, x in enumerate(inputs)}
    arrays["slope"] = np.float32(np.nan) if slope is None else slope.numpy()
    for key, array in list(arrays.items()):
        if array.dtype == object:  # older versions of NumPy cannot unpickle them
            arrays[key] = array.astype("S")
    np.savez(folder / f"{name}.npz", **arrays)


def main() -> int:
    """The number of cases that failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("interpreters", nargs="*")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    import weft as tf

    define(tf)
    failed = 0
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        names = [name for name in CASES if options.only in ("", name)]
        for name in names:
            try:
                saved(tf, name, folder)
            except Exception as error:  # noqa: BLE001 - all cases are tried
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}")
        for interpreter in options.interpreters:
            failed += subprocess.run([interpreter, str(_READER), text], check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
