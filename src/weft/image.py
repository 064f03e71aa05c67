"""`tf.image`: images."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.ops.image.adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    per_image_standardization,
)
from weft._src.ops.image.boxes import draw_bounding_boxes
from weft._src.ops.image.colours import (
    grayscale_to_rgb,
    hsv_to_rgb,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from weft._src.ops.image.converting import convert_image_dtype
from weft._src.ops.image.cropping import (
    central_crop,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize_with_crop_or_pad,
)
from weft._src.ops.image.edges import image_gradients, sobel_edges, total_variation
from weft._src.ops.image.flipping import flip_left_right, flip_up_down, rot90, transpose
from weft._src.ops.image.glimpses import extract_glimpse
from weft._src.ops.image.patches import crop_and_resize, extract_patches
from weft._src.ops.image.quality import psnr, ssim, ssim_multiscale
from weft._src.ops.image.random_boxes import (
    sample_distorted_bounding_box,
    stateless_sample_distorted_bounding_box,
)
from weft._src.ops.image.random_places import (
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
)
from weft._src.ops.image.randomly import (
    random_brightness,
    random_contrast,
    random_hue,
    random_saturation,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_hue,
    stateless_random_saturation,
)
from weft._src.ops.image.resizing import ResizeMethod, resize, resize_with_pad
from weft._src.ops.image.suppressing_many import (
    combined_non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
)
from weft._src.ops.image.suppression import (
    non_max_suppression,
    non_max_suppression_with_scores,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

if _TYPE_CHECKING:
    from weft._src.media.jpeg_quality import (
        adjust_jpeg_quality as adjust_jpeg_quality,
        random_jpeg_quality as random_jpeg_quality,
        stateless_random_jpeg_quality as stateless_random_jpeg_quality,
    )
    from weft.io import (
        decode_and_crop_jpeg as decode_and_crop_jpeg,
        decode_bmp as decode_bmp,
        decode_gif as decode_gif,
        decode_image as decode_image,
        decode_jpeg as decode_jpeg,
        decode_png as decode_png,
        decode_webp as decode_webp,
        encode_jpeg as encode_jpeg,
        encode_png as encode_png,
        extract_jpeg_shape as extract_jpeg_shape,
        is_jpeg as is_jpeg,
    )

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_jpeg_quality",
    "adjust_saturation",
    "central_crop",
    "combined_non_max_suppression",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "draw_bounding_boxes",
    "encode_jpeg",
    "encode_png",
    "extract_glimpse",
    "extract_jpeg_shape",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
    "is_jpeg",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
    "pad_to_bounding_box",
    "per_image_standardization",
    "psnr",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "resize",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sample_distorted_bounding_box",
    "sobel_edges",
    "ssim",
    "ssim_multiscale",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_jpeg_quality",
    "stateless_random_saturation",
    "stateless_sample_distorted_bounding_box",
    "total_variation",
    "transpose",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

# What reads and writes files is imported when it is used.
_CODECS = """
    decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp
    encode_jpeg encode_png extract_jpeg_shape is_jpeg
""".split()  # noqa: SIM905
_QUALITIES = ("adjust_jpeg_quality", "random_jpeg_quality", "stateless_random_jpeg_quality")
_LAZY = dict.fromkeys(_CODECS, "weft.io")
_LAZY |= dict.fromkeys(_QUALITIES, "weft._src.media.jpeg_quality")
_open_namespace(__name__, lazy=_LAZY)
