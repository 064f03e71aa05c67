"""Raw ops on every tier, with unknown sizes and rank, and differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case, f32, f64, i32

raw = tf.raw_ops
known = {"unknown_rank": False}
rough = {"grad": False, "rtol": 1e-4, "atol": 1e-5}  # computed in float32, as TensorFlow does
PADS = {
    "strides": [1, 2, 1, 1],
    "padding": "EXPLICIT",
    "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
}
FORM = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
MIDDLE = {"begin": [1, 0], "end": [3, 4], "strides": [1, 2]}


def several(axis: Any) -> tuple[int, ...]:
    return tuple(np.ravel(axis).tolist())


def resized(x: Any, n: Any) -> Any:
    made = raw.TensorListFromTensor(tensor=x, element_shape=-1)
    longer = raw.TensorListResize(input_handle=made, size=n)
    return raw.TensorListStack(
        input_handle=longer, element_shape=tf.shape(x)[1:], element_dtype=x.dtype
    )


def element_shape(x: Any) -> Any:
    made = raw.TensorListFromTensor(tensor=x, element_shape=-1)
    return raw.TensorListElementShape(input_handle=made, shape_type=tf.int32)


def through_variants(splits: Any, values: Any) -> Any:
    rows = raw.RaggedTensorToVariant(
        rt_nested_splits=[splits], rt_dense_values=values, batched_input=True
    )
    (back,), flat = raw.RaggedTensorFromVariant(
        encoded_ragged=rows, input_ragged_rank=0, output_ragged_rank=1, Tvalues=values.dtype
    )
    return back, flat


CASES = [
    Case(
        lambda x, axis: raw.Sum(input=x, axis=axis),
        [f32(2, 3, 4), np.array([0, -1], np.int32)],
        expect=lambda x, axis: x.sum(several(axis)),
        label="sum-computed",
    ),
    Case(
        lambda x, axis: raw.Sum(input=x, axis=axis, keep_dims=True),
        [f32(2, 3, 4), np.array(1, np.int32)],
        expect=lambda x, axis: x.sum(several(axis), keepdims=True),
        label="sum-computed-kept",
    ),
    Case(
        lambda x, axis: raw.Mean(input=x, axis=axis),
        [f32(2, 3, 4), np.array([1, 2], np.int64)],
        expect=lambda x, axis: x.mean(several(axis)),
        label="mean-computed",
    ),
    Case(
        lambda a, b: raw.BroadcastGradientArgs(s0=a, s1=b),
        [np.array([2, 1, 4], np.int32), np.array([3, 1], np.int32)],
        grad=False,
        label="broadcast-axes",
        **known,
    ),
    Case(resized, [f32(3, 2), np.array(5, np.int32)], second=False, **known),
    Case(resized, [f32(3, 2), np.array(1, np.int32)], expect=lambda x, n: x[:1], **known),
    Case(element_shape, [f32(3, 2)], expect=lambda x: np.array([2]), grad=False),
    Case(
        through_variants,
        [np.array([0, 2, 2, 3], np.int64), np.array([5.0, 6.0, 7.0], np.float32)],
        expect=lambda splits, values: (splits, values),
        grad=False,
        **known,
    ),
    Case(lambda x, k: raw.Conv2D(input=x, filter=k, **PADS), [f32(2, 4, 5, 3), f32(2, 3, 3, 2)],
         label="conv-explicit", **known),
    Case(
        lambda g, k: raw.Conv2DBackpropInput(
            input_sizes=[2, 4, 5, 3], filter=k, out_backprop=g, **PADS
        ),
        [f32(2, 3, 4, 2), f32(2, 3, 3, 2)],
        label="conv-input",
        **known,
    ),
    Case(
        lambda x, k: raw.DepthwiseConv2dNative(
            input=x, filter=k, **PADS | {"strides": [1, 1, 1, 1]}
        ),
        [f32(2, 4, 5, 3), f32(2, 3, 3, 2)],
        label="depthwise-explicit",
        **known,
    ),
    Case(lambda x: raw.AvgPool(value=x, **FORM), [f32(2, 4, 5, 3)], label="avg-pool", **known),
    Case(lambda x: raw.MaxPool(input=x, **FORM), [f32(2, 4, 5, 3)], label="max-pool", **known),
    Case(
        lambda x, s, o: raw.FusedBatchNormV3(
            x=x, scale=s, offset=o, mean=np.zeros(0, np.float32), variance=np.zeros(0, np.float32)
        ),
        [f32(2, 3, 4, 5), f32(5), f32(5)],
        expect=lambda x, s, o: (
            (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-4) * s + o,
            x.mean((0, 1, 2)), x.var((0, 1, 2)) * 24 / 23, x.mean((0, 1, 2)), x.var((0, 1, 2)),
            np.zeros(0),
        ),
        label="batch-norm",
        **rough,
    ),
    Case(
        lambda x, s, o, m, v: raw.FusedBatchNormV3(
            x=x, scale=s, offset=o, mean=m, variance=v, is_training=False, data_format="NCHW"
        )[0],
        [f32(2, 5, 3, 4), f32(5), f32(5), f32(5), f32(5, low=0.5)],
        label="batch-norm-inference",
        **rough,
    ),
    Case(
        lambda c, x, y: raw.Select(condition=c, x=x, y=y),
        [np.array([True, False]), f32(2, 3, 4), f32(2, 3, 4)],
        label="select-rows",
    ),
    Case(
        lambda x, v: raw.TensorStridedSliceUpdate(input=x, value=v, **MIDDLE),
        [f32(4, 5), f32(2, 2)],
        label="updated-slice",
    ),
    Case(
        lambda g: raw.StridedSliceGrad(shape=[4, 5], dy=g, **MIDDLE),
        [f32(2, 2)],
        label="slice-back",
    ),
    Case(
        lambda x, y: raw.ListDiff(x=x, y=y),
        [np.array([5, 1, 5, 2], np.int32), np.array([1, 7], np.int32)],
        expect=lambda x, y: (np.array([5, 5, 2]), np.array([0, 2, 3])),
        grad=False,
        label="list-diff",
        **known,
    ),
    Case(
        lambda g: raw.MirrorPadGrad(input=g, paddings=[[1, 0], [2, 1]], mode="REFLECT"),
        [f32(5, 7)],
        label="mirror-back",
        **known,
    ),
    Case(
        lambda values: raw.RaggedTensorToTensor(
            shape=[-1, 4], values=values, default_value=9.0,
            row_partition_tensors=[[0, 2, 2, 5]], row_partition_types=["ROW_SPLITS"],
        ),
        [f32(5)],
        label="ragged-to-tensor",
        **known,
    ),
    Case(
        lambda x: raw.ExtractVolumePatches(
            input=x, ksizes=[1, 2, 2, 1, 1], strides=[1, 1, 2, 1, 1], padding="VALID"
        ),
        [f64(1, 3, 4, 2, 2)],
        unknown_shapes=False,
        label="volume-patches",
    ),
    Case(
        lambda x: raw.FakeQuantWithMinMaxArgs(inputs=x, min=-1.0, max=1.0), [f32(3, 4)],
        label="fake-quant", **rough,
    ),
    Case(
        lambda x: raw.Bucketize(input=x, boundaries=[-1.0, 0.5]), [i32(3, 4)],
        expect=lambda x: np.digitize(x, [-1.0, 0.5]), grad=False, label="bucketize",
    ),
    Case(
        lambda x: raw.NthElement(input=x, n=1), [f32(3, 4)],
        expect=lambda x: np.sort(x)[:, 1], label="nth-element",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_mode(case: Case) -> None:
    check_case(case)
