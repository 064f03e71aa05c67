"""Raw ops on datasets and iterators.

A dataset is a variant tensor, and its elements are flat lists of tensors. What these are is noted
at the tensor, by the op that makes it: attributes of the next op do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, IntLike, ShapeLike, TensorLike
from weft._src.core.tensor import SymbolicTensor
from weft._src.data.core import iterators, structure
from weft._src.data.core.base import int64_scalar, make_dataset
from weft._src.data.core.stage import Run
from weft._src.data.transforms.shuffling import shuffle_op
from weft._src.graph.origins import outermost
from weft._src.ops.static import static_int, static_value
from weft._src.raw_ops.text import known_text

Specs = tuple[tf.TypeSpec, ...]


def _noted(handle: tf.Tensor, specs: Specs) -> tf.Tensor:
    handle._element_specs = specs  # type: ignore[attr-defined]
    return handle


def _flat(dataset: tf.data.Dataset) -> tf.Tensor:
    """The variant of a dataset, with the flat list of what its elements consist of."""
    return _noted(dataset._variant, tuple(tf.nest.flatten(dataset.element_spec)))


def _opened(op: str, handle: tf.Tensor) -> tf.data.Dataset:
    """The dataset of a variant; its elements are tuples."""
    x = handle
    while True:
        specs = getattr(x, "_element_specs", None)
        if specs is not None:
            return make_dataset(handle, specs)
        outer = outermost(x)
        if outer is not x:
            x = outer
        elif isinstance(x, SymbolicTensor) and x.node.op.identity:
            x = x.node.inputs[x.index]
        else:
            raise tf.errors.UnsupportedError(
                f"{op}: nothing tells what the elements of {handle!r} are. Make the dataset where "
                "it is used, instead of passing its variant as an argument."
            )


def _function(f: Callable[..., Any], captured: Sequence[Any]) -> Callable[..., Any]:
    """A function of flat tensors as one of an element; datasets in it are variants to it."""
    others = [tf.convert_to_tensor(x) for x in captured]

    def call(*element: Any) -> Any:
        tensors: list[tf.Tensor] = []
        for leaf in tf.nest.flatten(element):
            if isinstance(leaf, tf.data.Dataset):
                tensors.append(_flat(leaf))
            else:
                tensors += tf.nest.flatten(leaf, expand_composites=True)
        return tuple(tf.nest.flatten(f(*tensors, *others), expand_composites=True))

    return call


def _single(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result is one thing, not a tuple of it."""

    def call(*element: Any) -> Any:
        (result,) = f(*element)
        return result

    return call


def _of_datasets(op: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns a dataset."""
    return lambda *element: _opened(op, _single(f)(*element))


def _declared(types: Sequence[Any], shapes: Sequence[Any]) -> tuple[tf.TensorSpec, ...]:
    pairs = zip(shapes, types, strict=True)
    return tuple([tf.TensorSpec(shape, dtype) for shape, dtype in pairs])


# --- sources -------------------------------------------------------------------------------------


def tensors(
    components: Sequence[Any], output_shapes: Sequence[ShapeLike], name: str | None = None
) -> tf.Tensor:
    return _flat(tf.data.Dataset.from_tensors(tuple(components)))


def slices(
    components: Sequence[Any], output_shapes: Sequence[ShapeLike], name: str | None = None
) -> tf.Tensor:
    return _flat(tf.data.Dataset.from_tensor_slices(tuple(components)))


def numbers(
    start: TensorLike,
    stop: TensorLike,
    step: TensorLike,
    output_types: Sequence[Any],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    (dtype,) = output_types
    return _flat(tf.data.Dataset.range(start, stop, step, output_type=dtype))


def zipped(
    input_datasets: Sequence[tf.Tensor],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    parts = tuple([_opened("ZipDataset", handle) for handle in input_datasets])
    return _flat(tf.data.Dataset.zip(parts))


def joined(
    input_dataset: tf.Tensor,
    another_dataset: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    op = "ConcatenateDataset"
    return _flat(_opened(op, input_dataset).concatenate(_opened(op, another_dataset)))


# --- with functions ------------------------------------------------------------------------------


def mapped(
    input_dataset: tf.Tensor,
    other_arguments: Sequence[Any],
    f: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    num_parallel_calls: IntLike | None = None,
    deterministic: str = "default",
    name: str | None = None,
) -> tf.Tensor:
    order = {"true": True, "false": False}.get(str(deterministic).lower())
    function = _function(f, other_arguments)
    return _flat(_opened("MapDataset", input_dataset).map(function, num_parallel_calls, order))


def flat_mapped(
    input_dataset: tf.Tensor,
    other_arguments: Sequence[Any],
    f: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    op = "FlatMapDataset"
    function = _of_datasets(op, _function(f, other_arguments))
    return _flat(_opened(op, input_dataset).flat_map(function))


def interleaved(
    input_dataset: tf.Tensor,
    other_arguments: Sequence[Any],
    cycle_length: IntLike,
    block_length: IntLike,
    f: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    num_parallel_calls: IntLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    op = "InterleaveDataset"
    function = _of_datasets(op, _function(f, other_arguments))
    made = _opened(op, input_dataset).interleave(function, cycle_length, block_length)
    return _flat(made)


def filtered(
    input_dataset: tf.Tensor,
    other_arguments: Sequence[Any],
    predicate: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    function = _single(_function(predicate, other_arguments))
    return _flat(_opened("FilterDataset", input_dataset).filter(function))


def taken_while(
    input_dataset: tf.Tensor,
    other_arguments: Sequence[Any],
    predicate: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    function = _single(_function(predicate, other_arguments))
    return _flat(_opened("TakeWhileDataset", input_dataset).take_while(function))


def scanned(
    input_dataset: tf.Tensor,
    initial_state: Sequence[Any],
    other_arguments: Sequence[Any],
    f: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    start = tuple([tf.convert_to_tensor(x) for x in initial_state])
    function = _function(f, other_arguments)

    def step(state: Any, element: Any) -> Any:
        results = function(*state, element)
        return results[: len(start)], results[len(start) :]

    return _flat(_opened("ScanDataset", input_dataset).scan(start, step))


def reduced(
    input_dataset: tf.Tensor,
    initial_state: Sequence[Any],
    other_arguments: Sequence[Any],
    f: Callable[..., Any],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[tf.Tensor]:
    start = tuple([tf.convert_to_tensor(x) for x in initial_state])
    function = _function(f, other_arguments)
    dataset = _opened("ReduceDataset", input_dataset)
    return list(dataset.reduce(start, lambda state, element: function(*state, element)))


def grouped(
    input_dataset: tf.Tensor,
    key_func_other_arguments: Sequence[Any],
    reduce_func_other_arguments: Sequence[Any],
    window_size_func_other_arguments: Sequence[Any],
    key_func: Any,
    reduce_func: Any,
    window_size_func: Any,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    op = "GroupByWindowDataset"
    made = _opened(op, input_dataset).group_by_window(
        _single(_function(key_func, key_func_other_arguments)),
        _of_datasets(op, _function(reduce_func, reduce_func_other_arguments)),
        window_size_func=_single(_function(window_size_func, window_size_func_other_arguments)),
    )
    return _flat(made)


# --- without functions ---------------------------------------------------------------------------


def batched(
    input_dataset: tf.Tensor,
    batch_size: IntLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    drop_remainder: Any = False,
    num_parallel_calls: IntLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    return _flat(_opened("BatchDataset", input_dataset).batch(batch_size, drop_remainder))


def padded(
    input_dataset: tf.Tensor,
    batch_size: IntLike,
    padded_shapes: Sequence[Any],
    padding_values: Sequence[Any],
    output_shapes: Sequence[ShapeLike],
    drop_remainder: Any = False,
    name: str | None = None,
) -> tf.Tensor:
    shapes = tuple([_known_shape(shape) for shape in padded_shapes])
    dataset = _opened("PaddedBatchDataset", input_dataset)
    return _flat(dataset.padded_batch(batch_size, shapes, tuple(padding_values), drop_remainder))


def _known_shape(shape: Any) -> tf.TensorShape:
    sizes = static_value(shape)
    if sizes is None:
        raise TypeError("PaddedBatchDataset: padded_shapes must be known while tracing.")
    return tf.TensorShape([None if n < 0 else int(n) for n in sizes.tolist()])


def _counted(method: str) -> Callable[..., tf.Tensor]:
    def change(
        input_dataset: tf.Tensor,
        count: TensorLike,
        output_types: Sequence[DTypeLike],
        output_shapes: Sequence[ShapeLike],
        name: str | None = None,
    ) -> tf.Tensor:
        dataset = _opened(f"Dataset.{method}", input_dataset)
        return _flat(getattr(dataset, method)(count))

    return change


repeated, taken, skipped = _counted("repeat"), _counted("take"), _counted("skip")


def sharded(
    input_dataset: tf.Tensor,
    num_shards: IntLike,
    index: IntLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    return _flat(_opened("ShardDataset", input_dataset).shard(num_shards, index))


def shuffled(
    input_dataset: tf.Tensor,
    buffer_size: IntLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    seed_generator: tf.Tensor | None = None,
    reshuffle_each_iteration: bool = True,
    name: str | None = None,
) -> tf.Tensor:
    op = "ShuffleDataset"
    dataset, again = _opened(op, input_dataset), bool(reshuffle_each_iteration)
    seeds = (static_int(op, seed, "seed"), static_int(op, seed2, "seed2"))
    if seeds == (0, 0):
        return _flat(dataset.shuffle(buffer_size, reshuffle_each_iteration=again))
    size = int64_scalar("shuffle", "buffer_size", buffer_size)
    made = shuffle_op(input_dataset, size, seeds=seeds, reshuffle=again, name=name)
    return _noted(made, dataset.element_spec)


def cached(
    input_dataset: tf.Tensor,
    filename: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    cache: tf.Tensor | None = None,
    name: str | None = None,
) -> tf.Tensor:
    path = known_text("CacheDataset", filename, "filename")
    return _flat(_opened("CacheDataset", input_dataset).cache(path))


def prefetched(
    input_dataset: tf.Tensor,
    buffer_size: IntLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    return _flat(_opened("PrefetchDataset", input_dataset).prefetch(buffer_size))


def unbatched(
    input_dataset: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    return _flat(_opened("UnbatchDataset", input_dataset).unbatch())


def unique(
    input_dataset: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    return _flat(_opened("UniqueDataset", input_dataset).unique())


def windows(
    input_dataset: tf.Tensor,
    size: IntLike,
    shift: IntLike,
    stride: IntLike,
    drop_remainder: Any,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    """Elements are datasets, one for each part."""
    dataset = _opened("WindowDataset", input_dataset)
    return _flat(dataset.window(size, shift, stride, drop_remainder))


def same(input_dataset: tf.Tensor, name: str | None = None, **how: Any) -> tf.Tensor:
    """What tells TensorFlow how to run a dataset changes no element."""
    return input_dataset


def cardinality(input_dataset: tf.Tensor, name: str | None = None) -> tf.Tensor:
    return _opened("DatasetCardinality", input_dataset).cardinality()


def single_element(
    dataset: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[tf.Tensor]:
    only = _opened("DatasetToSingleElement", dataset).get_single_element()
    return structure.flatten_element(only)


# --- iterators -----------------------------------------------------------------------------------


def iterator(
    output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None
) -> tf.Tensor:
    return iterators.anonymous_op(name=name)


def iterator_and_deleter(
    output_types: Sequence[DTypeLike], output_shapes: Sequence[ShapeLike], name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    return iterator(output_types, output_shapes, name), nothing_to_delete()


def nothing_to_delete(name: str | None = None, **seeds: Any) -> tf.Tensor:
    """A handle that is only handed on."""
    return iterators.anonymous_op(name=name)


def start(dataset: tf.Tensor, iterator: tf.Tensor, name: str | None = None) -> None:
    iterators.start_op(dataset, iterator, run=Run(), name=name)


def next_element(
    iterator: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[tf.Tensor]:
    specs = _declared(output_types, output_shapes)
    return list(iterators.get_next_op(iterator, specs=specs, name=name))


def next_optional(
    iterator: tf.Tensor,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> tf.Tensor:
    return iterators.get_next_as_optional_op(iterator, name=name)


def deleted(handle: tf.Tensor, deleter: tf.Tensor, name: str | None = None) -> None:
    """Iterators go when nobody refers to them."""
