"""Calls of raw ops whose results were recorded with TensorFlow.

`checks/record_raw_op_values.py` makes these calls with TensorFlow and writes down what they give;
`tests/ops/test_raw_ops_recorded.py` compares. So these files know neither library: they have names
and plain arrays only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from support import raw_sparse_calls, raw_update_calls, raw_window_calls
from support.raw_call import Call, f32, i32, i64, numbers, texts

FILE = Path(__file__).parent.parent / "ops/raw_ops.json"

# --- arrays --------------------------------------------------------------------------------------

M, V = numbers(3, 4), numbers(5)
NOT_MANY = np.zeros(0, i32)


def _arrays() -> list[Call]:
    masks = {"begin": i32([0, 1]), "end": i32([0, 4]), "strides": i32([1, 2])}
    shapes = [
        ([2, 3], [2, 3]), ([2, 1], [1, 3]), ([1], [1]), ([3, 1, 4], [4]), ([1, 4], [4]),
        ([], [2, 3]), ([1, 1], [2, 1]), ([2, 0], [1, 0]), ([], []), ([5, 1, 1], [1]),
        ([1, 3], [2, 3]),
    ]  # fmt: skip
    return [
        Call("ApproxTopK", {"input": M, "k": 2}),
        *[
            Call("BroadcastGradientArgs", {"s0": np.array(a, i32), "s1": np.array(b, i32)})
            for a, b in shapes
        ],
        Call("Bucketize", {"input": i64([1, 2, 2**24 + 1, -3]), "boundaries": [1.5, 2.0, 2.0**24]}),
        Call("Bucketize", {"input": M, "boundaries": []}),
        Call("Bincount", {"arr": i32([1, 3, 1, 9]), "size": i32(5), "weights": np.zeros(0, f32)}),
        Call("Bincount", {"arr": i32([1, 3, 1, 9]), "size": i32(5), "weights": numbers(4)}),
        Call("DenseBincount", {"input": i32([1, 3, 1, 9]), "size": i32(5),
                               "weights": np.zeros(0, f32)}),
        Call("DenseBincount", {"input": i32([[1, 3], [1, 1]]), "size": i32(5),
                               "weights": numbers(2, 2)}),
        Call("CheckNumericsV2", {"tensor": M, "message": "no"}),
        Call("ComplexAbs", {"x": np.array([3 + 4j, -1j], np.complex64)}),
        Call(
            "ConcatOffset",
            {"concat_dim": i32(1), "shape": [i32([2, 3]), i32([2, 1]), i32([2, 4])]},
            ("concat_dim",),
        ),
        Call(
            "ConcatOffset", {"concat_dim": i32(0), "shape": [i32([2]), i32([7])]}, ("concat_dim",)
        ),
        Call("DebugGradientIdentity", {"input": M}),
        *[Call(op, {"input": M}) for op in ("CopyHost", "Copy", "Snapshot")],
        Call("DeepCopy", {"x": M}),
        Call("Equal", {"x": M, "y": V, "incompatible_shape_error": False}, ("x", "y")),
        Call("NotEqual", {"x": M, "y": V, "incompatible_shape_error": False}, ("x", "y")),
        Call("Equal", {"x": M, "y": M[:1], "incompatible_shape_error": False}),
        Call("NotEqual", {"x": M, "y": M[:1]}),
        *[
            Call(
                "ExtractVolumePatches",
                {"input": numbers(2, 3, 4, 5, 2), "ksizes": [1, 2, 3, 2, 1],
                 "strides": [1, 1, 2, 3, 1], "padding": padding},
                ("input",),
            )
            for padding in ("SAME", "VALID")
        ],
        Call("GuaranteeConst", {"input": M}),
        Call("ParallelConcat", {"values": [M[:1], M[1:2]], "shape": [2, 4]}),
        Call("ListDiff", {"x": i32([1, 2, 3, 2, 5]), "y": i32([2, 7])}),
        Call("ListDiff", {"x": V, "y": V[:0], "out_idx": "int64"}),
        Call("ListDiff", {"x": texts(b"a", b"", b"b"), "y": texts(b"b", b"c")}),
        Call("NthElement", {"input": M, "n": i32(1)}),
        Call("NthElement", {"input": M, "n": i32(0), "reverse": True}),
        Call("ParallelDynamicStitch", {"indices": [i32([0, 2]), i32([1])], "data": [M[:2], M[2:]]}),
        Call("PlaceholderWithDefault", {"input": M, "shape": [None, 4]}),
        Call("Reverse", {"tensor": M, "dims": np.array([False, True])}, ("dims",)),
        Call(
            "ScatterNdNonAliasingAdd",
            {"input": V, "indices": i32([[1], [1], [3]]), "updates": numbers(3)},
        ),
        Call("TensorStridedSliceUpdate", {"input": M, **masks, "value": numbers(2),
                                          "shrink_axis_mask": 1}),
        Call("TensorStridedSliceUpdate", {"input": M, **masks, "value": numbers(3, 2),
                                          "end_mask": 1}),
        Call("Select", {"condition": np.array([True, False, True]), "x": M, "y": -M}),
        Call("Select", {"condition": np.array(False), "x": M, "y": -M}),
        Call("Select", {"condition": M > 0, "x": M, "y": -M}),
        *[
            Call("Sum", {"input": numbers(2, 3, 4), "axis": i32([0, -1])}),
            Call("Sum", {"input": numbers(2, 3, 4), "axis": i32([1]), "keep_dims": True}),
            Call("Sum", {"input": numbers(2, 3, 4), "axis": NOT_MANY}),
            Call("Mean", {"input": numbers(2, 3, 4), "axis": i32([2, 0])}),
            Call("Mean", {"input": numbers(2, 3, 4), "axis": i32(1), "keep_dims": True}),
        ],
        Call("CheckNumerics", {"tensor": M, "message": "no"}),
        Call("Empty", {"shape": i32([0, 3]), "dtype": "float64"}),
    ]  # fmt: skip


# --- gradients -----------------------------------------------------------------------------------


def _gradients() -> list[Call]:
    low = np.tril(numbers(2, 3, 3, low=0.5, high=1.5)).astype(f32)
    rows = {
        "grad": numbers(3, 2),
        "indices": i32([4, 1, 1, 0]),
        "segment_ids": i32([0, 0, 2, 2]),
        "output_dim0": i32(5),
    }
    return [
        Call("CholeskyGrad", {"l": low, "grad": np.tril(numbers(2, 3, 3))}),
        Call("MirrorPadGrad", {"input": numbers(6, 7), "paddings": i32([[1, 2], [0, 3]]),
                               "mode": "REFLECT"}),
        Call("MirrorPadGrad", {"input": numbers(6, 7), "paddings": i32([[1, 2], [0, 3]]),
                               "mode": "SYMMETRIC"}),
        Call("PreventGradient", {"input": M, "message": "none"}),
        Call("SparseSegmentMeanGrad", rows),
        Call("SparseSegmentSqrtNGrad", rows),
        Call("SparseSegmentSumGrad", rows),
        *[
            Call(op, {"gradients": numbers(7), "features": numbers(7, low=-3, high=3), **more})
            for op, more in (
                ("ReluGrad", {}), ("Relu6Grad", {}), ("SoftplusGrad", {}), ("SoftsignGrad", {}),
                ("LeakyReluGrad", {"alpha": 0.3}),
            )
        ],
        *[
            Call(op, {"gradients": numbers(7), "outputs": numbers(7, low=-0.9, high=2)})
            for op in ("EluGrad", "SeluGrad")
        ],
        *[
            Call(op, {"y": numbers(7, low=0.1, high=2), "dy": numbers(7)})
            for op in ("SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad", "TanhGrad",
                       "SigmoidGrad")
        ],
        Call("StridedSliceGrad", {"shape": i32([4, 5]), "begin": i32([3, 0]), "end": i32([0, 5]),
                                  "strides": i32([-2, 2]), "dy": numbers(2, 3)}),
    ]  # fmt: skip


# --- text, sequences, steps ----------------------------------------------------------------------


def _others() -> list[Call]:
    text = texts(b"a b,c", b"", b",,x ", b"\xc3\xbcber")
    fine = {"inputs": numbers(3, 4, low=-8, high=8)}
    bounds = {"min": f32(-3.1), "max": f32(4.7)}
    each = {"min": f32([-3.1, -2, 0, -1]), "max": f32([4.7, 1, 5, 0.5])}
    steps = {"input": numbers(3, 4, low=-2, high=2)}
    logits = numbers(6, 2, 4, low=-2, high=2)
    labels = {"labels_indices": i64([[0, 0], [0, 1], [1, 0]]), "sequence_length": i32([6, 5])}
    return [
        *[
            Call("StringSplit", {"input": text, "delimiter": np.array(at, object),
                                 "skip_empty": skip}, ("delimiter",))
            for at in (b"", b",", b" ,")
            for skip in (True, False)
            if at or not skip
        ],
        Call("UnicodeDecode", {"input": text, "input_encoding": "UTF-8"}),
        Call("Fingerprint", {"data": text, "method": np.array(b"farmhash64", object)}, ("method",)),
        Call("FakeQuantWithMinMaxArgs", fine),
        Call("FakeQuantWithMinMaxArgs", {**fine, "min": -2.0, "max": 5.0, "num_bits": 4,
                                         "narrow_range": True}),
        Call("FakeQuantWithMinMaxArgsGradient", {**fine, "gradients": numbers(3, 4)}),
        Call("FakeQuantWithMinMaxVars", {**fine, **bounds}),
        Call("FakeQuantWithMinMaxVars", {**fine, "min": f32(0), "max": f32(0)}),
        Call("FakeQuantWithMinMaxVarsGradient", {**fine, **bounds, "gradients": numbers(3, 4)}),
        Call("FakeQuantWithMinMaxVarsPerChannel", {**fine, **each, "num_bits": 5}),
        Call("FakeQuantWithMinMaxVarsPerChannelGradient", {**fine, **each,
                                                           "gradients": numbers(3, 4)}),
        *[
            Call(f"QuantizeAndDequantize{version}",
                 {**steps, "input_min": f32(-1.5), "input_max": f32(1), **form})
            for version in ("V2", "V4")
            for form in (
                {"range_given": True}, {}, {"signed_input": False}, {"num_bits": 3},
                {"round_mode": "HALF_UP", "num_bits": 4},
                {"narrow_range": True, "range_given": True},
            )
        ],
        Call("QuantizeAndDequantizeV3", {**steps, "input_min": f32([-1, -2, -0.5, -1]),
                                         "input_max": f32([2, 1, 1, 0.5]), "num_bits": i32(5),
                                         "axis": 1}, ("num_bits",)),
        Call("QuantizeAndDequantizeV3", {**steps, "input_min": f32(-1.5), "input_max": f32(1),
                                         "num_bits": i32(6)}, ("num_bits",)),
        Call("CTCLoss", {"inputs": logits, **labels, "labels_values": i32([0, 2, 1])}, ("inputs",)),
        Call("CTCLoss", {"inputs": logits, "labels_indices": labels["labels_indices"],
                         "labels_values": i32([0, 2, 1]), "sequence_length": i32([1, 5]),
                         "ignore_longer_outputs_than_inputs": True}, ("inputs",)),
        Call("CTCBeamSearchDecoder", {"inputs": logits, "sequence_length": i32([6, 4]),
                                      "beam_width": 50, "top_paths": 2, "merge_repeated": False}),
        Call("CTCGreedyDecoder", {"inputs": logits, "sequence_length": i32([6, 4]),
                                  "merge_repeated": True}),
    ]  # fmt: skip


CALLS = [
    *_arrays(),
    *_gradients(),
    *raw_window_calls.calls(),
    *raw_sparse_calls.calls(),
    *_others(),
    *raw_update_calls.calls(),
]
NAMES = {call.op for call in CALLS}
_seen: dict[str, int] = {}


def _key(call: Call) -> str:
    _seen[call.op] = _seen.get(call.op, 0) + 1
    return f"{call.op} {_seen[call.op]}"


KEYS = [_key(call) for call in CALLS]


def made(tf: Any, call: Call, run: Any = None) -> list[np.ndarray]:
    """What a call gives with a library, and what its variables hold then, as arrays."""
    variables = {name: tf.Variable(value) for name, value in call.variables.items()}
    handles = {name: variable.handle for name, variable in variables.items()}
    op = getattr(tf.raw_ops, call.op)
    arguments = {name: _tensors(tf, value) for name, value in call.arguments.items()}
    out = op(**arguments, **handles) if run is None else run(op, arguments, handles)
    results = tf.nest.flatten(out)
    return [np.asarray(x) for x in (*results, *variables.values()) if x is not None]


def _tensors(tf: Any, value: Any) -> Any:
    """Arrays become tensors; all else is an attribute."""
    if isinstance(value, list):
        return [_tensors(tf, item) for item in value]
    return tf.constant(value) if isinstance(value, (np.ndarray, np.generic)) else value
