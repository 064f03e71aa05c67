"""Machine code for pixels and NumPy give the same, for every filter, size and kind of pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.media_files import filtered, noise, picture
from weft._src.core.flags import flags
from weft._src.execution.native import pixel_loops
from weft._src.execution.native.loops.kernels import png_filters
from weft._src.media import jpeg_colours, machine_code, png_rows
from weft._src.media.jpeg_colours import Spread
from weft._src.media.pillow import stored_pixels

LOOPS = pixel_loops.load()
KINDS = [(0,), (1,), (2,), (3,), (4,), (0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (1, 2)]


@pytest.mark.parametrize("step", png_filters.STEPS)
@pytest.mark.parametrize("kinds", KINDS)
def test_rows_are_restored(step: int, kinds: tuple[int, ...]) -> None:
    assert LOOPS is not None
    for height, width in ((1, 1), (1, 7), (9, 1), (2, 3), (13, 5), (4, 17)):
        rows = noise(height, width * step)
        given = np.frombuffer(filtered(rows, step, kinds), np.uint8).reshape(height, -1)
        by_numpy, by_code = np.empty((2, *rows.shape), np.uint8)
        png_rows._along_diagonals(given[:, 0], given[:, 1:], by_numpy, step)
        LOOPS.restore_rows(given, by_code, 0, height, step)
        np.testing.assert_array_equal(by_numpy, rows)
        np.testing.assert_array_equal(by_code, rows)
        if max(kinds) <= png_rows.UP:
            png_rows._along_rows(given[:, 0], given[:, 1:], by_numpy, step)
            np.testing.assert_array_equal(by_numpy, rows)


def test_rows_in_several_calls() -> None:
    assert LOOPS is not None
    rows = noise(11, 15)
    given = np.frombuffer(filtered(rows, 3, (4, 2, 3)), np.uint8).reshape(11, -1)
    out = np.empty(rows.shape, np.uint8)
    for start in range(0, 11, 4):
        LOOPS.restore_rows(given, out, start, min(start + 4, 11), 3)
    np.testing.assert_array_equal(out, rows)


@pytest.mark.parametrize("kind", [(2, 1), (2, 2)])
def test_colours(kind: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    across, down = kind
    for height, width in ((1, 5), (2, 6), (3, 33), (17, 40), (6, 16), (5, 50)):
        given = picture(height, width)
        # Every sample stands for all of its pixels.
        given = np.repeat(np.repeat(given[::down, ::across], down, 0), across, 1)[:height, :width]
        given = np.ascontiguousarray(given)
        given[:, :, 0] = picture(height, width, 1)[:, :, 0]
        spreads = [Spread(1, 1, False), *[Spread(across, down, True)] * 2]
        windows = [(0, width)] + ([(2, width - 3)] if width > 20 else [])
        four = np.concatenate([given, picture(height, width, 2)[:, :, :1]], -1)
        for first, count in windows:
            out = {}
            for tier in ("numpy", "native"):
                monkeypatch.setattr(flags, "execution", tier)
                for stored in (given, four):
                    found = jpeg_colours.blended(stored, spreads, (first, count))
                    out[tier, stored.shape[-1]] = found[:, first : first + count]
            for found in out.values():
                np.testing.assert_array_equal(found, out["numpy", 3])


@pytest.mark.parametrize("size", [(5, 3), (64, 48), (3000, 2000)])
def test_pixels_as_pillow_stores_them(size: tuple[int, int]) -> None:
    from PIL import Image

    image = Image.effect_noise(size, 50).convert("RGB").convert("YCbCr")
    stored = stored_pixels(image)
    assert stored.shape == (size[1], size[0], 3 if size[0] > 1000 else 4)
    expected = np.asarray(image)
    del image  # what is stored lives on
    np.testing.assert_array_equal(stored[:, :, :3], expected)
    assert not stored.flags.writeable


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros((4, 7), np.uint8), np.zeros((4, 7), np.uint8), 0, 4, 1),
        (np.zeros((4, 7), np.uint8), np.zeros((4, 6), np.uint8), 0, 5, 1),
        (np.zeros((4, 7), np.uint8), np.zeros((4, 6), np.uint8), 0, 4, 4),
        (np.zeros((4, 14), np.uint8)[:, ::2], np.zeros((4, 6), np.uint8), 0, 4, 1),
    ],
)
def test_wrong_sizes_never_reach_machine_code(arguments: Any) -> None:
    assert LOOPS is not None
    with pytest.raises(AssertionError):
        LOOPS.restore_rows(*arguments)


def test_it_is_loaded_once_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = machine_code._Loops()
    assert counter.after(0.05) is None
    assert counter.after(0.05) is None
    assert counter.after(0.2) is not None
    monkeypatch.setattr(flags, "execution", "numpy")
    assert counter.after(9.0) is None
    monkeypatch.setattr(flags, "execution", "native")
    assert machine_code._Loops().after(0.0) is not None


def test_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixel_loops.support, "reason_off", lambda: "it is off")
    assert pixel_loops.load() is None


def test_a_failure_of_llvm_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> None:
        raise RuntimeError("no such target")

    monkeypatch.setattr(pixel_loops.llvm, "compile_text", broken)
    with caplog.at_level("WARNING", "weft"):
        assert pixel_loops.load() is None
    assert caplog.messages == ["Pixels are read without machine code: no such target"]


def test_threads() -> None:
    """Files are decoded by several threads at once."""
    images = [picture(40, 30 + i, 3) for i in range(24)]
    files = [tf.io.encode_png(x).numpy() for x in images]
    found = tf.data.Dataset.from_tensor_slices(files * 20).map(tf.io.decode_png, 4)
    for image, expected in zip(found, images * 20, strict=True):
        np.testing.assert_array_equal(image, expected)
