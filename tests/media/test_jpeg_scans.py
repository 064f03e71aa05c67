"""JPEG files decoded by machine code have libjpeg's pixels, whatever happened to them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.media_files import noise, picture
from weft._src.core.flags import flags
from weft._src.errors import InvalidArgumentError
from weft._src.execution.native import pixel_loops
from weft._src.media import jpeg, jpeg_scans
from weft._src.media.jpeg_header import read_header

HALF_WIDTH, QUARTER = 1, 2  # what Pillow calls the kinds of subsampling
SIZES = [(1, 3), (2, 5), (7, 9), (8, 16), (16, 16), (17, 33), (40, 31), (64, 100), (129, 15)]


def written(pixels: Any, **how: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", **how)
    return file.getvalue()


def by_machine_code(data: bytes) -> Any:
    return jpeg._by_machine_code("decode_jpeg", data, read_header("decode_jpeg", data))


def outcome(data: bytes) -> Any:
    """Pixels, or what the error says."""
    try:
        return jpeg.decode("decode_jpeg", data, jpeg.Choices(3))
    except InvalidArgumentError as error:
        return str(error)


def outcome_of_libjpeg(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(jpeg, "_by_machine_code", lambda *_: None)
        return outcome(data)


@pytest.fixture(autouse=True)
def with_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")


@pytest.mark.parametrize("kind", [HALF_WIDTH, QUARTER])
@pytest.mark.parametrize("quality", [1, 10, 50, 75, 95, 100])
@pytest.mark.parametrize("optimize", [False, True])
def test_pixels(kind: int, quality: int, optimize: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for height, width in SIZES:
        grain = noise(height, width, 3).astype(np.uint8)
        extreme = np.where(grain > 127, 255, 0).astype(np.uint8)  # as large as coefficients become
        for pixels in (picture(height, width), grain, extreme, np.full_like(grain, 200)):
            data = written(pixels, quality=quality, subsampling=kind, optimize=optimize)
            found = by_machine_code(data)
            if width > 4:  # narrower colours do not blend
                assert found is not None
            if found is not None:
                np.testing.assert_array_equal(found, outcome_of_libjpeg(data, monkeypatch))


@pytest.mark.parametrize(
    "how",
    [
        {"subsampling": 0},
        {"progressive": True},
        {"restart_marker_blocks": 2},
        {"qtables": [[3000] * 64, [1] * 64]},
    ],
)
def test_unusual_files_are_left_to_libjpeg(how: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(picture(40, 50), **{"subsampling": QUARTER, **how})
    assert by_machine_code(data) is None
    decoded = jpeg.decode("decode_jpeg", data, jpeg.Choices(3))
    np.testing.assert_array_equal(decoded, outcome_of_libjpeg(data, monkeypatch))


def test_damaged_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not left to libjpeg has its pixels; errors are the same."""
    rng = np.random.default_rng(0)
    whole = written(picture(48, 56), subsampling=QUARTER, quality=90)
    start = read_header("decode_jpeg", whole).start
    left = decoded = 0
    for number in range(1500):
        data = bytearray(whole)
        low = 2 if number % 3 == 0 else start
        for at in rng.integers(low, len(data), rng.integers(1, 6)):
            data[at] = rng.choice([0, 1, 0x55, 0xAA, 0xFE, 0xFF, 0xD0, 0xD9, rng.integers(256)])
        if number % 5 == 0:
            at = rng.integers(start, len(data))
            data[at:at] = [b"\xff\xd9", b"\xff", b"\xff\xff\0", b"\xff\xd3"][rng.integers(4)]
        if number % 7 == 0:
            del data[rng.integers(start, len(data)) : -2]
        found, expected = outcome(bytes(data)), outcome_of_libjpeg(bytes(data), monkeypatch)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)
        if isinstance(found, str):
            continue
        if by_machine_code(bytes(data)) is None:
            left += 1
        else:
            decoded += 1
    assert left > 100
    assert decoded > 100


def test_nothing_is_written_outside_of_the_planes() -> None:
    """Also by a file whose codes are noise."""
    code = pixel_loops.load()
    assert code is not None
    whole = written(picture(40, 50), subsampling=QUARTER)
    header = read_header("decode_jpeg", whole)
    layout = jpeg_scans.layout_of(whole, header)
    assert layout is not None
    assert layout.size >= 48 * 64 + 2 * 24 * 34
    last = [
        first + (layout.across - 1) * right + (layout.down - 1) * below + 7 * line + 8
        for first, right, below, line, *_ in layout.blocks.tolist()
    ]
    assert max(last) <= layout.size
    assert min(layout.blocks[:, 0]) == 0
    out = np.empty((header.height, header.width, 3), np.uint8)
    rng = np.random.default_rng(1)
    rule = (1, 3, 1, 8, 7, 4)
    for _ in range(300):
        noisy = whole[: header.start] + rng.bytes(int(rng.integers(0, 4000)))
        assert code.decode_scan(noisy, header.start, layout, out, rule) in (True, False)


def test_headers_are_read_up_to_the_scan_that_is_one() -> None:
    """A comment may hold what looks like a scan."""
    whole = written(picture(20, 30), subsampling=QUARTER)
    comment = b"\xff\xfe\x00\x10" + b"\xff\xda\x00\x03" + bytes(10)
    header = read_header("decode_jpeg", whole[:2] + comment + whole[2:])
    assert header == read_header("decode_jpeg", whole)._replace(start=header.start)
    assert header.start == read_header("decode_jpeg", whole).start + len(comment)
