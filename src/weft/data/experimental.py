"""`tf.data.experimental`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.data.base import (
    AUTOTUNE as AUTOTUNE,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from weft.data.csv_files import CsvDataset as CsvDataset, make_csv_dataset as make_csv_dataset
from weft.data.dataset import Dataset as _Dataset
from weft.data.grouping import (
    Reducer as Reducer,
    assert_cardinality as assert_cardinality,
    group_by_reducer as group_by_reducer,
    pad_to_cardinality as pad_to_cardinality,
)
from weft.data.optional import Optional as Optional
from weft.data.options import (
    AutoShardPolicy as AutoShardPolicy,
    AutotuneAlgorithm as AutotuneAlgorithm,
    AutotuneOptions as AutotuneOptions,
    DistributeOptions as DistributeOptions,
    ExternalStatePolicy as ExternalStatePolicy,
    OptimizationOptions as OptimizationOptions,
    ServiceOptions as ServiceOptions,
    ThreadingOptions as ThreadingOptions,
)
from weft.data.random_access import at as at
from weft.data.sources import from_list as from_list
from weft.data.transformations import (
    bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enable_debug_mode as enable_debug_mode,
    enumerate_dataset as enumerate_dataset,
    from_variant as from_variant,
    get_next_as_optional as get_next_as_optional,
    get_single_element as get_single_element,
    get_structure as get_structure,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    make_saveable_from_iterator as make_saveable_from_iterator,
    map_and_batch as map_and_batch,
    parallel_interleave as parallel_interleave,
    parse_example_dataset as parse_example_dataset,
    prefetch_to_device as prefetch_to_device,
    save as save,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    snapshot as snapshot,
    take_while as take_while,
    to_variant as to_variant,
    unbatch as unbatch,
    unique as unique,
)

# Functions that are methods now.
Counter = _Dataset.counter
RandomDataset = _Dataset.random
choose_from_datasets = _Dataset.choose_from_datasets
sample_from_datasets = _Dataset.sample_from_datasets
load = _Dataset.load


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
