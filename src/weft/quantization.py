"""`tf.quantization`: numbers on few levels, stored as quantized dtypes or simulated in floats."""

from weft._src.ops.quantization.fake import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft._src.ops.quantization.storing import dequantize, quantize, quantized_concat
from weft._src.ops.quantization.there_and_back import (
    quantize_and_dequantize,
    quantize_and_dequantize_v2,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "dequantize",
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "quantize",
    "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
    "quantized_concat",
]

_open_namespace(__name__)
