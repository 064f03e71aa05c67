"""`tf.sparse`: making sparse tensors, and functions on them."""

from weft._src.ops.sparse.arithmetic import (
    add,
    eye,
    map_values,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    softmax,
    to_indicator,
)
from weft._src.ops.sparse.counting import bincount
from weft._src.ops.sparse.crossing import cross, cross_hashed
from weft._src.ops.sparse.dense import from_dense, reorder, sparse_dense_matmul, to_dense
from weft._src.ops.sparse.reshaping import (
    concat,
    expand_dims,
    fill_empty_rows,
    reset_shape,
    reshape,
    retain,
    slice,
    split,
    transpose,
)
from weft._src.ops.sparse.sampling import mask, sampled_addmm
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "SparseTensor",
    "add",
    "bincount",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "mask",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "sampled_addmm",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]

_open_namespace(__name__)
