"""Recorded calls of raw ops on windows and images."""

from __future__ import annotations

import numpy as np

from support.raw_call import Call, f32, i32, i64, numbers

# --- windows -------------------------------------------------------------------------------------

EXPLICIT = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 2, 1, 0, 0]}


def _windows() -> list[Call]:
    out = []
    x, k = numbers(2, 6, 5, 3), numbers(2, 3, 3, 4)
    for form, shape in (
        ({"padding": "SAME"}, (2, 3, 5, 4)),
        ({"padding": "VALID"}, (2, 3, 3, 4)),
        (EXPLICIT, (2, 4, 6, 4)),
    ):
        form = {"strides": [1, 2, 1, 1], **form}
        g = numbers(*shape)
        out += [
            Call("Conv2D", {"input": x, "filter": k, **form}),
            Call("Conv2DBackpropInput", {"input_sizes": i32([2, 6, 5, 3]), "filter": k,
                                         "out_backprop": g, **form}),
            Call("Conv2DBackpropFilter", {"input": x, "filter_sizes": i32([2, 3, 3, 4]),
                                          "out_backprop": g, **form}),
        ]  # fmt: skip
        form["strides"], k2 = [1, 1, 1, 1], numbers(2, 3, 3, 2)
        width = {"SAME": (6, 5), "VALID": (5, 3), "EXPLICIT": (8, 6)}[form["padding"]]
        g = numbers(2, *width, 6)
        out += [
            Call("DepthwiseConv2dNative", {"input": x, "filter": k2, **form}),
            Call("DepthwiseConv2dNativeBackpropInput", {"input_sizes": i32([2, 6, 5, 3]),
                                                        "filter": k2, "out_backprop": g, **form}),
            Call("DepthwiseConv2dNativeBackpropFilter", {
                "input": x, "out_backprop": g, "filter_sizes": i32([2, 3, 3, 2]), **form,
            }),
        ]  # fmt: skip
    out += [
        Call("Conv", {"input": x, "filter": k, "strides": [1, 2, 1, 1], **EXPLICIT}),
        Call("Conv", {"input": numbers(2, 1, 4, 5, 3), "filter": k, "strides": [1, 1, 2, 1],
                      "padding": "SAME", "batch_dims": 2, "dilations": [1, 2, 1, 1]}),
        Call("Conv", {"input": numbers(1, 3, 4, 5, 2), "filter": numbers(2, 2, 3, 2, 3),
                      "strides": [1, 1, 2, 1, 1], "padding": "VALID"}),
        Call("Conv2D", {"input": x, "filter": k, "strides": [1, 1, 1, 1], "padding": "VALID",
                        "dilations": [1, 2, 1, 1]}),
        Call("Conv2DBackpropInput", {"input_sizes": i32([6, 5]), "filter": k, "padding": "VALID",
                                     "out_backprop": numbers(2, 5, 3, 4), "strides": [1] * 4}),
        Call("Conv3D", {"input": numbers(1, 3, 4, 5, 2), "filter": numbers(2, 2, 3, 2, 3),
                        "strides": [1, 1, 2, 1, 1], "padding": "SAME"}),
        Call("Conv3DBackpropInputV2", {"input_sizes": i32([1, 3, 4, 5, 2]), "padding": "SAME",
                                       "filter": numbers(2, 2, 3, 2, 3), "strides": [1, 1, 2, 1, 1],
                                       "out_backprop": numbers(1, 3, 2, 5, 3)}),
        Call("Conv3DBackpropFilterV2", {"input": numbers(1, 3, 4, 5, 2), "padding": "SAME",
                                        "filter_sizes": i32([2, 2, 3, 2, 3]),
                                        "strides": [1, 1, 2, 1, 1],
                                        "out_backprop": numbers(1, 3, 2, 5, 3)}),
        Call("BiasAddGrad", {"out_backprop": numbers(2, 3, 4)}),
        Call("BiasAddGrad", {"out_backprop": numbers(2, 3, 4, 5), "data_format": "NCHW"}),
    ]  # fmt: skip
    erosion = {"input": x, "filter": numbers(2, 3, 3), "strides": [1, 2, 1, 1],
               "rates": [1, 1, 1, 1], "padding": "VALID"}  # fmt: skip
    out.append(Call("Dilation2D", erosion))
    for op in ("Dilation2DBackpropFilter", "Dilation2DBackpropInput"):
        out.append(Call(op, {**erosion, "out_backprop": numbers(2, 3, 3, 3)}))
    return out


def _pools() -> list[Call]:
    x, size = numbers(2, 6, 5, 3), {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1]}
    out = []
    for padding, (h, w) in (("SAME", (3, 3)), ("VALID", (2, 2))):
        form, y = {**size, "padding": padding}, numbers(2, h, w, 3)
        out += [
            Call("MaxPool", {"input": x, **form}),
            Call("AvgPool", {"value": x, **form}),
            Call("AvgPoolGrad", {"orig_input_shape": i32([2, 6, 5, 3]), "grad": y, **form}),
            Call("MaxPoolGradWithArgmax", {"input": x, "grad": y, **form,
                                           "argmax": (np.arange(2 * h * w * 3) * 7 % 90).reshape(
                                               2, h, w, 3).astype(i64)}),
        ]  # fmt: skip
    form = {**size, "padding": "VALID"}
    top = _max_pooled(x)
    out += [
        Call("MaxPool", {"input": x, **size, "padding": "EXPLICIT",
                         "explicit_paddings": [0, 0, 1, 1, 0, 1, 0, 0]}),
        Call("MaxPoolGrad", {"orig_input": x, "orig_output": top, "grad": numbers(2, 2, 2, 3),
                             **form}),
        Call("MaxPoolGradV2", {"orig_input": x, "orig_output": top, "grad": numbers(2, 2, 2, 3),
                               "ksize": i32([1, 3, 2, 1]), "strides": i32([1, 2, 2, 1]),
                               "padding": "VALID"}, ("ksize", "strides")),
        Call("MaxPoolGradGrad", {"orig_input": x, "orig_output": top, "grad": x, **form}),
        Call("MaxPoolGradGradV2", {"orig_input": x, "orig_output": top, "grad": x,
                                   "ksize": i32([1, 3, 2, 1]), "strides": i32([1, 2, 2, 1]),
                                   "padding": "VALID"}, ("ksize", "strides")),
        Call("MaxPoolGradWithArgmax", {"input": x, "grad": numbers(2, 2, 2, 3), **form,
                                       "argmax": (np.arange(24) * 7 % 180).reshape(2, 2, 2, 3),
                                       "include_batch_in_index": True}),
        Call("LRNGrad", {"input_grads": numbers(1, 2, 3, 5), "input_image": numbers(1, 2, 3, 5),
                         "output_image": _normalized(numbers(1, 2, 3, 5)), "depth_radius": 1,
                         "bias": 1.5, "alpha": 0.7, "beta": 0.6}),
    ]  # fmt: skip
    v, cube = numbers(1, 4, 4, 4, 2), {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1],
                                       "padding": "VALID"}  # fmt: skip
    best = v.reshape(1, 2, 2, 2, 2, 2, 2, 2).max((2, 4, 6))
    g = numbers(1, 2, 2, 2, 2)
    return [
        *out,
        Call("MaxPool3D", {"input": v, **cube}),
        Call("AvgPool3D", {"input": v, **cube}),
        Call("AvgPool3DGrad", {"orig_input_shape": i32(v.shape), "grad": g, **cube}),
        Call("MaxPool3DGrad", {"orig_input": v, "orig_output": best, "grad": g, **cube}),
        Call("MaxPool3DGradGrad", {"orig_input": v, "orig_output": best, "grad": v, **cube}),
    ]


def _normalized(x: np.ndarray) -> np.ndarray:
    """What local response normalisation gives with the settings above."""
    squares = np.pad(x * x, [(0, 0)] * 3 + [(1, 1)])
    sums = squares[..., :-2] + squares[..., 1:-1] + squares[..., 2:]
    return (x / (1.5 + 0.7 * sums) ** 0.6).astype(f32)


def _max_pooled(x: np.ndarray) -> np.ndarray:
    """What windows of 3 x 2, 2 apart, have as their maximum."""
    rows = [[x[:, i : i + 3, j : j + 2].max((1, 2)) for j in (0, 2)] for i in (0, 2)]
    return np.stack([np.stack(row, 1) for row in rows], 1)


def _normalization() -> list[Call]:
    out = []
    s, o, m, v = [numbers(3, low=low, high=low + 1) for low in (0.5, -0.5, -0.2, 0.7)]
    none = np.zeros(0, f32)
    for version in ("", "V2", "V3"):
        base = {"x": numbers(2, 4, 5, 3), "scale": s, "offset": o}
        back = {"y_backprop": numbers(2, 4, 5, 3, high=2), "x": base["x"], "scale": s,
                "reserve_space_1": m, "reserve_space_2": v}  # fmt: skip
        if version == "V3":
            back["reserve_space_3"] = none
        out += [
            Call(f"FusedBatchNorm{version}", {**base, "mean": none, "variance": none}),
            Call(f"FusedBatchNorm{version}", {**base, "mean": m, "variance": v,
                                              "exponential_avg_factor": 0.3, "epsilon": 0.01}),
            Call(f"FusedBatchNorm{version}", {**base, "mean": m, "variance": v,
                                              "is_training": False}),
            Call(f"FusedBatchNormGrad{version}", back),
            Call(f"FusedBatchNormGrad{version}", {**back, "is_training": False, "epsilon": 0.01}),
        ]  # fmt: skip
    first = {"x": numbers(2, 3, 4, 5), "scale": s, "offset": o, "data_format": "NCHW"}
    out.append(Call("FusedBatchNormV3", {**first, "mean": none, "variance": none}))
    one = {"x": numbers(1, 1, 1, 3), "scale": s, "offset": o, "mean": none, "variance": none}
    out.append(Call("FusedBatchNormV3", one))
    return out


def _images() -> list[Call]:
    x, g = numbers(2, 5, 4, 3), numbers(2, 3, 7, 3)
    out = []
    for form in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        both = {"grads": g, "original_image": x, **form}
        out += [
            Call("ResizeBilinearGrad", both),
            Call("ResizeBicubicGrad", both),
            Call("ResizeNearestNeighborGrad", {"grads": g, "size": i32([5, 4]), **form}),
        ]
    place = {"grads": g, "original_image": x, "scale": f32([0.6, 1.7]),
             "translation": f32([0.4, -1.3])}  # fmt: skip
    out += [
        Call("ScaleAndTranslateGrad", {**place, "kernel_type": kernel, "antialias": smooth})
        for kernel in ("triangle", "lanczos3")
        for smooth in (True, False)
    ]
    boxes = {"boxes": f32([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9]]), "box_ind": i32([1, 0])}
    out += [
        Call("CropAndResizeGradImage", {"grads": g, **boxes, "image_size": i32([2, 5, 4, 3]),
                                        "T": "float32"}),
        Call("CropAndResizeGradImage", {"grads": g, **boxes, "image_size": i32([2, 5, 4, 3]),
                                        "T": "float32", "method": "nearest"}),
        Call("CropAndResizeGradBoxes", {"grads": g, "image": x, **boxes}),
    ]  # fmt: skip
    return out


def calls() -> list[Call]:
    """All of them."""
    return [*_windows(), *_pools(), *_normalization(), *_images()]
