"""How lookups are written for TensorFlow (see `ops.graph_forms`)."""

from __future__ import annotations

from typing import Any

from weft._src.core.dtypes import DType, int64, string
from weft._src.ops.graph_forms import FormBody, Written, without

plain = without("key_shape", "value_shape")


def exported(b: FormBody, table: Written, *, key_dtype: DType, value_dtype: DType, **_: Any) -> Any:
    """LookupTableExportV2."""
    return b.add("LookupTableExportV2", table, Tkeys=key_dtype, Tvalues=value_dtype)


def vocabulary(b: FormBody, table: Written, keys: Written, *, num_oov_buckets: int) -> Any:
    """Ids, and buckets behind the last one for words that have none."""
    nothing = b.const(-1, int64)
    found = b.add("LookupTableFindV2", table, keys, nothing)
    words = keys if keys.dtype is string else b.add("AsString", keys)
    bucket = b.add("StringToHashBucketFast", words, num_buckets=num_oov_buckets)
    behind = b.add("AddV2", bucket, b.add("LookupTableSizeV2", table))
    return b.add("SelectV2", b.add("NotEqual", found, nothing), found, behind)
