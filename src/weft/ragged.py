"""`tf.ragged`: making ragged tensors, and functions on them."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.ragged.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from weft.ops.ragged.elementwise import (
    map_flat_values as map_flat_values,
)
from weft.ops.ragged.joining import (
    stack as stack,
)
from weft.ops.ragged.making import (
    boolean_mask as boolean_mask,
    constant as constant,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack_dynamic_partitions as stack_dynamic_partitions,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
