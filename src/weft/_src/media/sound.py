"""Sound from files and to files: `tf.audio`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import STRING, float32, int32, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.media import wav
from weft._src.media.arguments import bytes_in, check_one, with_hint, within
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.strings.elements import string_tensor

Array = np.ndarray[Any, Any]

_MOST = 2**31 - 1


class DecodeWav(NamedTuple):
    """What `decode_wav` returns."""

    audio: Tensor
    sample_rate: Tensor


def _decode_infer(
    contents: TensorSpec, *, desired_channels: int, desired_samples: int
) -> tuple[TensorSpec, TensorSpec]:
    check_one("decode_wav", contents)
    sizes = [Dim() if n < 0 else n for n in (desired_samples, desired_channels)]
    return TensorSpec.of(float32, tuple(sizes)), rules.scalar(int32)


def _decode_kernel(
    xp: ArrayNamespace, contents: Any, *, desired_channels: int, desired_samples: int
) -> tuple[Array, Array]:
    sound = wav.decode("decode_wav", bytes_in(contents), desired_channels, desired_samples)
    return sound.samples, np.array(sound.rate, np.int32)


decode_wav_op = define_op(
    "DecodeWav",
    args("contents", STRING),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=2,
    fresh=True,
)


def decode_wav(
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> DecodeWav:
    """The sound in a WAV file of 16-bit samples that are not compressed.

    Args:
      contents: the bytes of the file, one string.
      desired_channels: how many channels the result has: further ones are left out, missing ones
        are the last one again. -1 is as many as the file has.
      desired_samples: how many samples the result has: further ones are left out, missing ones are
        0. -1 is as many as the file has.
      name: the name of the node in a graph.

    Returns:
      `audio`, a float32 tensor [samples, channels] of numbers from -1 to 1, and `sample_rate`, an
      int32: how many samples make a second.

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or if a number is less than
        -1.
      TypeError: if a number is no integer.

    >>> file = tf.audio.encode_wav([[0.0, 0.25], [0.5, -1.0]], 16000)
    >>> sound = tf.audio.decode_wav(file, desired_samples=3)
    >>> sound.audio.numpy().tolist(), sound.sample_rate.numpy()
    ([[0.0, 0.25], [0.5, -1.0], [0.0, 0.0]], np.int32(16000))
    """
    op = "decode_wav"
    out = decode_wav_op(
        string_tensor(contents),
        desired_channels=within(op, desired_channels, "desired_channels", -1, _MOST),
        desired_samples=within(op, desired_samples, "desired_samples", -1, _MOST),
        name=name,
    )
    return DecodeWav(*out)


def _encode_infer(audio: TensorSpec, sample_rate: TensorSpec) -> TensorSpec:
    rules.check_rank("encode_wav", audio, 2, name="audio")
    check_one("encode_wav", sample_rate, "sample_rate")
    return TensorSpec.of(string, ())


def _encode_kernel(xp: ArrayNamespace, audio: Array, sample_rate: Any) -> Array:
    return np.array(wav.encode("encode_wav", audio, int(sample_rate)), object)


encode_wav_op = define_op(
    "EncodeWav",
    args("audio", {float32}) + args("sample_rate", {int32}),
    infer=_encode_infer,
    kernel=_encode_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Sound as a WAV file of 16-bit samples.

    Args:
      audio: a float32 tensor [samples, channels]; numbers are cut off at -1 and 1, NaN is 0.
      sample_rate: how many samples make a second, an int32.
      name: the name of the node in a graph.

    Returns:
      A string.

    Raises:
      tf.errors.InvalidArgumentError: if the rate is not positive, there are no channels, or the
        sound is too long for such a file.
      ShapeError: if `audio` has another rank, or there are several rates.
      DTypeError: if a dtype is another one.

    >>> tf.audio.encode_wav([[0.5], [-0.5]], 8000).numpy()[:4]
    b'RIFF'
    """
    # NumPy's numbers are float64 unless somebody says otherwise.
    samples = audio if isinstance(audio, Tensor) else convert_to_tensor(audio, float32)
    return encode_wav_op(samples, with_hint(sample_rate, int32), name=name)
