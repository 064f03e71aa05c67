"""The static types of the elements of pipelines: those of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

DS = tf.data.Dataset


def shown(s: Any) -> str:
    """A spec in short: R is a ragged tensor, Sp a sparse one, DS a dataset."""
    if isinstance(s, tf.data.DatasetSpec):
        return f"DS<{shown(s.element_spec)}>"
    if isinstance(s, (tuple, list)):
        return f"({','.join(map(shown, s))})"
    if isinstance(s, dict):
        return "{" + ",".join(f"{k}:{shown(v)}" for k, v in s.items()) + "}"
    if isinstance(s, tf.RaggedTensorSpec):
        return f"R[{s.shape},{s.dtype.name},{s.ragged_rank}]"
    if isinstance(s, tf.SparseTensorSpec):
        return f"Sp[{s.shape},{s.dtype.name}]"
    return f"{s.shape}{s.dtype.name}"


def r() -> Any:
    return DS.range(10)


def m2() -> Any:
    return DS.from_tensor_slices(np.zeros([6, 3, 2], np.float32))


def unk(shape: Any = (None,)) -> Any:
    spec = tf.TensorSpec(shape, tf.float32)
    return DS.from_generator(lambda: iter([]), output_signature=spec)


def rank() -> Any:
    return unk(None)


def setshape(sizes: Any) -> Any:
    def f(x: Any) -> Any:
        x = tf.numpy_function(lambda v: v, [x], tf.float32)
        x.set_shape(sizes)
        return x

    return f


# By name: the pipeline, and what TensorFlow says of its elements without and with `drop_remainder`.
BATCHED: dict[str, tuple[Callable[..., Any], str, str]] = {
    "batch": (lambda k: r().batch(3, **k), "(None,)int64", "(3,)int64"),
    "batch m2": (lambda k: m2().batch(3, **k), "(None, 3, 2)float32", "(3, 3, 2)float32"),
    "batch tensor n": (
        lambda k: r().batch(tf.constant(3, tf.int64), **k),
        "(None,)int64",
        "(3,)int64",
    ),
    "batch twice": (
        lambda k: m2().batch(3, **k).batch(2, **k),
        "(None, None, 3, 2)float32",
        "(2, 3, 3, 2)float32",
    ),
    "batch unk": (lambda k: unk().batch(3, **k), "(None, None)float32", "(3, None)float32"),
    "batch unk rank": (lambda k: rank().batch(3, **k), "<unknown>float32", "<unknown>float32"),
    "batch dict": (
        lambda k: r().map(lambda i: {"a": i, "b": (i, tf.fill([2], i))}).batch(4, **k),
        "{a:(None,)int64,b:((None,)int64,(None, 2)int64)}",
        "{a:(4,)int64,b:((4,)int64,(4, 2)int64)}",
    ),
    "padded": (lambda k: unk().padded_batch(3, **k), "(None, None)float32", "(3, None)float32"),
    "padded shapes": (
        lambda k: unk((None, 2)).padded_batch(3, padded_shapes=[5, None], **k),
        "(None, 5, None)float32",
        "(3, 5, None)float32",
    ),
    "padded shapes2": (
        lambda k: unk((None, 2)).padded_batch(3, padded_shapes=[5, 4], **k),
        "(None, 5, 4)float32",
        "(3, 5, 4)float32",
    ),
    "padded shapes -1": (
        lambda k: unk((None, 2)).padded_batch(3, padded_shapes=[-1, 2], **k),
        "(None, None, 2)float32",
        "(3, None, 2)float32",
    ),
    "padded shapes tensor": (
        lambda k: unk((None, 2)).padded_batch(3, padded_shapes=tf.constant([-1, 2], tf.int64), **k),
        "(None, None, 2)float32",
        "(3, None, 2)float32",
    ),
    "padded m2": (lambda k: m2().padded_batch(3, **k), "(None, 3, 2)float32", "(3, 3, 2)float32"),
    "padded m2 -1": (
        lambda k: m2().padded_batch(3, padded_shapes=[-1, -1], **k),
        "(None, None, None)float32",
        "(3, None, None)float32",
    ),
    "padded m2 None": (
        lambda k: m2().padded_batch(3, padded_shapes=[None, None], **k),
        "(None, None, None)float32",
        "(3, None, None)float32",
    ),
    "padded dict": (
        lambda k: (
            r()
            .map(lambda i: {"a": i, "b": tf.range(i)})
            .padded_batch(4, padded_shapes={"a": [], "b": [None]}, **k)
        ),
        "{a:(None,)int64,b:(None, None)int64}",
        "{a:(4,)int64,b:(4, None)int64}",
    ),
    "padded default dict": (
        lambda k: r().map(lambda i: {"a": i, "b": tf.range(i)}).padded_batch(4, **k),
        "{a:(None,)int64,b:(None, None)int64}",
        "{a:(4,)int64,b:(4, None)int64}",
    ),
    "padded unk rank": (
        lambda k: rank().padded_batch(3, padded_shapes=[2, None], **k),
        "(None, 2, None)float32",
        "(3, 2, None)float32",
    ),
    "ragged_batch": (
        lambda k: unk().ragged_batch(3, **k),
        "R[(None, None),float32,1]",
        "R[(3, None),float32,1]",
    ),
    "ragged_batch m2": (
        lambda k: m2().ragged_batch(3, **k),
        "(None, 3, 2)float32",
        "(3, 3, 2)float32",
    ),
    "ragged_batch unk2": (
        lambda k: unk((None, 2)).ragged_batch(3, **k),
        "R[(None, None, 2),float32,1]",
        "R[(3, None, 2),float32,1]",
    ),
    "ragged_batch unk3": (
        lambda k: unk((None, None)).ragged_batch(3, **k),
        "R[(None, None, None),float32,2]",
        "R[(3, None, None),float32,2]",
    ),
    "ragged_batch 2none": (
        lambda k: unk((2, None)).ragged_batch(3, **k),
        "R[(None, 2, None),float32,2]",
        "R[(3, 2, None),float32,2]",
    ),
    "ragged_batch scalar": (lambda k: r().ragged_batch(3, **k), "(None,)int64", "(3,)int64"),
    "ragged dense_to_ragged": (
        lambda k: unk().apply(tf.data.experimental.dense_to_ragged_batch(3, **k)),
        "R[(None, None),float32,1]",
        "R[(3, None),float32,1]",
    ),
    "ragged batch of ragged": (
        lambda k: r().map(lambda i: tf.ragged.range(tf.fill([2], i))).batch(3, **k),
        "R[(None, 2, None),int64,2]",
        "R[(3, 2, None),int64,2]",
    ),
    "ragged batch of ragged n": (
        lambda k: r().map(lambda i: tf.ragged.range(tf.range(i))).batch(3, **k),
        "R[(None, None, None),int64,2]",
        "R[(3, None, None),int64,2]",
    ),
    "sparse batch": (
        lambda k: r().map(lambda i: tf.sparse.from_dense(tf.fill([4], i))).batch(3, **k),
        "Sp[(None, 4),int64]",
        "Sp[(3, 4),int64]",
    ),
    "window": (lambda k: r().window(3, **k), "DS<()int64>", "DS<()int64>"),
    "window m2": (lambda k: m2().window(3, 1, 1, **k), "DS<(3, 2)float32>", "DS<(3, 2)float32>"),
    "window dict": (
        lambda k: r().map(lambda i: {"a": i, "b": i}).window(3, **k),
        "{a:DS<()int64>,b:DS<()int64>}",
        "{a:DS<()int64>,b:DS<()int64>}",
    ),
    "window tuple": (
        lambda k: DS.zip((r(), r())).window(2, **k),
        "(DS<()int64>,DS<()int64>)",
        "(DS<()int64>,DS<()int64>)",
    ),
    "window flat_map": (
        lambda k: r().window(3, **k).flat_map(lambda w: w.batch(3, **k)),
        "(None,)int64",
        "(3,)int64",
    ),
    "bucket": (
        lambda k: unk().bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], **k),
        "(None, None)float32",
        "(None, None)float32",
    ),
    "bucket same": (
        lambda k: unk().bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 4], **k),
        "(None, None)float32",
        "(None, None)float32",
    ),
    "bucket pad": (
        lambda k: unk().bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], pad_to_bucket_boundary=True, **k
        ),
        "(None, None)float32",
        "(None, None)float32",
    ),
    "bucket shapes": (
        lambda k: unk((None, 3)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], padded_shapes=[7, 3], **k
        ),
        "(None, 7, 3)float32",
        "(None, 7, 3)float32",
    ),
    "bucket nopad": (
        lambda k: unk().bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], no_padding=True, **k
        ),
        "(None, None)float32",
        "(None, None)float32",
    ),
    "group_by_window": (
        lambda k: r().group_by_window(
            lambda x: x % 2, lambda key, w: w.batch(3, **k), window_size=3
        ),
        "(None,)int64",
        "(3,)int64",
    ),
    "group_by_window2": (
        lambda k: r().group_by_window(
            lambda x: x % 2,
            lambda key, w: w.batch(3, **k).map(lambda b: (key, b)),
            window_size_func=lambda k: k + 1,
        ),
        "(()int64,(None,)int64)",
        "(()int64,(3,)int64)",
    ),
    "map_and_batch": (
        lambda k: r().apply(
            tf.data.experimental.map_and_batch(lambda x: (x, tf.fill([2], x)), 4, **k)
        ),
        "((None,)int64,(None, 2)int64)",
        "((4,)int64,(4, 2)int64)",
    ),
    "parallel batch": (
        lambda k: r().batch(3, num_parallel_calls=2, **k),
        "(None,)int64",
        "(3,)int64",
    ),
    "rebatch": (lambda k: r().batch(2).rebatch(5, **k), "(None,)int64", "(5,)int64"),
    "rebatch known": (
        lambda k: m2().batch(2, drop_remainder=True).rebatch(3, **k),
        "(None, 3, 2)float32",
        "(3, 3, 2)float32",
    ),
    "rebatch list": (
        lambda k: m2().batch(2).rebatch([3, 1], **k),
        "(None, 3, 2)float32",
        "(None, 3, 2)float32",
    ),
    "rebatch list same": (
        lambda k: m2().batch(2).rebatch([3, 3], **k),
        "(None, 3, 2)float32",
        "(3, 3, 2)float32",
    ),
    "rebatch one of list": (
        lambda k: m2().batch(2).rebatch([3], **k),
        "(None, 3, 2)float32",
        "(3, 3, 2)float32",
    ),
    "batch unbatch": (lambda k: m2().batch(4, **k).unbatch(), "(3, 2)float32", "(3, 2)float32"),
    "batch interleave": (
        lambda k: r().interleave(lambda i: DS.range(i).batch(2, **k), cycle_length=2),
        "(None,)int64",
        "(2,)int64",
    ),
    "batch fn size": (
        lambda k: r().interleave(lambda i: DS.range(9).batch(i + 1, **k)),
        "(None,)int64",
        "(None,)int64",
    ),
    "batch in flat_map": (
        lambda k: r().flat_map(lambda i: DS.from_tensors(tf.fill([3], i)).batch(2, **k)),
        "(None, 3)int64",
        "(2, 3)int64",
    ),
}

PIPELINES: dict[str, tuple[Callable[[], Any], str]] = {
    "unbatch": (lambda: m2().unbatch(), "(2,)float32"),
    "unbatch2": (lambda: m2().unbatch().unbatch(), "()float32"),
    "unbatch unk": (lambda: unk((None, 2)).unbatch(), "(2,)float32"),
    "unbatch unk2": (lambda: unk((3, None)).unbatch(), "(None,)float32"),
    "unbatch rank": (lambda: rank().unbatch(), "<unknown>float32"),
    "unbatch ragged": (
        lambda: r().map(lambda i: tf.ragged.range(tf.fill([2], i))).unbatch(),
        "R[(None,),int64,0]",
    ),
    "unbatch ragged2": (
        lambda: (
            r()
            .map(
                lambda i: tf.RaggedTensor.from_row_splits(tf.ragged.range(tf.fill([2], i)), [0, 2])
            )
            .unbatch()
        ),
        "R[(None, None),int64,1]",
    ),
    "unbatch sparse": (
        lambda: r().map(lambda i: tf.sparse.from_dense(tf.fill([4, 3], i))).unbatch(),
        "Sp[(3,),int64]",
    ),
    "take skip": (
        lambda: m2().take(2).skip(1).repeat().shuffle(3).prefetch(1).cache(),
        "(3, 2)float32",
    ),
    "zip": (lambda: DS.zip(r(), m2().batch(2)), "(()int64,(None, 3, 2)float32)"),
    "zip dict": (
        lambda: DS.zip({"a": r(), "b": (r(), m2())}),
        "{a:()int64,b:(()int64,(3, 2)float32)}",
    ),
    "concat same": (lambda: m2().concatenate(m2()), "(3, 2)float32"),
    "concat diff": (
        lambda: m2().batch(2, drop_remainder=True).concatenate(m2().batch(3, drop_remainder=True)),
        "(None, 3, 2)float32",
    ),
    "concat rank": (
        lambda: DS.from_tensors([1, 2]).concatenate(DS.from_tensors([[1, 2]])),
        "<unknown>int32",
    ),
    "concat unk": (lambda: unk().concatenate(unk((3,))), "(None,)float32"),
    "concat tuple": (
        lambda: DS.zip(r(), unk()).concatenate(DS.zip(r(), unk((4,)))),
        "(()int64,(None,)float32)",
    ),
    "concat ragged": (
        lambda: DS.from_tensors(tf.ragged.constant([[1], [2, 3]])).concatenate(
            DS.from_tensors(tf.ragged.constant([[1]]))
        ),
        "R[(None, None),int32,1]",
    ),
    "concat sparse": (
        lambda: DS.from_tensors(tf.sparse.from_dense([1, 0])).concatenate(
            DS.from_tensors(tf.sparse.from_dense([1, 0, 2]))
        ),
        "Sp[(None,),int32]",
    ),
    "choose": (
        lambda: DS.choose_from_datasets(
            [DS.from_tensors([1, 2]), DS.from_tensors([1, 2, 3])], DS.range(2)
        ),
        "(None,)int32",
    ),
    "choose same": (
        lambda: DS.choose_from_datasets(
            [DS.from_tensors([1, 2]), DS.from_tensors([1, 3])], DS.range(2)
        ),
        "(2,)int32",
    ),
    "choose rank": (
        lambda: DS.choose_from_datasets(
            [DS.from_tensors([1, 2]), DS.from_tensors([[1, 3]])], DS.range(2)
        ),
        "<unknown>int32",
    ),
    "sample": (
        lambda: DS.sample_from_datasets(
            [DS.from_tensors([1, 2]), DS.from_tensors([1, 2, 3])], [0.5, 0.5]
        ),
        "(None,)int32",
    ),
    "sample2": (
        lambda: DS.sample_from_datasets([DS.from_tensors([[1, 2]]), DS.from_tensors([[1, 2, 3]])]),
        "(1, None)int32",
    ),
    "sample w": (
        lambda: DS.sample_from_datasets([r(), r()], weights=DS.from_tensors([0.5, 0.5]).repeat()),
        "()int64",
    ),
    "map set_shape": (lambda: m2().map(setshape([None, 2])), "(None, 2)float32"),
    "map set_shape none": (
        lambda: m2().map(lambda x: tf.numpy_function(lambda v: v, [x], tf.float32)),
        "<unknown>float32",
    ),
    "map ensure": (lambda: unk().map(lambda x: tf.ensure_shape(x, [4])), "(4,)float32"),
    "map par": (lambda: m2().map(setshape([3, None]), num_parallel_calls=2), "(3, None)float32"),
    "map list": (lambda: r().map(lambda i: [i, i]), "(()int64,()int64)"),
    "map tuple nest": (
        lambda: r().map(lambda i: ((i, [1, 2]), {"z": i})),
        "((()int64,(2,)int32),{z:()int64})",
    ),
    "map ragged": (
        lambda: r().map(lambda i: tf.RaggedTensor.from_row_lengths(tf.range(i), [i])),
        "R[(1, None),int64,1]",
    ),
    "map sparse": (
        lambda: r().map(lambda i: tf.SparseTensor([[i]], [1.0], [i + 1])),
        "Sp[(None,),float32]",
    ),
    "map sparse2": (
        lambda: r().map(lambda i: tf.SparseTensor([[i]], [1.0], [5])),
        "Sp[(5,),float32]",
    ),
    "map range": (lambda: r().map(lambda i: tf.range(i)), "(None,)int64"),
    "map ds": (lambda: r().map(lambda i: DS.range(i)), "DS<()int64>"),
    "gen types": (lambda: DS.from_generator(lambda: iter([]), tf.int32), "<unknown>int32"),
    "gen types2": (
        lambda: DS.from_generator(lambda: iter([]), (tf.int32, tf.string), ([None], [])),
        "((None,)int32,()string)",
    ),
    "gen types3": (
        lambda: DS.from_generator(lambda: iter([]), (tf.int32, tf.string)),
        "(<unknown>int32,<unknown>string)",
    ),
    "gen sig": (
        lambda: DS.from_generator(
            lambda: iter([]),
            output_signature=(
                tf.TensorSpec([2], tf.int32),
                tf.RaggedTensorSpec([2, None], tf.float32),
                tf.SparseTensorSpec([None, 4], tf.int64),
            ),
        ),
        "((2,)int32,R[(2, None),float32,1],Sp[(None, 4),int64])",
    ),
    "interleave": (lambda: m2().interleave(lambda x: DS.from_tensor_slices(x)), "(2,)float32"),
    "interleave unk": (
        lambda: unk((None, 2)).interleave(DS.from_tensor_slices, num_parallel_calls=2),
        "(2,)float32",
    ),
    "flat_map": (lambda: r().flat_map(lambda i: DS.from_tensors(tf.range(i))), "(None,)int64"),
    "enumerate": (lambda: m2().enumerate(start=3), "(()int64,(3, 2)float32)"),
    "scan": (lambda: r().scan(tf.constant([1, 2]), lambda s, x: (s, tf.fill([3], x))), "(3,)int64"),
    "scan grow": (
        lambda: r().scan(tf.constant([1]), lambda s, x: (tf.concat([s, s], 0), s)),
        "(None,)int32",
    ),
    "reduce_by": (
        lambda: r().filter(lambda x: x > 2).take_while(lambda x: x < 5).unique(),
        "()int64",
    ),
    "slices ragged": (
        lambda: DS.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])),
        "R[(None,),int32,0]",
    ),
    "slices ragged3": (
        lambda: DS.from_tensor_slices(tf.ragged.constant([[[1]], [[2, 3], []]])),
        "R[(None, None),int32,1]",
    ),
    "slices ragged inner": (
        lambda: DS.from_tensor_slices(
            tf.ragged.constant([[[1, 2]], [[2, 3], [4, 5]]], ragged_rank=1)
        ),
        "R[(None, 2),int32,0]",
    ),
    "from list": (lambda: DS.from_tensor_slices([[1, 2], [3, 4]]), "(2,)int32"),
    "from tuple": (lambda: DS.from_tensor_slices(([1, 2], [3.0, 4.0])), "(()int32,()float32)"),
    "from_tensors": (lambda: DS.from_tensors([[1, 2], [3, 4]]), "(2, 2)int32"),
    "dense_to_sparse": (
        lambda: unk().apply(tf.data.experimental.dense_to_sparse_batch(3, [5])),
        "Sp[(None, 5),float32]",
    ),
    "unique": (lambda: r().unique(), "()int64"),
    "rejection": (
        lambda: r().rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5]),
        "(()int32,()int64)",
    ),
    "counter": (lambda: DS.counter(3, 2, dtype=tf.int32), "()int32"),
    "textline": (lambda: tf.data.TextLineDataset(["a"]), "()string"),
    "tfrecord": (lambda: tf.data.TFRecordDataset(["a"]), "()string"),
    "fixed": (lambda: tf.data.FixedLengthRecordDataset(["a"], 3), "()string"),
    "fixed2": (
        lambda: tf.data.FixedLengthRecordDataset(["a"], 3).map(
            lambda x: tf.io.decode_raw(x, tf.uint8)
        ),
        "(None,)uint8",
    ),
    "csv": (
        lambda: tf.data.experimental.CsvDataset(["a"], [tf.int32, [2.0]]),
        "(()int32,()float32)",
    ),
    "parse ds": (
        lambda: (
            DS.from_tensor_slices(["", ""])
            .batch(2)
            .apply(
                tf.data.experimental.parse_example_dataset(
                    {
                        "a": tf.io.VarLenFeature(tf.int64),
                        "b": tf.io.FixedLenFeature([2, 3], tf.float32),
                    }
                )
            )
        ),
        "{a:Sp[(None, None),int64],b:(None, 2, 3)float32}",
    ),
    "ignore": (lambda: m2().ignore_errors().with_options(tf.data.Options()), "(3, 2)float32"),
    "decode": (lambda: DS.from_tensors("x").map(lambda x: tf.io.decode_image(x)), "<unknown>uint8"),
    "decode2": (
        lambda: DS.from_tensors("x").map(lambda x: tf.io.decode_jpeg(x, channels=3)),
        "(None, None, 3)uint8",
    ),
    "decode3": (
        lambda: DS.from_tensors("x").map(
            lambda x: tf.image.resize(tf.io.decode_png(x, channels=1), [4, 5])
        ),
        "(4, 5, 1)float32",
    ),
    "decode4": (
        lambda: DS.from_tensors("x").map(lambda x: tf.io.decode_image(x, expand_animations=False)),
        "(None, None, None)uint8",
    ),
    "split": (lambda: DS.from_tensors("x y").map(lambda x: tf.strings.split(x)), "(None,)string"),
    "cond": (
        lambda: r().map(
            lambda i: tf.cond(i > 2, lambda: tf.zeros([2, 3]), lambda: tf.zeros([4, 3]))
        ),
        "(None, 3)float32",
    ),
    "autograph if": (
        lambda: r().map(lambda i: tf.zeros([2]) if i > 2 else tf.zeros([3])),
        "(None,)float32",
    ),
    "where": (lambda: m2().map(lambda x: tf.where(x > 0)), "(None, 2)int64"),
    "boolmask": (lambda: m2().map(lambda x: tf.boolean_mask(x, x[:, 0] > 0)), "(None, 2)float32"),
    "gather": (lambda: unk((None, 2)).map(lambda x: x[:3]), "(None, 2)float32"),
    "gather2": (lambda: unk((5, 2)).map(lambda x: x[1:-1, ::2]), "(3, 1)float32"),
    "reshape": (lambda: m2().map(lambda x: tf.reshape(x, [-1])), "(6,)float32"),
    "reshape2": (
        lambda: unk((None, 2)).map(lambda x: tf.reshape(x, [-1, 2, 1])),
        "(None, 2, 1)float32",
    ),
    "random_crop": (lambda: m2().map(lambda x: tf.image.random_crop(x, [2, 2])), "(2, 2)float32"),
    "pad": (lambda: unk((None, 2)).map(lambda x: tf.pad(x, [[1, 1], [2, 0]])), "(None, 4)float32"),
    "onehot": (lambda: r().map(lambda i: tf.one_hot(i, 4)), "(4,)float32"),
    "assert_card": (
        lambda: m2().apply(tf.data.experimental.assert_cardinality(6)),
        "(3, 2)float32",
    ),
    "shard": (lambda: m2().shard(2, 0), "(3, 2)float32"),
}


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("name", BATCHED)
def test_batches(name: str, drop: bool) -> None:
    make, *expected = BATCHED[name]
    assert shown(make({"drop_remainder": drop}).element_spec) == expected[drop]


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name: str) -> None:
    make, expected = PIPELINES[name]
    assert shown(make().element_spec) == expected
