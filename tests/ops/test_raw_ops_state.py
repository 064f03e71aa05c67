"""tf.raw_ops on variables, lists of tensors, files and the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, UnsupportedError

raw = tf.raw_ops

NAMES = {
    *"Assert AssignAddVariableOp AssignSubVariableOp AssignVariableOp DecodeCompressed".split(),
    *"EmptyTensorList MatchingFiles NoOp PrintV2 ReadFile ReadVariableOp ResourceGather".split(),
    *"ResourceGatherNd StatelessRandomBinomial StatelessRandomGetKeyCounterAlg Timestamp".split(),
    *"StatelessRandomPoisson TensorListFromTensor TensorListGetItem TensorListLength".split(),
    *"TensorListPopBack TensorListPushBack TensorListReserve TensorListSetItem".split(),
    *"TensorListStack VarIsInitializedOp WriteFile".split(),
    *[f"ResourceScatter{kind}" for kind in "Add Div Max Min Mul Sub Update".split()],
    *[f"ResourceScatterNd{kind}" for kind in "Add Max Min Sub Update".split()],
}


@pytest.mark.parametrize("traced", [False, True])
def test_variables(traced: bool) -> None:
    v = tf.Variable([1.0, 2.0, 3.0])

    def steps() -> Any:
        raw.AssignVariableOp(resource=v.handle, value=[4.0, 5.0, 6.0])
        raw.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0, 1.0])
        raw.AssignSubVariableOp(resource=v.handle, value=[0.5, 0.5, 0.5])
        return (
            raw.ReadVariableOp(resource=v.handle, dtype=tf.float32),
            raw.ResourceGather(resource=v.handle, indices=[2, 0], dtype=tf.float32),
            raw.ResourceGatherNd(resource=v.handle, indices=[[1]], dtype=tf.float32),
            raw.VarIsInitializedOp(resource=v.handle),
        )

    found = (tf.function(steps) if traced else steps)()
    expected = [[4.5, 5.5, 6.5], [6.5, 4.5], [5.5], True]
    assert [np.asarray(x).tolist() for x in found] == expected


def test_batches_of_rows_of_a_variable() -> None:
    v = tf.Variable([[1, 2], [3, 4]])
    out = raw.ResourceGather(resource=v.handle, indices=[[1], [0]], dtype=tf.int32, batch_dims=1)
    assert out.numpy().tolist() == [[2], [3]]


SCATTERED = {
    "Add": [1.0, 5.0], "Sub": [1.0, -1.0], "Mul": [1.0, 6.0], "Div": [1.0, 2 / 3],
    "Max": [1.0, 3.0], "Min": [1.0, 2.0], "Update": [1.0, 3.0],
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(SCATTERED))
def test_scattering(kind: str) -> None:
    v = tf.Variable([1.0, 2.0])
    getattr(raw, f"ResourceScatter{kind}")(resource=v.handle, indices=[1], updates=[3.0])
    np.testing.assert_allclose(v, SCATTERED[kind])
    if kind in ("Mul", "Div"):
        return
    w = tf.Variable([1.0, 2.0])
    getattr(raw, f"ResourceScatterNd{kind}")(ref=w.handle, indices=[[1]], updates=[3.0])
    np.testing.assert_allclose(w, SCATTERED[kind])


def lists(x: Any) -> Any:
    made = raw.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32)
    made = raw.TensorListSetItem(input_handle=made, index=0, item=x)
    made = raw.TensorListSetItem(input_handle=made, index=1, item=x * 2)
    stacked = raw.TensorListStack(
        input_handle=made, element_shape=[2], element_dtype=tf.float32, num_elements=2
    )
    item = raw.TensorListGetItem(
        input_handle=made, index=1, element_shape=-1, element_dtype=tf.float32
    )
    grown = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
    grown = raw.TensorListPushBack(input_handle=grown, tensor=x)
    count = raw.TensorListLength(input_handle=grown)
    rest, last = raw.TensorListPopBack(
        input_handle=grown, element_shape=[2], element_dtype=tf.float32
    )
    left = raw.TensorListLength(input_handle=rest)
    rows = raw.TensorListFromTensor(tensor=stacked, element_shape=[2])
    return stacked, item, count, last, left, raw.TensorListLength(input_handle=rows)


def test_lists() -> None:
    expected = [[[1.0, 3.0], [2.0, 6.0]], [2.0, 6.0], 1, [1.0, 3.0], 0, 2]
    for call in (lists, tf.function(lists)):
        found = call(tf.constant([1.0, 3.0]))
        assert [np.asarray(x).tolist() for x in found] == expected
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(lists(x)[0] ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), [10.0, 30.0])


def test_files_and_the_screen(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.txt"
    raw.WriteFile(filename=str(path), contents="text")
    assert raw.ReadFile(filename=str(path)).numpy() == b"text"
    assert raw.MatchingFiles(pattern=str(tmp_path / "*.txt")).numpy().tolist() == [
        str(path).encode()
    ]
    assert raw.DecodeCompressed(bytes="as it is").numpy() == b"as it is"
    raw.PrintV2(input="shown", output_stream="stdout")
    assert capsys.readouterr().out == "shown\n"
    assert float(raw.Timestamp()) > 1e9
    assert raw.NoOp() is None


def test_assertions() -> None:
    raw.Assert(condition=True, data=["fine"])
    with pytest.raises(InvalidArgumentError, match="broken"):
        raw.Assert(condition=False, data=["broken"])


def test_random_numbers() -> None:
    counts = raw.StatelessRandomBinomial(shape=[200], seed=[1, 2], counts=10.0, probs=0.5)
    assert counts.dtype is tf.int64
    assert abs(float(tf.reduce_mean(tf.cast(counts, tf.float32))) - 5) < 0.5
    events = raw.StatelessRandomPoisson(shape=[200], seed=[1, 2], lam=4.0, dtype=tf.int32)
    assert events.dtype is tf.int32
    assert abs(float(tf.reduce_mean(tf.cast(events, tf.float32))) - 4) < 0.5
    key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
    again = raw.StatelessRandomNormalV2(shape=[3], key=key, counter=counter, alg=alg)
    np.testing.assert_array_equal(again, tf.random.stateless_normal([3], [1, 2]))


def test_seeded_streams_move_on() -> None:
    tf.random.set_seed(1)
    first, second = [
        raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6).numpy() for _ in range(2)
    ]
    assert not np.array_equal(first, second)
    tf.random.set_seed(2)  # both seeds are given: the global one does not matter
    again = raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6)
    np.testing.assert_array_equal(again, first)
    draw = tf.function(lambda: raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6))
    np.testing.assert_array_equal(draw(), first)
    np.testing.assert_array_equal(draw(), second)


def test_what_is_not_supported() -> None:
    with pytest.raises(UnsupportedError, match="Gather: validate_indices must be True, got False"):
        raw.Gather(params=[1], indices=[0], validate_indices=False)
    with pytest.raises(UnsupportedError, match="Philox"):
        raw.StatelessRandomNormalV2(shape=[1], key=[1], counter=[1, 2], alg=2)
