"""Images as files: `encode_png`, `encode_jpeg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import int32, string, uint8, uint16
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.media import jpeg_writing, png_writing
from weft._src.media.arguments import check_one, flag, with_hint, within, word
from weft._src.media.damage import invalid
from weft._src.ops import batching, rules
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.strings.elements import text_argument

Array = np.ndarray[Any, Any]

# --- PNG -----------------------------------------------------------------------------------------


def _png_infer(image: TensorSpec, *, compression: int) -> TensorSpec:
    rules.check_rank_at_least("encode_png", image, 3, name="image")
    if image.dims is None:
        return TensorSpec.of(string, None)
    _check_sizes("encode_png", image.dims, (1, 2, 3, 4))
    return TensorSpec.of(string, image.dims[:-3])


def _check_sizes(op: str, dims: Any, allowed: tuple[int, ...]) -> None:
    """Refuses images without pixels or with other channels, as far as that is known."""
    if isinstance(dims[-1], int) and dims[-1] not in allowed:
        counts = ", ".join(map(str, allowed))
        raise ShapeError(f"{op}: image must have {counts} channels, got shape {_shown(dims)}.")
    if 0 in (dims[-2], dims[-3]):
        raise ShapeError(f"{op}: image must have pixels, got shape {_shown(dims)}.")


def _shown(dims: Any) -> list[int | None]:
    return [size if isinstance(size, int) else None for size in dims]


def _png_kernel(xp: ArrayNamespace, image: Array, *, compression: int) -> Array:
    _check_sizes("encode_png", image.shape, (1, 2, 3, 4))
    images = image.reshape(-1, *image.shape[-3:])
    files = [png_writing.encode(pixels, compression) for pixels in images]
    out: Array = xp.as_strings(files, image.shape[:-3])
    return out


encode_png_op = define_op(
    "EncodePng",
    args("image", {uint8, uint16}),
    infer=_png_infer,
    kernel=_png_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    batch=batching.first_only,
    fresh=True,
)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    r"""Images as PNG files. Needs no other library.

    Args:
      image: a uint8 or uint16 tensor [..., height, width, channels]: 1 channel is grey, 2 are grey
        and opacity, 3 RGB, 4 RGB and opacity.
      compression: from 0 (none, fast) to 9 (small, slow); -1 is in between.
      name: the name of the node in a graph.

    Returns:
      A string for each image, [...].

    Raises:
      tf.errors.InvalidArgumentError: if `compression` is another number.
      ShapeError: if the shape is another, or there are no pixels.
      DTypeError: if the dtype is another one.

    >>> file = tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8))
    >>> file.numpy()[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    level = within("encode_png", compression, "compression", -1, 9)
    x = with_hint(image, uint8)
    return encode_png_op(x, compression=level, name=name)


# --- JPEG ----------------------------------------------------------------------------------------

_CHANNELS = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}


def _jpeg_infer(image: TensorSpec, *, format: str, **_: Any) -> TensorSpec:
    return _one_file("encode_jpeg", image, _CHANNELS[format])


def _one_file(op: str, image: TensorSpec, channels: tuple[int, ...]) -> TensorSpec:
    rules.check_rank(op, image, 3, name="image")
    if image.dims is not None:
        _check_sizes(op, image.dims, channels)
    return TensorSpec.of(string, ())


def _jpeg_kernel(xp: ArrayNamespace, image: Array, **attrs: Any) -> Array:
    _check_sizes("encode_jpeg", image.shape, _CHANNELS[attrs["format"]])
    choices = jpeg_writing.Choices(
        quality=attrs["quality"],
        is_progressive=attrs["progressive"],
        optimizes=attrs["optimize_size"],
        halves=attrs["chroma_downsampling"],
        unit=attrs["density_unit"],
        density=(attrs["x_density"], attrs["y_density"]),
        description=attrs["xmp_metadata"].encode(),
    )
    return np.array(jpeg_writing.encode("encode_jpeg", image, choices), object)


encode_jpeg_op = define_op(
    "EncodeJpeg",
    args("image", {uint8}),
    infer=_jpeg_infer,
    kernel=_jpeg_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """An image as a JPEG file. Needs Pillow: `pip install 'weft[image]'`.

    Args:
      image: a uint8 tensor [height, width, channels]: 1 channel is grey, 3 are RGB.
      format: "grayscale" or "rgb", which the channels must fit; "" takes either.
      quality: from 0 (small) to 100 (good).
      progressive: whether the file shows a rough image first.
      optimize_size: whether to make the file smaller, which takes longer.
      chroma_downsampling: whether colours are stored for every second pixel only.
      density_unit: of the densities: "in" are pixels per inch, "cm" per centimetre.
      x_density: how dense pixels are across, 0 to 65535.
      y_density: and down.
      xmp_metadata: a description in XMP that becomes part of the file.
      name: the name of the node in a graph.

    Returns:
      A string.

    Raises:
      tf.errors.InvalidArgumentError: if an argument is another number or word.
      ShapeError: if the shape is another, or there are no pixels.
      DTypeError: if the dtype is another one.
      TypeError: if an argument is of another type.
      ModuleNotFoundError: if Pillow is not there.

    >>> file = tf.io.encode_jpeg(tf.fill([16, 24, 3], tf.constant(128, tf.uint8)), quality=80)
    >>> tf.io.is_jpeg(file).numpy()
    np.True_
    """
    op = "encode_jpeg"
    attrs = {
        "format": word(op, format, "format", tuple(_CHANNELS)),
        "quality": within(op, quality, "quality", 0, 100),
        "progressive": flag(op, progressive, "progressive"),
        "optimize_size": flag(op, optimize_size, "optimize_size"),
        "chroma_downsampling": flag(op, chroma_downsampling, "chroma_downsampling"),
        "density_unit": word(op, density_unit, "density_unit", tuple(jpeg_writing.UNITS)),
        "x_density": within(op, x_density, "x_density", 0, 65535),
        "y_density": within(op, y_density, "y_density", 0, 65535),
        "xmp_metadata": text_argument(op, xmp_metadata, "xmp_metadata"),
    }
    return encode_jpeg_op(with_hint(image, uint8), name=name, **attrs)


# --- JPEG of a quality that is computed ----------------------------------------------------------

_VARIABLE = "encode_jpeg_variable_quality"


def _variable_infer(images: TensorSpec, quality: TensorSpec) -> TensorSpec:
    check_one(_VARIABLE, quality, "quality")
    return _one_file(_VARIABLE, images, (1, 3))


def _variable_kernel(xp: ArrayNamespace, images: Array, quality: Any) -> Array:
    _check_sizes(_VARIABLE, images.shape, (1, 3))
    number = int(quality)
    if not 0 <= number <= 100:
        raise invalid(_VARIABLE, f"quality must be from 0 to 100, got {number}.")
    choices = jpeg_writing.Choices(quality=number)
    return np.array(jpeg_writing.encode(_VARIABLE, images, choices), object)


encode_jpeg_variable_quality_op = define_op(
    "EncodeJpegVariableQuality",
    args("images", {uint8}) + args("quality", {int32}),
    infer=_variable_infer,
    kernel=_variable_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)
