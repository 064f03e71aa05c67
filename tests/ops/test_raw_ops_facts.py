"""tf.raw_ops: one call each of those that are no single public function, and what TensorFlow gives.

The numbers were recorded with TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

# One row of a sparse tensor: the element 1 at place 1 of 3.
SERIALIZED_ROW = [
    b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08\x01' + bytes(7),
    b'\x08\x03\x12\x04\x12\x02\x08\x01"\x04\x01' + bytes(3),
    b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03' + bytes(7),
]
F = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)
M = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
STATE = {"key": np.array([5], np.uint64), "counter": np.array([7, 8], np.uint64), "alg": 1}
IMAGE = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)

FACTS: list[tuple[str, dict[str, Any], Any]] = [
    ("Add", {"x": [1, 2], "y": [3, 4]}, [4, 6]),
    ("ApproximateEqual", {"x": [1.0, 2.0], "y": [1.0, 2.1]}, [True, False]),
    ("BiasAddGrad", {"out_backprop": F}, [3.5, -1.25, 1.25]),
    (
        "BiasAddGrad",
        {"out_backprop": np.ones([2, 3, 4], np.float32), "data_format": "NCHW"},
        [8.0, 8.0, 8.0],
    ),
    (
        "BiasAddV1",
        {"value": F, "bias": np.array([1.0, 2.0, 3.0], np.float32)},
        [[1.5, 0.5, 5.0], [4.0, 2.25, 2.25]],
    ),
    (
        "Bincount",
        {"arr": [1, 1, 5, 2], "size": 4, "weights": np.array([], np.float32)},
        [0.0, 2.0, 1.0, 0.0],
    ),
    (
        "Bincount",
        {"arr": [1, 1, 2], "size": 4, "weights": np.array([0.5, 1.0, 2.0], np.float32)},
        [0.0, 1.5, 2.0, 0.0],
    ),
    (
        "Bucketize",
        {"input": [[-1.0, 3.0], [5.0, 9.0]], "boundaries": [0.0, 3.0, 6.0]},
        [[0, 2], [2, 3]],
    ),
    (
        "CTCGreedyDecoder",
        {
            "inputs": np.log(
                np.array([[[0.1, 0.8, 0.1]], [[0.1, 0.8, 0.1]], [[0.6, 0.2, 0.2]]], np.float32)
            ),
            "sequence_length": [3],
            "merge_repeated": True,
        },
        [[[0, 0], [0, 1]], [1, 0], [1, 2], [[0.95711]]],
    ),
    (
        "CTCGreedyDecoder",
        {
            "inputs": np.log(
                np.array([[[0.1, 0.8, 0.1]], [[0.1, 0.1, 0.8]], [[0.6, 0.2, 0.2]]], np.float32)
            ),
            "sequence_length": [3],
        },
        [[[0, 0], [0, 1]], [1, 0], [1, 2], [[0.95711]]],
    ),
    (
        "ClipByValue",
        {"t": F, "clip_value_min": -1.0, "clip_value_max": 1.0},
        [[0.5, -1.0, 1.0], [1.0, 0.25, -0.75]],
    ),
    (
        "Concat",
        {"concat_dim": 1, "values": [F, F]},
        [[0.5, -1.5, 2.0, 0.5, -1.5, 2.0], [3.0, 0.25, -0.75, 3.0, 0.25, -0.75]],
    ),
    (
        "ConjugateTranspose",
        {"x": np.array([[1 + 2j, 3 - 1j]], np.complex64), "perm": [1, 0]},
        [[(1 - 2j)], [(3 + 1j)]],
    ),
    (
        "Conv2DBackpropFilter",
        {
            "input": IMAGE,
            "filter_sizes": [2, 2, 2, 1],
            "out_backprop": np.ones([1, 3, 3, 1], np.float32),
            "strides": [1, 1, 1, 1],
            "padding": "VALID",
        },
        [[[[90.0], [99.0]], [[108.0], [117.0]]], [[[162.0], [171.0]], [[180.0], [189.0]]]],
    ),
    (
        "Conv2DBackpropInput",
        {
            "input_sizes": [1, 4, 4, 2],
            "filter": np.arange(8, dtype=np.float32).reshape(2, 2, 2, 1),
            "out_backprop": np.ones([1, 3, 3, 1], np.float32),
            "strides": [1, 1, 1, 1],
            "padding": "VALID",
        },
        [
            [
                [[0.0, 1.0], [2.0, 4.0], [2.0, 4.0], [2.0, 3.0]],
                [[4.0, 6.0], [12.0, 16.0], [12.0, 16.0], [8.0, 10.0]],
                [[4.0, 6.0], [12.0, 16.0], [12.0, 16.0], [8.0, 10.0]],
                [[4.0, 5.0], [10.0, 12.0], [10.0, 12.0], [6.0, 7.0]],
            ]
        ],
    ),
    (
        "DecodeCSV",
        {"records": ["1,a", "2,b"], "record_defaults": [np.array([0], np.int32), np.array([""])]},
        [[1, 2], [b"a", b"b"]],
    ),
    (
        "DenseBincount",
        {"input": [[1, 1], [0, 2]], "size": 3, "weights": np.array([], np.float32)},
        [[0.0, 2.0, 0.0], [1.0, 0.0, 1.0]],
    ),
    (
        "DenseBincount",
        {"input": [1, 1, 2], "size": 4, "weights": np.array([], np.float32), "binary_output": True},
        [0.0, 1.0, 1.0, 0.0],
    ),
    (
        "Dilation2D",
        {
            "input": IMAGE,
            "filter": np.ones([2, 2, 2], np.float32),
            "strides": [1, 2, 2, 1],
            "rates": [1, 1, 1, 1],
            "padding": "VALID",
        },
        [[[[11.0, 12.0], [15.0, 16.0]], [[27.0, 28.0], [31.0, 32.0]]]],
    ),
    (
        "EditDistance",
        {
            "hypothesis_indices": np.array([[0, 0], [0, 1]]),
            "hypothesis_values": [1, 2],
            "hypothesis_shape": np.array([1, 2]),
            "truth_indices": np.array([[0, 0], [0, 1], [0, 2]]),
            "truth_values": [1, 3, 4],
            "truth_shape": np.array([1, 3]),
            "normalize": False,
        },
        [2.0],
    ),
    (
        "Eig",
        {"input": M, "Tout": tf.complex64, "compute_v": False},
        [[(4.61803 + 0j), (2.38197 + 0j)], 0j],
    ),
    ("Einsum", {"inputs": [F, F], "equation": "ij,kj->ik"}, [[6.5, -0.375], [-0.375, 9.625]]),
    (
        "EluGrad",
        {"gradients": F, "outputs": np.tanh(F)},
        [[0.5, -0.14228, 2.0], [3.0, 0.25, -0.27364]],
    ),
    (
        "FFTND",
        {"input": np.array([[1, 2j], [3, 4]], np.complex64), "fft_length": [2], "axes": [0]},
        [[(4 + 0j), (4 + 2j)], [(-2 + 0j), (-4 + 2j)]],
    ),
    (
        "Gather",
        {"params": F, "indices": [1, 0, 1]},
        [[3.0, 0.25, -0.75], [0.5, -1.5, 2.0], [3.0, 0.25, -0.75]],
    ),
    (
        "IFFTND",
        {"input": np.array([[1, 2j], [3, 4]], np.complex64), "fft_length": [2], "axes": [0]},
        [[(2 + 0j), (2 + 1j)], [(-1 + 0j), (-2 + 1j)]],
    ),
    (
        "IRFFT2D",
        {"input": np.array([[1, 2j], [3, 4]], np.complex64), "fft_length": [2, 2]},
        [[2.0, 0.0], [-1.5, 0.5]],
    ),
    (
        "IRFFT3D",
        {"input": np.array([[[1, 2j], [3, 4]]], np.complex64), "fft_length": [1, 2, 2]},
        [[[2.0, 0.0], [-1.5, 0.5]]],
    ),
    ("InTopK", {"predictions": F, "targets": [2, 1], "k": 1}, [True, False]),
    ("Inv", {"x": [2.0, 4.0]}, [0.5, 0.25]),
    ("InvGrad", {"y": [2.0, 4.0], "dy": [1.0, 0.5]}, [-4.0, -8.0]),
    (
        "LRN",
        {"input": IMAGE, "depth_radius": 1},
        [
            [
                [[0.0, 0.70711], [0.53452, 0.80178], [0.61721, 0.77152], [0.647, 0.75483]],
                [[0.66208, 0.74485], [0.67116, 0.73827], [0.6772, 0.73363], [0.68151, 0.73019]],
                [[0.68474, 0.72753], [0.68724, 0.72542], [0.68925, 0.72371], [0.69088, 0.72229]],
                [[0.69224, 0.72109], [0.6934, 0.72006], [0.69438, 0.71918], [0.69523, 0.71841]],
            ]
        ],
    ),
    (
        "LeakyReluGrad",
        {"gradients": F, "features": -F, "alpha": 0.1},
        [[0.05, -1.5, 0.2], [0.3, 0.025, -0.75]],
    ),
    ("LinSpace", {"start": 1.0, "stop": 2.0, "num": 3}, [1.0, 1.5, 2.0]),
    ("MatrixDiag", {"diagonal": [1.0, 2.0]}, [[1.0, 0.0], [0.0, 2.0]]),
    ("MatrixDiagPart", {"input": M}, [4.0, 3.0]),
    (
        "MatrixDiagPartV2",
        {"input": F, "k": [-1, 0], "padding_value": 9.0},
        [[0.5, 0.25], [3.0, 9.0]],
    ),
    (
        "MatrixDiagV2",
        {
            "diagonal": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32),
            "k": [-1, 0],
            "num_rows": -1,
            "num_cols": -1,
            "padding_value": 9.0,
        },
        [[1.0, 9.0], [3.0, 2.0]],
    ),
    ("MatrixSetDiag", {"input": M, "diagonal": [7.0, 8.0]}, [[7.0, 1.0], [1.0, 8.0]]),
    (
        "MatrixSetDiagV2",
        {"input": F, "diagonal": np.array([7.0, 8.0], np.float32), "k": [1, 1]},
        [[0.5, 7.0, 2.0], [3.0, 0.25, 8.0]],
    ),
    (
        "MatrixSolveLs",
        {"matrix": M, "rhs": [[1.0], [2.0]], "l2_regularizer": np.float64(0.0)},
        [[0.09091], [0.63636]],
    ),
    (
        "MaxPoolGrad",
        {
            "orig_input": IMAGE,
            "orig_output": IMAGE[:, 1::2, 1::2],
            "grad": np.ones([1, 2, 2, 2], np.float32),
            "ksize": [1, 2, 2, 1],
            "strides": [1, 2, 2, 1],
            "padding": "VALID",
        },
        [
            [
                [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
                [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]],
                [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
                [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]],
            ]
        ],
    ),
    (
        "MaxPoolV2",
        {"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        [[[[10.0, 11.0], [14.0, 15.0]], [[26.0, 27.0], [30.0, 31.0]]]],
    ),
    (
        "MaxPoolWithArgmax",
        {"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        [
            [[[[10.0, 11.0], [14.0, 15.0]], [[26.0, 27.0], [30.0, 31.0]]]],
            [[[[10, 11], [14, 15]], [[26, 27], [30, 31]]]],
        ],
    ),
    ("Mod", {"x": [7, -7], "y": [3, 3]}, [1, -1]),
    ("OnesLike", {"x": F}, [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    (
        "RFFT2D",
        {"input": F, "fft_length": [2, 3]},
        [[(3.5 + 0j), (3.5 + 2.16506j)], [(-1.5 + 0j), (-3 + 3.89711j)]],
    ),
    (
        "RFFT3D",
        {"input": np.stack([F]), "fft_length": [1, 2, 3]},
        [[[(3.5 + 0j), (3.5 + 2.16506j)], [(-1.5 + 0j), (-3 + 3.89711j)]]],
    ),
    (
        "RaggedRange",
        {"starts": [0, 5], "limits": [3, 3], "deltas": [1, -1]},
        [[0, 3, 5], [0, 1, 2, 5, 4]],
    ),
    (
        "RaggedTensorToSparse",
        {"rt_nested_splits": [np.array([0, 2, 2, 3])], "rt_dense_values": [5, 6, 7]},
        [[[0, 0], [0, 1], [2, 0]], [5, 6, 7], [3, 2]],
    ),
    ("RandomShuffle", {"value": [1, 2, 3, 4, 5], "seed": 3, "seed2": 4}, [2, 1, 5, 4, 3]),
    (
        "RandomStandardNormal",
        {"shape": [3], "dtype": tf.float32, "seed": 1, "seed2": 2},
        [-1.04678, 0.8397, 1.23584],
    ),
    (
        "RandomUniform",
        {"shape": [3], "dtype": tf.float32, "seed": 1, "seed2": 2},
        [0.4064, 0.8576, 0.0554],
    ),
    (
        "RandomUniformInt",
        {"shape": [5], "minval": 0, "maxval": 100, "seed": 1, "seed2": 2},
        [99, 15, 2, 9, 31],
    ),
    (
        "TruncatedNormal",
        {"shape": [3], "dtype": tf.float32, "seed": 1, "seed2": 2},
        [-1.04678, 0.8397, 1.23584],
    ),
    (
        "Multinomial",
        {"logits": [[0.0, 0.5, 1.0]], "num_samples": 6, "seed": 1, "seed2": 2},
        [[1, 1, 1, 1, 2, 2]],
    ),
    ("ReciprocalGrad", {"y": [2.0, 4.0], "dy": [1.0, 0.5]}, [-4.0, -8.0]),
    ("RsqrtGrad", {"y": [2.0, 4.0], "dy": [1.0, 0.5]}, [-4.0, -16.0]),
    ("SegmentMaxV2", {"data": F, "segment_ids": [0, 0], "num_segments": 1}, [[3.0, 0.25, 2.0]]),
    ("SegmentMinV2", {"data": F, "segment_ids": [0, 0], "num_segments": 1}, [[0.5, -1.5, -0.75]]),
    (
        "SegmentProdV2",
        {"data": F, "segment_ids": [0, 2], "num_segments": 4},
        [[0.5, -1.5, 2.0], [1.0, 1.0, 1.0], [3.0, 0.25, -0.75], [1.0, 1.0, 1.0]],
    ),
    (
        "SegmentSumV2",
        {"data": F, "segment_ids": [0, 2], "num_segments": 4},
        [[0.5, -1.5, 2.0], [0.0, 0.0, 0.0], [3.0, 0.25, -0.75], [0.0, 0.0, 0.0]],
    ),
    ("SelfAdjointEigV2", {"input": M, "compute_v": False}, [[2.38197, 4.61803], 0.0]),
    (
        "SeluGrad",
        {"gradients": F, "outputs": np.tanh(F)},
        [[0.52535, -1.27943, 2.1014], [3.1521, 0.26268, -0.84221]],
    ),
    ("ShapeN", {"input": [F, M], "out_type": tf.int64}, [[2, 3], [2, 2]]),
    ("SigmoidGrad", {"y": [0.25, 0.5], "dy": [1.0, 2.0]}, [0.1875, 0.5]),
    (
        "SoftmaxCrossEntropyWithLogits",
        {"features": F, "labels": np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], np.float32)},
        [[2.7258, 3.83383], [[-0.32197, -0.47591, 0.79788], [0.91959, 0.05879, -0.97837]]],
    ),
    (
        "SoftplusGrad",
        {"gradients": F, "features": F},
        [[0.31123, -0.27364, 1.76159], [2.85772, 0.14054, -0.24062]],
    ),
    (
        "SoftsignGrad",
        {"gradients": F, "features": F},
        [[0.22222, -0.24, 0.22222], [0.1875, 0.16, -0.2449]],
    ),
    (
        "SparseAdd",
        {
            "a_indices": np.array([[0], [2]]),
            "a_values": [1.0, 2.0],
            "a_shape": np.array([4]),
            "b_indices": np.array([[2], [3]]),
            "b_values": [5.0, 0.1],
            "b_shape": np.array([4]),
            "thresh": 0.5,
        },
        [[[0], [2], [3]], [1.0, 7.0, 0.1], [4]],
    ),
    (
        "SparseConcat",
        {
            "indices": [np.array([[0, 0]]), np.array([[1, 0]])],
            "values": [np.array([5]), np.array([6])],
            "shapes": [np.array([2, 1]), np.array([2, 2])],
            "concat_dim": 1,
        },
        [[[0, 0], [1, 1]], [5, 6], [2, 3]],
    ),
    (
        "SparseFillEmptyRows",
        {
            "indices": np.array([[0, 1], [2, 0], [2, 1]]),
            "values": [1, 2, 3],
            "dense_shape": np.array([4, 2]),
            "default_value": 9,
        },
        [
            [[0, 1], [1, 0], [2, 0], [2, 1], [3, 0]],
            [1, 9, 2, 3, 9],
            [False, True, False, True],
            [0, 2, 3],
        ],
    ),
    (
        "SparseReduceMax",
        {
            "input_indices": np.array([[0, 0], [0, 1], [1, 1]]),
            "input_values": [1.0, 5.0, -2.0],
            "input_shape": np.array([2, 2]),
            "reduction_axes": [1],
        },
        [5.0, -2.0],
    ),
    (
        "SparseReduceSum",
        {
            "input_indices": np.array([[0, 0], [0, 1], [1, 1]]),
            "input_values": [1.0, 5.0, -2.0],
            "input_shape": np.array([2, 2]),
            "reduction_axes": [1],
            "keep_dims": True,
        },
        [[6.0], [-2.0]],
    ),
    (
        "DecodeJSONExample",
        {"json_examples": '{"features": {"feature": {"a": {"bytesList": {"value": ["YQ=="]}}}}}'},
        b"\n\x0c\n\n\n\x01a\x12\x05\n\x03\n\x01a",
    ),
    (
        "SerializeSparse",
        {"sparse_indices": np.array([[1]]), "sparse_values": [2], "sparse_shape": np.array([3])},
        [
            b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08\x01' + bytes(7),
            b'\x08\x03\x12\x04\x12\x02\x08\x01"\x04\x02' + bytes(3),
            b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03' + bytes(7),
        ],
    ),
    (
        "SerializeManySparse",
        {
            "sparse_indices": np.array([[0, 1]]),
            "sparse_values": [1],
            "sparse_shape": np.array([1, 3]),
        },
        [SERIALIZED_ROW],
    ),
    (
        "DeserializeManySparse",
        {"serialized_sparse": [SERIALIZED_ROW], "dtype": tf.int32},
        [[[0, 1]], [1], [1, 3]],
    ),
    (
        "SparseReorder",
        {
            "input_indices": np.array([[1, 0], [0, 1]]),
            "input_values": [1, 2],
            "input_shape": np.array([2, 2]),
        },
        [[[0, 1], [1, 0]], [2, 1]],
    ),
    (
        "SparseReshape",
        {
            "input_indices": np.array([[1, 0], [0, 1]]),
            "input_shape": np.array([2, 2]),
            "new_shape": np.array([4, -1]),
        },
        [[[2, 0], [1, 0]], [4, 1]],
    ),
    (
        "SparseSegmentMean",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1]},
        [[1.75, -0.625, 0.625], [3.0, 0.25, -0.75]],
    ),
    (
        "SparseSegmentMeanWithNumSegments",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1], "num_segments": 3},
        [[1.75, -0.625, 0.625], [3.0, 0.25, -0.75], [0.0, 0.0, 0.0]],
    ),
    (
        "SparseSegmentSqrtN",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1]},
        [[2.47487, -0.88388, 0.88388], [3.0, 0.25, -0.75]],
    ),
    (
        "SparseSegmentSqrtNWithNumSegments",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1], "num_segments": 3},
        [[2.47487, -0.88388, 0.88388], [3.0, 0.25, -0.75], [0.0, 0.0, 0.0]],
    ),
    (
        "SparseSegmentSum",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1]},
        [[3.5, -1.25, 1.25], [3.0, 0.25, -0.75]],
    ),
    (
        "SparseSegmentSumWithNumSegments",
        {"data": F, "indices": [0, 1, 1], "segment_ids": [0, 0, 1], "num_segments": 3},
        [[3.5, -1.25, 1.25], [3.0, 0.25, -0.75], [0.0, 0.0, 0.0]],
    ),
    (
        "SparseSlice",
        {
            "indices": np.array([[0, 1], [1, 0]]),
            "values": [7, 8],
            "shape": np.array([2, 2]),
            "start": np.array([1, 0]),
            "size": np.array([1, 2]),
        },
        [[[0, 0]], [8], [1, 2]],
    ),
    (
        "SparseSoftmax",
        {
            "sp_indices": np.array([[0, 0], [0, 1], [1, 1]]),
            "sp_values": [1.0, 2.0, 5.0],
            "sp_shape": np.array([2, 2]),
        },
        [0.26894, 0.73106, 1.0],
    ),
    (
        "SparseSoftmaxCrossEntropyWithLogits",
        {"features": F, "labels": [2, 0]},
        [[0.2258, 0.08383], [[0.17803, 0.02409, -0.20212], [-0.08041, 0.05879, 0.02163]]],
    ),
    (
        "SparseTensorDenseMatMul",
        {
            "a_indices": np.array([[0, 1], [1, 0]]),
            "a_values": [2.0, 3.0],
            "a_shape": np.array([2, 2]),
            "b": M,
            "adjoint_b": True,
        },
        [[2.0, 6.0], [12.0, 3.0]],
    ),
    ("SqrtGrad", {"y": [2.0, 4.0], "dy": [1.0, 0.5]}, [0.25, 0.0625]),
    (
        "StatelessMultinomial",
        {"logits": [[0.0, 0.5, 1.0]], "num_samples": 6, "seed": [1, 2]},
        [[2, 2, 0, 2, 2, 2]],
    ),
    ("StatelessRandomGetAlg", {}, 1),
    (
        "StatelessRandomGetKeyCounter",
        {"seed": [1, 2]},
        [[10413732777507651514], [0, 17830669156045600267]],
    ),
    ("StatelessRandomNormal", {"shape": [3], "seed": [1, 2]}, [0.54411, 0.20738, 0.07356]),
    (
        "StatelessRandomNormalV2",
        {
            "shape": [3],
            **STATE,
        },
        [-0.65918, -0.5042, 1.29673],
    ),
    (
        "StatelessRandomUniform",
        {"shape": [3], "seed": [1, 2], "dtype": tf.float64},
        [0.75248, 0.96979, 0.17592],
    ),
    (
        "StatelessRandomUniformFullInt",
        {"shape": [3], "seed": [1, 2]},
        [7464880146280614444, 1591045637757961278, 17389275318164050067],
    ),
    (
        "StatelessRandomUniformFullIntV2",
        {
            "shape": [3],
            **STATE,
            "dtype": tf.int32,
        },
        [1725609392, -481119570, -1129052064],
    ),
    (
        "StatelessRandomUniformInt",
        {"shape": [3], "seed": [1, 2], "minval": 5, "maxval": 50},
        [15, 34, 14],
    ),
    (
        "StatelessRandomUniformIntV2",
        {
            "shape": [3],
            **STATE,
            "minval": 5,
            "maxval": 50,
        },
        [22, 36, 42],
    ),
    (
        "StatelessRandomUniformV2",
        {
            "shape": [3],
            **STATE,
        },
        [0.70867, 0.64608, 0.40651],
    ),
    (
        "StatelessShuffle",
        {
            "value": [1, 2, 3, 4, 5],
            **STATE,
        },
        [3, 4, 2, 5, 1],
    ),
    ("StatelessTruncatedNormal", {"shape": [3], "seed": [1, 2]}, [0.54411, 0.20738, 0.07356]),
    (
        "StatelessTruncatedNormalV2",
        {
            "shape": [3],
            **STATE,
        },
        [-0.65918, -0.5042, 1.29673],
    ),
    ("StaticRegexFullMatch", {"input": ["ab", "b"], "pattern": "a."}, [True, False]),
    (
        "StaticRegexReplace",
        {"input": ["aba"], "pattern": "a", "rewrite": "c", "replace_global": False},
        [b"cba"],
    ),
    (
        "StridedSlice",
        {"input": F, "begin": [0, 1], "end": [2, 3], "strides": [1, 1], "shrink_axis_mask": 1},
        [-1.5, 2.0],
    ),
    (
        "StridedSliceGrad",
        {
            "shape": [2, 3],
            "begin": [0, 1],
            "end": [2, 3],
            "strides": [1, 1],
            "dy": np.array([5.0, 6.0], np.float32),
            "shrink_axis_mask": 1,
        },
        [[0.0, 5.0, 6.0], [0.0, 0.0, 0.0]],
    ),
    ("TanhGrad", {"y": [0.25, 0.5], "dy": [1.0, 2.0]}, [0.9375, 1.5]),
    (
        "TridiagonalMatMul",
        {
            "superdiag": [[1.0, 1.0, 0.0]],
            "maindiag": [[2.0, 2.0, 2.0]],
            "subdiag": [[0.0, 3.0, 3.0]],
            "rhs": [[1.0], [2.0], [3.0]],
        },
        [[4.0], [10.0], [12.0]],
    ),
    ("Unique", {"x": [4, 1, 4]}, [[4, 1], [0, 1, 0]]),
    ("UniqueV2", {"x": [4, 1, 4], "axis": np.zeros(0, np.int32)}, [[4, 1], [0, 1, 0]]),
    ("UniqueV2", {"x": [[1, 2, 1], [4, 5, 4]], "axis": [1]}, [[[1, 2], [4, 5]], [0, 1, 0]]),
    ("UniqueV2", {"x": [[b"a", b"b"], [b"a", b"b"]], "axis": [0]}, [[[b"a", b"b"]], [0, 0]]),
    ("UniqueV2", {"x": np.zeros((0, 3)), "axis": [0]}, [[], []]),
    (
        "UniqueWithCountsV2",
        {"x": [[7, 8], [1, 2], [7, 8]], "axis": [-2]},
        [[[7, 8], [1, 2]], [0, 1, 0], [2, 1]],
    ),
    ("Div", {"x": [7, -7], "y": [2, 2]}, [3, -3]),
    ("Div", {"x": [7.0, -7.0], "y": [2.0, 2.0]}, [3.5, -3.5]),
    (
        "Select",
        {"condition": [True, False], "x": [[1, 2], [3, 4]], "y": [[5, 6], [7, 8]]},
        [[1, 2], [7, 8]],
    ),
    ("Select", {"condition": False, "x": [1, 2], "y": [3, 4]}, [3, 4]),
    ("BatchMatMul", {"x": [[1.0, 2.0]], "y": [[3.0], [4.0]]}, [[11.0]]),
    ("BatchMatMulV2", {"x": [[1.0], [2.0]], "y": [[[3.0], [4.0]]], "adj_x": True}, [[[11.0]]]),
    (
        "BatchMatMulV3",
        {"x": np.full((2, 2), 100, np.int8), "y": np.full((2, 2), 2, np.int8), "Tout": tf.int32},
        [[400, 400], [400, 400]],
    ),
    ("ZerosLike", {"x": F}, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
]
NAMES = {name for name, *_ in FACTS}


def plain(x: Any) -> Any:
    return [plain(part) for part in x] if isinstance(x, (tuple, list)) else np.asarray(x).tolist()


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    elif isinstance(expected, (float, complex)):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    else:
        assert found == expected


@pytest.mark.parametrize("number", range(len(FACTS)))
def test_facts(number: int) -> None:
    name, arguments, expected = FACTS[number]
    raw = getattr(tf.raw_ops, name)
    if "Random" not in name and name not in ("Multinomial", "TruncatedNormal"):
        same(plain(tf.function(lambda: raw(**arguments))()), expected)
    tf.random.set_seed(0)  # streams of seeded ops begin anew
    same(plain(raw(**arguments)), expected)


def test_names_at_the_top() -> None:
    x, w, g = tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 3]), tf.ones([1, 3, 3, 3])
    of_filter = tf.conv2d_backprop_filter_v2(x, w, g, [1, 1, 1, 1], "VALID")
    of_input = tf.conv2d_backprop_input_v2(x, w, g, [1, 1, 1, 1], "VALID")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "VALID"))
    np.testing.assert_allclose(of_filter, tape.gradient(y, w))
    np.testing.assert_allclose(of_input, tape.gradient(y, x))
    best, places = tf.approx_top_k([[3.0, 1.0, 2.0]], 2, is_max_k=False)
    assert best.numpy().tolist() == [[1.0, 2.0]]
    assert places.numpy().tolist() == [[1, 2]]
    assert int(tf.guarantee_const(tf.constant(3))) == 3
