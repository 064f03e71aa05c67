"""Input pipelines: `tf.data`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.data import experimental as experimental
from weft.data.base import (
    AUTOTUNE as AUTOTUNE,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
    DatasetSpec as DatasetSpec,
)
from weft.data.dataset import Dataset as Dataset
from weft.data.iterators import (
    Iterator as Iterator,
    IteratorSpec as IteratorSpec,
    NumpyIterator as NumpyIterator,
)
from weft.data.options import Options as Options, ThreadingOptions as ThreadingOptions
from weft.data.readers import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
