"""JPEG files as tensors: `decode_jpeg`, `decode_and_crop_jpeg`, `extract_jpeg_shape`, `is_jpeg`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.dtypes import STRING, DType, int32, int64, uint8
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.media import formats, jpeg
from weft._src.media.arguments import (
    bytes_in,
    channel_count,
    check_one,
    flag,
    one_of,
    with_hint,
    word,
)
from weft._src.media.decoding import image_spec
from weft._src.media.formats import JPEG
from weft._src.media.jpeg_header import MAGIC
from weft._src.ops import rules
from weft._src.ops.elementwise.comparison import equal
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings.elements import string_tensor
from weft._src.ops.strings.text import substr

Array = np.ndarray[Any, Any]

_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


def _attributes(
    op: str,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: str,
) -> dict[str, Any]:
    """The arguments of both functions, checked."""
    if isinstance(acceptable_fraction, bool) or not isinstance(
        acceptable_fraction, (int, float, np.integer, np.floating)
    ):
        raise TypeError(f"{op}: acceptable_fraction must be a number, got {acceptable_fraction!r}.")
    return {
        "channels": channel_count(op, channels),
        "ratio": one_of(op, ratio, "ratio", (1, 2, 4, 8)),
        "fancy_upscaling": flag(op, fancy_upscaling, "fancy_upscaling"),
        "try_recover_truncated": flag(op, try_recover_truncated, "try_recover_truncated"),
        "acceptable_fraction": float(acceptable_fraction),
        "dct_method": word(op, dct_method, "dct_method", _METHODS),
    }


@functools.lru_cache(64)
def _choices(
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    acceptable_fraction: float,
    dct_method: str,
) -> jpeg.Choices:
    return jpeg.Choices(
        channels=channels,
        ratio=ratio,
        blends=fancy_upscaling,
        is_fast=dct_method != "INTEGER_ACCURATE",
        completes=try_recover_truncated,
        accepted=acceptable_fraction,
    )


# --- whole images --------------------------------------------------------------------------------


def _decode_infer(contents: TensorSpec, *, channels: int, **_: Any) -> TensorSpec:
    return image_spec("decode_jpeg", contents, channels)


def _decode_kernel(xp: ArrayNamespace, contents: Any, **attrs: Any) -> Array:
    op, channels = "decode_jpeg", attrs["channels"]
    return formats.still_image(op, bytes_in(contents), channels, uint8, _choices(**attrs))


decode_jpeg_op = define_op(
    "DecodeJpeg",
    args("contents", STRING),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image in a JPEG file. Needs Pillow: `pip install 'weft[image]'`.

    Pixels are those of TensorFlow, bit by bit, as both use libjpeg-turbo, with two exceptions: the
    accurate transform goes with `fancy_upscaling` only, and files in CMYK or RGB whose colours are
    stored for every second pixel only are always transformed accurately if these blend. There, some
    values differ by up to 5 of 255. A PNG file is read, too, and a GIF file of one frame.

    Args:
      contents: the bytes of the file, one string.
      channels: how many the image shall have: 1 is grey, 3 RGB; 0 is what the file has.
      ratio: 1, 2, 4 or 8, by which height and width are divided while decoding.
      fancy_upscaling: whether colours that are stored for every second pixel blend.
      try_recover_truncated: whether a file that is cut short is decoded as far as it goes; the
        blocks at its end and behind it are then grey or otherwise wrong.
      acceptable_fraction: the part of the rows that must be there; the others are black then.
      dct_method: "INTEGER_ACCURATE", or "INTEGER_FAST", which is the default.
      name: the name of the node in a graph.

    Returns:
      A uint8 tensor [height, width, channels].

    Raises:
      tf.errors.InvalidArgumentError: if it is no such file, or damaged; or if an argument is
        another number or word.
      TypeError: if an argument is of another type.
      ModuleNotFoundError: if Pillow is not there.

    >>> file = tf.io.encode_jpeg(tf.fill([16, 24, 3], tf.constant(128, tf.uint8)))
    >>> tf.io.decode_jpeg(file, ratio=2).shape
    TensorShape([8, 12, 3])
    """
    attrs = _attributes(
        "decode_jpeg", channels, ratio, fancy_upscaling, try_recover_truncated,
        acceptable_fraction, dct_method,
    )  # fmt: skip
    return decode_jpeg_op(string_tensor(contents), name=name, **attrs)


# --- parts of images -----------------------------------------------------------------------------

_CROP = "decode_and_crop_jpeg"


def _crop_infer(
    contents: TensorSpec, crop_window: TensorSpec, *, channels: int, **_: Any
) -> TensorSpec:
    check_one(_CROP, contents)
    rules.check_rank(_CROP, crop_window, 1, name="crop_window")
    if crop_window.dims is not None:
        rules.unify(_CROP, crop_window.dims[0], 4, "numbers in crop_window")
    window = rules.known(crop_window) or [Dim() for _ in range(4)]
    if any(not isinstance(n, Dim) and n < 0 for n in window):
        raise ShapeError(f"{_CROP}: crop_window must not be negative, got {window}.")
    return TensorSpec.of(uint8, (*window[2:], channels or Dim()))


def _crop_kernel(xp: ArrayNamespace, contents: Any, crop_window: Any, **attrs: Any) -> Array:
    data = bytes_in(contents)
    form = formats.format_of(_CROP, data)
    if form != JPEG:
        raise formats.refuse(_CROP, form)
    top, left, height, width = np.asarray(crop_window).tolist()
    return jpeg.decode(_CROP, data, _choices(**attrs), (top, left, height, width))


decode_and_crop_jpeg_op = define_op(
    "DecodeAndCropJpeg",
    args("contents", STRING) + args("crop_window", {int32}, is_shape=True),
    infer=_crop_infer,
    kernel=_crop_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of the image in a JPEG file. Needs Pillow: `pip install 'weft[image]'`.

    It is what `decode_jpeg` gives there, but that the first and last column blend colours with
    fewer neighbours, as in TensorFlow; with the accurate transform they do not.

    Args:
      contents: the bytes of the file, one string.
      crop_window: the first row and column, height and width: four int32.
      channels: as in `decode_jpeg`.
      ratio: as in `decode_jpeg`; the window is one of the smaller image.
      fancy_upscaling: as in `decode_jpeg`.
      try_recover_truncated: as in `decode_jpeg`.
      acceptable_fraction: as in `decode_jpeg`.
      dct_method: as in `decode_jpeg`.
      name: the name of the node in a graph.

    Returns:
      A uint8 tensor [height, width, channels].

    Raises:
      tf.errors.InvalidArgumentError: if it is no JPEG file, or damaged; if the window is not within
        the image; or if an argument is another number or word.
      TypeError: if an argument is of another type.
      ModuleNotFoundError: if Pillow is not there.

    >>> file = tf.io.encode_jpeg(tf.fill([16, 24, 3], tf.constant(128, tf.uint8)))
    >>> tf.io.decode_and_crop_jpeg(file, [2, 3, 5, 7]).shape
    TensorShape([5, 7, 3])
    """
    attrs = _attributes(
        _CROP, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
        dct_method,
    )  # fmt: skip
    window = with_hint(crop_window, int32)
    return decode_and_crop_jpeg_op(string_tensor(contents), window, name=name, **attrs)


# --- what a file is ------------------------------------------------------------------------------


def _shape_infer(contents: TensorSpec, *, output_type: DType) -> TensorSpec:
    check_one("extract_jpeg_shape", contents)
    return TensorSpec.of(output_type, (3,))


def _shape_kernel(xp: ArrayNamespace, contents: Any, *, output_type: DType) -> Array:
    op = "extract_jpeg_shape"
    data = bytes_in(contents)
    form = formats.format_of(op, data)
    if form != JPEG:
        raise formats.refuse(op, form)
    return np.array(jpeg.shape_of(op, data), output_type.numpy_dtype)


extract_jpeg_shape_op = define_op(
    "ExtractJpegShape",
    args("contents", STRING),
    infer=_shape_infer,
    kernel=_shape_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def extract_jpeg_shape(
    contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """The height, width and number of channels of a JPEG file, read from its header.

    Args:
      contents: the bytes of the file, one string.
      output_type: int32 or int64.
      name: the name of the node in a graph.

    Returns:
      Three integers.

    Raises:
      tf.errors.InvalidArgumentError: if it is no JPEG file.
      TypeError: if `output_type` is another dtype.

    >>> file = tf.io.encode_jpeg(tf.fill([16, 24, 3], tf.constant(128, tf.uint8)))
    >>> tf.io.extract_jpeg_shape(file).numpy()
    array([16, 24,  3], dtype=int32)
    """
    op = "extract_jpeg_shape"
    wanted = dtypes.as_dtype(output_type)
    if wanted not in (int32, int64):
        raise TypeError(f"{op}: output_type must be int32 or int64, got {wanted.name}.")
    return extract_jpeg_shape_op(string_tensor(contents), output_type=wanted, name=name)


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    r"""Whether strings begin as JPEG files do.

    Args:
      contents: strings of any shape.
      name: the name of the node in a graph.

    Returns:
      A bool tensor of the shape of `contents`.

    Raises:
      DTypeError: if `contents` are no strings.

    >>> tf.io.is_jpeg([b"\xff\xd8\xff\xe0 and more", b"\x89PNG"]).numpy()
    array([ True, False])
    """
    return equal(substr(string_tensor(contents), 0, len(MAGIC)), MAGIC, name=name)
