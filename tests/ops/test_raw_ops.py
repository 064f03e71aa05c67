"""tf.raw_ops: TensorFlow's op names and arguments, by keyword; each row does what it says."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from ops import (
    test_raw_ops_calls,
    test_raw_ops_data,
    test_raw_ops_facts,
    test_raw_ops_lists,
    test_raw_ops_state,
    test_raw_ops_tables,
)
from support import image_calls, media_calls, quantized_calls, raw_calls
from weft._src.raw_ops import making, signatures

F = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)
M = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
W = np.array([2, 0, 1], np.int32)
S = np.array([b"ab", b"", b"xyz"], object)
B = np.array([True, False])
C = np.array([1 + 2j, 3 - 1j], np.complex64)
IMAGE = np.arange(2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3)
CUBE = np.ones((1, 2, 2, 2, 3), np.float32)
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
POOL3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}
SPARSE = {"indices": [[0, 1], [1, 0]], "values": [7, 8], "shape": [2, 2]}

# One call for each row of the table: the arguments, and what must come out.
CALLS: dict[str, tuple[dict[str, Any], Any]] = {
    "AddN": ({"inputs": [W, W]}, 2 * W),
    "All": ({"input": [B], "axis": 1}, [False]),
    "AllCandidateSampler": (
        {"true_classes": [[1]], "num_true": 1, "num_sampled": 2, "unique": True},
        [[0, 1], [[1.0]], [1.0, 1.0]],
    ),
    **{
        f"{kind}CandidateSampler": (
            {"true_classes": [[0]], "num_true": 1, "num_sampled": 2, "unique": False,
             "range_max": 1, **more},
            [[0, 0], [[2.0]], [2.0, 2.0]],
        )
        for kind, more in (
            ("Uniform", {"seed": 3}), ("LogUniform", {"seed2": 4}),
            ("FixedUnigram", {"unigrams": [3.0]}),
        )
    },
    "Any": ({"input": [B], "axis": 1, "keep_dims": True}, [[True]]),
    "ArgMax": ({"input": F, "dimension": 1}, [2, 0]),
    "ArgMin": ({"input": F, "dimension": 1, "output_type": tf.int32}, [1, 2]),
    "AsString": ({"input": [1.5], "precision": 1}, [b"1.5"]),
    "AvgPool": ({"value": IMAGE, **POOL}, tf.nn.avg_pool(IMAGE, 2, 2, "VALID")),
    "AvgPool3D": ({"input": CUBE, **POOL3D}, np.ones((1, 1, 1, 1, 3))),
    "BatchToSpaceND": (
        {"input": np.arange(4.0).reshape(4, 1, 1, 1), "block_shape": [2, 2], "crops": [[0, 0]] * 2},
        np.arange(4.0).reshape(1, 2, 2, 1),
    ),
    "BiasAdd": ({"value": F, "bias": F[0]}, F + F[0]),
    "Bitcast": ({"input": np.float32(1), "type": tf.int32}, 0x3F800000),
    "Cast": ({"x": F, "DstT": tf.int32}, F.astype(int)),
    "CheckNumerics": ({"tensor": F, "message": "text"}, F),
    "Complex": ({"real": [1.0], "imag": [2.0]}, [1 + 2j]),
    "ConcatV2": ({"values": [F, F], "axis": 1}, np.concatenate([F, F], 1)),
    "Conv2D": (
        {"input": IMAGE, "filter": np.ones((1, 1, 3, 1)), "strides": [1] * 4, "padding": "SAME"},
        IMAGE.sum(-1, keepdims=True),
    ),
    "Conv3D": (
        {"input": CUBE, "filter": np.ones((1, 1, 1, 3, 1)), "strides": [1] * 5, "padding": "SAME"},
        CUBE.sum(-1, keepdims=True),
    ),
    "Cumprod": ({"x": F, "axis": 0}, np.cumprod(F, 0)),
    "Cumsum": ({"x": F, "axis": 1, "reverse": True}, np.cumsum(F[:, ::-1], 1)[:, ::-1]),
    "CumulativeLogsumexp": ({"x": F, "axis": 0}, np.logaddexp.accumulate(F, 0)),
    "DecodeBase64": ({"input": "YWI"}, b"ab"),
    "DecodeProtoV2": (
        {"bytes": [b"\n\x02\x01\x02"], "message_type": "tensorflow.Int64List",
         "field_names": ["value"], "output_types": [tf.int64]},
        [[[2]], [[[1, 2]]]],
    ),
    "EncodeProto": (
        {"sizes": [[2]], "values": [tf.constant([[1, 2]], tf.int64)], "field_names": ["value"],
         "message_type": "tensorflow.Int64List"},
        [b"\n\x02\x01\x02"],
    ),
    "DecodeRaw": ({"bytes": b"\x01\x02", "out_type": tf.uint8}, [1, 2]),
    "DepthToSpace": (
        {"input": np.arange(4.0).reshape(1, 1, 1, 4), "block_size": 2},
        np.arange(4.0).reshape(1, 2, 2, 1),
    ),
    "DepthwiseConv2dNative": (
        {"input": IMAGE, "filter": np.ones((1, 1, 3, 1)), "strides": [1] * 4, "padding": "SAME"},
        IMAGE,
    ),
    "DynamicPartition": ({"data": W, "partitions": [1, 0, 1], "num_partitions": 2}, [[0], [2, 1]]),
    "DynamicStitch": ({"indices": [[1], [0]], "data": [[5], [6]]}, [6, 5]),
    "EncodeBase64": ({"input": b"ab"}, b"YWI"),
    "EnsureShape": ({"input": F, "shape": [None, 3]}, F),
    "EuclideanNorm": ({"input": F, "axis": 1}, np.linalg.norm(F, axis=1)),
    "ExpandDims": ({"input": F, "axis": 1}, F[:, None]),
    "FFT": ({"input": C}, np.fft.fft(C)),
    "FFT2D": ({"input": [C]}, np.fft.fft2([C])),
    "FFT3D": ({"input": [[C]]}, np.fft.fftn([[C]])),
    "Fingerprint": ({"data": S, "method": "farmhash64"}, tf.fingerprint(S)),
    "GatherNd": ({"params": F, "indices": [[1, 0]]}, [3.0]),
    "GatherV2": ({"params": F, "indices": W, "axis": 1}, F[:, W]),
    "HistogramFixedWidth": ({"values": F, "value_range": [-2.0, 4.0], "nbins": 2}, [4, 2]),
    "IFFT": ({"input": C}, np.fft.ifft(C)),
    "IFFT2D": ({"input": [C]}, np.fft.ifft2([C])),
    "IFFT3D": ({"input": [[C]]}, np.fft.ifftn([[C]])),
    "IRFFT": ({"input": C, "fft_length": [2]}, np.fft.irfft(C, 2)),
    "IdentityN": ({"input": [F, W]}, [F, W]),
    "InTopKV2": ({"predictions": F, "targets": [2, 0], "k": 1}, [True, True]),
    "LeakyRelu": ({"features": F, "alpha": 0.5}, np.where(F < 0, F / 2, F)),
    "LogSoftmax": ({"logits": F}, tf.nn.log_softmax(F)),
    "LowerBound": ({"sorted_inputs": [1, 2, 2], "values": [2]}, [1]),
    "Lu": ({"input": M}, [[[4.0, 1.0], [0.25, 2.75]], [0, 1]]),
    "MatMul": ({"a": F, "b": F, "transpose_b": True}, F @ F.T),
    "MatrixDiagPartV3": ({"input": M, "k": 0, "padding_value": 0.0}, [4.0, 3.0]),
    "MatrixDiagV3": (
        {"diagonal": [1.0, 2.0], "k": 0, "num_rows": -1, "num_cols": -1, "padding_value": 0.0},
        np.diag([1.0, 2.0]),
    ),
    "MatrixInverse": ({"input": M}, np.linalg.inv(M)),
    "MatrixSetDiagV3": ({"input": M, "diagonal": [0.0, 0.0], "k": 0}, [[0, 1], [1, 0]]),
    "MatrixSolve": ({"matrix": M, "rhs": M}, np.eye(2)),
    "MatrixTriangularSolve": ({"matrix": np.tril(M), "rhs": np.tril(M)}, np.eye(2)),
    "Max": ({"input": F, "axis": [0]}, F.max(0)),
    "MaxPool": ({"input": IMAGE, **POOL}, IMAGE[:, 1::2, 1::2]),
    "MaxPool3D": ({"input": CUBE, **POOL3D}, np.ones((1, 1, 1, 1, 3))),
    "Mean": ({"input": F, "axis": 0}, F.mean(0)),
    "Min": ({"input": F, "axis": 0}, F.min(0)),
    "MirrorPad": ({"input": W, "paddings": [[1, 0]], "mode": "REFLECT"}, [0, 2, 0, 1]),
    "OneHot": ({"indices": W, "depth": 3, "on_value": 1, "off_value": 0}, np.eye(3)[W]),
    "Pack": ({"values": [W, W], "axis": 1}, np.stack([W, W], 1)),
    "ParseTensor": ({"serialized": tf.io.serialize_tensor(F), "out_type": tf.float32}, F),
    "Prod": ({"input": F, "axis": 1}, F.prod(1)),
    "Qr": ({"input": M}, list(tf.linalg.qr(M))),
    "RFFT": ({"input": F, "fft_length": [3]}, np.fft.rfft(F)),
    "Range": ({"start": 1, "limit": 6, "delta": 2}, [1, 3, 5]),
    "ReduceJoin": ({"inputs": S, "reduction_indices": 0, "separator": "-"}, b"ab--xyz"),
    "RegexFullMatch": ({"input": S, "pattern": "a."}, [True, False, False]),
    "RegexReplace": ({"input": S, "pattern": "a", "rewrite": "c"}, [b"cb", b"", b"xyz"]),
    "ReverseSequence": ({"input": F, "seq_lengths": [1, 3], "seq_dim": 1}, [F[0], F[1][::-1]]),
    "ReverseV2": ({"tensor": W, "axis": [0]}, W[::-1]),
    "Roll": ({"input": W, "shift": 1, "axis": 0}, np.roll(W, 1)),
    "ScatterNd": ({"indices": [[1]], "updates": [5], "shape": [3]}, [0, 5, 0]),
    "SerializeTensor": ({"tensor": F}, tf.io.serialize_tensor(F)),
    "SetSize": ({f"set_{k}": v for k, v in SPARSE.items()}, [1, 1]),
    "Shape": ({"input": F, "out_type": tf.int64}, [2, 3]),
    "Size": ({"input": F}, 6),
    "SobolSample": ({"dim": 2, "num_results": 2, "skip": 0}, tf.math.sobol_sample(2, 2)),
    "Softmax": ({"logits": F}, tf.nn.softmax(F)),
    "SpaceToBatchND": (
        {
            "input": np.arange(4.0).reshape(1, 2, 2, 1),
            "block_shape": [2, 2],
            "paddings": [[0, 0]] * 2,
        },
        np.arange(4.0).reshape(4, 1, 1, 1),
    ),
    "SpaceToDepth": (
        {"input": np.arange(4.0).reshape(1, 2, 2, 1), "block_size": 2},
        np.arange(4.0).reshape(1, 1, 1, 4),
    ),
    "SparseToDense": (
        {"sparse_indices": [[1]], "output_shape": [2], "sparse_values": [5], "default_value": 9},
        [9, 5],
    ),
    "SparseToSparseSetOperation": (
        {
            **{f"set1_{k}": v for k, v in SPARSE.items()},
            **{f"set2_{k}": v for k, v in SPARSE.items()},
            "set_operation": "union",
        },
        [[[0, 0], [1, 0]], [7, 8], [2, 1]],
    ),
    "Split": ({"axis": 1, "value": F, "num_split": 3}, [F[:, :1], F[:, 1:2], F[:, 2:]]),
    "SplitV": (
        {"value": F, "size_splits": [1, 2], "axis": 1, "num_split": 2},
        [F[:, :1], F[:, 1:]],
    ),
    "Squeeze": ({"input": F[None]}, F),
    "StringFormat": ({"inputs": [W], "template": "<%s>"}, b"<[2 0 1]>"),
    "StringJoin": ({"inputs": [S, S], "separator": "-"}, [b"ab-ab", b"-", b"xyz-xyz"]),
    "StringLength": ({"input": S}, [2, 0, 3]),
    "StringLower": ({"input": ["A"]}, [b"a"]),
    "StringNGrams": (
        {
            "data": S, "data_splits": [0, 3], "separator": "+", "ngram_widths": (2,),
            "left_pad": "", "right_pad": "", "pad_width": 0, "preserve_short_sequences": False,
        },
        [[b"ab+", b"+xyz"], [0, 2]],
    ),
    "StringSplitV2": (
        {"input": ["a b"], "sep": ""},
        [[[0, 0], [0, 1]], [b"a", b"b"], [1, 2]],
    ),
    "StringToHashBucket": (
        {"string_tensor": S, "num_buckets": 7},
        tf.strings.to_hash_bucket(S, 7),
    ),
    "StringToHashBucketFast": (
        {"input": S, "num_buckets": 7},
        tf.strings.to_hash_bucket_fast(S, 7),
    ),
    "StringToHashBucketStrong": (
        {"input": S, "num_buckets": 7, "key": [1, 2]},
        tf.strings.to_hash_bucket_strong(S, 7, [1, 2]),
    ),
    "StringToNumber": ({"string_tensor": ["1.5"]}, [1.5]),
    "StringUpper": ({"input": S}, [b"AB", b"", b"XYZ"]),
    "Substr": ({"input": S, "pos": 0, "len": 1}, [b"a", b"", b"x"]),
    "Sum": ({"input": F, "axis": 1, "keep_dims": True}, F.sum(1, keepdims=True)),
    "Svd": ({"input": M}, list(tf.linalg.svd(M))),
    "TopKV2": ({"input": F, "k": 1}, [[[2.0], [3.0]], [[2], [0]]]),
    "Transpose": ({"x": F, "perm": [1, 0]}, F.T),
    "UnicodeDecodeWithOffsets": (
        {"input": ["ab"], "input_encoding": "UTF-8"},
        [[0, 2], [97, 98], [0, 1]],
    ),
    "UnicodeEncode": (
        {"input_values": [97, 98], "input_splits": [0, 2], "output_encoding": "UTF-8"},
        [b"ab"],
    ),
    "UnicodeTranscode": (
        {"input": S, "input_encoding": "UTF-8", "output_encoding": "UTF-8"},
        S,
    ),
    "UniqueWithCounts": ({"x": [4, 1, 4]}, [[4, 1], [0, 1, 0], [2, 1]]),
    "Unpack": ({"value": F, "num": 2}, [F[0], F[1]]),
    "UnsortedSegmentJoin": (
        {"inputs": S, "segment_ids": [1, 0, 1], "num_segments": 2},
        [b"", b"abxyz"],
    ),
    "UpperBound": ({"sorted_inputs": [1, 2, 2], "values": [2]}, [3]),
    "Where": ({"condition": B}, [[0]]),
}  # fmt: skip


def same(found: Any, expected: Any) -> None:
    if isinstance(found, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
        return
    array, wanted = np.asarray(found), np.asarray(expected)
    assert array.shape == wanted.shape
    if array.dtype == object:
        assert array.tolist() == wanted.astype(object).tolist()
    else:
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_rows_of_the_table(name: str) -> None:
    arguments, expected = CALLS[name]
    same(getattr(tf.raw_ops, name)(**arguments), expected)


def test_every_row_has_a_call() -> None:
    called = {*CALLS} | test_raw_ops_facts.NAMES | test_raw_ops_state.NAMES
    called |= test_raw_ops_tables.NAMES | test_raw_ops_calls.NAMES | test_raw_ops_lists.NAMES
    called |= test_raw_ops_data.NAMES | raw_calls.NAMES
    called |= image_calls.RAW_OPS | quantized_calls.RAW_OPS | media_calls.raw_op_names()
    assert sorted({*making._WRITTEN} - called) == []


PLAIN = [
    ("AddV2", {"x": [1, 2], "y": [3, 4]}, [4, 6]),
    ("AddV2", {"x": np.float64([1]), "y": 1}, [2.0]),
    ("SelectV2", {"condition": B, "t": [1, 2], "e": [3, 4]}, [1, 4]),
    ("Relu", {"features": [-1.0, 1.0]}, [0, 1]),
    ("Reshape", {"tensor": W, "shape": [3, 1]}, W[:, None]),
    ("Pad", {"input": W, "paddings": [[1, 0]]}, [0, 2, 0, 1]),
    ("Slice", {"input": W, "begin": [1], "size": [1]}, [0]),
    ("NextAfter", {"x1": [1.0], "x2": [2.0]}, np.nextafter(np.float32([1]), np.float32(2))),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), PLAIN)
def test_ops_without_attributes(name: str, arguments: dict[str, Any], expected: Any) -> None:
    raw = getattr(tf.raw_ops, name)
    same(raw(**arguments), expected)
    same(tf.function(lambda: raw(**arguments))(), expected)


def test_all_of_them_can_be_made() -> None:
    names = dir(tf.raw_ops)
    assert {"MatMul", "Exp", "Any"} <= set(names)
    assert len(names) > 200
    for name in names:
        parameters = inspect.signature(getattr(tf.raw_ops, name)).parameters.values()
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters)


def test_wrong_use() -> None:
    with pytest.raises(TypeError, match=r"raw_ops\.Exp takes keyword arguments only"):
        tf.raw_ops.Exp([1.0])
    with pytest.raises(TypeError, match=r"raw_ops\.MatMul.*'b'"):
        tf.raw_ops.MatMul(a=M)
    with pytest.raises(TypeError, match=r"raw_ops\.MatMul.*'c'"):
        tf.raw_ops.MatMul(a=M, b=M, c=M)
    with pytest.raises(AttributeError, match=r"tf\.raw_ops\.MatMull .*'MatMul'"):
        _ = tf.raw_ops.MatMull
    with pytest.raises(AttributeError, match="SumToShape"):
        _ = tf.raw_ops.SumToShape


def test_numbers_take_the_dtype_of_the_tensors_they_meet() -> None:
    x = tf.constant([1.5, 2.0], tf.float64)
    for left, right in ((2, x), (x, 2), (2.0, x)):
        got = tf.raw_ops.Mul(x=left, y=right)
        assert got.dtype is tf.float64
        np.testing.assert_array_equal(got, [3.0, 4.0])
    assert tf.raw_ops.NotEqual(x=1, y=tf.constant(2, tf.int64)).numpy()


@pytest.mark.parametrize("compiled", [False, True])
def test_binary_counts_do_not_look_at_weights(compiled: bool) -> None:
    @tf.function(jit_compile=compiled)
    def f(numbers, weights):
        return tf.raw_ops.DenseBincount(input=numbers, size=5, weights=weights, binary_output=True)

    got = f(tf.constant([4, 1, 4]), tf.constant([0.5, -2.0, 0.0]))
    np.testing.assert_array_equal(got, [0, 1, 0, 0, 1])


# --- the table of signatures ---------------------------------------------------------------------


def test_arguments_are_those_of_tensorflow() -> None:
    for name in dir(tf.raw_ops):
        signature = signatures.signature_of(name)
        assert signature is not None, name
        *found, last = inspect.signature(getattr(tf.raw_ops, name)).parameters
        assert (tuple(found), last) == (signature.parameters, "name"), name


def test_signatures() -> None:
    assert len(signatures.names()) > 1700
    assert signatures.signature_of("NoSuchOp") is None
    concat = signatures.signature_of("ConcatV2")
    assert [(x.name, x.type, x.many) for x in concat.inputs] == [
        ("values", "T", "N"),
        ("axis", "Tidx", ""),
    ]
    assert concat.inferred == {"T", "N", "Tidx"}
    total = signatures.signature_of("Sum")
    assert [x.name for x in total.inputs] == ["input", "reduction_indices"]
    assert total.parameters == ("input", "axis", "keep_dims")
    assert total.defaults == {"keep_dims": False}
    assert total.names == {"input": "input", "reduction_indices": "axis", "keep_dims": "keep_dims"}
    variable = signatures.signature_of("VarHandleOp")
    assert variable.is_stateful
    assert variable.inputs == ()
    assert [x.type for x in variable.outputs] == ["resource"]
    kinds = {a.name: a.kind for a in variable.attributes}
    assert (kinds["shape"], kinds["dtype"], kinds["shared_name"]) == ("shape", "type", "string")
    table = Path(signatures.__file__).with_name("signatures.json.xz")
    assert table.stat().st_size < 50_000


def test_attributes_that_are_accepted_at_their_defaults() -> None:
    assert tf.raw_ops.Cast(x=[1.5], DstT=tf.int32, Truncate=False).numpy().tolist() == [1]
    with pytest.raises(tf.errors.UnsupportedError, match="Cast: Truncate must be False, got True"):
        tf.raw_ops.Cast(x=[1.5], DstT=tf.int32, Truncate=True)
    x = tf.constant([1 + 2j])
    for dtype in (None, tf.float64, "float64"):
        assert tf.raw_ops.Real(input=x, Tout=dtype).numpy().tolist() == [1]
    with pytest.raises(
        tf.errors.UnsupportedError, match="Tout must be float64 for these inputs, got flo"
    ):
        tf.raw_ops.Real(input=x, Tout=tf.float32)
