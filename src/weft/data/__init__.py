"""Input pipelines: `tf.data`."""

from weft._src.data.core.base import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    DatasetSpec,
)
from weft._src.data.core.iterators import Iterator, IteratorSpec, NumpyIterator
from weft._src.data.core.options import Options, ThreadingOptions
from weft._src.data.dataset import Dataset
from weft._src.data.sources.readers import (
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.data import experimental

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]

_open_namespace(__name__)
