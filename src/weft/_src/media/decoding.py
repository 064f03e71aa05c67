"""Images from files: `decode_png`, `decode_gif`, `decode_image` and so on; JPEG has a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.dtypes import STRING, DType, float32, uint8, uint16
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.media import bmp, formats, webp
from weft._src.media.arguments import bytes_in, channel_count, check_one, flag, pixel_dtype
from weft._src.media.formats import BMP, GIF, WEBP
from weft._src.media.jpeg import Choices
from weft._src.ops.image.converting import convert_image_dtype
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings.elements import string_tensor

Array = np.ndarray[Any, Any]

_CONTENTS = args("contents", STRING)


def image_spec(op: str, contents: TensorSpec, channels: int, dtype: DType = uint8) -> TensorSpec:
    """What an image from a file is: only the channels may be known."""
    check_one(op, contents)
    return TensorSpec.of(dtype, (Dim(), Dim(), channels or Dim()))


def _frames_spec(op: str, contents: TensorSpec, channels: int) -> TensorSpec:
    check_one(op, contents)
    return TensorSpec.of(uint8, (Dim(), Dim(), Dim(), channels or Dim()))


# --- PNG -----------------------------------------------------------------------------------------


def _png_kernel(xp: ArrayNamespace, contents: Any, *, channels: int, dtype: DType) -> Array:
    op = "decode_png"
    return formats.still_image(op, bytes_in(contents), channels, dtype, Choices(channels))


decode_png_op = define_op(
    "DecodePng",
    _CONTENTS,
    infer=lambda contents, *, channels, dtype: image_spec("decode_png", contents, channels, dtype),
    kernel=_png_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_png(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None
) -> Tensor:
    """The image in a PNG file. Needs no other library.

    A JPEG file is read, too, and a GIF file of one frame.

    Args:
      contents: the bytes of the file, one string.
      channels: how many the image shall have: 1 is grey, 3 RGB, 4 RGB and opacity; 0 is what the
        file has, where 2 is grey and opacity.
      dtype: uint8 or uint16, into which samples of the file are brought.
      name: the name of the node in a graph.

    Returns:
      A tensor [height, width, channels].

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or for other channels.
      TypeError: if `dtype` is another one.

    >>> file = tf.io.encode_png(tf.constant([[[255, 0, 0], [0, 0, 255]]], tf.uint8))
    >>> tf.io.decode_png(file).numpy()
    array([[[255,   0,   0],
            [  0,   0, 255]]], dtype=uint8)
    >>> tf.io.decode_png(file, channels=1).numpy()[..., 0]
    array([[76, 29]], dtype=uint8)
    """
    count = channel_count("decode_png", channels)
    wanted = pixel_dtype("decode_png", dtype, (uint8, uint16))
    return decode_png_op(string_tensor(contents), channels=count, dtype=wanted, name=name)


# --- BMP -----------------------------------------------------------------------------------------


def _bmp_kernel(xp: ArrayNamespace, contents: Any, *, channels: int) -> Array:
    data = bytes_in(contents)
    form = formats.format_of("decode_bmp", data)
    if form != BMP:
        raise formats.refuse("decode_bmp", form)
    return bmp.decode("decode_bmp", data, channels)


decode_bmp_op = define_op(
    "DecodeBmp",
    _CONTENTS,
    infer=lambda contents, *, channels: image_spec("decode_bmp", contents, channels),
    kernel=_bmp_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The image in a BMP file of 8, 24 or 32 bits that is not compressed. Needs no other library.

    Args:
      contents: the bytes of the file, one string.
      channels: how many the image shall have: 3 is RGB, 4 RGB and opacity; 0 is what the file has.
        A file of 8 bits has one: its numbers, whatever its palette says.
      name: the name of the node in a graph.

    Returns:
      A uint8 tensor [height, width, channels].

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or for other channels.

    >>> import struct
    >>> header = struct.pack("<2sI4xIIiiHH24x", b"BM", 62, 54, 40, 1, 2, 1, 24)
    >>> tf.io.decode_bmp(header + bytes([1, 2, 3, 0, 4, 5, 6, 0])).numpy().tolist()
    [[[6, 5, 4]], [[3, 2, 1]]]
    """
    count = channel_count("decode_bmp", channels)
    return decode_bmp_op(string_tensor(contents), channels=count, name=name)


# --- GIF and WebP --------------------------------------------------------------------------------


def _gif_kernel(xp: ArrayNamespace, contents: Any) -> Array:
    data = bytes_in(contents)
    form = formats.format_of("decode_gif", data)
    if form == GIF:
        return formats.gif_frames("decode_gif", data, 3)
    if form == WEBP:
        return webp.decode("decode_gif", data, 3)
    return formats.still_image("decode_gif", data, 3, uint8, Choices(3))[None]


decode_gif_op = define_op(
    "DecodeGif",
    _CONTENTS,
    infer=lambda contents: _frames_spec("decode_gif", contents, 3),
    kernel=_gif_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF file. Needs Pillow: `pip install 'weft[image]'`.

    All frames are as large as the largest. What a frame does not cover, or where it is transparent,
    is as in the frame before, or black. If a frame is damaged, those before it are the result, and
    a warning is logged. The image of a JPEG or PNG file is one frame.

    Args:
      contents: the bytes of the file, one string.
      name: the name of the node in a graph.

    Returns:
      A uint8 tensor [frames, height, width, 3].

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged.
      ModuleNotFoundError: if Pillow is not there.

    >>> file = bytes.fromhex(
    ...     "47494638376102000100810000000000ffffff0000000000002c"
    ...     "00000000020001000008050001040808003b"
    ... )
    >>> tf.io.decode_gif(file).numpy().tolist()
    [[[[0, 0, 0], [255, 255, 255]]]]
    """
    return decode_gif_op(string_tensor(contents), name=name)


def _webp_kernel(xp: ArrayNamespace, contents: Any, *, channels: int, dtype: DType) -> Array:
    data = bytes_in(contents)
    form = formats.format_of("decode_webp", data)
    if form != WEBP:
        raise formats.refuse("decode_webp", form)
    return webp.decode("decode_webp", data, channels)


decode_webp_op = define_op(
    "DecodeWebP",
    _CONTENTS,
    infer=lambda contents, *, channels, dtype: _frames_spec("decode_webp", contents, channels),
    kernel=_webp_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_webp(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None
) -> Tensor:
    """The frames of a WebP file. Needs Pillow: `pip install 'weft[image]'`.

    Args:
      contents: the bytes of the file, one string.
      channels: 3 (RGB) or 4 (RGB and opacity), which must be what the file has; 0 is that.
        Animations have 4.
      dtype: uint8.
      name: the name of the node in a graph.

    Returns:
      A uint8 tensor [frames, height, width, channels], also of a file that does not move.

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or for other channels.
      TypeError: if `dtype` is another one.
      ModuleNotFoundError: if Pillow is not there.

    >>> file = bytes.fromhex(
    ...     "524946461c000000574542505650384c0f0000002f000000000710fd8ffe0722a2ff0100"
    ... )
    >>> tf.io.decode_webp(file).numpy().tolist()
    [[[[255, 0, 0]]]]
    """
    count = channel_count("decode_webp", channels)
    wanted = pixel_dtype("decode_webp", dtype, (uint8,))
    return decode_webp_op(string_tensor(contents), channels=count, dtype=wanted, name=name)


# --- any format ----------------------------------------------------------------------------------


def _image_infer(
    contents: TensorSpec, *, channels: int, dtype: DType, expand_animations: bool
) -> TensorSpec:
    image = image_spec("decode_image", contents, channels, dtype)
    return TensorSpec.of(dtype, None) if expand_animations else image


def _image_kernel(
    xp: ArrayNamespace, contents: Any, *, channels: int, dtype: DType, expand_animations: bool
) -> Array:
    op = "decode_image"
    return formats.any_image(op, bytes_in(contents), channels, dtype, expand_animations)


decode_image_op = define_op(
    "DecodeImage",
    _CONTENTS,
    infer=_image_infer,
    kernel=_image_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image in a JPEG, PNG, GIF, BMP or WebP file, whichever it is.

    JPEG, GIF and WebP files need Pillow: `pip install 'weft[image]'`.

    Args:
      contents: the bytes of the file, one string.
      channels: how many the image shall have: 1 is grey, 3 RGB, 4 RGB and opacity; None or 0 is
        what the file has. Not every format can have all of them.
      dtype: uint8; uint16 or another integer, up to its largest value; or a float, from 0 to 1.
      name: the name of the node in a graph.
      expand_animations: whether GIF and WebP files have an axis of frames in front. If not, only
        the first frame is there, and while tracing the rank of the result is known.

    Returns:
      A tensor [height, width, channels], or [frames, height, width, channels].

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or if its format cannot
        have these channels, or this dtype.
      TypeError: if `dtype` is no number, or `expand_animations` no bool.
      ModuleNotFoundError: if Pillow is needed and not there.

    >>> file = tf.io.encode_png(tf.constant([[[0], [255]]], tf.uint8))
    >>> tf.io.decode_image(file, dtype=tf.float32).numpy().tolist()
    [[[0.0], [1.0]]]
    """
    op = "decode_image"
    count = channel_count(op, channels)
    expands = flag(op, expand_animations, "expand_animations")
    wanted = dtypes.as_dtype(dtype)
    if not (wanted.is_integer or wanted.is_floating):
        raise TypeError(f"{op}: dtype must be a real number, got {wanted.name}.")
    decoded = wanted if wanted in (uint8, uint16, float32) else uint16
    image = decode_image_op(
        string_tensor(contents), channels=count, dtype=decoded, expand_animations=expands, name=name
    )
    return image if decoded is wanted else convert_image_dtype(image, wanted)
