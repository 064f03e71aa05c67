"""`tf.nn`: neural-network functions."""

from weft._src.ops.arrays.space import depth_to_space, space_to_batch, space_to_depth
from weft._src.ops.elementwise.special import softplus
from weft._src.ops.elementwise.trigonometry import tanh
from weft._src.ops.elementwise.unary import sigmoid
from weft._src.ops.linalg.norms import l2_normalize
from weft._src.ops.nn.activations import (
    crelu,
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    softsign,
    swish,
)
from weft._src.ops.nn.argmax_pooling import max_pool_with_argmax, pool
from weft._src.ops.nn.convolution import conv1d, conv2d, conv2d_transpose, conv3d
from weft._src.ops.nn.ctc import ctc_greedy_decoder, ctc_loss
from weft._src.ops.nn.ctc_beams import ctc_beam_search_decoder
from weft._src.ops.nn.ctc_labels import collapse_repeated, ctc_unique_labels
from weft._src.ops.nn.depthwise import (
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    separable_conv2d,
)
from weft._src.ops.nn.dropout import dropout
from weft._src.ops.nn.embeddings import (
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from weft._src.ops.nn.fractional_pooling import fractional_avg_pool, fractional_max_pool
from weft._src.ops.nn.general_convolution import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d_transpose,
    conv3d_transpose,
    conv_transpose,
    convolution,
    with_space_to_batch,
)
from weft._src.ops.nn.isotonic import isotonic_regression
from weft._src.ops.nn.losses import (
    compute_average_loss,
    l2_loss,
    log_poisson_loss,
    scale_regularization_loss,
    sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from weft._src.ops.nn.moments import (
    local_response_normalization,
    lrn,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from weft._src.ops.nn.morphology import dilation2d, erosion2d
from weft._src.ops.nn.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    bias_add,
    moments,
    zero_fraction,
)
from weft._src.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from weft._src.ops.nn.sampled_losses import compute_accidental_hits, nce_loss, sampled_softmax_loss
from weft._src.ops.nn.softmax import (
    log_softmax,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from weft._src.ops.reduce.order import top_k
from weft._src.ops.reduce.ranking import approx_max_k, approx_min_k, in_top_k
from weft._src.ops.sampling.candidates import all_candidate_sampler, fixed_unigram_candidate_sampler
from weft._src.ops.sampling.learned_candidates import learned_unigram_candidate_sampler
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.nn import experimental

__all__ = [
    "all_candidate_sampler",
    "approx_max_k",
    "approx_min_k",
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "collapse_repeated",
    "compute_accidental_hits",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_beam_search_decoder",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_unique_labels",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dilation2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "erosion2d",
    "experimental",
    "fixed_unigram_candidate_sampler",
    "fractional_avg_pool",
    "fractional_max_pool",
    "gelu",
    "in_top_k",
    "isotonic_regression",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "learned_unigram_candidate_sampler",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "safe_embedding_lookup_sparse",
    "sampled_softmax_loss",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "zero_fraction",
]

_open_namespace(__name__)
