"""What functions of files refuse, and what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.media_files import BMPS, GIFS, PNGS, WAVS, picture, stored

E = tf.errors
PNG, BMP, GIF, WAV = PNGS["png 2 8"], BMPS["bmp 24"], GIFS["gif moves"], WAVS["wav"]
JPEG, CMYK = stored()["jpeg 2"], stored()["jpeg CMYK"]
WEBP = stored()["webp"]
IMAGE = picture(4, 5)

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: tf.io.decode_png(b"junk"),
        E.InvalidArgumentError,
        "contents must be a JPEG, PNG, GIF, BMP or WebP file, got 4 bytes that begin with b'junk'.",
    ),
    (
        lambda: tf.io.decode_image(b""),
        E.InvalidArgumentError,
        "decode_image: contents must be a file, got an empty string.",
    ),
    (
        lambda: tf.io.decode_png([PNG]),
        E.ShapeError,
        "decode_png: contents must be a scalar, got shape (1,).",
    ),
    (
        lambda: tf.io.decode_png(PNG, channels=2),
        E.InvalidArgumentError,
        "decode_png: channels must be one of 0, 1, 3, 4, got 2.",
    ),
    (
        lambda: tf.io.decode_png(PNG, dtype=tf.float32),
        TypeError,
        "decode_png: dtype must be one of uint8, uint16, got float32.",
    ),
    (
        lambda: tf.io.decode_png(BMP),
        E.InvalidArgumentError,
        "decode_png: contents are a BMP file. Use tf.io.decode_bmp or tf.io.decode_image.",
    ),
    (
        lambda: tf.io.decode_jpeg(WEBP),
        E.InvalidArgumentError,
        "decode_jpeg: contents are a WebP file. Use tf.io.decode_webp or tf.io.decode_image.",
    ),
    (
        lambda: tf.io.decode_png(GIF),
        E.InvalidArgumentError,
        "decode_png: contents are a GIF file of 2 frames. Use tf.io.decode_gif or",
    ),
    (
        lambda: tf.io.decode_bmp(PNG),
        E.InvalidArgumentError,
        "decode_bmp: contents are a PNG file. Use tf.io.decode_png or tf.io.decode_image.",
    ),
    (
        lambda: tf.io.decode_bmp(BMP, channels=1),
        E.InvalidArgumentError,
        "decode_bmp: channels must be 0, 3 or 4 for a BMP file, got 1.",
    ),
    (
        lambda: tf.io.decode_bmp(BMP[:30] + b"\1" + BMP[31:]),
        E.InvalidArgumentError,
        "decode_bmp: the BMP file is compressed by method 1",
    ),
    (
        lambda: tf.io.decode_webp(PNG),
        E.InvalidArgumentError,
        "decode_webp: contents are a PNG file.",
    ),
    (
        lambda: tf.io.decode_webp(WEBP, channels=4),
        E.InvalidArgumentError,
        "decode_webp: the WebP file has 3 channels, 4 were asked for.",
    ),
    (
        lambda: tf.io.decode_webp(WEBP, dtype=tf.uint16),
        TypeError,
        "decode_webp: dtype must be one of uint8, got uint16.",
    ),
    (
        lambda: tf.io.decode_image(WEBP, dtype=tf.float32),
        E.InvalidArgumentError,
        "decode_image: dtype must be uint8 for a WebP file, got float32.",
    ),
    (
        lambda: tf.io.decode_image(GIF, channels=4),
        E.InvalidArgumentError,
        "decode_image: channels must be 0 or 3 for a GIF file, got 4.",
    ),
    (
        lambda: tf.io.decode_image(PNG, dtype=tf.string),
        TypeError,
        "decode_image: dtype must be a real number, got string.",
    ),
    (
        lambda: tf.io.decode_image(PNG, expand_animations="no"),
        TypeError,
        "decode_image: expand_animations must be True or False, got 'no'.",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG, channels=4),
        E.InvalidArgumentError,
        "decode_jpeg: channels must be 0, 1 or 3 for a JPEG file, got 4.",
    ),
    (
        lambda: tf.io.decode_jpeg(CMYK, channels=1),
        E.InvalidArgumentError,
        "decode_jpeg: channels must be 0 or 3 for a JPEG file in CMYK, got 1.",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG, ratio=3),
        E.InvalidArgumentError,
        "decode_jpeg: ratio must be one of 1, 2, 4, 8, got 3.",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG, dct_method="FAST"),
        E.InvalidArgumentError,
        "dct_method must be one of '', 'INTEGER_FAST', 'INTEGER_ACCURATE', got 'FAST'.",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG, acceptable_fraction="half"),
        TypeError,
        "decode_jpeg: acceptable_fraction must be a number, got 'half'.",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG[:-40]),
        E.InvalidArgumentError,
        "decode_jpeg: the JPEG file is cut short: it does not end. With try_recover_truncated=True",
    ),
    (
        lambda: tf.io.decode_jpeg(JPEG[:-100], acceptable_fraction=0.9),
        E.InvalidArgumentError,
        "of 21 rows are there, and acceptable_fraction is 0.9.",
    ),
    (
        lambda: tf.io.decode_and_crop_jpeg(JPEG, [0, 0, 22, 35]),
        E.InvalidArgumentError,
        "the window must lie within the 21 rows and 35 columns of the image, got [0, 0, 22, 35].",
    ),
    (
        lambda: tf.io.decode_and_crop_jpeg(JPEG, [0, 0, 1]),
        E.ShapeError,
        "decode_and_crop_jpeg",
    ),
    (
        lambda: tf.io.decode_and_crop_jpeg(JPEG, [0, -1, 1, 2]),
        E.ShapeError,
        "decode_and_crop_jpeg: crop_window must not be negative",
    ),
    (
        lambda: tf.io.decode_and_crop_jpeg(JPEG, [0.0, 0.0, 1.0, 2.0]),
        E.DTypeError,
        "crop_window",
    ),
    (
        lambda: tf.io.decode_and_crop_jpeg(PNG, [0, 0, 1, 2]),
        E.InvalidArgumentError,
        "decode_and_crop_jpeg: contents are a PNG file.",
    ),
    (
        lambda: tf.io.extract_jpeg_shape(PNG),
        E.InvalidArgumentError,
        "extract_jpeg_shape: contents are a PNG file.",
    ),
    (
        lambda: tf.io.extract_jpeg_shape(JPEG, tf.float32),
        TypeError,
        "extract_jpeg_shape: output_type must be int32 or int64, got float32.",
    ),
    (
        lambda: tf.io.encode_png(IMAGE[0]),
        E.ShapeError,
        "encode_png: image must have rank at least 3, got shape (5, 3).",
    ),
    (
        lambda: tf.io.encode_png(np.zeros((4, 5, 7), np.uint8)),
        E.ShapeError,
        "encode_png: image must have 1, 2, 3, 4 channels, got shape [4, 5, 7].",
    ),
    (
        lambda: tf.io.encode_png(np.zeros((0, 5, 3), np.uint8)),
        E.ShapeError,
        "encode_png: image must have pixels, got shape [0, 5, 3].",
    ),
    (
        lambda: tf.io.encode_png(IMAGE, compression=10),
        E.InvalidArgumentError,
        "encode_png: compression must be from -1 to 9, got 10.",
    ),
    (
        lambda: tf.io.encode_png(IMAGE.astype(np.float32)),
        E.DTypeError,
        "EncodePng: image has dtype float32, expected one of uint16, uint8.",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, quality=101),
        E.InvalidArgumentError,
        "encode_jpeg: quality must be from 0 to 100, got 101.",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, format="grayscale"),
        E.ShapeError,
        "encode_jpeg: image must have 1 channels, got shape [4, 5, 3].",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, format="cmyk"),
        E.InvalidArgumentError,
        "encode_jpeg: format must be one of '', 'grayscale', 'rgb', got 'cmyk'.",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, density_unit="mm"),
        E.InvalidArgumentError,
        "encode_jpeg: density_unit must be one of 'in', 'cm', got 'mm'.",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, x_density=70000),
        E.InvalidArgumentError,
        "encode_jpeg: x_density must be from 0 to 65535, got 70000.",
    ),
    (
        lambda: tf.io.encode_jpeg(IMAGE, xmp_metadata="a" * 65505),
        E.InvalidArgumentError,
        "encode_jpeg: xmp_metadata must have at most 65504 bytes, got 65505.",
    ),
    (
        lambda: tf.io.encode_jpeg(np.zeros((1, 65501, 1), np.uint8)),
        E.InvalidArgumentError,
        "encode_jpeg: image must have 1 to 65500 rows and columns, got shape (1, 65501, 1).",
    ),
    (
        lambda: tf.raw_ops.EncodeJpegVariableQuality(images=IMAGE, quality=101),
        E.InvalidArgumentError,
        "encode_jpeg_variable_quality: quality must be from 0 to 100, got 101.",
    ),
    (
        lambda: tf.image.adjust_jpeg_quality(IMAGE, 101),
        E.InvalidArgumentError,
        "adjust_jpeg_quality: jpeg_quality must be from 0 to 100, got 101.",
    ),
    (
        lambda: tf.image.random_jpeg_quality(IMAGE, 50, 50),
        ValueError,
        "random_jpeg_quality: max_jpeg_quality must be above min_jpeg_quality, got 50 and 50.",
    ),
    (
        lambda: tf.image.stateless_random_jpeg_quality(IMAGE, -1, 50, seed=[1, 2]),
        ValueError,
        "stateless_random_jpeg_quality: min_jpeg_quality must be from 0 to 100, got -1.",
    ),
    (
        lambda: tf.audio.decode_wav(WAV, desired_channels=-2),
        E.InvalidArgumentError,
        "decode_wav: desired_channels must be from -1 to 2147483647, got -2.",
    ),
    (
        lambda: tf.audio.decode_wav(WAVS["wav 24 bits"]),
        E.InvalidArgumentError,
        "decode_wav: the WAV file has samples of format 1 with 24 bits: only those of 16 bits, not",
    ),
    (
        lambda: tf.audio.encode_wav([0.5], 8000),
        E.ShapeError,
        "encode_wav: audio must have rank 2, got shape (1,).",
    ),
    (
        lambda: tf.audio.encode_wav([[0.5]], 0),
        E.InvalidArgumentError,
        "encode_wav: sample_rate must be positive, got 0.",
    ),
    (
        lambda: tf.audio.encode_wav(np.zeros((4, 0), np.float32), 8000),
        E.InvalidArgumentError,
        "encode_wav: audio must have 1 to 65535 channels, got shape (4, 0).",
    ),
    (
        lambda: tf.audio.encode_wav([[0.5, 0.5]], 2**31 - 1),
        E.InvalidArgumentError,
        "encode_wav: 1 samples of 2 channels, 2147483647 a second, do not fit a WAV file.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[r[2][:60] for r in REFUSED])
def test_refusals(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_numbers_that_are_only_known_in_the_graph_are_checked_there() -> None:
    @tf.function
    def adjusted(quality: Any) -> Any:
        return tf.image.adjust_jpeg_quality(IMAGE, quality)

    assert adjusted(tf.constant(50)).shape == IMAGE.shape
    with pytest.raises(E.InvalidArgumentError, match="quality must be from 0 to 100, got -1"):
        adjusted(tf.constant(-1))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.uint8)])
    def stored_as_png(image: Any) -> Any:
        return tf.io.encode_png(image)

    assert stored_as_png(IMAGE).numpy() == tf.io.encode_png(IMAGE).numpy()
    with pytest.raises(E.ShapeError, match="image must have 1, 2, 3, 4 channels"):
        stored_as_png(np.zeros((4, 5, 7), np.uint8))


def test_a_damaged_frame_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", "weft"):
        assert tf.io.decode_gif(GIFS["gif broken later"]).shape == [1, 6, 8, 3]
    why = "the pixels of a frame are damaged or cut short."
    assert caplog.messages == [f"decode_gif: the GIF file is damaged after frame 1: {why}"]
