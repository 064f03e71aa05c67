"""tf.raw_ops on lists of tensors, whose element shapes may be known, computed, or not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, OutOfRangeError, ShapeError

raw = tf.raw_ops

NAMES = {
    *"TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape".split(),
    *"TensorListGather TensorListResize TensorListScatter TensorListScatterV2".split(),
    *"TensorListScatterIntoExistingList TensorListSplit".split(),
    *"RaggedTensorFromVariant RaggedTensorToVariant".split(),
}

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def listed(x: Any) -> Any:
    return raw.TensorListFromTensor(tensor=x, element_shape=-1)


def stacked(handle: Any, shape: Any = -1, count: int = -1) -> Any:
    return raw.TensorListStack(
        input_handle=handle, element_shape=shape, element_dtype=tf.float32, num_elements=count
    )


def checked(function: Any, expected: Any, *args: Any) -> None:
    """Eagerly, in a graph, and in one whose sizes are not known."""
    tensors = [tf.constant(a) for a in args or (X,)]
    specs = [tf.TensorSpec([None] * t.ndim, t.dtype) for t in tensors]
    graph = tf.function(function)
    for call in (function, graph, graph.get_concrete_function(*specs)):
        found = tf.nest.flatten(call(*tensors))
        assert [np.asarray(x).tolist() for x in found] == expected


def test_parts() -> None:
    checked(
        lambda x: raw.TensorListGather(
            input_handle=listed(x), indices=[3, 0], element_shape=-1, element_dtype=tf.float32
        ),
        [X[[3, 0]].tolist()],
    )
    pieces = [X[:1].tolist(), X[1:].tolist()]

    def split(x):
        parts = raw.TensorListSplit(tensor=x, element_shape=[-1, 3], lengths=tf.constant([1, 3]))
        items = [
            raw.TensorListGetItem(
                input_handle=parts, index=i, element_shape=[-1, 3], element_dtype=tf.float32
            )
            for i in range(2)
        ]
        joined = raw.TensorListConcatV2(
            input_handle=parts,
            element_shape=[-1, 3],
            leading_dims=np.zeros(0, np.int64),
            element_dtype=tf.float32,
        )
        older = raw.TensorListConcat(input_handle=parts, element_dtype=tf.float32)
        return items, joined, older

    checked(split, [*pieces, X.tolist(), [1, 3], X.tolist(), [1, 3]])


def test_scattering() -> None:
    rows = [X[1].tolist(), [0.0, 0.0, 0.0], X[0].tolist()]

    def scatter(x):
        given = {"tensor": x[:2], "indices": [2, 0], "element_shape": [3]}
        return [
            stacked(raw.TensorListScatter(**given), [3]),
            stacked(raw.TensorListScatterV2(**given, num_elements=4), [3]),
            stacked(raw.TensorListScatterV2(**given, num_elements=-1), [3]),
            stacked(
                raw.TensorListScatterIntoExistingList(
                    input_handle=listed(x), tensor=x[:1], indices=[3]
                )
            ),
        ]

    changed = [*X[:3].tolist(), X[0].tolist()]
    checked(scatter, [rows, [*rows, [0.0, 0.0, 0.0]], rows, changed])


def test_lengths() -> None:
    def resized(x):
        handle = listed(x)
        longer = raw.TensorListResize(input_handle=handle, size=5)
        shorter = raw.TensorListResize(input_handle=handle, size=tf.constant(2))
        return stacked(longer), stacked(shorter), raw.TensorListLength(input_handle=longer)

    checked(resized, [[*X.tolist(), [0.0] * 3], X[:2].tolist(), 5])
    x = tf.constant(X)
    for run in (resized, tf.function(resized)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(run(x)[0] ** 2) + tf.reduce_sum(run(x)[1])
        grown = 2 * X
        grown[:2] += 1
        np.testing.assert_allclose(tape.gradient(y, x), grown)
    with pytest.raises(InvalidArgumentError, match="TensorListResize: size must be >= 0, got -1"):
        raw.TensorListResize(input_handle=listed(X), size=-1)


def test_two_lists_as_one() -> None:
    def joined(x):
        both = raw.TensorListConcatLists(
            input_a=listed(x[:1]), input_b=listed(x[1:]), element_dtype=tf.float32
        )
        return stacked(both)

    checked(joined, [X.tolist()])


def test_shapes_of_elements() -> None:
    def shapes(x):
        empty = raw.TensorListReserve(element_shape=[3], num_elements=2, element_dtype=tf.float32)
        return [
            raw.TensorListElementShape(input_handle=handle, shape_type=dtype)
            for handle, dtype in ((listed(x), tf.int64), (empty, tf.int32))
        ]

    checked(shapes, [[3], -1])
    assert raw.TensorListElementShape(input_handle=listed(X), shape_type=tf.int64).dtype is tf.int64


@pytest.mark.parametrize("shape", ["known", "computed", "partly", "promised"])
def test_what_was_not_written_is_zero(shape: str) -> None:
    """Where the shape is known when the graph runs."""

    def run(x):
        element = {
            "known": tf.constant([3]),
            "computed": tf.shape(x)[1:],
            "partly": tf.stack([tf.shape(x)[1]]),
            "promised": tf.TensorShape([3]),
        }[shape]
        made = raw.TensorListReserve(element_shape=-1, num_elements=3, element_dtype=tf.float32)
        made = raw.TensorListSetItem(input_handle=made, index=1, item=x[0])
        item = raw.TensorListGetItem(
            input_handle=made, index=0, element_shape=element, element_dtype=tf.float32
        )
        rest, last = raw.TensorListPopBack(
            input_handle=made, element_shape=element, element_dtype=tf.float32
        )
        whole = stacked(made, element)
        return item, last, whole, raw.TensorListLength(input_handle=rest)

    zeros = [0.0, 0.0, 0.0]
    checked(run, [zeros, zeros, [zeros, X[0].tolist(), zeros], 2])
    specs = tf.TensorSpec([None, None])
    item, last, whole, _ = tf.function(run).get_concrete_function(specs).structured_outputs
    assert [item.shape.rank, last.shape.rank, whole.shape.rank] == [1, 1, 2]


def test_what_nobody_knows() -> None:
    made = raw.EmptyTensorList(element_shape=-1, max_num_elements=5, element_dtype=tf.float32)
    with pytest.raises(InvalidArgumentError, match="no element was written, and the shape"):
        stacked(made)
    with pytest.raises(OutOfRangeError, match="pop from an empty"):
        raw.TensorListPopBack(input_handle=made, element_shape=[], element_dtype=tf.float32)
    with pytest.raises(ShapeError, match=r"\(4, 3\).*\(5, 3\)"):
        stacked(listed(X), count=5)
    unknown = tf.function(lambda x: stacked(listed(x), count=5))
    with pytest.raises(InvalidArgumentError, match="assert_equal"):
        unknown.get_concrete_function(tf.TensorSpec(None))(tf.constant(X))


def test_in_a_loop_with_sizes_that_are_not_known() -> None:
    """As TensorFlow writes a recurrent layer."""

    @tf.function
    def f(x):
        steps = tf.shape(x)[0]
        rows = raw.TensorListFromTensor(tensor=x, element_shape=[-1])
        out = raw.TensorListReserve(
            element_shape=[-1], num_elements=steps, element_dtype=tf.float32
        )

        def body(i, n, rows, out, state):
            row = raw.TensorListGetItem(
                input_handle=rows, index=i, element_shape=[-1], element_dtype=tf.float32
            )
            state = state * 0.5 + row
            out = raw.TensorListSetItem(input_handle=out, index=i, item=state)
            return [i + 1, n, rows, out, state]

        found = raw.While(
            input=[0, steps, rows, out, tf.zeros_like(x[0])],
            cond=lambda i, n, *_: i < n,
            body=body,
            output_shapes=[[], [], [], [], [None]],
        )
        return stacked(found[3], [-1])

    expected, state = [], np.zeros(3, np.float32)
    for row in X:
        state = state * 0.5 + row
        expected.append(state)
    for graph in (f, f.get_concrete_function(tf.TensorSpec([None, None]))):
        np.testing.assert_allclose(graph(tf.constant(X)), expected)


def test_lists_of_ragged_rows() -> None:
    """What TensorFlow makes of `tf.map_fn` over a ragged tensor."""
    rt = tf.ragged.constant([[1.0, 2.0], [], [3.0]])

    def run(splits, values):
        rows = raw.RaggedTensorToVariant(
            rt_nested_splits=[splits], rt_dense_values=values, batched_input=True
        )
        handle = raw.TensorListFromTensor(tensor=rows, element_shape=[])
        count = tf.shape(rows)[0]
        out = raw.TensorListReserve(element_shape=[], num_elements=count, element_dtype=tf.variant)

        def body(i, n, handle, out):
            row = raw.TensorListGetItem(
                input_handle=handle, index=i, element_shape=[], element_dtype=tf.variant
            )
            _, values = raw.RaggedTensorFromVariant(
                encoded_ragged=row, input_ragged_rank=0, output_ragged_rank=0, Tvalues=tf.float32
            )
            made = raw.RaggedTensorToVariant(
                rt_nested_splits=[], rt_dense_values=values * 10.0, batched_input=False
            )
            out = raw.TensorListSetItem(input_handle=out, index=i, item=made)
            return [i + 1, n, handle, out]

        found = raw.While(input=[0, count, handle, out], cond=lambda i, n, *_: i < n, body=body)[3]
        whole = raw.TensorListStack(input_handle=found, element_shape=[], element_dtype=tf.variant)
        return raw.RaggedTensorFromVariant(
            encoded_ragged=whole, input_ragged_rank=-1, output_ragged_rank=1, Tvalues=tf.float32
        )

    checked(run, [[0, 2, 2, 3], [10.0, 20.0, 30.0]], rt.row_splits, rt.values)
    with tf.GradientTape() as tape:
        tape.watch(rt.values)
        y = run(rt.row_splits, rt.values)[1]
    with pytest.raises(
        tf.errors.UnsupportedError, match="gradient cannot pass through ragged tensors"
    ):
        tape.gradient(y, rt.values)


def test_ragged_tensors_of_several_axes_in_variants() -> None:
    rt = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5], [], [6]]])
    parts = {"rt_nested_splits": rt.nested_row_splits, "rt_dense_values": rt.flat_values}
    rows = raw.RaggedTensorToVariant(**parts, batched_input=True)
    assert (rows.dtype, rows.shape) == (tf.variant, (3,))
    whole = raw.RaggedTensorToVariant(**parts, batched_input=False)
    for variant, rank in ((rows, 1), (whole, 2)):
        splits, values = raw.RaggedTensorFromVariant(
            encoded_ragged=variant,
            input_ragged_rank=rank,
            output_ragged_rank=2,
            Tvalues=tf.int32,
        )
        found = tf.RaggedTensor.from_nested_row_splits(values, splits)
        assert found.to_list() == rt.to_list()
    with pytest.raises(InvalidArgumentError, match="1 partitions are expected, there are 2"):
        raw.RaggedTensorFromVariant(
            encoded_ragged=whole, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.int32
        )
    with pytest.raises(InvalidArgumentError, match="a ragged tensor is expected, got <Stack"):
        raw.RaggedTensorFromVariant(
            encoded_ragged=listed(X), input_ragged_rank=0, output_ragged_rank=0, Tvalues=tf.int32
        )
