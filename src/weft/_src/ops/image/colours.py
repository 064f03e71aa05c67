"""Colour spaces: channels mixed into others."""

from __future__ import annotations

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import adopt
from weft._src.core.dtypes import FLOATING, float32
from weft._src.core.tensor import Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import fill, joining, selection
from weft._src.ops.elementwise import arithmetic, clipping, unary
from weft._src.ops.image.converting import convert_image_dtype
from weft._src.ops.image.images import numeric_image, with_channels
from weft._src.ops.linalg import einsum
from weft._src.ops.programs import as_program

Channels = tuple[Tensor, Tensor, Tensor]

# One row for each channel that is mixed, one column for each that comes out.
_RGB_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_YIQ_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_RGB_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_YUV_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.0, -0.394642334, 2.03206185),
    (1.13988303, -0.58062185, 0.0),
)
_GREY = ((0.2989,), (0.587,), (0.114,))


def _mixed(x: Tensor, matrix: tuple[tuple[float, ...], ...]) -> Tensor:
    """Each pixel times a matrix."""
    return einsum.einsum("...i,ij->...j", x, adopt(matrix, x.dtype))


def _floating(op: str, value: TensorLike) -> Tensor:
    x = with_channels(op, value, 3)
    rules.check_dtype(op, x.dtype, FLOATING, name="images")
    return x


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Colours as brightness and the two differences of the NTSC standard.

    Args:
      images: floating numbers [..., 3].

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.rgb_to_yiq([[[1.0, 1.0, 1.0]]]).numpy().round(3)[0, 0, 0]
    np.float32(1.0)
    """
    return _mixed(_floating("rgb_to_yiq", images), _RGB_TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Red, green and blue of colours that `tf.image.rgb_to_yiq` gives.

    Args:
      images: floating numbers [..., 3].

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.yiq_to_rgb([[[0.5, 0.0, 0.0]]]).numpy()
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed(_floating("yiq_to_rgb", images), _YIQ_TO_RGB)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Colours as brightness and the two differences of the PAL standard.

    Args:
      images: floating numbers [..., 3].

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.rgb_to_yuv([[[0.0, 1.0, 0.0]]]).numpy().round(3)
    array([[[ 0.587, -0.289, -0.515]]], dtype=float32)
    """
    return _mixed(_floating("rgb_to_yuv", images), _RGB_TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Red, green and blue of colours that `tf.image.rgb_to_yuv` gives.

    Args:
      images: floating numbers [..., 3].

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.yuv_to_rgb([[[0.5, 0.0, 0.0]]]).numpy()
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed(_floating("yuv_to_rgb", images), _YUV_TO_RGB)


# --- grey ----------------------------------------------------------------------------------------


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """The brightness of colours: one channel.

    Args:
      images: real numbers [..., 3].

    Returns:
      A tensor [..., 1] of the dtype of `images`.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not real numbers.

    >>> tf.image.rgb_to_grayscale(tf.constant([[[255, 0, 0]]], tf.uint8)).numpy()
    array([[[76]]], dtype=uint8)
    """
    x = with_channels("rgb_to_grayscale", images, 3)
    numeric_image("rgb_to_grayscale", x, "images")
    floats = convert_image_dtype(x, float32)
    return convert_image_dtype(_mixed(floats, _GREY), x.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """One channel as three equal ones.

    Args:
      images: a tensor [..., 1].

    Returns:
      A tensor [..., 3] of the same dtype.

    Raises:
      ShapeError: if there is not one channel.

    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy()
    array([[[7, 7, 7]]], dtype=int32)
    """
    x = with_channels("grayscale_to_rgb", images, 1)
    return joining.concat([x, x, x], -1)


# --- hue, saturation, value ----------------------------------------------------------------------


def channels_of(x: Tensor) -> Channels:
    """The three channels; that there are three is checked when the graph runs, too."""
    red, green, blue = joining.unstack(x, 3, -1)
    return red, green, blue


def hue_in_sixths(rgb: Channels, most: Tensor, span: Tensor) -> Tensor:
    """The hue in [-1, 5]: red is 0, green 2, blue 4; 0 where all channels are equal."""
    red, green, blue = rgb
    is_grey = span == 0.0
    share = 1.0 / selection.where(is_grey, fill.ones_like(span), span)
    hue = selection.where(
        most == red,
        (green - blue) * share,
        selection.where(most == green, 2.0 + (blue - red) * share, 4.0 + (red - green) * share),
    )
    return selection.where(is_grey, fill.zeros_like(hue), hue)


def of_hue(hue: Tensor) -> Channels:
    """How much of each channel, from 0 to 1, a hue in [0, 6] has."""
    return (
        clipping.clip_by_value(unary.abs(hue - 3.0) - 1.0, 0.0, 1.0),
        clipping.clip_by_value(2.0 - unary.abs(hue - 2.0), 0.0, 1.0),
        clipping.clip_by_value(2.0 - unary.abs(hue - 4.0), 0.0, 1.0),
    )


def extremes(rgb: Channels) -> tuple[Tensor, Tensor]:
    """The smallest and the largest channel."""
    red, green, blue = rgb
    least = arithmetic.minimum(arithmetic.minimum(red, green), blue)
    return least, arithmetic.maximum(arithmetic.maximum(red, green), blue)


def hsv_channels(x: Tensor) -> Channels:
    """Hue, saturation and value of colours."""
    rgb = channels_of(x)
    least, value = extremes(rgb)
    span = value - least
    hue = hue_in_sixths(rgb, value, span) / 6.0
    hue = selection.where(hue < 0.0, hue + 1.0, hue)
    is_light = value > 0.0
    brightness = selection.where(is_light, value, fill.ones_like(value))
    saturation = selection.where(is_light, span / brightness, fill.zeros_like(value))
    return hue, saturation, value


def colours_of(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """The colours that have these hues, saturations and values."""
    parts = [(1.0 - saturation + saturation * part) * value for part in of_hue(hue * 6.0)]
    return joining.stack(parts, -1)


@as_program()
def _hsv_of_rgb(x: Tensor) -> Tensor:
    return joining.stack(hsv_channels(x), -1)


@as_program()
def _rgb_of_hsv(x: Tensor) -> Tensor:
    return colours_of(*channels_of(x))


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Colours as hue, saturation and value, each from 0 to 1.

    Args:
      images: floating numbers [..., 3], from 0 to 1.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.rgb_to_hsv([[[0.0, 0.5, 0.0]]]).numpy().round(3)
    array([[[0.333, 1.   , 0.5  ]]], dtype=float32)
    """
    return _hsv_of_rgb(_floating("rgb_to_hsv", images))


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green and blue of colours given as hue, saturation and value.

    Args:
      images: floating numbers [..., 3], from 0 to 1.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ShapeError: if there are not three channels.
      DTypeError: if `images` are not floating.

    >>> tf.image.hsv_to_rgb([[[0.5, 1.0, 1.0]]]).numpy()
    array([[[0., 1., 1.]]], dtype=float32)
    """
    return _rgb_of_hsv(_floating("hsv_to_rgb", images))
