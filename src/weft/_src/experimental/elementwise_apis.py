"""Which public functions work element by element: what `dispatch_for_*_elementwise_apis` is for."""

from __future__ import annotations

from typing import Any

import weft as tf

UNARY = (
    "abs acos acosh asin asinh atan atanh cast clip_by_value cos cosh exp floor identity negative "
    "ones_like round saturate_cast sigmoid sign sin sinh sqrt square tan tanh zeros_like "
    "bitwise.invert debugging.check_numerics "
    "image.adjust_brightness image.adjust_gamma image.convert_image_dtype image.random_brightness "
    "image.stateless_random_brightness "
    "io.decode_base64 io.decode_compressed io.encode_base64 "
    "math.angle math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.ceil math.conj "
    "math.digamma math.erf math.erfc math.erfcinv math.erfinv math.expm1 math.imag math.is_finite "
    "math.is_inf math.is_nan math.lgamma math.log math.log1p math.log_sigmoid math.logical_not "
    "math.ndtri math.nextafter math.real math.reciprocal math.reciprocal_no_nan math.rint "
    "math.rsqrt math.softplus math.softsign "
    "math.special.bessel_j0 math.special.bessel_j1 math.special.bessel_k0 "
    "math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e "
    "math.special.bessel_y0 math.special.bessel_y1 math.special.dawsn math.special.expint "
    "math.special.fresnel_cos math.special.fresnel_sin math.special.spence "
    "nn.elu nn.gelu nn.leaky_relu nn.log_softmax nn.relu nn.relu6 nn.selu nn.silu "
    "strings.as_string strings.length strings.lower strings.regex_full_match "
    "strings.regex_replace strings.strip strings.substr strings.to_hash_bucket "
    "strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number "
    "strings.unicode_transcode strings.upper"
)
BINARY = (
    "add atan2 complex divide equal greater greater_equal less less_equal logical_and logical_or "
    "maximum minimum multiply not_equal pow realdiv scalar_mul subtract truediv truncatediv "
    "truncatemod bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift "
    "bitwise.right_shift math.divide_no_nan math.floordiv math.floormod math.logical_xor "
    "math.multiply_no_nan math.squared_difference math.xdivy math.xlog1py math.xlogy math.zeta "
    "nn.sigmoid_cross_entropy_with_logits"
)
BINARY_ASSERTIONS = (
    "debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal "
    "debugging.assert_less debugging.assert_less_equal debugging.assert_near "
    "debugging.assert_none_equal"
)


def functions(names: str) -> list[Any]:
    """The public functions of a table; a function with two names stands once."""
    found = []
    for path in names.split():
        value: Any = tf
        for part in path.split("."):
            value = getattr(value, part)
        if value not in found:
            found.append(value)
    return found
