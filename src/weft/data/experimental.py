"""`tf.data.experimental`."""

from weft._src.data.core.base import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from weft._src.data.core.optional import Optional
from weft._src.data.core.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from weft._src.data.experimental.methods import (
    Counter,
    RandomDataset,
    choose_from_datasets,
    load,
    sample_from_datasets,
)
from weft._src.data.experimental.sources import (
    SqlDataset,
    TFRecordWriter,
    make_batched_features_dataset,
)
from weft._src.data.experimental.transformations import (
    bucket_by_sequence_length,
    cardinality,
    copy_to_device,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    enable_debug_mode,
    enumerate_dataset,
    from_variant,
    get_next_as_optional,
    get_single_element,
    get_structure,
    group_by_window,
    ignore_errors,
    make_saveable_from_iterator,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    save,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    to_variant,
    unbatch,
    unique,
)
from weft._src.data.sources.csv_files import CsvDataset, make_csv_dataset
from weft._src.data.sources.in_memory import from_list
from weft._src.data.transforms.grouping import (
    Reducer,
    assert_cardinality,
    group_by_reducer,
    pad_to_cardinality,
)
from weft._src.data.transforms.random_access import at
from weft._src.data.transforms.resampling import rejection_resample
from weft._src.lookup.from_datasets import (
    DatasetInitializer,
    index_table_from_dataset,
    table_from_dataset,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

SHARD_HINT = -1

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DatasetInitializer",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "ServiceOptions",
    "SqlDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "from_variant",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "index_table_from_dataset",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "table_from_dataset",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]

_open_namespace(__name__)
