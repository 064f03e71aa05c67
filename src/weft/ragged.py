"""`tf.ragged`: making ragged tensors, and functions on them."""

from weft._src.ops.ragged.crossing import cross, cross_hashed
from weft._src.ops.ragged.elementwise import map_flat_values
from weft._src.ops.ragged.joining import stack
from weft._src.ops.ragged.making import (
    boolean_mask,
    constant,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack_dynamic_partitions,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "boolean_mask",
    "constant",
    "cross",
    "cross_hashed",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]

_open_namespace(__name__)
