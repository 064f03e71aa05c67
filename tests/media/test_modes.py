"""Files are decoded and encoded alike eagerly, in functions, branches, loops and datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.media_files import BMPS, GIFS, PNGS, WAVS, picture, stored
from support.op_cases import Case, check_case

PNG, GREY, JPEG = PNGS["png 2 8"], PNGS["png 0 8"], stored()["jpeg 2"]
WEBP = stored()["webp"]
plain = {"grad": False}


def one(data: bytes) -> Any:
    return np.array(data, object)


CASES = [
    *[Case(tf.io.decode_png, [one(PNG)], {"channels": n, "dtype": dtype}, **plain)
      for n in (0, 1, 3, 4) for dtype in (tf.uint8, tf.uint16)],
    *[Case(tf.io.decode_bmp, [one(BMPS["bmp 24"])], {"channels": n}, **plain) for n in (0, 3, 4)],
    *[Case(tf.io.decode_jpeg, [one(JPEG)], {"channels": n, "ratio": r}, **plain)
      for n in (0, 1, 3) for r in (1, 4)],
    Case(tf.io.decode_jpeg, [one(JPEG)], {"dct_method": "INTEGER_ACCURATE"}, **plain),
    Case(tf.io.decode_and_crop_jpeg, [one(JPEG)], {"crop_window": [3, 5, 7, 11]}, **plain),
    Case(lambda file, window: tf.io.decode_and_crop_jpeg(file, window, channels=3),
         [one(JPEG), np.array([3, 5, 7, 11], np.int32)], label="crop-computed", **plain),
    Case(tf.io.extract_jpeg_shape, [one(JPEG)], {"output_type": tf.int64},
         lambda file: np.array([21, 35, 3]), **plain),
    Case(tf.io.is_jpeg, [np.array([[PNG, JPEG, b""]], object)], {},
         lambda file: np.array([[False, True, False]]), **plain),
    Case(tf.io.decode_gif, [one(GIFS["gif moves"])], **plain),
    Case(tf.io.decode_webp, [one(WEBP)], **plain),
    *[Case(tf.io.decode_image, [one(file)], {"expand_animations": expands}, **plain)
      for file in (PNG, JPEG, GIFS["gif moves"], BMPS["bmp 8"], WEBP) for expands in (True, False)],
    *[Case(tf.io.decode_image, [one(GREY)], {"dtype": dtype}, **plain)
      for dtype in (tf.float32, tf.float16, tf.float64, tf.int32, tf.int8, tf.uint16)],
    *[Case(tf.io.encode_png, [picture(5, 7, n)], {"compression": 0}, **plain) for n in (1, 2, 4)],
    Case(tf.io.encode_png, [np.stack([picture(5, 7)] * 2)], {}, **plain),
    Case(tf.io.encode_png, [np.zeros((0, 5, 7, 3), np.uint8)], {}, **plain),
    Case(tf.io.encode_jpeg, [picture(5, 7)], {"quality": 60}, **plain),
    Case(lambda image, quality: tf.raw_ops.EncodeJpegVariableQuality(images=image, quality=quality),
         [picture(5, 7), np.array(40, np.int32)], label="variable-quality", **plain),
    Case(tf.image.adjust_jpeg_quality, [picture(6, 9)], {"jpeg_quality": 30}, **plain),
    Case(lambda image, quality: tf.image.adjust_jpeg_quality(image, quality),
         [picture(6, 9) / np.float32(255), np.array(40, np.int32)], label="adjust", **plain),
    Case(tf.audio.decode_wav, [one(WAVS["wav"])], **plain),
    Case(tf.audio.decode_wav, [one(WAVS["wav"])], {"desired_channels": 3, "desired_samples": 9},
         **plain),
    Case(tf.audio.encode_wav, [np.array([[0.5, -0.25], [2.0, 0.0]], np.float32)],
         {"sample_rate": 8000}, **plain),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_modes(case: Case) -> None:
    check_case(case)


ONE_FILE = tf.TensorSpec([], tf.string)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (tf.io.decode_png, [None, None, None]),
        (lambda x: tf.io.decode_png(x, channels=4), [None, None, 4]),
        (lambda x: tf.io.decode_jpeg(x, channels=1), [None, None, 1]),
        (lambda x: tf.io.decode_bmp(x, channels=3), [None, None, 3]),
        (tf.io.decode_gif, [None, None, None, 3]),
        (lambda x: tf.io.decode_webp(x, channels=4), [None, None, None, 4]),
        (lambda x: tf.io.decode_image(x, channels=3), None),
        (lambda x: tf.io.decode_image(x, expand_animations=False), [None, None, None]),
        (lambda x: tf.io.decode_image(x, 3, tf.float16, expand_animations=False), [None, None, 3]),
        (lambda x: tf.io.decode_and_crop_jpeg(x, [1, 2, 3, 4], channels=3), [3, 4, 3]),
        (tf.io.extract_jpeg_shape, [3]),
        (tf.io.is_jpeg, []),
        (lambda x: tf.audio.decode_wav(x).audio, [None, None]),
        (lambda x: tf.audio.decode_wav(x, 2, 7).audio, [7, 2]),
        (lambda x: tf.audio.decode_wav(x).sample_rate, []),
    ],
)
def test_static_shapes(function: Any, shape: Any) -> None:
    traced = tf.function(function).get_concrete_function(ONE_FILE)
    found = traced.structured_outputs.shape
    assert (None if found.rank is None else found.as_list()) == shape


@pytest.mark.parametrize(
    ("function", "given", "shape"),
    [
        (tf.io.encode_png, [None, None, 3], []),
        (tf.io.encode_png, [2, None, 4, 5, 3], [2, None]),
        (tf.io.encode_png, None, None),
        (tf.io.encode_jpeg, None, []),
        (lambda x: tf.image.adjust_jpeg_quality(x, 50), [4, 5, 3], [4, 5, 3]),
        (lambda x: tf.image.adjust_jpeg_quality(x, 50), [None, None, 1], [None, None, 1]),
    ],
)
def test_static_shapes_of_written_files(function: Any, given: Any, shape: Any) -> None:
    traced = tf.function(function).get_concrete_function(tf.TensorSpec(given, tf.uint8))
    found = traced.structured_outputs.shape
    assert (None if found.rank is None else found.as_list()) == shape


def test_in_branches_and_loops() -> None:
    @tf.function
    def decoded(file: Any) -> Any:
        if tf.io.is_jpeg(file):
            image = tf.io.decode_jpeg(file, channels=3)
        else:
            image = tf.io.decode_png(file, channels=3)
        quality = tf.constant(90)
        while quality > 20:
            file = tf.raw_ops.EncodeJpegVariableQuality(images=image, quality=quality)
            image = tf.io.decode_jpeg(file, channels=3)
            quality -= 40
        return image

    for file in (PNG, JPEG):
        image = tf.io.decode_image(file, channels=3).numpy()
        for quality in (90, 50):
            image = tf.io.decode_jpeg(tf.io.encode_jpeg(image, quality=quality)).numpy()
        np.testing.assert_array_equal(decoded(file), image)


def test_under_a_tape() -> None:
    weights = tf.Variable(tf.ones([3]))
    with tf.GradientTape() as tape:
        pixels = tf.cast(tf.io.decode_png(PNG), tf.float32)
        loss = tf.reduce_sum(pixels * weights)
    expected = tf.io.decode_png(PNG).numpy().astype(np.float32).sum((0, 1))
    np.testing.assert_allclose(tape.gradient(loss, weights), expected, rtol=1e-5)


def test_in_nested_functions_with_unknown_rank() -> None:
    inner = tf.function(
        lambda file: tf.io.decode_image(file, expand_animations=False),
        input_signature=[tf.TensorSpec(None, tf.string)],
    )
    outer = tf.function(lambda file: inner(file)[1:, ::2])
    np.testing.assert_array_equal(outer(PNG), tf.io.decode_png(PNG).numpy()[1:, ::2])
    with pytest.raises(tf.errors.ShapeError, match=r"contents must be a scalar, got shape \(2,\)"):
        inner([PNG, PNG])


@pytest.mark.parametrize("parallel", [None, 2, tf.data.AUTOTUNE])
def test_in_datasets(parallel: int | None) -> None:
    images = [picture(5 + i % 3, 7, 3) for i in range(40)]
    files = [tf.io.encode_png(x).numpy() for x in images]
    files[1::2] = [tf.io.encode_jpeg(x, quality=80).numpy() for x in images[1::2]]
    expected = [tf.io.decode_image(file).numpy() for file in files]
    named = tf.data.Dataset.from_tensor_slices(files)
    found = named.map(
        lambda file: tf.io.decode_image(file, channels=3, expand_animations=False), parallel
    )
    assert found.element_spec.shape.as_list() == [None, None, 3]
    for image, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(image, wanted)
    resized = found.map(lambda image: tf.image.resize(image, [4, 6])).batch(8)
    assert [x.shape for x in resized] == [[8, 4, 6, 3]] * 5


def test_an_error_in_a_dataset_belongs_to_its_file() -> None:
    files = tf.data.Dataset.from_tensor_slices([PNG, b"junk", GREY])
    found = iter(files.map(lambda x: tf.io.decode_png(x, channels=3), num_parallel_calls=2))
    assert next(found).shape == [11, 13, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="decode_png: contents must be"):
        next(found)
    assert next(found).shape == [11, 13, 3]


def test_many_files_are_written_at_once() -> None:
    images = np.stack([picture(5, 7, 3, grain) for grain in (10, 50, 90)])
    together = tf.vectorized_map(tf.io.encode_png, images)
    assert together.numpy().tolist() == [tf.io.encode_png(x).numpy() for x in images]


def test_random_quality() -> None:
    x = picture(8, 8)
    all_of_them = [tf.image.adjust_jpeg_quality(x, q).numpy().tobytes() for q in range(10, 14)]
    tf.random.set_seed(3)
    drawn = [tf.image.random_jpeg_quality(x, 10, 14).numpy().tobytes() for _ in range(20)]
    assert set(drawn) <= set(all_of_them)
    assert len(set(drawn)) > 1
    traced = tf.function(lambda: tf.image.random_jpeg_quality(x, 10, 14))
    assert traced().numpy().tobytes() in all_of_them


def test_raw_ops_are_the_functions() -> None:
    ops = tf.raw_ops
    np.testing.assert_array_equal(ops.DecodePng(contents=PNG, channels=1),
                                  tf.io.decode_png(PNG, 1))  # fmt: skip
    np.testing.assert_array_equal(ops.DecodeJpeg(contents=JPEG, ratio=2),
                                  tf.io.decode_jpeg(JPEG, ratio=2))  # fmt: skip
    np.testing.assert_array_equal(ops.DecodeGif(contents=GIFS["gif"]),
                                  tf.io.decode_gif(GIFS["gif"]))  # fmt: skip
    assert ops.DecodeImage(contents=PNG, dtype=tf.float32).dtype == tf.float32
    assert ops.DecodeBmp(contents=BMPS["bmp 24"]).shape == [5, 7, 3]
    assert ops.DecodeWebP(contents=WEBP).shape == [1, 9, 13, 3]
    assert ops.DecodeAndCropJpeg(contents=JPEG, crop_window=[0, 1, 2, 3]).shape == [2, 3, 3]
    assert ops.ExtractJpegShape(contents=JPEG).numpy().tolist() == [21, 35, 3]
    assert ops.DecodeWav(contents=WAVS["wav"]).sample_rate.numpy() == 16000
    image = picture(4, 5)
    assert ops.EncodePng(image=image).numpy() == tf.io.encode_png(image).numpy()
    assert ops.EncodeJpeg(image=image).numpy() == tf.io.encode_jpeg(image).numpy()
    assert ops.EncodeWav(audio=[[0.5]], sample_rate=8000).numpy()[:4] == b"RIFF"
    with pytest.raises(TypeError, match="dtype must be one of uint8, uint16, float32, got float16"):
        ops.DecodeImage(contents=PNG, dtype=tf.float16)


def test_names_in_both_namespaces() -> None:
    for name in ("decode_png", "decode_jpeg", "decode_image", "encode_png", "is_jpeg"):
        assert getattr(tf.image, name) is getattr(tf.io, name)


def test_arrays_of_float64_are_sound_too() -> None:
    samples = np.array([[0.5, -0.25], [1.0, 0.0], [0.125, 0.75]])
    expected = tf.audio.encode_wav(tf.constant(samples, tf.float32), 1000)
    assert tf.audio.encode_wav(samples, 1000).numpy() == expected.numpy()
    with pytest.raises(tf.errors.DTypeError, match="float64"):
        tf.audio.encode_wav(tf.constant(samples), 1000)


def test_a_window_that_is_computed_need_not_be_square() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([None], tf.int32)])
    def part(file: Any, window: Any) -> Any:
        image = tf.io.decode_and_crop_jpeg(file, window)
        height, width, _ = image.spec.dims
        assert height is not width  # the same size would say that they are equal
        return image

    assert part(tf.constant(JPEG), tf.constant([3, 5, 7, 11])).shape[:2] == [7, 11]
