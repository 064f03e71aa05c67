"""Small files that claim much are refused before memory is taken; no file ends the process."""

from __future__ import annotations

import contextlib
import resource
import struct
import time
import zlib
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.media_files import (
    SIGNATURE,
    bmp,
    chunk,
    chunks,
    frame,
    gif,
    joined,
    noise,
    png,
    stored,
    wav,
)
from weft._src.core import memory

INVALID, EXHAUSTED = tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError
COLOURS = noise(768).astype(np.uint8).tobytes()
TABLE = noise(6, 8)


def _png_of(width: int, height: int, content: bytes, depth: int = 8, colour: int = 2) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return joined([(b"IHDR", header), (b"IDAT", zlib.compress(content)), (b"IEND", b"")])


def _jpeg_of(height: int, width: int, name: str = "jpeg 2") -> bytes:
    file = stored()[name]
    at = max(file.find(b"\xff\xc0"), file.find(b"\xff\xc2"))
    return file[: at + 5] + struct.pack(">HH", height, width) + file[at + 9 :]


CLAIMS: dict[str, tuple[Any, bytes, str]] = {
    "png": (
        tf.io.decode_png,
        _png_of(60000, 60000, b"abc"),
        "the PNG file is cut short or damaged: 60000 rows of 60000 pixels take at least",
    ),
    "png interlaced": (
        tf.io.decode_png,
        joined([
            (b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 1, 0, 0, 0, 1)),
            (b"IDAT", zlib.compress(b"abc")),
            (b"IEND", b""),
        ]),
        "rows of 60000 pixels take at least",
    ),
    "bmp": (
        tf.io.decode_bmp,
        bmp(60000, 60000, 24, bytes(60)),
        "60000 rows of 180000 bytes from byte 54 on make 10800000054 bytes, 114 are there",
    ),
    "gif": (
        tf.io.decode_gif,
        gif([frame(TABLE, size=(60000, 60000))], COLOURS),
        "a frame claims to have 60000 rows of 60000 pixels in",
    ),
    "jpeg": (
        tf.io.decode_jpeg,
        _jpeg_of(60000, 60000),
        "the JPEG file is too large: 60000 rows of 60000 pixels",
    ),
    "jpeg that could be": (
        tf.io.decode_jpeg,
        _jpeg_of(20000, 20000),
        r"20000 rows of 20000 pixels take at least \d+ bytes, \d+ are there",
    ),
    "jpeg progressive": (
        tf.io.decode_jpeg,
        _jpeg_of(20000, 20000, "jpeg progressive"),
        r"20000 rows of 20000 pixels take at least \d+ bytes, \d+ are there",
    ),
    "wav": (
        tf.audio.decode_wav,
        wav(bytes(28), claims=2**32 - 1),
        r"its part b'data' has 4294967295 bytes, 28 are there",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "graph"])
def test_claims(name: str, traced: bool) -> None:
    decode, file, text = CLAIMS[name]
    function = tf.function(decode) if traced else decode
    before, started = _used(), time.perf_counter()
    with pytest.raises(INVALID, match=text):
        function(file)
    assert _used() - before < 32 * 2**20
    assert time.perf_counter() - started < 5


def _used() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# Files that hold what they claim, which is much.
BOMBS: dict[str, tuple[Any, bytes]] = {
    "png": (tf.io.decode_png, _png_of(4000, 4000, bytes(4000 * 12001))),
    "png of one bit": (tf.io.decode_png, _png_of(16000, 16000, bytes(16000 * 2001), 1, 0)),
    "gif of many frames": (
        tf.io.decode_gif,
        gif([frame(noise(200, 200))] + [frame(noise(1, 1))] * 3000, COLOURS),
    ),
    "webp": (
        tf.io.decode_webp,
        stored()["webp exact"][:21] + struct.pack("<I", 16382 | 16382 << 14) + b"\0" * 20,
    ),
    "jpeg": (
        lambda file: tf.io.decode_jpeg(file, try_recover_truncated=True),
        _jpeg_of(20000, 20000),
    ),
    "wav": (
        lambda file: tf.audio.decode_wav(file, desired_samples=2**28),
        wav(bytes(28)),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_memory_is_asked_for(name: str) -> None:
    decode, file = BOMBS[name]
    before = _used()
    with memory.limited_to(2**22), pytest.raises(EXHAUSTED, match="a result .* takes .*iB, but"):
        decode(file)
    assert _used() - before < 64 * 2**20


def test_rows_that_nobody_asked_for_are_not_decompressed() -> None:
    header, _, end = chunks(png(noise(3, 5, 3), 2, 8))
    rows = zlib.compress(bytes(300 * 2**20), 9)
    bomb = joined([header, (b"IDAT", rows), end])
    assert len(bomb) < 400_000
    before = _used()
    assert tf.io.decode_png(bomb).shape == [3, 5, 3]
    assert _used() - before < 32 * 2**20


def test_twenty_thousand_frames() -> None:
    count = 20_000
    file = gif([frame(noise(1, 1))] * count, COLOURS)
    before = _used()
    assert tf.io.decode_gif(file).shape == [count, 1, 1, 3]
    assert _used() - before < 32 * 2**20


def test_many_chunks() -> None:
    header, rows, end = chunks(png(noise(3, 5, 3), 2, 8))
    many = (
        SIGNATURE + chunk(*header) + chunk(b"tEXt", b"a\0b") * 50_000 + chunk(*rows) + chunk(*end)
    )
    assert tf.io.decode_png(many).shape == [3, 5, 3]


@pytest.mark.parametrize("name", ["jpeg 2", "jpeg progressive", "jpeg CMYK", "webp moves"])
@pytest.mark.parametrize("lenient", [False, True])
def test_every_cut(name: str, lenient: bool) -> None:
    """However short a file is, it is decoded, or refused by name."""
    file = stored()[name]
    way: dict[str, Any] = {"try_recover_truncated": lenient, "acceptable_fraction": 0.3}
    texts = []
    for size in range(0, len(file), 7):
        with contextlib.suppress(INVALID):
            tf.io.decode_image(file[:size])
        try:
            tf.io.decode_jpeg(file[:size], **way)
        except INVALID as error:
            texts.append(str(error))
    assert texts
    assert all(text.startswith("decode_jpeg: ") for text in texts)


def test_a_file_that_is_cut_short_is_filled_up() -> None:
    whole = tf.io.decode_jpeg(stored()["jpeg 0"]).numpy()
    part = tf.io.decode_jpeg(stored()["jpeg 0"][:-200], try_recover_truncated=True).numpy()
    assert part.shape == whole.shape
    np.testing.assert_array_equal(part[:8], whole[:8])
    some = tf.io.decode_jpeg(stored()["jpeg 0"][:-200], acceptable_fraction=0.3).numpy()
    rows = int(some.any((1, 2)).sum())
    assert 8 <= rows < len(whole)
    np.testing.assert_array_equal(some[:rows], whole[:rows])
    assert not some[rows:].any()


def test_large_files_are_read_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are restored and converted in blocks."""
    image = np.repeat(np.repeat(noise(50, 40, 4), 40, 0), 30, 1).astype(np.uint8)
    file = tf.io.encode_png(image).numpy()
    np.testing.assert_array_equal(tf.io.decode_png(file), image)
    np.testing.assert_array_equal(tf.io.decode_png(file, channels=3), image[..., :3])


def test_the_limit_of_pillow_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    for name in ("webp", "webp moves"):
        with pytest.raises(INVALID, match="the WebP file is larger than Pillow reads: Image size"):
            tf.io.decode_webp(stored()[name])
    # All others are measured here.
    assert tf.io.decode_jpeg(stored()["jpeg 2"]).shape == [21, 35, 3]
    assert tf.io.decode_gif(gif([frame(TABLE)], COLOURS)).shape == [1, 6, 8, 3]
