"""Calls that decode and encode, whose results were recorded with TensorFlow.

`checks/record_media_values.py` makes these calls with TensorFlow and writes down what they give;
`tests/media/test_recorded.py` compares. So this file knows neither library. Results that are equal
bit by bit are recorded by their checksums.
"""

from __future__ import annotations

import functools
import json
import lzma
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from support.media_files import (
    BMPS,
    GIFS,
    ODD_PNGS,
    PNGS,
    WAVS,
    chunks,
    noise,
    picture,
    stored,
)

FILE = Path(__file__).parent.parent / "media/recorded.json.xz"
ERROR = "error"
# Decoded with the accurate transform and without blending, which Pillow cannot do together.
ROUGH = [f"io.decode_jpeg jpeg {name}-3-1-False-INTEGER_ACCURATE" for name in "12"]
_SKIPPED = [
    f"io.decode_jpeg jpeg {name}-{channels}-1-False-INTEGER_ACCURATE"
    for name in ("1", "2", "progressive", "restarts")
    for channels in (0, 3)
]


class Call(NamedTuple):
    """A function by its path, its arguments by position, and by name."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    label: str


def _of_pngs() -> list[Call]:
    out = []
    for name, file in {**PNGS, **ODD_PNGS}.items():
        for channels in (0, 1, 3, 4):
            for dtype in ("uint8", "uint16"):
                given = {"channels": channels, "dtype": dtype}
                label = f"{name}-{channels}-{dtype}"
                out.append(Call("io.decode_png", (file,), given, label))
    for name in ("png 2 8", "png 2 16", "png 0 1 clear", "png 3 4 clear"):
        given = {"dtype": "float32"}
        out.append(Call("io.decode_image", (PNGS[name],), given, name))
    return out


def _of_bmps() -> list[Call]:
    files = BMPS.items()
    out = [
        Call("io.decode_bmp", (file,), {"channels": channels}, f"{name}-{channels}")
        for name, file in files
        for channels in (0, 1, 3, 4)
    ]
    file = (BMPS["bmp 24"],)
    dtypes = ("uint8", "uint16", "float32")
    out += [Call("io.decode_image", file, {"dtype": d}, f"bmp-{d}") for d in dtypes]
    return out


def _of_gifs() -> list[Call]:
    out = [Call("io.decode_gif", (file,), {}, name) for name, file in GIFS.items()]
    for name in ("gif", "gif moves", "gif small first"):
        given = (GIFS[name],)
        out += [Call("io.decode_png", given, {"channels": n}, f"{name}-{n}") for n in (0, 1, 3)]
        for dtype in ("uint8", "uint16", "float32"):
            for expands in (True, False):
                way = {"dtype": dtype, "expand_animations": expands}
                out.append(Call("io.decode_image", given, way, f"{name}-{way}"))
    return out


def _of_wavs() -> list[Call]:
    out = [Call("audio.decode_wav", (file,), {}, name) for name, file in WAVS.items()]
    for channels in (-1, 0, 1, 3):
        for samples in (-1, 0, 3, 9):
            given = {"desired_channels": channels, "desired_samples": samples}
            out.append(Call("audio.decode_wav", (WAVS["wav"],), given, str(given)))
    waves = (noise(40, 2, high=3000).astype(np.float32) - 1500) / 1400
    edges = np.array([[0.5, 1.5, 2.5, -0.5, -1.5, 32767.4, 32768, -32768.6]], np.float32) / 32768
    rest = np.array([[np.nan, np.inf, -np.inf, 1e-9, -0.0]], np.float32)
    for label, x in {"waves": waves, "edges": edges.T, "rest": rest.T, "none": waves[:0]}.items():
        out.append(Call("audio.encode_wav", (x, 8000), {}, label))
    return out


JPEG_WAYS = [
    {"channels": channels, "ratio": ratio, "fancy_upscaling": fancy, "dct_method": method}
    for channels in (0, 1, 3)
    for ratio in (1, 2, 4, 8)
    for fancy in (True, False)
    for method in ("", "INTEGER_ACCURATE")
]
WINDOWS = [(0, 0, 21, 35), (1, 2, 3, 4), (5, 7, 10, 13), (20, 34, 1, 1), (9, 17, 12, 18),
           (2, 31, 5, 4), (0, 0, 22, 35), (-1, 0, 3, 3), (0, 0, 0, 3)]  # fmt: skip


def _of_jpegs() -> list[Call]:
    out = []
    files = {name: file for name, file in stored().items() if name.startswith("jpeg")}
    for name, file in files.items():
        for way in JPEG_WAYS:
            label = "-".join([name, *map(str, way.values())])
            out.append(Call("io.decode_jpeg", (file,), way, label))
        out.append(Call("io.extract_jpeg_shape", (file,), {}, name))
        out += [
            Call("io.decode_and_crop_jpeg", (file, list(window)), {}, f"{name}-{window}")
            for window in WINDOWS
        ]
        out += [
            Call("io.decode_image", (file,), {"dtype": dtype}, f"{name}-{dtype}")
            for dtype in ("uint16", "float32")
        ]
        for part in (0.6, 0.8, 0.95):
            cut = file[: int(len(file) * part)]
            for fraction in (1.0, 0.7, 0.3, 0.0):
                way = {"acceptable_fraction": fraction}
                out.append(Call("io.decode_jpeg", (cut,), way, f"{name}-{part}-{fraction}"))
    return out


def _of_webps() -> list[Call]:
    files = {name: file for name, file in stored().items() if name.startswith("webp")}
    out = []
    for name, file in files.items():
        for channels in (0, 1, 3, 4):
            given = {"channels": channels}
            out.append(Call("io.decode_webp", (file,), given, f"{name}-{channels}"))
        still = {"expand_animations": False}
        out.append(Call("io.decode_image", (file,), still, f"{name}-still"))
    return out


def _of_writing() -> list[Call]:
    colours, grey = picture(21, 27), picture(21, 27, 1)
    ways: list[dict[str, Any]] = [
        *[{"quality": quality} for quality in (0, 1, 30, 75, 100)],
        {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False},
        {"progressive": True, "optimize_size": True}, {"format": "rgb"}, {"format": "grayscale"},
        {"density_unit": "cm", "x_density": 118, "y_density": 70}, {"x_density": 0},
        {"xmp_metadata": "<x>hello</x>"}, {"xmp_metadata": "<x/>", "progressive": True},
    ]  # fmt: skip
    out = []
    for way in ways:
        for name, image in (("colours", colours), ("grey", grey)):
            out.append(Call("io.encode_jpeg", (image,), way, f"{name}-{way}"))
    for channels in (1, 2, 3, 4):
        for size in ((1, 1), (1, 9), (9, 1), (5, 7), (40, 50)):
            image = picture(*size, channels)
            out.append(Call("io.encode_png", (image,), {}, f"{size}-{channels}"))
            wide = image.astype(np.uint16) * 257
            out.append(Call("io.encode_png", (wide,), {"compression": 0}, f"{size}-{channels}-16"))
    out.append(Call("io.encode_png", (np.stack([colours, colours]),), {"compression": 9}, "two"))
    for quality in (20, 90):
        given = {"images": colours, "quality": quality}
        out.append(Call("raw_ops.EncodeJpegVariableQuality", (), given, str(quality)))
        out.append(Call("image.adjust_jpeg_quality", (colours, quality), {}, f"{quality}"))
        floats = colours.astype(np.float32) / 255
        out.append(Call("image.adjust_jpeg_quality", (floats, quality), {}, f"{quality}-floats"))
    for seed in range(3):
        given = (colours, 20, 95, [seed, 4])
        out.append(Call("image.stateless_random_jpeg_quality", given, {}, str(seed)))
    return out


def _of_raw_ops() -> list[Call]:
    jpeg, image = stored()["jpeg 2"], picture(9, 8)
    given: dict[str, dict[str, Any]] = {
        "DecodeAndCropJpeg": {"contents": jpeg, "crop_window": [1, 2, 8, 9], "channels": 1},
        "DecodeBmp": {"contents": BMPS["bmp 32"], "channels": 3},
        "DecodeGif": {"contents": GIFS["gif clear"]},
        "DecodeImage": {"contents": jpeg, "dtype": "float32", "expand_animations": False},
        "DecodeJpeg": {"contents": jpeg, "ratio": 4},
        "DecodePng": {"contents": PNGS["png 6 16"], "channels": 3, "dtype": "uint16"},
        "DecodeWav": {"contents": WAVS["wav"], "desired_samples": 4},
        "DecodeWebP": {"contents": stored()["webp clear"]},
        "EncodeJpeg": {"image": image, "quality": 40, "progressive": True},
        "EncodePng": {"image": image, "compression": 0},
        "EncodeWav": {"audio": [[0.5, -0.25]], "sample_rate": 44100},
        "ExtractJpegShape": {"contents": jpeg, "output_type": "int64"},
    }
    return [Call(f"raw_ops.{name}", (), kwargs, "raw") for name, kwargs in given.items()]


@functools.cache
def calls() -> dict[str, Call]:
    """All calls, by a key that says what they are."""
    every = [*_of_pngs(), *_of_bmps(), *_of_gifs(), *_of_wavs(), *_of_jpegs(), *_of_webps(),
             *_of_writing(), *_of_raw_ops()]  # fmt: skip
    out = {f"{call.path} {call.label}": call for call in every}
    assert len(out) == len(every), "two calls have one key"
    return {key: call for key, call in out.items() if key in ROUGH or key not in _SKIPPED}


def made(tf: Any, call: Call) -> list[Any]:
    """The results of a call, as arrays."""
    function = functools.reduce(getattr, call.path.split("."), tf)
    out = function(*call.args, **call.kwargs)
    values = [x.numpy() for x in (out if isinstance(out, tuple) else [out])]
    if call.path not in ("io.encode_png", "raw_ops.EncodePng"):
        return values
    # What is compressed is compared, not how: there are several zlibs.
    return [_rows_in(file) for value in values for file in np.ravel(value).tolist()]


def _rows_in(file: bytes) -> bytes:
    parts = chunks(file)
    return parts[0][1] + zlib.decompress(b"".join([c for kind, c in parts if kind == b"IDAT"]))


def summary(key: str, values: list[Any]) -> list[Any]:
    """What is recorded of results: dtype, shape and a checksum of each, or all that is there."""
    if key in ROUGH:
        return [value.tolist() for value in values]
    out = []
    for value in values:
        array = np.asarray(value)
        is_file = isinstance(value, bytes)
        kind = "string" if is_file else array.dtype.name
        out.append([kind, list(array.shape), zlib.crc32(value if is_file else array.tobytes())])
    return out


def recorded() -> dict[str, Any]:
    """What TensorFlow gave, by the keys of the calls."""
    return dict(json.loads(lzma.decompress(FILE.read_bytes())))


def raw_op_names() -> set[str]:
    """The raw ops that are called."""
    paths = [call.path for call in calls().values()]
    return {path.removeprefix("raw_ops.") for path in paths if path.startswith("raw_ops.")}
