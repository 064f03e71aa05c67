"""`tf.image` on every tier, with unknown sizes and rank, and differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.image_calls import METHODS
from support.op_cases import Case, check_case, f32, i32

I = tf.image

# Resizing gives float32, whose finite differences are too rough: `test_resizing.py` has gradients.
rough = {"grad": False, "rtol": 1e-4, "atol": 1e-5}
unit = {"low": 0.05, "high": 0.95}
known = {"unknown_rank": False}


def colours(*shape):
    """Colours whose channels are well apart, where gradients exist."""
    x = np.linspace(0.1, 0.9, 3 * int(np.prod(shape)))
    return x.reshape(3, -1).T.reshape(*shape, 3).copy()


BOXES = np.array(
    [[0, 0, 0.5, 0.5], [0, 0.1, 0.5, 0.6], [0.4, 0.4, 1, 1], [0.9, 0.1, 0.6, 0.4]], np.float32
)

CASES = [
    *[
        Case(I.resize, [f32(*shape)], {"size": (5, 3), "method": m, "antialias": a}, **rough)
        for m in METHODS
        for shape, a in (((2, 4, 6, 3), False), ((7, 5, 2), True))
    ],
    Case(I.resize, [f32(6, 4, 1)], {"size": (9, 3), "preserve_aspect_ratio": True}, **rough),
    Case(I.resize, [i32(6, 4, 1)], {"size": (3, 5)}, **rough),
    Case(I.resize, [f32(0, 6, 4, 1)], {"size": (3, 5)}, **rough),
    Case(
        lambda x, size: I.resize(x, size),
        [f32(6, 4, 1), np.array([3, 5], np.int32)],
        label="resize-computed-size",
        **rough,
    ),
    Case(
        lambda x, size: I.resize(x, size, preserve_aspect_ratio=True, method="nearest"),
        [f32(2, 6, 4, 1), np.array([3, 5], np.int32)],
        label="resize-computed-ratio",
    ),
    Case(
        lambda x, scale, move: tf.raw_ops.ScaleAndTranslate(
            images=x, size=[4, 7], scale=scale, translation=move
        ),
        [f32(2, 6, 4, 1), np.array([0.6, 1.5], np.float32), np.array([0.3, -1], np.float32)],
        label="scale-and-translate",
        **rough,
    ),
    Case(I.resize_with_pad, [f32(2, 6, 4, 1)], {"target_height": 5, "target_width": 7}, **rough),
    Case(
        I.resize_with_crop_or_pad, [f32(2, 6, 4, 1)], {"target_height": 5, "target_width": 7}
    ),
    Case(I.resize_with_crop_or_pad, [f32(3, 4, 1)], {"target_height": 8, "target_width": 3}),
    Case(
        lambda x, n: I.resize_with_crop_or_pad(x, n, n + 2),
        [f32(3, 6, 2), np.array(4, np.int32)],
        label="crop-or-pad-computed",
    ),
    Case(
        I.crop_to_bounding_box,
        [f32(2, 6, 5, 1)],
        {"offset_height": 1, "offset_width": 2, "target_height": 4, "target_width": 3},
        lambda x: x[:, 1:5, 2:5],
    ),
    Case(
        lambda x, n: I.crop_to_bounding_box(x, n, 0, n + 1, 3),
        [f32(6, 5, 2), np.array(2, np.int32)],
        expect=lambda x, n: x[2:5, :3],
        label="crop-computed",
    ),
    Case(
        I.pad_to_bounding_box,
        [f32(2, 3, 1)],
        {"offset_height": 1, "offset_width": 2, "target_height": 4, "target_width": 6},
        lambda x: np.pad(x, [(1, 1), (2, 1), (0, 0)]),
    ),
    Case(I.central_crop, [f32(2, 7, 6, 1)], {"central_fraction": 0.4}),
    Case(
        lambda x, part: I.central_crop(x, tf.stop_gradient(part)),
        [f32(7, 6, 1), np.array(0.5, np.float32)],
        label="central-computed",
        grad=False,
    ),
    Case(I.flip_left_right, [f32(2, 3, 4, 1)], expect=lambda x: x[:, :, ::-1]),
    Case(I.flip_up_down, [f32(3, 4, 2)], expect=lambda x: x[::-1]),
    Case(I.transpose, [f32(2, 3, 4, 1)], expect=lambda x: x.swapaxes(1, 2)),
    Case(I.transpose, [f32(3, 4, 2)], expect=lambda x: x.swapaxes(0, 1)),
    *[Case(I.rot90, [f32(3, 4, 2)], {"k": k}, lambda x, k=k: np.rot90(x, k)) for k in range(-1, 5)],
    Case(
        lambda x, k: I.rot90(x, k),
        [f32(2, 3, 4, 1), np.array(3, np.int32)],
        expect=lambda x, k: np.rot90(x, 3, (1, 2)),
        label="rot90-computed",
    ),
    *[Case(fn, [colours(2, 4)]) for fn in (I.rgb_to_hsv, I.hsv_to_rgb)],
    *[
        Case(fn, [f32(2, 4, 3, **unit)])
        for fn in (I.rgb_to_yiq, I.yiq_to_rgb, I.rgb_to_yuv, I.yuv_to_rgb)
    ],
    Case(I.rgb_to_grayscale, [f32(2, 4, 3, **unit)], grad=False),
    Case(I.grayscale_to_rgb, [f32(2, 4, 1)], expect=lambda x: np.repeat(x, 3, -1)),
    Case(I.convert_image_dtype, [f32(2, 4, 3, **unit)], {"dtype": tf.uint8}, grad=False),
    Case(I.adjust_brightness, [f32(2, 4, 3)], {"delta": 0.3}, lambda x: x + 0.3, grad=False),
    Case(I.adjust_contrast, [f32(2, 5, 4, 3)], {"contrast_factor": 1.5}, grad=False),
    Case(I.adjust_gamma, [f32(2, 4, 3, **unit)], {"gamma": 2.0}, lambda x: x**2, grad=False),
    Case(I.adjust_hue, [f32(2, 5, 4, 3, **unit)], {"delta": 0.2}, grad=False, atol=1e-5),
    Case(I.adjust_saturation, [f32(5, 4, 3, **unit)], {"saturation_factor": 1.2}, grad=False,
         atol=1e-5),
    Case(I.per_image_standardization, [f32(2, 4, 5, 3)], grad=False, atol=1e-5),
    Case(
        I.extract_patches,
        [f32(2, 7, 6, 3)],
        {"sizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 2, 1, 1], "padding": "SAME"},
    ),
    Case(
        I.extract_patches,
        [f32(2, 7, 6, 1)],
        {"sizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 2, 1, 1],
         "padding": "VALID"},
    ),
    Case(
        lambda x, boxes: I.crop_and_resize(x, boxes, [1, 0, 1], [3, 4], extrapolation_value=0.5),
        [f32(2, 5, 6, 1), np.array([[0, 0, 1, 1], [0.1, 0.3, 1.4, 0.7], [0.8, 0.7, 0, 0]],
                                   np.float32)],
        label="crop_and_resize",
        **rough,
    ),
    Case(I.sobel_edges, [f32(2, 4, 5, 3)], **known),
    Case(I.image_gradients, [f32(2, 4, 5, 3)]),
    Case(I.total_variation, [f32(2, 3, 4, 2)]),
    Case(I.psnr, [f32(2, 4, 5, 1), f32(4, 5, 1)], {"max_val": 1.0}, **rough),
    Case(I.ssim, [f32(2, 9, 8, 2, **unit), f32(2, 9, 8, 2, **unit)],
         {"max_val": 1.0, "filter_size": 5}, **rough, **known),
    Case(I.ssim_multiscale, [f32(13, 15, 1, **unit), f32(13, 15, 1, **unit)],
         {"max_val": 1.0, "filter_size": 3, "power_factors": (0.5, 0.5)}, **rough, **known),
    Case(I.non_max_suppression, [BOXES, f32(4)], {"max_output_size": 3}, grad=False),
    Case(
        lambda boxes, scores, n: I.non_max_suppression_padded(
            boxes, scores, n, pad_to_max_output_size=True
        ),
        [BOXES, f32(4), np.array(5, np.int32)],
        label="padded-computed",
        grad=False,
        **known,
    ),
    Case(I.non_max_suppression_padded, [np.stack([BOXES, BOXES[::-1]]), f32(2, 4)],
         {"max_output_size": 3, "pad_to_max_output_size": True}, grad=False, **known),
    Case(I.non_max_suppression_with_scores, [BOXES, f32(4, low=0.1)],
         {"max_output_size": 4, "soft_nms_sigma": 0.5}, grad=False),
    Case(I.non_max_suppression_overlaps, [f32(4, 4), f32(4)], {"max_output_size": 3}, grad=False),
    Case(I.combined_non_max_suppression, [BOXES[None, :, None], f32(1, 4, 3)],
         {"max_output_size_per_class": 2, "max_total_size": 5}, grad=False),
    Case(I.draw_bounding_boxes, [f32(2, 5, 6, 3), np.stack([BOXES, BOXES[::-1]])],
         {"colors": [[1.0, 0.5, 0.2], [0.3, 0.4, 0.6]]}, grad=False),
    *[
        Case(
            lambda x, places, way=way: I.extract_glimpse(x, [4, 3], places, *way, noise="zero"),
            [f32(2, 5, 6, 1), np.array([[0.2, -0.3], [0.9, 1.4]], np.float32)],
            label=f"glimpse-{way}",
            grad=False,
        )
        for way in ((True, True), (True, False), (False, True), (False, False))
    ],
    Case(
        lambda x, size: I.extract_glimpse(x, size, [[0.1, 0.2], [1.0, -1.0]], noise="zero"),
        [f32(2, 5, 6, 1), np.array([3, 4], np.int32)],
        label="glimpse-computed",
        grad=False,
    ),
    Case(
        lambda size, boxes: I.stateless_sample_distorted_bounding_box(size, boxes, seed=[1, 2]),
        [np.array([40, 50, 3], np.int32), BOXES[None, :3]],
        label="sampled-box",
        grad=False,
    ),
    *[
        Case(
            lambda x, t, mode=mode, how=how: tf.raw_ops.ImageProjectiveTransformV3(
                images=x, transforms=t, output_shape=[4, 7], fill_value=2.0, interpolation=how,
                fill_mode=mode,
            ),
            [f32(2, 5, 6, 1), np.array([[1.1, 0.1, -2, -0.2, 0.9, 1, 0.01, 0]], np.float32)],
            label=f"projection-{mode}-{how}",
            **rough,
        )
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
        for how in ("NEAREST", "BILINEAR")
    ],
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_modes(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("name", ["flip_left_right", "flip_up_down"])
@pytest.mark.parametrize("shape", [(3, 4, 1), (5, 3, 4, 1)])
def test_random_flips_are_the_same_when_traced(name: str, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    flip = getattr(I, f"stateless_random_{name}")
    traced = tf.function(lambda x, seed: flip(x, seed))
    for seed in range(4):
        pair = tf.constant([seed, 7])
        np.testing.assert_array_equal(flip(x, pair), traced(x, pair))


def test_random_functions_draw_from_the_stream() -> None:
    x = tf.reshape(tf.range(60.0), [4, 5, 3]) / 60
    for draw in (
        lambda: I.random_brightness(x, 0.3),
        lambda: I.random_contrast(x, 0.5, 1.5),
        lambda: I.random_hue(x, 0.3),
        lambda: I.random_saturation(x, 0.5, 1.5),
        lambda: I.random_crop(x, [2, 2, 3]),
    ):
        tf.random.set_seed(3)
        first, second = draw(), draw()
        assert not np.allclose(first, second)
        tf.random.set_seed(3)
        np.testing.assert_array_equal(first, draw())
        traced = tf.function(draw)
        assert not np.allclose(traced(), traced())


def test_random_flips_flip_about_half() -> None:
    x = tf.reshape(tf.range(2.0), [1, 2, 1])
    tf.random.set_seed(1)
    flipped = [bool(I.random_flip_left_right(x)[0, 0, 0] == 1) for _ in range(100)]
    assert 30 < sum(flipped) < 70
    batch = I.random_flip_up_down(tf.tile(tf.reshape(tf.range(2.0), [1, 2, 1, 1]), [100, 1, 1, 1]))
    assert 30 < np.sum(batch[:, 0]) < 70


def test_in_loops_and_branches() -> None:
    @tf.function
    def halve_until_small(x):
        while tf.shape(x)[0] > 3:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, None, 1]))]
            )
            x = I.resize(x, tf.shape(x)[:2] // 2, method="area")
        return x

    x = np.arange(16 * 8, dtype=np.float32).reshape(16, 8, 1)
    out = halve_until_small(x)
    assert out.shape == (2, 1, 1)
    np.testing.assert_allclose(out, x.reshape(2, 8, 1, 8, 1).mean((1, 3)), rtol=1e-5)


def test_on_many_rows_at_once() -> None:
    x = tf.constant(np.random.default_rng(0).random((4, 5, 6, 3), np.float32))
    for fn in (
        lambda image: I.resize(image, (3, 8)),
        lambda image: I.adjust_hue(image, 0.2),
        lambda image: I.central_crop(image, 0.5),
        I.per_image_standardization,
    ):
        np.testing.assert_allclose(tf.vectorized_map(fn, x), fn(x), rtol=1e-4, atol=1e-5)


def test_glimpses_have_gradients() -> None:
    x = tf.Variable(np.arange(60, dtype=np.float32).reshape(1, 5, 6, 2))
    with tf.GradientTape() as tape:
        window = I.extract_glimpse(x, [3, 3], [[1.0, 1.0]], noise="zero")
        loss = tf.reduce_sum(window * window)
    expected = np.zeros((1, 5, 6, 2), np.float32)
    shown = window.numpy().any((0, 3))
    height, width = shown.any(1).sum(), shown.any(0).sum()
    assert 0 < height < 3
    assert 0 < width < 3
    expected[0, -height:, -width:] = 2 * x.numpy()[0, -height:, -width:]
    np.testing.assert_allclose(tape.gradient(loss, x), expected)


@pytest.mark.parametrize("traced", [False, True])
def test_noise_of_glimpses(traced: bool) -> None:
    x = np.random.default_rng(0).normal([5.0, -3.0], [1.0, 0.2], (1, 20, 30, 2)).astype(np.float32)
    for noise in ("uniform", "gaussian"):
        call = lambda: I.extract_glimpse(x, [60, 70], [[0.0, 0.0]], noise=noise)  # noqa: B023, E731
        function = tf.function(call) if traced else call
        one, other = function().numpy(), function().numpy()
        beyond = one != other
        assert 0.8 < beyond.mean() < 1 - 0.9 * 600 / 4200
        np.testing.assert_array_equal(one[0, 20:40, 20:50], x[0])
        assert one.min() >= x.min()
        assert one.max() <= x.max()
        average = one[beyond.all(-1)].mean(0)
        if noise == "gaussian":
            np.testing.assert_allclose(average, [5.0, -3.0], atol=0.2)
        else:
            np.testing.assert_allclose(average, (x.min() + x.max()) / 2, atol=0.4)


def test_sampled_boxes_come_from_the_stream() -> None:
    boxes = BOXES[None, :2]
    tf.random.set_seed(4)
    first = [I.sample_distorted_bounding_box([40, 50, 3], boxes, seed=3) for _ in range(4)]
    tf.random.set_seed(4)
    again = [I.sample_distorted_bounding_box([40, 50, 3], boxes, seed=3) for _ in range(4)]
    traced = tf.function(lambda: I.sample_distorted_bounding_box([40, 50, 3], boxes, seed=3))
    tf.random.set_seed(4)
    graph = [traced() for _ in range(4)]
    places = [box.bboxes.numpy().ravel().tolist() for box in first]
    assert len({tuple(place) for place in places}) > 1
    for others in (again, graph):
        assert [box.bboxes.numpy().ravel().tolist() for box in others] == places
    image = tf.zeros([40, 50, 3])
    for box in first:
        part = tf.slice(image, box.begin, box.size)
        assert part.shape == [*box.size.numpy()[:2], 3]
