"""Writes down what TensorFlow gives for the calls in `tests/support/media_calls.py`.

    .venv/bin/python checks/record_media_values.py files
    PYTHON checks/record_media_values.py values

The first makes the files that need Pillow, which are part of the tests; PYTHON of the second is an
interpreter that has TensorFlow. Files are decoded in processes of their own, since damaged ones may
end it.
"""

from __future__ import annotations

import importlib
import io
import json
import lzma
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

_PER_PROCESS = 40


def make_files() -> None:
    """The JPEG and WebP files."""
    made: Any = importlib.import_module("support.media_files")
    image: Any = importlib.import_module("PIL.Image")
    files: dict[str, bytes] = {}

    def save(name: str, pixels: Any, form: str, mode: str | None = None, **how: Any) -> None:
        file = io.BytesIO()
        picture = image.fromarray(pixels)
        if mode is not None:
            picture = image.frombytes(mode, picture.size, picture.tobytes())
        picture.save(file, form, **how)
        files[name] = file.getvalue()

    colours = made.picture(21, 35)
    for halves in (0, 1, 2):
        save(f"jpeg {halves}", colours, "JPEG", quality=70, subsampling=halves)
    save("jpeg progressive", colours, "JPEG", quality=70, subsampling=2, progressive=True)
    save("jpeg grey", made.picture(21, 35, 1)[:, :, 0], "JPEG", quality=70)
    save("jpeg CMYK", made.picture(21, 35, 4), "JPEG", mode="CMYK", quality=70)
    save("jpeg RGB", colours, "JPEG", quality=70, keep_rgb=True)
    save("jpeg restarts", colours, "JPEG", quality=60, subsampling=2, restart_marker_blocks=2)
    save("jpeg small", made.picture(5, 4), "JPEG", quality=90, subsampling=2)
    save("jpeg one", made.picture(1, 1), "JPEG", quality=90, subsampling=2)
    small, clear = made.picture(9, 13), made.picture(9, 13, 4)
    save("webp", small, "WEBP", quality=70)
    save("webp exact", small, "WEBP", lossless=True)
    save("webp clear", clear, "WEBP", quality=70)
    save("webp clear exact", clear, "WEBP", lossless=True, exact=True)
    more = [image.fromarray(np.roll(clear, i, 0)) for i in (1, 2)]
    moves = {"save_all": True, "append_images": more, "lossless": True, "exact": True}
    save("webp moves", clear, "WEBP", **moves)
    files["webp cut"] = files["webp exact"][:-20]
    arrays = {name: np.frombuffer(file, np.uint8) for name, file in files.items()}
    np.savez_compressed(made.STORED, **arrays)
    print(f"{len(files)} files, {made.STORED.stat().st_size // 1000} KB")


def record_values() -> None:
    """Makes all calls, and stores what the tests compare with."""
    tf: Any = importlib.import_module("tensorflow")
    told: Any = importlib.import_module("support.media_calls")
    items = list(told.calls().items())
    out: dict[str, Any] = {}
    for at in range(0, len(items), _PER_PROCESS):
        out.update(_in_child(tf, told, items[at : at + _PER_PROCESS]))
    told.FILE.write_bytes(lzma.compress(json.dumps(out).encode(), preset=9))
    failed = sum([value == told.ERROR for value in out.values()])
    print(f"{len(out)} results, {failed} refusals, {told.FILE.stat().st_size // 1000} KB")


def _in_child(tf: Any, told: Any, items: list[Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        out = {key: _outcome(tf, told, key, call) for key, call in items}
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(pickle.dumps(out))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if answer:
        return dict(pickle.loads(answer))
    if len(items) == 1:
        print("ends the process:", items[0][0])
        return {}
    half = len(items) // 2
    return {**_in_child(tf, told, items[:half]), **_in_child(tf, told, items[half:])}


def _outcome(tf: Any, told: Any, key: str, call: Any) -> Any:
    try:
        return told.summary(key, told.made(tf, call))
    except (tf.errors.InvalidArgumentError, tf.errors.InternalError):
        return told.ERROR


if __name__ == "__main__":
    {"files": make_files, "values": record_values}[sys.argv[1]]()
