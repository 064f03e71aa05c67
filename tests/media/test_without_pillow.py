"""PNG, BMP and WAV files need no other library; all others say which one."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import weft as tf
from support.media_files import GIFS, picture, stored
from weft._src.media import pillow


def run(program: str, is_there: bool = False) -> str:
    """Runs a program in which Pillow cannot be imported, unless it is there."""
    hidden = "" if is_there else "import sys\nsys.modules['PIL'] = None\n"
    result = subprocess.run(
        [sys.executable, "-c", hidden + textwrap.dedent(program)],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_what_needs_no_library() -> None:
    shown = run(
        """
        import weft as tf
        from support.media_files import BMPS, PNGS, WAVS, picture
        for channels in (1, 2, 3, 4):
            image = picture(9, 7, channels)
            for x in (image, image.astype("uint16") * 257):
                file = tf.io.encode_png(x)
                assert (tf.io.decode_image(file, dtype=x.dtype) == x).numpy().all()
        for file in PNGS.values():
            tf.io.decode_png(file, channels=4, dtype=tf.uint16)
        for bits in (8, 24, 32):
            tf.io.decode_bmp(BMPS[f"bmp {bits}"])
        assert tf.audio.decode_wav(WAVS["wav"]).audio.shape == [7, 2]
        print(len(PNGS))
        """
    )
    assert int(shown) > 50


def test_what_needs_it_says_so() -> None:
    shown = run(
        """
        import weft as tf
        from support.media_files import GIFS, picture, stored
        files = stored()
        calls = [
            lambda: tf.io.decode_jpeg(files["jpeg 2"]),
            lambda: tf.io.decode_image(files["jpeg 2"]),
            lambda: tf.io.decode_gif(GIFS["gif"]),
            lambda: tf.io.decode_webp(files["webp"]),
            lambda: tf.io.encode_jpeg(picture(4, 5)),
            lambda: tf.function(tf.io.decode_jpeg)(files["jpeg 2"]),
            lambda: tf.image.adjust_jpeg_quality(picture(4, 5), 50),
        ]
        for call in calls:
            try:
                call()
            except ModuleNotFoundError as error:
                print(error.name, error)
        print(tf.io.extract_jpeg_shape(files["jpeg 2"]).numpy().tolist())
        """
    )
    lines = shown.splitlines()
    told = "files need Pillow 13 or newer, which is not installed. Install it with: pip install"
    assert lines[:5] == [
        f"PIL {op}: {form} {told} 'weft[image]'"
        for op, form in (
            ("decode_jpeg", "JPEG"),
            ("decode_image", "JPEG"),
            ("decode_gif", "GIF"),
            ("decode_webp", "WebP"),
            ("encode_jpeg", "JPEG"),
        )
    ]
    assert len(lines) == 8
    assert lines[-1] == "[21, 35, 3]"


def test_an_old_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("PIL.__version__", "12.3.0")
    pillow._image_module.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError, match=r"Pillow 13 or newer, which 12\.3\.0 is too"):
            tf.io.decode_gif(GIFS["gif"])
    finally:
        monkeypatch.undo()
        pillow._image_module.cache_clear()
    assert tf.io.decode_gif(GIFS["gif"]).shape == [1, 6, 8, 3]


def test_importing_does_not_load_it() -> None:
    assert "False" in run(
        "import weft as tf\ntf.io, tf.image, tf.audio\nprint('PIL.Image' in sys.modules)"
    )


def test_read_by_another_library() -> None:
    """What is written here is read there, and the other way round."""
    import io

    from PIL import Image

    for channels in (1, 3, 4):
        image = picture(9, 7, channels)
        with Image.open(io.BytesIO(tf.io.encode_png(image).numpy())) as found:
            np.testing.assert_array_equal(np.asarray(found).reshape(image.shape), image)
        file = io.BytesIO()
        Image.fromarray(image[:, :, 0] if channels == 1 else image).save(file, "PNG")
        np.testing.assert_array_equal(tf.io.decode_png(file.getvalue()), image)
    assert stored()["jpeg 2"][:2] == b"\xff\xd8"
