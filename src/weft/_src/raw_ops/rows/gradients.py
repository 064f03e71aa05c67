"""Rows of gradients."""

from __future__ import annotations

ROWS = """
CholeskyGrad: raw.gradients.of_cholesky(l grad)
EluGrad: raw.gradients.of_elu(gradients outputs)
InvGrad: raw.gradients.of_reciprocal(y dy)
LeakyReluGrad: raw.gradients.of_leaky_relu(gradients features alpha=0.2)
MirrorPadGrad: raw.gradients.of_mirror_pad(input paddings mode)
PreventGradient: raw.gradients.prevented(input message='')
ReciprocalGrad: raw.gradients.of_reciprocal(y dy)
RsqrtGrad: raw.gradients.of_rsqrt(y dy)
SeluGrad: raw.gradients.of_selu(gradients outputs)
SigmoidGrad: raw.gradients.of_sigmoid(y dy)
SoftplusGrad: raw.gradients.of_softplus(gradients features)
SoftsignGrad: raw.gradients.of_softsign(gradients features)
SparseSegmentMeanGrad: raw.gradients.of_segment_mean(grad indices segment_ids output_dim0)
SparseSegmentSqrtNGrad: raw.gradients.of_segment_sqrt_n(grad indices segment_ids output_dim0)
SparseSegmentSumGrad: raw.gradients.of_segment_sum(grad indices segment_ids output_dim0)
SqrtGrad: raw.gradients.of_sqrt(y dy)
StridedSliceGrad: raw.gradients.of_strided_slice(shape begin end strides dy begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0)
TanhGrad: raw.gradients.of_tanh(y dy)
TileGrad: raw.gradients.of_tile(input multiples)
"""  # noqa: E501
