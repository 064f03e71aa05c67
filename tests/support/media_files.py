"""Files of images and sound, sound and damaged: written here byte by byte, with zlib and NumPy.

JPEG and WebP files, which need a library, are stored in `tests/media/files.npz`, and made by
`checks/record_media_values.py`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).parent.parent / "media/files.npz"
Chunk = tuple[bytes, bytes]


def noise(*shape: int, high: int = 256) -> Any:
    """Whole numbers below `high` that are the same for ever."""
    count = int(np.prod(shape))
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2654435761 + 2 * sum(shape))
    state = (state ^ (state >> np.uint64(15))) * np.uint64(2246822519) % np.uint64(1 << 32)
    return ((state >> np.uint64(8)) % np.uint64(high)).astype(np.int64).reshape(shape)


def picture(height: int, width: int, channels: int = 3, grain: int = 40) -> Any:
    """Something smooth, with grain."""
    y, x = np.mgrid[:height, :width]
    waves = [110 + 90 * np.sin(x / 5 + i) * np.cos(y / (4 + i)) for i in range(channels)]
    rough = noise(height, width, channels, high=max(1, grain)) - grain // 2
    return np.clip(np.stack(waves, -1) + rough, 0, 255).astype(np.uint8)


# --- PNG -----------------------------------------------------------------------------------------

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
           (0, 1, 1, 2)]  # fmt: skip


def chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def chunks(file: bytes) -> list[Chunk]:
    at, out = 8, []
    while at < len(file):
        (size,) = struct.unpack_from(">I", file, at)
        out.append((file[at + 4 : at + 8], file[at + 8 : at + 8 + size]))
        at += 12 + size
    return out


def joined(parts: Sequence[Chunk]) -> bytes:
    return SIGNATURE + b"".join([chunk(*part) for part in parts])


def _packed(samples: Any, depth: int) -> Any:
    rows = samples.reshape(len(samples), -1)
    if depth == 16:
        return rows.astype(">u2").view(np.uint8)
    if depth == 8:
        return rows.astype(np.uint8)
    bits = (rows[..., None] >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.reshape(len(rows), -1).astype(np.uint8), axis=1)


def _nearest(a: int, b: int, c: int) -> int:
    return min((a, b, c), key=lambda x: abs(a + b - c - x))


def filtered(rows: Any, step: int, kinds: Sequence[int]) -> bytes:
    """Rows of bytes, each with the next of the filters."""
    out = bytearray()
    above = [0] * rows.shape[1]
    for i, row in enumerate(rows.tolist()):
        kind = kinds[i % len(kinds)]
        left = [0] * step + row
        corner = [0] * step + above
        neighbours = list(zip(left, above, corner, strict=False))
        guesses = {
            0: lambda a, b, c: 0,
            1: lambda a, b, c: a,
            2: lambda a, b, c: b,
            3: lambda a, b, c: (a + b) // 2,
            4: _nearest,
        }[kind]
        out.append(kind)
        out += bytes([(x - guesses(*n)) % 256 for x, n in zip(row, neighbours, strict=False)])
        above = row
    return bytes(out)


def png(
    samples: Any,
    colour: int,
    depth: int,
    interlaced: bool = False,
    kinds: Sequence[int] = (0, 1, 2, 3, 4),
    before: Sequence[Chunk] = (),
    after: Sequence[Chunk] = (),
) -> bytes:
    """A file of samples [height, width, channels], with chunks before and after the pixels."""
    height, width, channels = samples.shape
    step = max(1, channels * depth // 8)
    parts = [samples]
    if interlaced:
        parts = [samples[y::dy, x::dx] for x, y, dx, dy in _PASSES]
    raw = b"".join([filtered(_packed(part, depth), step, kinds) for part in parts if part.size])
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return joined(
        [(b"IHDR", header), *before, (b"IDAT", zlib.compress(raw)), *after, (b"IEND", b"")]
    )


def _gamma(value: int) -> Chunk:
    return b"gAMA", struct.pack(">I", value)


def _sound_pngs() -> Iterator[tuple[str, bytes]]:
    said = {
        "gamma": [_gamma(45455)],
        "gamma 2.2": [_gamma(220000)],
        "gamma 1": [_gamma(100000)],
        "sRGB": [_gamma(220000), (b"sRGB", b"\0")],
    }
    for colour, depths in DEPTHS.items():
        for depth in depths:
            samples = noise(11, 13, CHANNELS[colour], high=1 << depth)
            entries = noise(3 << min(depth, 8)).astype(np.uint8).tobytes()
            base = [(b"PLTE", entries)] if colour == 3 else []
            clear = {
                0: struct.pack(">H", samples[3, 4, 0]),
                2: struct.pack(">3H", *samples[3, 4].tolist()) if colour == 2 else b"",
                3: noise(max(1, (1 << min(depth, 8)) - 1)).astype(np.uint8).tobytes(),
            }.get(colour)
            name = f"png {colour} {depth}"
            for interlaced in (False, True):
                way = " interlaced" if interlaced else ""
                yield name + way, png(samples, colour, depth, interlaced, before=base)
                if clear is not None:
                    some = [*base, (b"tRNS", clear)]
                    yield f"{name}{way} clear", png(samples, colour, depth, interlaced, before=some)
            for what, parts in said.items() if colour in (2, 3, 6) else ():
                yield f"{name} {what}", png(samples, colour, depth, before=[*parts, *base])
    grey = np.repeat(noise(9, 7, 1, high=65536), 3, -1)
    grey[0] = noise(7, 3, high=65536)
    bits = (b"sBIT", b"\x0c\x0b\x0a")
    yield "png greys", png(grey, 2, 16)
    yield "png greys gamma", png(grey, 2, 16, before=[_gamma(45455)])
    yield "png greys bits", png(grey, 2, 16, before=[_gamma(45455), bits])
    yield "png greys bytes", png(grey >> 8, 2, 8, before=[_gamma(45455)])


def _odd_pngs() -> Iterator[tuple[str, bytes]]:
    """What libpng overlooks, and what it does not."""
    samples, numbers = noise(9, 7, 3), noise(9, 7, 1, high=16)
    colours = noise(30).astype(np.uint8).tobytes()
    good = png(samples, 2, 8)
    header, pixels, end = chunks(good)
    raw = zlib.decompress(pixels[1])

    def spoiled(file: bytes, kind: bytes) -> bytes:
        at = file.index(kind) + 4 + struct.unpack(">I", file[file.index(kind) - 4 :][:4])[0]
        return file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]

    def with_rows(content: bytes) -> bytes:
        return joined([header, (b"IDAT", content), end])

    def of_palette(*before: Chunk, after: Sequence[Chunk] = ()) -> bytes:
        return png(numbers, 3, 4, before=before, after=after)

    palette, text, gamma = (b"PLTE", colours), (b"tEXt", b"a\0b"), _gamma(45455)
    for kind in (b"IHDR", b"IDAT", b"IEND"):
        yield f"checksum {kind.decode()}", spoiled(good, kind)
    yield "checksum tEXt", spoiled(png(samples, 2, 8, before=[text]), b"tEXt")
    yield "checksum gAMA", spoiled(png(samples, 2, 8, before=[gamma]), b"gAMA")
    for cut in (1, 3, 4, 8, 12, 30, len(good) - 8, len(good) - 12, len(good) - 30, len(good) - 60):
        yield f"cut {cut}", good[:-cut]
    for fewer in (1, 10):
        yield f"rows less {fewer}", with_rows(zlib.compress(raw[:-fewer]))
    yield "rows and more", with_rows(zlib.compress(raw + b"abc"))
    yield "stream cut", with_rows(pixels[1][:-9])
    yield "stream without checksum", with_rows(pixels[1][:-4])
    yield "stream with wrong checksum", with_rows(pixels[1][:-1] + b"\0")
    yield "stream and more", with_rows(pixels[1] + b"xyz")
    yield "bytes behind", good + b"hello"
    first, rest = (b"IDAT", pixels[1][:5]), (b"IDAT", pixels[1][5:])
    yield "rows in parts", joined([header, first, (b"IDAT", b""), rest, end])
    yield "rows apart", joined([header, first, text, rest, end])
    yield "unknown that matters", joined([header, (b"ABCD", b"a"), pixels, end])
    yield "unknown", joined([header, (b"abCD", b"a"), pixels, end])
    yield "no letters", joined([header, (b"a1CD", b"a"), pixels, end])
    yield "no header", joined([pixels, end])
    yield "two headers", joined([header, header, pixels, end])
    yield "long header", joined([(b"IHDR", header[1] + b"a"), pixels, end])
    yield "no rows", joined([header, end])
    for number in (5, 200):
        yield f"filter {number}", with_rows(zlib.compress(bytes([number]) + raw[1:]))
    yield "palette too short", of_palette(palette)
    yield "palette too short, clear", of_palette(palette, (b"tRNS", b"\1\2"))
    yield "palette missing", of_palette()
    yield "palette odd", of_palette((b"PLTE", colours[:-1]))
    yield "palette too long", of_palette((b"PLTE", bytes(range(51))))
    yield "palette empty", of_palette((b"PLTE", b""))
    yield "palette late", of_palette(after=[palette])
    yield "palette twice", of_palette(palette, palette)
    yield "palette of grey", png(numbers, 0, 4, before=[palette])
    yield "palette of colours", png(samples, 2, 8, before=[palette])
    yield "clear too long", of_palette(palette, (b"tRNS", bytes(range(12))))
    yield "clear too early", of_palette((b"tRNS", bytes(5)), palette)
    yield "clear too late", of_palette(palette, after=[(b"tRNS", b"\1\2")])
    yield "clear empty", of_palette(palette, (b"tRNS", b""))
    yield "clear twice", of_palette(palette, (b"tRNS", b"\1\2"), (b"tRNS", b"\4\5\6"))
    yield "clear grey short", png(numbers, 0, 4, before=[(b"tRNS", b"\1")])
    high = struct.pack(">H", 0x100 + int(numbers[0, 0, 0]))
    yield "clear grey high", png(numbers, 0, 4, before=[(b"tRNS", high)])
    yield "clear in RGBA", png(noise(3, 4, 4), 6, 8, before=[(b"tRNS", b"\1\2")])
    sizes = {
        "no width": (0, 9, 8, 2, 0, 0, 0), "no height": (7, 0, 8, 2, 0, 0, 0),
        "huge": (60000, 60000, 8, 2, 0, 0, 0), "too wide": (1 << 31, 9, 8, 2, 0, 0, 0),
        "3 bits": (7, 9, 3, 0, 0, 0, 0), "palette of 16 bits": (7, 9, 16, 3, 0, 0, 0),
        "colour 1": (7, 9, 8, 1, 0, 0, 0), "colour 7": (7, 9, 8, 7, 0, 0, 0),
        "compression 1": (7, 9, 8, 2, 1, 0, 0), "method 1": (7, 9, 8, 2, 0, 1, 0),
        "interlacing 2": (7, 9, 8, 2, 0, 0, 2),
    }  # fmt: skip
    for name, numbers_of_header in sizes.items():
        content = struct.pack(">IIBBBBB", *numbers_of_header)
        yield name, joined([(b"IHDR", content), pixels, end])
    said: dict[str, list[Chunk]] = {
        "gamma then sRGB": [_gamma(220000), (b"sRGB", b"\0")],
        "sRGB then gamma": [(b"sRGB", b"\0"), _gamma(220000)],
        "sRGB of no kind": [(b"sRGB", b"\7")],
        **{f"gamma {n}": [_gamma(n)] for n in (0, 10, 20, 500_000_000, 625_000_001, 1 << 31)},
        "gamma twice": [gamma, _gamma(220000)],
        "gamma short": [(b"gAMA", b"\0\0\1")],
        "gamma behind palette": [palette, gamma],
        "bits of none": [gamma, (b"sBIT", b"\x0c\x00\x0a")],
        "bits too many": [gamma, (b"sBIT", b"\x0c\x11\x0a")],
        "bits short": [gamma, (b"sBIT", b"\x0c\x0a")],
    }
    for name, parts in said.items():
        yield name, png(noise(6, 8, 3, high=65536), 2, 16, before=parts)
    yield "gamma late", png(samples, 2, 8, after=[gamma])


# --- BMP -----------------------------------------------------------------------------------------


def bmp(
    width: int, height: int, bits: int, content: bytes, start: int = 54, method: int = 0
) -> bytes:
    head = b"BM" + struct.pack("<IHHI", start + len(content), 0, 0, start)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, method, 0, 0, 0, 0, 0)
    return head + bytes(max(0, start - 54)) + content


def _bmps() -> Iterator[tuple[str, bytes]]:
    content = noise(200).astype(np.uint8).tobytes()
    for bits, size in ((8, 40), (24, 120), (32, 140), (16, 80), (4, 20), (48, 210), (9, 40)):
        yield f"bmp {bits}", bmp(7, 5, bits, content[:size])
    yield "bmp masked", bmp(7, 5, 32, content[:140], method=3)
    yield "bmp further on", bmp(7, 5, 24, content[:120], start=80)
    for size in (0, 110, 119, 121, 150):
        yield f"bmp of {size} bytes", bmp(7, 5, 24, content[:size])
    for width, height in ((0, 5), (7, 0), (-7, 5), (60000, 60000), (7, -(2**31)), (2**30, 1)):
        yield f"bmp {width} x {height}", bmp(width, height, 24, content[:120])
    for start in (-5, 0, 40, -(2**31)):
        plain = bmp(7, 5, 24, content[:120])
        yield f"bmp from {start}", plain[:10] + struct.pack("<i", start) + plain[14:]
    for size in (2, 30, 31):
        yield f"bmp cut to {size}", bmp(7, 5, 24, content)[:size]


# --- GIF -----------------------------------------------------------------------------------------


def lzw(numbers: Any, bits: int = 8) -> bytes:
    """Codes that stand for one number each; the table is cleared before it grows."""
    clear, width = 1 << bits, bits + 1
    codes = [clear]
    for i, number in enumerate(numbers.reshape(-1).tolist()):
        codes += [clear] if i and i % (clear - 2) == 0 else []
        codes.append(number)
    packed = sum([code << (width * i) for i, code in enumerate([*codes, clear + 1])])
    content = packed.to_bytes((width * (len(codes) + 1) + 7) // 8, "little")
    blocks = [content[at : at + 255] for at in range(0, len(content), 255)]
    return bytes([bits]) + b"".join([bytes([len(b)]) + b for b in blocks]) + b"\0"


def frame(
    numbers: Any,
    left: int = 0,
    top: int = 0,
    colours: bytes | None = None,
    clear: int | None = None,
    disposal: int = 0,
    interlaced: bool = False,
    size: tuple[int, int] | None = None,
    packed: bytes | None = None,
) -> bytes:
    control = struct.pack("<BHB", disposal << 2 | (clear is not None), 0, clear or 0)
    width, height = size or numbers.shape[::-1]
    flags = (0x87 if colours is not None else 0) | (0x40 if interlaced else 0)
    place = struct.pack("<HHHHB", left, top, width, height, flags)
    table = b"" if colours is None else colours
    return b"!\xf9\4" + control + b"\0," + place + table + (packed or lzw(numbers))


def gif(frames: Sequence[bytes], colours: bytes | None, end: bytes = b";") -> bytes:
    flags = 0 if colours is None else 0x80 | (len(colours) // 3).bit_length() - 2
    screen = struct.pack("<HHBBB", 8, 6, flags, 0, 0)
    return b"GIF89a" + screen + (colours or b"") + b"".join(frames) + end


def _gifs() -> Iterator[tuple[str, bytes]]:
    table, other = [noise(768 + i).astype(np.uint8)[:768].tobytes() for i in range(2)]
    a, b, c = noise(6, 8), noise(3, 4), noise(6, 8) // 2
    c[2:4] = 9
    order = [0, 4, 2, 1, 3, 5]
    yield "gif", gif([frame(a)], table)
    yield "gif moves", gif([frame(a), frame(b, 2, 1)], table)
    yield "gif disposes", gif([frame(a, disposal=2), frame(b, 2, 1, disposal=3), frame(b)], table)
    yield "gif clear", gif([frame(a, clear=int(a[0, 0])), frame(c, clear=9)], table)
    yield "gif small first", gif([frame(b, 2, 1), frame(a)], table)
    yield "gif own colours", gif([frame(a, colours=other), frame(b, 1, 1)], table)
    yield "gif only own colours", gif([frame(a, colours=other)], None)
    yield "gif no colours", gif([frame(a)], None)
    yield "gif interlaced", gif([frame(a[order], interlaced=True)], table)
    yield "gif outside", gif([frame(a), frame(b, 6, 5), frame(b, 100, 100)], table)
    yield "gif moved", gif([frame(a, 3, 2)], table)
    yield "gif few colours", gif([frame(a % 4)], table[:12])
    yield "gif beyond its colours", gif([frame(a)], table[:12])
    yield "gif no frames", gif([], table)
    whole = gif([frame(a), frame(c)], table)
    for cut in (1, 2, 10, 40, len(whole) - 790, len(whole) - 781, len(whole) - 785, len(whole) - 4):
        yield f"gif cut {cut}", whole[:-cut]
    yield "gif bytes behind", whole + b"abc"
    yield "gif no frame", whole[:-1] + b"\x77\x77;"
    yield "gif comment", whole[:781] + b"!\xfe\3abc\0" + whole[781:]
    for size in ((60000, 60000), (8, 9), (8, 4), (0, 0), (0, 4)):
        yield f"gif claims {size}", gif([frame(a, size=size)], table)
    for bits in (0, 1, 12):
        yield f"gif {bits} bits", gif([frame(a, packed=bytes([bits]) + lzw(a)[1:])], table)
    broken = b"\x08\x05\x00\xff\xff\xff\xff\0"
    yield "gif broken", gif([frame(a, packed=broken)], table)
    yield "gif broken later", gif([frame(a), frame(c, packed=broken)], table)
    yield "gif empty", gif([frame(a, packed=b"\x08\0")], table)


# --- WAV -----------------------------------------------------------------------------------------


def wav(
    content: bytes,
    channels: int = 2,
    rate: int = 16000,
    bits: int = 16,
    method: int = 1,
    size: int = 16,
    before: bytes = b"",
    between: bytes = b"",
    behind: bytes = b"",
    claims: int | None = None,
    **numbers: int,
) -> bytes:
    per_sample = numbers.get("per_sample", channels * bits // 8)
    per_second = numbers.get("per_second", rate * per_sample) & 0xFFFFFFFF
    form = struct.pack("<IHHIIHH", size, method, channels, rate, per_second, per_sample, bits)
    length = len(content) if claims is None else claims
    body = b"WAVE" + before + b"fmt " + form + bytes(max(0, size - 16)) + between + b"data"
    body += struct.pack("<I", length) + content + behind
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _wavs() -> Iterator[tuple[str, bytes]]:
    content = noise(28).astype(np.uint8).tobytes()
    note = b"LIST" + struct.pack("<I", 4) + b"abcd"
    yield "wav", wav(content)
    for channels in (0, 1, 7):
        yield f"wav {channels} channels", wav(content, channels)
    yield "wav 13 bytes", wav(content[:26])
    for bits in (8, 24, 32):
        yield f"wav {bits} bits", wav(content[:24], bits=bits)
    for method, bits in ((3, 32), (6, 8), (0xFFFE, 16)):
        yield f"wav method {method}", wav(content, bits=bits, method=method)
    for size in (14, 18, 20, 40):
        yield f"wav format of {size}", wav(content, size=size)
    yield "wav note before", wav(content, before=note)
    yield "wav note between", wav(content, between=note)
    yield "wav note behind", wav(content, behind=note)
    yield "wav note cut", wav(content, behind=b"LIST")
    yield "wav odd note", wav(content, between=b"LIST" + struct.pack("<I", 3) + b"abc")
    yield "wav twice", wav(content, behind=b"data" + struct.pack("<I", 4) + b"abcd")
    yield "wav per sample", wav(content, per_sample=3)
    yield "wav per second", wav(content, per_second=5)
    yield "wav rate 0", wav(content, rate=0)
    for claims in (27, 1000, 2**31, 2**32 - 1):
        yield f"wav claims {claims}", wav(content, claims=claims)
    for cut in (1, 4, 28, 36, 52, 60, 72):
        yield f"wav cut {cut}", wav(content)[: 72 - cut]
    yield "wav other order", b"RIFX" + wav(content)[4:]
    yield "wav of film", wav(content)[:8] + b"AVI " + wav(content)[12:]
    yield "wav without samples", wav(b"")


# --- all of them ---------------------------------------------------------------------------------


def stored() -> dict[str, bytes]:
    """The files that are stored."""
    with np.load(STORED) as found:
        return {name: found[name].tobytes() for name in found.files}


PNGS = dict(_sound_pngs())
ODD_PNGS = {f"png {name}": file for name, file in _odd_pngs()}
BMPS, GIFS, WAVS = dict(_bmps()), dict(_gifs()), dict(_wavs())
