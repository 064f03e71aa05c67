"""`tf.sparse`: making sparse tensors, and functions on them."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.sparse.arithmetic import (
    add as add,
    eye as eye,
    map_values as map_values,
    maximum as maximum,
    minimum as minimum,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
    softmax as softmax,
    to_indicator as to_indicator,
)
from weft.ops.sparse.counting import (
    bincount as bincount,
)
from weft.ops.sparse.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from weft.ops.sparse.dense import (
    from_dense as from_dense,
    reorder as reorder,
    sparse_dense_matmul as sparse_dense_matmul,
    to_dense as to_dense,
)
from weft.ops.sparse.reshaping import (
    concat as concat,
    expand_dims as expand_dims,
    fill_empty_rows as fill_empty_rows,
    reset_shape as reset_shape,
    reshape as reshape,
    retain as retain,
    slice as slice,
    split as split,
    transpose as transpose,
)
from weft.ops.sparse.sampling import (
    mask as mask,
    sampled_addmm as sampled_addmm,
)
from weft.ops.sparse.tensor import (
    SparseTensor as SparseTensor,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
