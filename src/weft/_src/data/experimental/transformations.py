"""`tf.data.experimental`: older forms of methods, for `Dataset.apply`, and a few more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import DTypeLike, IntLike, PathLike, ShapeLike, TensorNest
from weft._src.core.dtypes import int64
from weft._src.core.tensor import Tensor
from weft._src.data.core.base import check_dataset, make_dataset
from weft._src.data.core.iterators import Iterator
from weft._src.data.core.optional import Optional
from weft._src.data.core.traced import Debug
from weft._src.data.transforms.grouping import Transformation
from weft._src.errors import UnsupportedError
from weft._src.fileio.examples import parse_example

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

# --- older forms ---------------------------------------------------------------------------------


def _method(name: str, *args: Any, **kwargs: Any) -> Transformation:
    return lambda dataset: getattr(dataset, name)(*args, **kwargs)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """`Dataset.bucket_by_sequence_length` as a transformation.

    Args:
      element_length_func: a function of an element that returns its length, an integer scalar.
      bucket_boundaries: the lengths at which buckets end (exclusive), in ascending order.
      bucket_batch_sizes: the batch size of each bucket; there is one bucket more than boundaries.
      padded_shapes: the shapes that elements are padded to, as for `Dataset.padded_batch`; None is
        the largest of each batch.
      padding_values: what is padded with; None is zero or the empty string.
      pad_to_bucket_boundary: whether unknown sizes are padded to the boundary of the bucket, less
        1, instead of to the largest of the batch.
      no_padding: whether elements, which then must have equal shapes, are not padded.
      drop_remainder: whether batches that do not become full are left out.

    Returns:
      A function from a dataset to a dataset of batches, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> bucket = tf.data.experimental.bucket_by_sequence_length(tf.size, [5], [2, 2])
    >>> next(iter(rows.apply(bucket))).shape
    TensorShape([2, 2])
    """
    return _method(
        "bucket_by_sequence_length", element_length_func, bucket_boundaries, bucket_batch_sizes,
        padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def dense_to_ragged_batch(
    batch_size: IntLike, drop_remainder: bool = False, row_splits_dtype: DTypeLike = int64
) -> Transformation:
    """`Dataset.ragged_batch` as a transformation.

    Args:
      batch_size: how many elements a batch has.
      drop_remainder: whether a last batch of fewer elements is left out.
      row_splits_dtype: the dtype of the row splits, `tf.int64` or `tf.int32`.

    Returns:
      A function from a dataset to a dataset of batches, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> list(rows.apply(tf.data.experimental.dense_to_ragged_batch(2)))
    [<tf.RaggedTensor [[1], [2, 2]]>]
    """
    return _method("ragged_batch", batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: IntLike, row_shape: ShapeLike) -> Transformation:
    """`Dataset.sparse_batch` as a transformation.

    Args:
      batch_size: how many elements a batch has; the last one may have fewer.
      row_shape: the shape of a row, at least that of each element; None for the size of the largest
        in the batch.

    Returns:
      A function from a dataset of tensors to one of sparse tensors, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> batch = next(iter(rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [3]))))
    >>> tf.sparse.to_dense(batch).numpy()
    array([[1, 0, 0],
           [2, 2, 0]])
    """
    return _method("sparse_batch", batch_size, row_shape)


def enumerate_dataset(start: IntLike = 0) -> Transformation:
    """`Dataset.enumerate` as a transformation.

    Args:
      start: the number of the first element.

    Returns:
      A function from a dataset to one of pairs of an int64 number and an element, for
      `Dataset.apply`.

    >>> len(tf.data.Dataset.range(3).apply(tf.data.experimental.enumerate_dataset()))
    3
    """
    return _method("enumerate", start)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: IntLike | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.group_by_window` as a transformation.

    Args:
      key_func: a function of an element that returns its key, an int64 scalar.
      reduce_func: a function of a key and a dataset of the elements that were collected; it returns
        a dataset.
      window_size: how many elements of a key are collected. Lots that do not become full come last.
      window_size_func: a function of a key that returns how many, an int64 scalar; one of the two
        must be given.

    Returns:
      A function from a dataset to the dataset of all results, for `Dataset.apply`.

    >>> group = tf.data.experimental.group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), 3)
    >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(4).apply(group)]
    [[0, 2], [1, 3]]
    """
    return _method("group_by_window", key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors` as a transformation.

    Args:
      log_warning: whether a warning is logged for each element that is left out.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.ignore_errors())]
    [0, 1]
    """
    return _method("ignore_errors", log_warning)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: IntLike,
    num_parallel_batches: IntLike | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: IntLike | None = None,
) -> Transformation:
    """`map` and then `batch`, as one transformation.

    Args:
      map_func: a function of an element; the parts of a tuple are arguments of their own.
      batch_size: how many elements a batch has.
      num_parallel_batches: accepted for compatibility.
      drop_remainder: whether a last batch of fewer elements is left out.
      num_parallel_calls: how many calls may run at once, `tf.data.AUTOTUNE` included; None is one.

    Returns:
      A function from a dataset to a dataset of batches, for `Dataset.apply`.

    >>> both = tf.data.experimental.map_and_batch(lambda x: x * 2, 2)
    >>> [batch.numpy().tolist() for batch in tf.data.Dataset.range(3).apply(both)]
    [[0, 2], [4]]
    """

    def apply(dataset: Dataset) -> Any:
        return dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)

    return apply


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: IntLike,
    block_length: IntLike = 1,
    sloppy: bool = False,
    buffer_output_elements: IntLike | None = None,
    prefetch_input_elements: IntLike | None = None,
) -> Transformation:
    """`Dataset.interleave` as a transformation.

    Args:
      map_func: a function of an element that returns a dataset.
      cycle_length: of how many datasets elements are taken in turn, and how many are read at once.
      block_length: how many elements are taken of one before the next.
      sloppy: accepted for compatibility; the order is always the same.
      buffer_output_elements: accepted for compatibility.
      prefetch_input_elements: accepted for compatibility.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> twice = tf.data.experimental.parallel_interleave(
    ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
    ... )
    >>> [int(x) for x in tf.data.Dataset.range(2).apply(twice)]
    [0, 1, 0, 1]
    """
    return _method("interleave", map_func, cycle_length, block_length, cycle_length)


def scan(initial_state: TensorNest, scan_func: Callable[..., Any]) -> Transformation:
    """`Dataset.scan` as a transformation.

    Args:
      initial_state: the state before the first element, a nest of tensors.
      scan_func: a function of the state and an element that returns the next state and an output.

    Returns:
      A function from a dataset to the dataset of outputs, for `Dataset.apply`.

    >>> running = tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x))
    >>> [int(x) for x in tf.data.Dataset.range(4).apply(running)]
    [0, 1, 3, 6]
    """
    return _method("scan", initial_state, scan_func)


def shuffle_and_repeat(
    buffer_size: IntLike, count: IntLike | None = None, seed: IntLike | None = None
) -> Transformation:
    """`shuffle` and then `repeat`, as one transformation.

    Args:
      buffer_size: from how many elements the next one is drawn.
      count: how many times the dataset is gone through; None or -1 is without end.
      seed: what the order depends on; None lets `tf.random.set_seed` or chance decide.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> twice = tf.data.experimental.shuffle_and_repeat(3, count=2)
    >>> len(tf.data.Dataset.range(3).apply(twice))
    6
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def snapshot(
    path: PathLike,
    compression: str = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`Dataset.snapshot` as a transformation.

    Args:
      path: the folder, a string or path object.
      compression: "AUTO", "GZIP" or "NONE"; checked, the files are not compressed.
      reader_func: must be None; `Dataset.load` takes one.
      shard_func: must be None; `Dataset.save` takes one.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`. It raises UnsupportedError if
      `reader_func` or `shard_func` are given.

    >>> import tempfile
    >>> kept = tf.data.Dataset.range(2).apply(tf.data.experimental.snapshot(tempfile.mkdtemp()))
    >>> [int(x) for x in kept]
    [0, 1]
    """
    return _method("snapshot", path, compression, reader_func, shard_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`Dataset.take_while` as a transformation.

    Args:
      predicate: a function of an element that returns a bool scalar.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> few = tf.data.experimental.take_while(lambda x: x < 2)
    >>> [int(x) for x in tf.data.Dataset.range(9).apply(few)]
    [0, 1]
    """
    return _method("take_while", predicate)


def unbatch() -> Transformation:
    """`Dataset.unbatch` as a transformation.

    Returns:
      A function from a dataset to the dataset of rows, for `Dataset.apply`.

    >>> [int(x) for x in tf.data.Dataset.range(2).batch(2).apply(tf.data.experimental.unbatch())]
    [0, 1]
    """
    return _method("unbatch")


def unique() -> Transformation:
    """`Dataset.unique` as a transformation.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.from_tensor_slices([1, 1, 2])
    >>> [int(x) for x in rows.apply(tf.data.experimental.unique())]
    [1, 2]
    """
    return _method("unique")


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """`Dataset.prefetch` as a transformation; there is one device.

    Args:
      device: accepted for compatibility.
      buffer_size: how many elements are made ahead; None or `tf.data.AUTOTUNE` lets Weft choose.

    Returns:
      A function from a dataset to a dataset, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.range(2).apply(tf.data.experimental.prefetch_to_device("/cpu:0"))
    >>> [int(x) for x in rows]
    [0, 1]
    """
    return _method("prefetch", buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The dataset itself: there is one device.

    Args:
      target_device: accepted for compatibility.
      source_device: accepted for compatibility.

    Returns:
      A function that returns the dataset it is given, for `Dataset.apply`.

    >>> rows = tf.data.Dataset.range(2).apply(tf.data.experimental.copy_to_device("/cpu:0"))
    >>> [int(x) for x in rows]
    [0, 1]
    """
    return lambda dataset: dataset


def parse_example_dataset(
    features: Any, num_parallel_calls: int = 1, deterministic: bool | None = None
) -> Transformation:
    """A transformation that parses batches of serialized Examples with `tf.io.parse_example`.

    Args:
      features: a dict from names to `tf.io.FixedLenFeature` and its like, as for
        `tf.io.parse_example`.
      num_parallel_calls: how many batches may be parsed at once.
      deterministic: False lets elements change their order; None is what the dataset's options say.

    Returns:
      A function from a dataset of string vectors to one of dicts of tensors, for `Dataset.apply`.

    >>> parse = tf.data.experimental.parse_example_dataset(
    ...     {"x": tf.io.FixedLenFeature([], tf.int64, default_value=7)}
    ... )
    >>> rows = tf.data.Dataset.from_tensors([b"", b""]).apply(parse)
    >>> next(iter(rows))["x"].numpy()
    array([7, 7])
    """

    def parse(serialized: Tensor) -> Any:
        return parse_example(serialized, features)

    return lambda dataset: dataset.map(parse, num_parallel_calls, deterministic)


# --- functions of datasets -----------------------------------------------------------------------


def cardinality(dataset: Dataset) -> Tensor:
    """`Dataset.cardinality` as a function.

    Args:
      dataset: the dataset.

    Returns:
      An int64 scalar; `tf.data.experimental.INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY` if there
      is no number.

    Raises:
      TypeError: if it is no dataset.

    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(3)).numpy()
    np.int64(3)
    """
    return check_dataset("cardinality", "dataset", dataset).cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """`Dataset.get_single_element` as a function.

    Args:
      dataset: a dataset of exactly one element.

    Returns:
      The element, a nest of tensors.

    Raises:
      TypeError: if it is no dataset.
      tf.errors.InvalidArgumentError: if it has no element, or more than one.

    >>> tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(5)).numpy()
    np.int32(5)
    """
    return check_dataset("get_single_element", "dataset", dataset).get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements.

    Args:
      dataset_or_iterator: a dataset, or an iterator over one.

    Returns:
      A nest of specs, the attribute `element_spec`.

    Raises:
      TypeError: if it is something else.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    spec = getattr(dataset_or_iterator, "element_spec", None)
    if spec is None:
        raise TypeError(
            f"get_structure: a dataset or iterator is expected, got {dataset_or_iterator!r}."
        )
    return spec


def get_next_as_optional(iterator: Any) -> Optional:
    """`Iterator.get_next_as_optional` as a function.

    Args:
      iterator: an iterator over a dataset.

    Returns:
      A `tf.data.experimental.Optional`, without a value if there is no next element.

    Raises:
      TypeError: if it is no such iterator.

    >>> optional = tf.data.experimental.get_next_as_optional(iter(tf.data.Dataset.range(1)))
    >>> bool(optional.has_value())
    True
    """
    if not isinstance(iterator, Iterator):
        raise TypeError(f"get_next_as_optional: an iterator is expected, got {iterator!r}.")
    return iterator.get_next_as_optional()


def save(
    dataset: Dataset,
    path: PathLike,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """`Dataset.save` as a function.

    Args:
      dataset: the dataset.
      path: the folder, which is made if it does not exist.
      compression: None or "GZIP".
      shard_func: a function of an element that says which file it goes to, as an int64 scalar; None
        is one file for all.
      checkpoint_args: must be None.

    Raises:
      TypeError: if `dataset` is no dataset.
      ValueError: if the compression is another one, or `shard_func` does not return one int64.
      UnsupportedError: if `checkpoint_args` is given.
      RuntimeError: if it is called while a function is traced.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.data.experimental.save(tf.data.Dataset.range(2), folder)
    >>> len(list(tf.data.experimental.load(folder)))
    2
    """
    check_dataset("save", "dataset", dataset).save(path, compression, shard_func, checkpoint_args)


def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor that holds a dataset.

    Args:
      dataset: the dataset.

    Returns:
      A scalar of dtype `tf.variant`; `from_variant` makes the dataset of it again.

    Raises:
      TypeError: if it is no dataset.

    >>> tf.data.experimental.to_variant(tf.data.Dataset.range(3)).dtype
    tf.variant
    """
    handle: Tensor = check_dataset("to_variant", "dataset", dataset)._variant
    return handle


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset that a variant tensor holds, given the specs of its elements.

    Args:
      variant: what `to_variant` gave.
      structure: the specs of the elements, a nest; they are not checked.

    Returns:
      The dataset.

    Raises:
      TypeError: if `variant` is no tensor of dtype `tf.variant`.

    >>> rows = tf.data.Dataset.range(3)
    >>> handle = tf.data.experimental.to_variant(rows)
    >>> len(tf.data.experimental.from_variant(handle, rows.element_spec))
    3
    """
    if not isinstance(variant, Tensor) or variant.dtype.name != "variant":
        raise TypeError(f"from_variant: a variant tensor is expected, got {variant!r}.")
    return make_dataset(variant, structure)


def enable_debug_mode() -> None:
    """Functions given to datasets made from now on run as Python, where a debugger can stop.

    They are still traced once, to know what they return.

    >>> callable(tf.data.experimental.enable_debug_mode)
    True
    """
    Debug.enabled = True


def make_saveable_from_iterator(iterator: Any, external_state_policy: Any = None) -> Any:
    """Refused: an iterator has `save_position` and `restore_position`.

    Args:
      iterator: accepted for compatibility.
      external_state_policy: accepted for compatibility.

    Returns:
      Nothing: it always raises.

    Raises:
      UnsupportedError: always.

    >>> tf.data.experimental.make_saveable_from_iterator(None)
    Traceback (most recent call last):
    weft.errors.UnsupportedError: make_saveable_from_iterator belongs to TensorFlow 1; use
    iterator.save_position() and iterator.restore_position(position).
    """
    raise UnsupportedError(
        "make_saveable_from_iterator belongs to TensorFlow 1; use iterator.save_position() and "
        "iterator.restore_position(position)."
    )
