"""WAV files of 16-bit samples as arrays, and back."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import memory
from weft._src.media.damage import invalid

Array = np.ndarray[Any, Any]

_FORMAT = struct.Struct("<HHIIHH")
_PCM = 1
_SCALE = 32768.0


class Sound(NamedTuple):
    """Samples from -1 to 1, [samples, channels], and how many of them make a second."""

    samples: Array
    rate: int


def decode(op: str, data: bytes, channels: int, count: int) -> Sound:
    """The sound in a WAV file.

    Args:
      op: the name of the function, for errors.
      data: the file.
      channels: how many there shall be; the last one is repeated if more. -1 is those of the file.
      count: how many samples there shall be; zeros are added if more. -1 is those of the file.
    """
    own, rate, content = _read(op, data)
    samples = np.frombuffer(content, "<i2").reshape(-1, own)
    wanted = own if channels < 0 else channels
    length = len(samples) if count < 0 else count
    memory.check(op, (length, wanted), np.dtype(np.float32))
    out = np.zeros((length, wanted), np.float32)
    taken = samples[:length, :wanted]
    some = out[: len(taken), : taken.shape[1]]
    np.multiply(taken, np.float32(1 / _SCALE), out=some)
    if wanted > own:
        out[: len(taken), own:] = some[:, -1:]
    return Sound(out, rate)


def _read(op: str, data: bytes) -> tuple[int, int, bytes]:
    """The number of channels, the rate, and the samples as bytes."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise invalid(
            op,
            f"these {len(data)} bytes are no WAV file: they begin with {data[:4]!r} and "
            f"{data[8:12]!r}, not with b'RIFF' and b'WAVE'.",
        )
    form: tuple[int, int] | None = None
    samples: bytes | None = None
    at = 12
    while at < len(data):
        kind, content = _chunk(op, data, at)
        at += 8 + len(content)
        # Chunks of odd length are filled up, but some programs forget it.
        if len(content) % 2 and data[at : at + 1] == b"\0":
            at += 1
        if kind == b"fmt " and form is None:
            form = _format(op, content)
        elif kind == b"data":
            if form is None or samples is not None:
                missing = "no format before its samples" if form is None else "samples twice"
                raise invalid(op, f"the WAV file has {missing}.")
            samples = content
    if form is None or samples is None:
        raise invalid(op, f"the WAV file has no {'format' if form is None else 'samples'}.")
    channels, rate = form
    if len(samples) % (2 * channels):
        raise invalid(
            op,
            f"the WAV file is damaged: {len(samples)} bytes are no multiple of the {2 * channels} "
            f"that a sample of {channels} channels has.",
        )
    return channels, rate, samples


def _chunk(op: str, data: bytes, at: int) -> tuple[bytes, bytes]:
    if len(data) - at < 8:
        raise invalid(op, f"the WAV file is cut short: it ends after {len(data)} bytes.")
    kind, (length,) = data[at : at + 4], struct.unpack_from("<I", data, at + 4)
    if length > len(data) - at - 8:
        raise invalid(
            op,
            f"the WAV file is cut short: its part {kind!r} has {length} bytes, "
            f"{len(data) - at - 8} are there.",
        )
    return kind, data[at + 8 : at + 8 + length]


def _format(op: str, content: bytes) -> tuple[int, int]:
    """The number of channels and the rate."""
    if len(content) not in (16, 18):
        raise invalid(
            op,
            f"the WAV file has a format of {len(content)} bytes: only plain ones of 16 or 18 are "
            "read.",
        )
    method, channels, rate, per_second, per_sample, bits = _FORMAT.unpack_from(content)
    if method != _PCM or bits != 16:
        raise invalid(
            op,
            f"the WAV file has samples of format {method} with {bits} bits: only those of 16 bits, "
            f"not compressed (format {_PCM}), are read.",
        )
    if not channels:
        raise invalid(op, "the WAV file claims to have no channels.")
    if per_sample != 2 * channels or per_second != rate * per_sample:
        raise invalid(
            op,
            f"the WAV file contradicts itself: {channels} channels of 16 bits, {per_sample} bytes "
            f"for each sample, {rate} samples but {per_second} bytes a second.",
        )
    if rate >= 2**31:
        raise invalid(op, f"the WAV file claims to have {rate} samples a second.")
    return channels, rate


def encode(op: str, samples: Array, rate: int) -> bytes:
    """A WAV file of samples, [samples, channels]; what is beyond -1 and 1 is cut off."""
    count, channels = samples.shape
    if not 0 < channels < 2**16:
        raise invalid(op, f"audio must have 1 to 65535 channels, got shape {samples.shape}.")
    if not 0 < rate < 2**31:
        raise invalid(op, f"sample_rate must be positive, got {rate}.")
    size = 2 * count * channels
    if size >= 2**32 - 36 or 2 * channels * rate >= 2**32:
        raise invalid(
            op, f"{count} samples of {channels} channels, {rate} a second, do not fit a WAV file."
        )
    scaled = samples.astype(np.float64) * _SCALE
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves away from zero
    whole = np.nan_to_num(np.clip(rounded, -32768, 32767)).astype("<i2")
    form = _FORMAT.pack(_PCM, channels, rate, 2 * channels * rate, 2 * channels, 16)
    return b"".join([
        b"RIFF", struct.pack("<I", 36 + size), b"WAVE",
        b"fmt ", struct.pack("<I", len(form)), form,
        b"data", struct.pack("<I", size), whole.tobytes(),
    ])  # fmt: skip
