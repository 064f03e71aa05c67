"""Calls of `tf.image` and raw ops whose results were recorded with TensorFlow.

`checks/record_image_values.py` makes these calls with TensorFlow and writes down what they give;
`tests/ops/image/test_recorded.py` compares. So this file knows neither library: it has names and
plain arrays only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).parent.parent / "ops/image/recorded.npz"


class Call(NamedTuple):
    """A function by its path, its arguments by position, and by name."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    label: str


def image(*shape: int, dtype: str = "float32", low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Numbers that are the same for ever: a congruential generator, scrambled by the shape."""
    count = int(np.prod(shape))
    state = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(sum(shape))
    state = (state ^ (state >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(1 << 32)
    share = (state >> np.uint64(8)).astype(np.float64) / (1 << 24)
    return (low + share * (high - low)).reshape(shape).astype(dtype)


def _bytes(*shape: int, dtype: str = "uint8") -> np.ndarray:
    return image(*shape, dtype=dtype, low=0, high=256)


METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic")  # fmt: skip
SIZES = [((5, 7), (3, 4)), ((5, 7), (11, 8)), ((4, 6), (9, 3)), ((1, 3), (2, 1)), ((6, 5), (6, 5))]


def _resizing() -> list[Call]:
    out = []
    for method in METHODS:
        for antialias in (False, True):
            for (h, w), size in SIZES:
                label = f"{method}-{antialias}-{h}x{w}-{size}"
                given = {"method": method, "antialias": antialias}
                out.append(Call("image.resize", (image(2, h, w, 3), size), given, label))
        for dtype in ("uint8", "int32", "float16", "float64", "int8", "uint16"):
            x = image(5, 4, 2, dtype=dtype, low=0, high=120)
            out.append(Call("image.resize", (x, (7, 3)), {"method": method}, f"{method}-{dtype}"))
        for size in ((9, 9), (3, 20), (20, 3)):
            x = image(5, 7, 2)
            kept = {"method": method, "preserve_aspect_ratio": True}
            out.append(Call("image.resize", (x, size), kept, f"{method}-ratio-{size}"))
            padded = {"method": method, "antialias": True}
            label = f"pad-{method}-{size}"
            out.append(Call("image.resize_with_pad", (x, *size), padded, label))
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
        for form in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            if op == "ResizeArea" and "half_pixel_centers" in form:
                continue
            for (h, w), size in SIZES:
                given = {"images": image(2, h, w, 3), "size": np.array(size, np.int32), **form}
                out.append(Call(f"raw_ops.{op}", (), given, f"{op}-{form}-{h}x{w}-{size}"))
    for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
                   "mitchellcubic"):  # fmt: skip
        for antialias in (False, True):
            given = {
                "images": image(2, 6, 5, 3),
                "size": np.array([4, 9], np.int32),
                "scale": np.array([0.6, 1.7], np.float32),
                "translation": np.array([0.4, -1.3], np.float32),
                "kernel_type": kernel,
                "antialias": antialias,
            }
            out.append(Call("raw_ops.ScaleAndTranslate", (), given, f"{kernel}-{antialias}"))
    return out


def _cropping() -> list[Call]:
    x, batch = _bytes(5, 7, 3), image(2, 6, 5, 1)
    out = [
        Call("image.crop_to_bounding_box", (x, 1, 2, 3, 4), {}, "3-D"),
        Call("image.crop_to_bounding_box", (batch, 0, 1, 6, 2), {}, "4-D"),
        Call("image.pad_to_bounding_box", (x, 1, 2, 8, 9), {}, "3-D"),
        Call("image.pad_to_bounding_box", (batch, 0, 1, 6, 8), {}, "4-D"),
    ]
    for size in ((3, 4), (8, 9), (2, 10), (9, 3), (5, 7), (6, 8)):
        out.append(Call("image.resize_with_crop_or_pad", (x, *size), {}, f"3-D {size}"))
        out.append(Call("image.resize_with_crop_or_pad", (batch, *size), {}, f"4-D {size}"))
    for part in (1.0, 0.87, 0.5, 1 / 3, 0.1, 0.01):
        out.append(Call("image.central_crop", (x, part), {}, f"3-D {part}"))
        out.append(Call("image.central_crop", (batch, part), {}, f"4-D {part}"))
    for name in ("flip_left_right", "flip_up_down", "transpose"):
        out += [Call(f"image.{name}", (v,), {}, f"{v.ndim}-D") for v in (x, batch)]
    for k in (-1, 0, 1, 2, 3, 5):
        out += [Call("image.rot90", (v, k), {}, f"{v.ndim}-D {k}") for v in (x, batch)]
    return out


DTYPES = ("uint8", "int32", "float16", "float32", "float64")


def _colour_image(dtype: str) -> np.ndarray:
    if dtype == "uint8":
        return _bytes(4, 5, 3)
    if dtype == "int32":
        return image(4, 5, 3, dtype=dtype, low=0, high=2**31 - 1)
    return image(2, 4, 5, 3, dtype=dtype)


def _colours() -> list[Call]:
    # Black, white, grey, and colours whose two largest channels are equal.
    edges = np.array(
        [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0],
         [0.2, 0.7, 0.7], [-0.5, 0.25, 0.1], [2, 3, 1]], np.float32
    )[None]  # fmt: skip
    out = []
    for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv",
                 "yuv_to_rgb"):  # fmt: skip
        floats = [(dtype, _colour_image(dtype)) for dtype in ("float16", "float32", "float64")]
        for label, x in (*floats, ("edges", edges)):
            out.append(Call(f"image.{name}", (x,), {}, label))
    for dtype in DTYPES:
        x = _colour_image(dtype)
        out.append(Call("image.rgb_to_grayscale", (x,), {}, dtype))
        out.append(Call("image.adjust_brightness", (x, 0.3), {}, dtype))
        out.append(Call("image.adjust_brightness", (x, -0.4), {}, f"{dtype} darker"))
        out.append(Call("image.adjust_gamma", (x, 0.7, 1.2), {}, dtype))
        out.append(Call("image.per_image_standardization", (x,), {}, dtype))
        for other in (*DTYPES, "int8", "uint16"):
            for saturate in (False, True):
                args = (x, other)
                label = f"{dtype}-{other}-{saturate}"
                if other == "int32" and dtype not in ("uint8", "int32"):
                    continue  # 1.0 does not fit, and what then comes out means nothing
                out.append(Call("image.convert_image_dtype", args, {"saturate": saturate}, label))
        if dtype == "float16":
            continue  # TensorFlow has no such kernels
        out += [
            Call("image.adjust_contrast", (x, 1.7), {}, dtype),
            Call("image.adjust_hue", (x, 0.3), {}, dtype),
            Call("image.adjust_hue", (x, -0.8), {}, f"{dtype} back"),
            Call("image.adjust_saturation", (x, 1.7), {}, dtype),
            Call("image.adjust_saturation", (x, 0.2), {}, f"{dtype} less"),
        ]
    out += [
        Call("image.adjust_hue", (edges, 0.4), {}, "edges"),
        Call("image.adjust_saturation", (edges, 2.5), {}, "edges"),
        Call("image.convert_image_dtype",
             (np.array([-300, -1, 0, 1, 300], np.int16), "int8"), {}, "int16-int8"),
        Call("image.per_image_standardization", (np.ones((3, 4, 1), np.float32),), {}, "equal"),
    ]  # fmt: skip
    return out


def _random() -> list[Call]:
    out = []
    x, batch = image(5, 6, 3), image(4, 3, 5, 3)
    for seed in ((1, 2), (3, 4), (7, 8)):
        for v in (x, batch):
            label = f"{v.ndim}-D {seed}"
            for name, args in {
                "flip_left_right": (),
                "flip_up_down": (),
                "brightness": (0.4,),
                "hue": (0.3,),
                "contrast": (0.2, 1.9),
                "saturation": (0.2, 1.9),
                "crop": ((3, 2, 3),) if v.ndim == 3 else ((2, 2, 4, 2),),
            }.items():
                given = {"seed": seed}
                out.append(Call(f"image.stateless_random_{name}", (v, *args), given, label))
    return out


def _measures() -> list[Call]:
    a, b = image(2, 26, 25, 3), image(2, 25, 26, 3).reshape(2, 26, 25, 3)
    near = (a * 0.9 + b * 0.1).astype(np.float32)
    large, other = image(2, 47, 41, 2), image(2, 41, 47, 2).reshape(2, 47, 41, 2)
    other = (large * 0.8 + other * 0.2).astype(np.float32)
    whole = {"max_val": 1.0}
    out = [
        Call("image.psnr", (a, near), whole, "4-D"),
        Call("image.psnr", (a, near[0]), whole, "broadcast"),
        Call("image.psnr", (_bytes(4, 5, 3), _bytes(4, 5, 3)[::-1]), {"max_val": 255}, "bytes"),
        Call("image.ssim", (a, near), whole, "4-D"),
        Call("image.ssim", (a, near[0]), whole, "broadcast"),
        Call("image.ssim", (a[0], b[0]), whole, "3-D"),
        Call("image.ssim", (_bytes(14, 15, 3), _bytes(14, 15, 3)[::-1]), {"max_val": 255}, "bytes"),
        Call("image.ssim", (a, b), {**whole, "filter_size": 4, "filter_sigma": 0.7, "k1": 0.1,
                                    "k2": 0.2}, "form"),
        Call("image.ssim", (a, near), {**whole, "return_index_map": True}, "map"),
        Call("image.ssim_multiscale", (large, other),
             {**whole, "filter_size": 5, "power_factors": (0.2, 0.5, 0.3)}, "three"),
        Call("image.ssim_multiscale", (large[0], other[0]),
             {**whole, "power_factors": (0.4, 0.6)}, "two"),
    ]  # fmt: skip
    for dtype in ("float16", "float32", "float64", "int32"):
        x = image(2, 4, 5, 3, dtype=dtype, low=-9, high=9)
        out.append(Call("image.total_variation", (x,), {}, dtype))
        out.append(Call("image.image_gradients", (x,), {}, dtype))
        if dtype in ("float32", "float64"):  # of float16 TensorFlow's are rounded often
            out.append(Call("image.sobel_edges", (x,), {}, dtype))
    out.append(Call("image.total_variation", (image(4, 5, 3),), {}, "3-D"))
    return out


def _patches() -> list[Call]:
    out = []
    x = image(2, 7, 6, 3)
    for padding in ("SAME", "VALID"):
        for size, stride, rate in (((2, 3), (1, 2), (1, 1)), ((3, 2), (2, 3), (2, 1)),
                                   ((1, 1), (3, 4), (1, 1)), ((4, 3), (1, 1), (2, 2))):  # fmt: skip
            given = [[1, *pair, 1] for pair in (size, stride, rate)]
            label = f"{padding}-{size}-{stride}-{rate}"
            out.append(Call("image.extract_patches", (x, *given, padding), {}, label))
    out.append(Call("image.extract_patches",
                    (_bytes(1, 4, 5, 2), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), {},
                    "bytes"))  # fmt: skip
    boxes = np.array(
        [[0, 0, 1, 1], [0.1, 0.2, 0.9, 0.6], [-0.3, 0, 1.2, 0.7], [1, 0.9, 0, 0.1]], np.float32
    )
    which = np.array([0, 1, 1, 0], np.int32)
    for method in ("bilinear", "nearest"):
        for size in ((3, 4), (9, 2), (1, 1), (1, 5)):
            given = {"method": method, "extrapolation_value": 0.5}
            args = (x, boxes, which, size)
            out.append(Call("image.crop_and_resize", args, given, f"{method}-{size}"))
    out.append(Call("image.crop_and_resize",
                    (_bytes(2, 5, 4, 1), boxes, which, (3, 3)), {}, "bytes"))  # fmt: skip
    return out


def _projections() -> list[Call]:
    out = []
    transforms = np.array(
        [[1.1, 0.1, -2.3, -0.2, 0.9, 1.7, 0.01, -0.02], [0.7, -0.4, 9.1, 0.4, 0.7, -8.2, 0, 0]],
        np.float32,
    )
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for interpolation in ("NEAREST", "BILINEAR"):
            for dtype in ("float32", "uint8"):
                x = _bytes(2, 6, 5, 2, dtype=dtype)
                given = {
                    "images": x,
                    "transforms": transforms,
                    "output_shape": np.array([7, 8], np.int32),
                    "interpolation": interpolation,
                    "fill_mode": mode,
                }
                label = f"{mode}-{interpolation}-{dtype}"
                out.append(Call("raw_ops.ImageProjectiveTransformV2", (), given, label))
                filled = {**given, "transforms": transforms[1:], "fill_value": np.float32(3)}
                out.append(Call("raw_ops.ImageProjectiveTransformV3", (), filled, label))
    return out


def _corners(*shape: int) -> np.ndarray:
    low = image(*shape, 2, high=0.7)
    return np.concatenate([low, low + image(2, *shape, high=0.5).reshape(*shape, 2)], -1)


def _boxes() -> list[Call]:
    boxes, scores = _corners(23), image(23)
    scores[5] = scores[11]
    out = []
    for iou, least in ((0.5, -np.inf), (0.1, 0.3), (0.0, -np.inf), (1.0, 0.5)):
        given = {"iou_threshold": iou, "score_threshold": least}
        label = f"{iou}-{least}"
        args = (boxes, scores, 9)
        out.append(Call("image.non_max_suppression", args, given, label))
        out.append(Call("image.non_max_suppression_with_scores", args, given, label))
        soft = {**given, "soft_nms_sigma": 0.4}
        out.append(Call("image.non_max_suppression_with_scores", args, soft, f"soft {label}"))
        padded = {**given, "pad_to_max_output_size": True}
        out.append(Call("image.non_max_suppression_padded", args, padded, label))
        batch = (_corners(2, 13), image(2, 13), 6)
        out.append(Call("image.non_max_suppression_padded", batch, padded, f"batch {label}"))
        overlaps = {"overlap_threshold": iou, "score_threshold": least}
        out.append(Call("image.non_max_suppression_overlaps", (image(23, 23), scores, 9), overlaps,
                        label))  # fmt: skip
        for classes, pad in ((1, False), (1, True), (3, False), (3, True)):
            args = (_corners(2, 13, classes) * 1.5, image(2, 13, 3), 4, 9)
            form = {**given, "pad_per_class": pad, "clip_boxes": pad}
            label = f"{iou}-{least}-{classes}-{pad}"
            out.append(Call("image.combined_non_max_suppression", args, form, label))
    drawn = _corners(2, 5) * 1.3 - 0.2
    drawn[0, 0] = [0.9, 0.9, 0.1, 0.1]
    for depth in (1, 3, 4):
        args = (image(2, 9, 11, depth), drawn, None)
        out.append(Call("image.draw_bounding_boxes", args, {}, f"{depth}"))
    own = np.array([[0.1, 0.9, 0.4], [0.7, 0.2, 0.3]], np.float32)
    out.append(Call("image.draw_bounding_boxes", (image(2, 9, 11, 3), drawn, own), {}, "own"))
    return out


def _sampled() -> list[Call]:
    boxes = np.array([[[0.1, 0.2, 0.5, 0.9], [0.4, 0.3, 0.95, 0.6]]], np.float32)
    ways: list[dict[str, Any]] = [
        {},
        {"min_object_covered": 0.9},
        {"aspect_ratio_range": [0.5, 2.0], "area_range": [0.01, 0.3]},
        {"area_range": [0.9, 1.0], "max_attempts": 3},
        {"aspect_ratio_range": [0.1, 0.12]},
    ]
    out = []
    for seed in range(6):
        for size in ((40, 50, 3), (7, 5, 1), (300, 200, 3)):
            for way in ways:
                path = "image.stateless_sample_distorted_bounding_box"
                given = (np.array(size, np.int32), boxes, [seed, 5])
                out.append(Call(path, given, way, f"{seed}-{size}-{way}"))
    none, size = np.zeros((1, 0, 4), np.float32), np.array([9, 8, 3], np.int64)
    whole = {"use_image_if_no_bounding_boxes": True}
    out.append(Call(path, (size, none, [1, 2]), whole, "no boxes"))
    x = image(2, 6, 7, 2)
    places = [[[0.0, 0.0], [0.5, -0.5]], [[1.0, 2.0], [3.0, 4.0]], [[-1.0, -1.0], [1.0, 1.0]],
              [[2.4, 3.6], [-2.0, 8.0]], [[100.0, 100.0], [-1e30, 2.0]]]  # fmt: skip
    for centered in (True, False):
        for normalized in (True, False):
            for i, offsets in enumerate(places):
                for window in ([3, 4], [8, 3], [1, 1]):
                    given = (x, window, np.array(offsets, np.float32), centered, normalized)
                    label = f"{centered}-{normalized}-{i}-{window}"
                    out.append(Call("image.extract_glimpse", given, {"noise": "zero"}, label))
    return out


def _raw() -> list[Call]:
    """The raw ops that are not called above."""
    x, boxes, scores = image(2, 5, 4, 3), _corners(9), image(9)
    best = {"boxes": boxes, "scores": scores, "max_output_size": np.int32(5)}
    strict = {**best, "iou_threshold": np.float32(0.3)}
    stricter = {**strict, "score_threshold": np.float32(0.2)}
    given: dict[str, dict[str, Any]] = {
        "AdjustContrastv2": {"images": x, "contrast_factor": np.float32(1.4)},
        "AdjustHue": {"images": x, "delta": np.float32(0.2)},
        "AdjustSaturation": {"images": x, "scale": np.float32(0.6)},
        "CropAndResize": {"image": x, "boxes": boxes, "box_ind": np.arange(9, dtype=np.int32) % 2,
                          "crop_size": np.array([2, 3], np.int32), "extrapolation_value": 2.0},
        "ExtractImagePatches": {"images": x, "ksizes": [1, 2, 2, 1], "strides": [1, 2, 1, 1],
                                "rates": [1, 1, 2, 1], "padding": "VALID"},
        "ExtractGlimpseV2": {"input": x, "size": [2, 3], "offsets": image(2, 2),
                             "uniform_noise": False, "noise": "zero"},
        "SampleDistortedBoundingBoxV2": {
            "image_size": [40, 50, 3], "bounding_boxes": [[[0.1, 0.2, 0.5, 0.9]]],
            "min_object_covered": 0.1, "seed": 3, "seed2": 4,
        },
        "SampleDistortedBoundingBox": {
            "image_size": [40, 50, 3], "bounding_boxes": [[[0.1, 0.2, 0.5, 0.9]]], "seed": 8,
            "seed2": 1, "aspect_ratio_range": [0.5, 0.6],
        },
        "StatelessSampleDistortedBoundingBox": {
            "image_size": [40, 50, 3], "bounding_boxes": [[[0.1, 0.2, 0.5, 0.9]]],
            "min_object_covered": 0.1, "seed": [3, 4],
        },
        "HSVToRGB": {"images": x},
        "RGBToHSV": {"images": x},
        "DrawBoundingBoxes": {"images": x, "boxes": np.stack([boxes, boxes])},
        "DrawBoundingBoxesV2": {"images": x, "boxes": np.stack([boxes, boxes]),
                                "colors": image(2, 3)},
        "CombinedNonMaxSuppression": {
            "boxes": boxes[None, :, None], "scores": image(1, 9, 2),
            "max_output_size_per_class": np.int32(3), "max_total_size": np.int32(4),
            "iou_threshold": np.float32(0.3), "score_threshold": np.float32(0.2),
        },
        "NonMaxSuppression": {**best, "iou_threshold": 0.3},
        "NonMaxSuppressionV2": strict,
        "NonMaxSuppressionV3": stricter,
        "NonMaxSuppressionV4": {**stricter, "pad_to_max_output_size": True},
        "NonMaxSuppressionV5": {**stricter, "soft_nms_sigma": np.float32(0.5),
                                "pad_to_max_output_size": True},
        "NonMaxSuppressionWithOverlaps": {
            "overlaps": image(9, 9), "scores": scores, "max_output_size": np.int32(5),
            "overlap_threshold": np.float32(0.4), "score_threshold": np.float32(0.2),
        },
    }  # fmt: skip
    return [Call(f"raw_ops.{name}", (), kwargs, "raw") for name, kwargs in given.items()]


CALLS = [
    *_resizing(), *_cropping(), *_colours(), *_random(), *_measures(), *_patches(),
    *_projections(), *_boxes(), *_sampled(), *_raw(),
]  # fmt: skip
RAW_OPS = {call.path.removeprefix("raw_ops.") for call in CALLS if call.path.startswith("raw_ops")}
KEYS = [f"{call.path} {call.label}" for call in CALLS]
assert len(set(KEYS)) == len(KEYS)


def made(tf: Any, call: Call) -> list[np.ndarray]:
    """What a call gives with a library, as arrays."""
    function = tf
    for part in call.path.split("."):
        function = getattr(function, part)
    args = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in call.args]
    out = function(*args, **call.kwargs)
    return [np.asarray(value) for value in (out if isinstance(out, (tuple, list)) else [out])]
