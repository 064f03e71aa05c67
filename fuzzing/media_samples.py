"""Small files of images and sound that are valid, and how damaged PNG files get past checksums."""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.flags import flags
from weft._src.errors import InvalidArgumentError
from weft._src.media import png_chunks
from weft._src.media.png_chunks import SIGNATURE, Header
from weft._src.media.png_rows import parts_of


@contextlib.contextmanager
def tier(execution: str) -> Iterator[None]:
    """With machine code, or without."""
    before, flags.execution = flags.execution, execution
    try:
        yield
    finally:
        flags.execution = before


def _pixels(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape).astype(np.uint8)


def _saved(form: str, pixels: Any, **how: Any) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, **how)
    return file.getvalue()


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + checksum


_KINDS = (b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"sBIT", b"IDAT", b"IEND")


def with_checksums(file: bytes) -> bytes:
    """A PNG file with chunks wherever there is the name of one, their lengths and checksums right.

    Otherwise damage would seldom get past them. Where rows are compressed, what can be decompressed
    is damaged some more and compressed anew, mostly as long as the header says, so that filters and
    colours meet what they did not expect.
    """
    if not file.startswith(SIGNATURE):
        return file
    rng = random.Random(zlib.crc32(file))
    places = sorted([at for kind in _KINDS for at in _all(file, kind)])
    out, header = SIGNATURE, b""
    for at, following in itertools.pairwise([*places, len(file) + 8]):
        kind, content = file[at : at + 4], file[at + 4 : max(at + 4, following - 8)]
        header = content if kind == b"IHDR" else header
        if kind == b"IDAT":
            content = _with_other_rows(rng, header, content)
        out += _chunk(kind, content)
    return out


def _all(file: bytes, kind: bytes) -> Iterator[int]:
    at = file.find(kind)
    while at >= 0:
        yield at
        at = file.find(kind, at + 1)


def _with_other_rows(rng: random.Random, header: bytes, content: bytes) -> bytes:
    stream, rows = zlib.decompressobj(), bytearray()
    with contextlib.suppress(zlib.error):
        for byte in content:
            rows += stream.decompress(bytes([byte]), 1 << 12)
    for _ in range(rng.randrange(4)):
        if rows:
            rows[rng.randrange(len(rows))] = rng.choice((0, 1, 2, 3, 4, 5, 255))
    with contextlib.suppress(InvalidArgumentError):
        wanted = sum([part.height * (part.row_bytes + 1) for part in parts_of(_header(header))])
        if rng.random() < 0.8 and wanted < 1 << 16:
            rows = bytearray((bytes(rows) + bytes(wanted))[:wanted])
    return zlib.compress(bytes(rows))


def _header(content: bytes) -> Header:
    return png_chunks._header("PNG", b"IHDR", content)


def pngs() -> Iterator[bytes]:
    """All kinds of colours, interlaced, with a palette."""
    for channels in (1, 2, 3, 4):
        yield tf.io.encode_png(_pixels(6, 5, channels)).numpy()
    yield tf.io.encode_png(_pixels(4, 3, 3).astype(np.uint16) * 257).numpy()
    told = [(b"gAMA", struct.pack(">I", 45455)), (b"PLTE", bytes(range(12)))]
    told.append((b"tRNS", b"\1\2"))
    header = struct.pack(">IIBBBBB", 9, 7, 2, 3, 0, 0, 1)
    passes = [(2, 1), (1, 1), (3, 1), (2, 2), (5, 2), (4, 4), (9, 3)]  # columns and rows
    rows = b"".join([b"\4" + bytes([27]) * -(-w // 4) for w, h in passes for _ in range(h)])
    parts = [(b"IHDR", header), *told, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    yield SIGNATURE + b"".join([_chunk(*part) for part in parts])


def jpegs() -> Iterator[bytes]:
    """Baseline and progressive, grey, with colours of every and of every second pixel."""
    pixels = _pixels(20, 18, 3)
    for halves in (0, 1, 2):
        yield _saved("JPEG", pixels, quality=50, subsampling=halves)
    yield _saved("JPEG", pixels, quality=50, progressive=True)
    yield _saved("JPEG", pixels[:, :, 0], quality=50)
    yield _saved("JPEG", pixels, quality=50, keep_rgb=True)


def bmps() -> Iterator[bytes]:
    """Of 24, 32 and 8 bits."""
    yield _saved("BMP", _pixels(4, 5, 3))
    yield _saved("BMP", _pixels(4, 5, 4))
    yield _saved("BMP", _pixels(4, 5))


def gifs() -> Iterator[bytes]:
    """One frame, and several."""
    from PIL import Image

    yield _saved("GIF", _pixels(9, 7))
    frames = [Image.fromarray(_pixels(6 + i, 5)) for i in range(3)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], transparency=3)
    yield file.getvalue()


def webps() -> Iterator[bytes]:
    """Exact and not, with opacity, and one that moves."""
    from PIL import Image

    yield _saved("WEBP", _pixels(8, 9, 3), quality=50)
    yield _saved("WEBP", _pixels(8, 9, 4), lossless=True)
    more = [Image.fromarray(_pixels(5, 6 + i, 4)).resize((6, 5)) for i in range(2)]
    yield _saved("WEBP", _pixels(5, 6, 4), save_all=True, append_images=more)


def wavs() -> Iterator[bytes]:
    """Of one and of three channels."""
    for channels in (1, 3):
        sound = _pixels(11, channels).astype(np.float32) / 128 - 1
        yield tf.audio.encode_wav(sound, 8000).numpy()
