"""`tf.nn`: neural-network functions."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.nn import (
    experimental as experimental,
)
from weft.ops.array.space import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from weft.ops.linalg.norms import (
    l2_normalize as l2_normalize,
)
from weft.ops.math.special import (
    softplus as softplus,
)
from weft.ops.math.unary import (
    sigmoid as sigmoid,
    tanh as tanh,
)
from weft.ops.nn.activations import (
    crelu as crelu,
    elu as elu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    silu as silu,
    softsign as softsign,
    swish as swish,
)
from weft.ops.nn.argmax_pooling import (
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from weft.ops.nn.convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
)
from weft.ops.nn.ctc import (
    collapse_repeated as collapse_repeated,
    ctc_greedy_decoder as ctc_greedy_decoder,
    ctc_loss as ctc_loss,
)
from weft.ops.nn.depthwise import (
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from weft.ops.nn.dropout import (
    dropout as dropout,
)
from weft.ops.nn.embeddings import (
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from weft.ops.nn.general_convolution import (
    atrous_conv2d as atrous_conv2d,
    conv1d_transpose as conv1d_transpose,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
    convolution as convolution,
)
from weft.ops.nn.losses import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from weft.ops.nn.morphology import (
    dilation2d as dilation2d,
    erosion2d as erosion2d,
)
from weft.ops.nn.normalization import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    moments as moments,
    zero_fraction as zero_fraction,
)
from weft.ops.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from weft.ops.nn.softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from weft.ops.nn.statistics import (
    local_response_normalization as local_response_normalization,
    lrn as lrn,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from weft.ops.reduce.order import (
    top_k as top_k,
)
from weft.ops.reduce.ranking import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
