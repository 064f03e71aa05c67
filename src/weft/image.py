"""`tf.image`: images."""

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
from weft._src.ops.image.patches import crop_and_resize, extract_patches
from weft._src.ops.image.quality import psnr, ssim, ssim_multiscale
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

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "combined_non_max_suppression",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "draw_bounding_boxes",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
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
    "random_saturation",
    "resize",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sobel_edges",
    "ssim",
    "ssim_multiscale",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_saturation",
    "total_variation",
    "transpose",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

_open_namespace(__name__)
