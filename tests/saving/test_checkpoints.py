"""Checkpoints: everything gets back to where it was, from TensorFlow's files too."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from checks.record_checkpoints import module, parts
from weft._src.fileio.crc32c import crc32c
from weft._src.messages.checkpoints import (
    BundleEntryProto,
    BundleHeaderProto,
    Extent,
    TensorSliceProto,
)
from weft._src.messages.tensors import shape_message
from weft._src.saving.bundle import BundleReader, entry_of, index_bytes
from weft._src.saving.slice_keys import slice_key
from weft._src.saving.sorted_table import table_bytes

RECORDED = Path(__file__).parent / "recorded"


def values(made: Any) -> list[Any]:
    return [np.asarray(v).tolist() for v in made.variables]


def test_what_tensorflow_wrote_is_restored() -> None:
    made = module(tf, 0.0)
    status = tf.train.Checkpoint(made).read(RECORDED / "module").assert_consumed()
    assert (status.missing, status.unused, status.deferred) == ([], [], [])
    expected = module(tf, 1.0)
    assert values(made) == values(expected)
    assert made.kinds["bfloat16"].numpy().tolist() == [1, 2, 0]
    assert made.generator.state.numpy().tolist() == expected.generator.state.numpy().tolist()
    assert made.table.lookup(tf.constant(["one", "two", "six"])).numpy().tolist() == [1, 2, -1]
    assert made.dense.lookup(tf.constant([3, 5, 7], tf.int64)).numpy().tolist() == [0.5, 0.125, -1]
    assert int(made.dense.size()) == 3


def test_everything_round_trips(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(module(tf, 2.0)).write(tmp_path / "x")
    made = module(tf, 0.0)
    tf.train.Checkpoint(made).read(path).assert_consumed()
    assert values(made) == values(module(tf, 2.0))
    assert made.table.lookup(tf.constant("two")).numpy() == 2


def test_an_iterator_of_tensorflow_is_told_and_the_rest_restored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inner, step = tf.Module(), tf.Variable(0)
    inner.v = tf.Variable([[0.0]])
    iterator = iter(tf.data.Dataset.range(3))
    checkpoint = tf.train.Checkpoint(inner=inner, step=step, iterator=iterator)
    checkpoint.restore(RECORDED / "saved-1")
    assert (int(step), float(inner.v[0, 0]), int(checkpoint.save_counter)) == (5, 7.0, 1)
    assert "written by TensorFlow for itself, not restorable" in caplog.text
    assert int(next(iterator)) == 0


def test_positions_of_datasets_round_trip(tmp_path: Path) -> None:
    def new() -> Any:
        return iter(tf.data.Dataset.range(20).shuffle(7, seed=3).map(lambda x: x * 2).batch(3))

    iterator = new()
    next(iterator), next(iterator)
    path = tf.train.Checkpoint(it=iterator).write(tmp_path / "x")
    expected = [batch.numpy().tolist() for batch in iterator]
    again = new()
    tf.train.Checkpoint(it=again).read(path).assert_consumed()
    assert [batch.numpy().tolist() for batch in again] == expected


def test_a_keras_model_of_tensorflow_is_restored() -> None:
    from weft import keras

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    checkpoint.read(RECORDED / "keras").assert_consumed()
    assert int(model.optimizer.iterations) == 1
    assert np.abs(model.optimizer.variables[2].numpy()).sum() > 0


def test_files_of_tensorflow_1_are_restored_by_name() -> None:
    v = tf.Variable([0.0, 0.0], name="scope/v")
    tf.train.Checkpoint(anything=v).read(RECORDED / "named").assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(
        AssertionError, match=r"in the checkpoint, not in the program \(1\):\n    scope/v"
    ):
        tf.train.Checkpoint(v=tf.Variable(1.0)).read(RECORDED / "named").assert_consumed()


@pytest.mark.parametrize("name", ["sliced", "sharded"])
def test_tensors_in_parts_and_in_several_files(name: str) -> None:
    """As TensorFlow 1 writes variables that are spread over machines."""
    reader = tf.train.load_checkpoint(RECORDED / name)
    shapes = reader.get_variable_to_shape_map()
    assert len(shapes) == (2 if name == "sliced" else 4)
    for key, value in parts(tf).items():
        if key in shapes:
            assert shapes[key] == value.shape
            np.testing.assert_array_equal(reader.get_tensor(key), value.numpy(), strict=True)
    BundleReader(str(RECORDED / name)).verify()
    v = tf.Variable(tf.zeros([7, 5]), name="scope/v")
    tf.train.Checkpoint(v=v).read(RECORDED / name).expect_partial()
    np.testing.assert_array_equal(v, parts(tf)["scope/v"])


def part(starts_and_lengths: list[tuple[int, int | None]]) -> TensorSliceProto:
    extents = [
        Extent(start=start) if length is None else Extent(start=start, length=length)
        for start, length in starts_and_lengths
    ]
    return TensorSliceProto(extent=extents)


@pytest.mark.parametrize(
    ("shape", "places", "message"),
    [
        ([4], [[(0, 2)], [(2, 2)]], None),
        ([4], [[(0, 2)], [(0, 2)]], "does not fit at"),
        ([4], [[(0, 2)], [(2, 1)]], "is missing"),
        ([4], [[(0, 2)]], "do not make up"),
        ([4], [[(0, 2)], [(2, 3)]], "is at"),
        ([4], [[(0, 2)], [(-2, 2)]], "is at"),
        ([4], [[(0, 2), (0, 1)], [(2, 2)]], "is at"),
        ([4], [[(0, None)]], "is missing"),
        ([2**40], [[(0, 2**39)], [(2**39, 2**39)]], "do not make up"),
    ],
)
def test_hostile_parts(shape: list[int], places: Any, message: str | None, tmp_path: Path) -> None:
    values = {(0, 2): [1.0, 2.0], (2, 2): [3.0, 4.0]}
    data = np.array(list(values.values()), "f4").tobytes()
    (tmp_path / "x.data-00000-of-00001").write_bytes(data)
    whole = BundleEntryProto(dtype=1, shape=shape_message(shape))
    whole.slices.extend([part(place) for place in places])
    entries = [(b"x", whole)]
    stored = [*values, (0, 2**39), (2**39, 2**39)]
    for i, (start, size) in enumerate(stored):
        piece = np.frombuffer(data[8 * i : 8 * i + 8], "f4")
        entry = entry_of(piece, 0, 8 * i, 8, crc32c(piece.tobytes()))
        entries.append((slice_key(b"x", [(start, size)]), entry))
    header = BundleHeaderProto(num_shards=1)
    (tmp_path / "x.index").write_bytes(
        table_bytes([(b"", header.SerializeToString()),
                     *sorted([(key, one.SerializeToString()) for key, one in entries])])
    )  # fmt: skip
    reader = BundleReader(str(tmp_path / "x"))
    if message is None:
        assert reader.read("x").tolist() == [1, 2, 3, 4]
    else:
        with pytest.raises(tf.errors.DataLossError, match=message):
            reader.read("x")


def test_keys_of_parts_sort_as_their_places() -> None:
    numbers = [n for i in range(63) for n in (2**i - 1, 2**i)]
    numbers = sorted({*numbers, *[-n for n in numbers]})
    keys = [slice_key(b"x", [(n, 1)]) for n in numbers]
    assert keys == sorted(keys)
    names = [b"", b"\0", b"\0\xff", b"a", b"a\0", b"a\xff", b"\xff"]
    keys = [slice_key(name, []) for name in names]
    assert len(set(keys)) == len(names)
    assert keys == sorted(keys)


def test_beyond_four_gigabytes(tmp_path: Path) -> None:
    """A data file with a hole takes no room: what lies behind it is found."""
    offset = 2**33 + 64
    value = np.arange(5.0)
    with (tmp_path / "x.data-00000-of-00001").open("wb") as file:
        file.seek(offset)
        file.write(value.tobytes())
    entry = entry_of(value, 0, offset, value.nbytes, crc32c(value.tobytes()))
    (tmp_path / "x.index").write_bytes(index_bytes([(b"x", entry)], 1))
    assert tf.train.load_variable(tmp_path / "x", "x").tolist() == value.tolist()
    assert BundleEntryProto.FromString(entry.SerializeToString()).offset == offset


# --- what is not there yet ------------------------------------------------------------------------


def test_values_wait_for_attributes_items_and_keys(tmp_path: Path) -> None:
    saved = tf.Module()
    saved.inner = tf.Module()
    saved.inner.v = tf.Variable(1.0)
    saved.items = [tf.Variable(2.0), tf.Variable(3.0)]
    saved.named = {"a": tf.Variable(4.0)}
    path = tf.train.Checkpoint(saved).write(tmp_path / "x")
    made = tf.Module()
    made.items, made.named = [], {}
    status = tf.train.Checkpoint(made).read(path)
    assert len(status.deferred) == 4
    made.inner = tf.Module()
    made.inner.v = tf.Variable(0.0)
    made.items.append(tf.Variable(0.0))
    made.items += [tf.Variable(0.0)]
    made.named["a"] = tf.Variable(0.0)
    assert [float(v) for v in made.variables] == [2.0, 3.0, 4.0, 1.0]
    status.assert_consumed()


def test_a_keras_model_that_is_built_later(tmp_path: Path) -> None:
    from weft import keras

    def new() -> Any:
        return keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])

    model = new()
    x = np.ones((2, 4), "float32")
    expected = model(x).numpy()
    path = tf.train.Checkpoint(model=model).write(tmp_path / "x")
    later = new()
    status = tf.train.Checkpoint(model=later).read(path)
    np.testing.assert_allclose(later(x), expected, rtol=1e-6)
    status.assert_existing_objects_matched().expect_partial()


def test_a_part_is_told_at_once_with_the_nearest_names(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tf.train.Checkpoint(weights=tf.Variable(1.0), step=tf.Variable(1)).write(tmp_path / "x")
    tf.train.Checkpoint(weight=tf.Variable(0.0), step=tf.Variable(0)).read(path)
    assert "was restored in part" in caplog.text
    assert "weight  (the nearest is weights)" in caplog.text
    caplog.clear()
    tf.train.Checkpoint(weight=tf.Variable(0.0)).read(path).expect_partial()
    assert caplog.text == ""
    status = tf.train.Checkpoint(weight=tf.Variable(0.0)).read(path)
    with pytest.raises(AssertionError, match="not in the checkpoint"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="nothing was restored"):
        status.assert_nontrivial_match()


@pytest.mark.parametrize("wrong", [tf.zeros([3]), tf.zeros([2], tf.int32)])
def test_other_shapes_and_dtypes_raise(wrong: Any, tmp_path: Path) -> None:
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tmp_path / "x")
    with pytest.raises(ValueError, match=r"'v' is float32 \(2,\) there, and the variable"):
        tf.train.Checkpoint(v=tf.Variable(wrong)).read(path)


def test_what_does_not_fit_leaves_all_as_it_was(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), z=tf.Variable([1.0, 2.0])).write(tmp_path / "x")
    first, last = tf.Variable(5.0), tf.Variable([5.0])
    with pytest.raises(ValueError, match="'z' is float32"):
        tf.train.Checkpoint(a=first, z=last).read(path)
    assert (first.numpy(), last.numpy()) == (5.0, [5.0])


def test_values_of_an_object_that_takes_none_are_unused(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(tmp_path / "x")
    b = tf.Variable(0.0)
    status = tf.train.Checkpoint(a=tf.Module(), b=b).read(path)
    assert b.numpy() == 2
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="a"):
        status.assert_consumed()


def test_what_is_no_checkpoint() -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match=r"There is no checkpoint .*nothing"):
        checkpoint.restore("/nothing")
    with pytest.raises(tf.errors.NotFoundError, match="without that ending"):
        checkpoint.restore(f"{RECORDED}/module.index")
    with pytest.raises(AssertionError, match="got None"):
        checkpoint.restore(None).assert_consumed()
    with pytest.raises(ValueError, match="must be a variable, a module"):
        tf.train.Checkpoint(v=3.0)

    @tf.function
    def f() -> None:
        checkpoint.write("nothing")

    with pytest.raises(RuntimeError, match="being traced"):
        f()


# --- numbered ones, and many of them -------------------------------------------------------------


def test_saving_counts_and_the_newest_is_found(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    assert tf.train.latest_checkpoint(tmp_path) is None
    paths = [checkpoint.save(tmp_path / "c") for _ in range(2)]
    assert paths == [f"{tmp_path}/c-1", f"{tmp_path}/c-2"]
    assert tf.train.latest_checkpoint(tmp_path) == paths[1]
    assert tf.train.list_variables(tmp_path)[-1] == ("v/.ATTRIBUTES/VARIABLE_VALUE", [])
    assert tf.train.load_variable(tmp_path, "v/.ATTRIBUTES/VARIABLE_VALUE") == 1.0
    other = tf.train.Checkpoint(v=tf.Variable(0.0))
    other.restore(paths[0]).assert_consumed()
    assert int(other.save_counter) == 1


def test_a_manager_keeps_the_newest_and_goes_on(tmp_path: Path) -> None:
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    for _ in range(3):
        v.assign_add(1.0)
        manager.save()
    names = sorted({file.name.partition(".")[0] for file in tmp_path.iterdir()})
    assert names == ["checkpoint", "ckpt-2", "ckpt-3"]
    again = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert again.checkpoints == manager.checkpoints
    v.assign(0.0)
    assert again.restore_or_initialize() == f"{tmp_path}/ckpt-3"
    assert float(v) == 3.0
    assert again.save() == f"{tmp_path}/ckpt-4"


def test_a_manager_passes_over_what_is_damaged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    v = tf.Variable(tf.range(100.0))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=5)
    for _ in range(2):
        path = manager.save()
        v.assign_add(tf.ones([100]))
    (file,) = tmp_path.glob("ckpt-2.data*")
    data = bytearray(file.read_bytes())
    data[70] ^= 1
    file.write_bytes(data)
    assert path is not None
    with pytest.raises(
        tf.errors.DataLossError, match=r"ckpt-2.data.* is damaged: the checksum of 'v/.*was written"
    ):
        tf.train.Checkpoint(v=v).restore(path)
    assert manager.restore_or_initialize() == f"{tmp_path}/ckpt-1"
    assert "is not whole, the one before it is taken" in caplog.text
    np.testing.assert_array_equal(v, np.arange(100.0))


def test_steps_between_checkpoints_and_a_beginning(tmp_path: Path) -> None:
    step, begun = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step),
        tmp_path,
        max_to_keep=None,
        step_counter=step,
        checkpoint_interval=3,
        init_fn=lambda: begun.append(True),
    )
    assert manager.restore_or_initialize() is None
    assert begun == [True]
    saved = []
    for _ in range(7):
        saved.append(manager.save() is not None)
        step.assign_add(1)
    assert saved == [True, False, False, True, False, False, True]
    with pytest.raises(ValueError, match="max_to_keep must be positive"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path, max_to_keep=0)


def test_in_the_background(tmp_path: Path) -> None:
    v = tf.Variable(tf.zeros([1000, 300]))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=3)
    path = manager.save(wait=False)
    v.assign_add(tf.ones([1000, 300]))  # after the snapshot
    manager.sync()
    tf.train.Checkpoint(v=v).read(path).expect_partial()
    assert float(tf.reduce_sum(v)) == 0.0
    options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
    checkpoint = tf.train.Checkpoint(v=v)
    (tmp_path / "file").write_text("")
    checkpoint.write(tmp_path / "file" / "x", options)  # a folder cannot be made there
    with pytest.raises(tf.errors.OpError):
        checkpoint.sync()
    checkpoint.sync()


@pytest.mark.parametrize("size", [1, 3, 5000])
@pytest.mark.parametrize("execution", ["numpy", "native"])
def test_what_is_written_in_the_background_is_of_one_moment(
    size: int, execution: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever way variables change afterwards: buffers are lent, not copied."""
    a, b = tf.Variable(tf.zeros([size])), tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(a=a, b=b)
    options = tf.train.CheckpointOptions(enable_async=True)

    @tf.function
    def step() -> None:
        a.assign_add(tf.ones([size]))
        b.assign_add(1.0)

    def changed() -> None:
        step()
        a.assign_add(tf.ones([size]))
        a.scatter_nd_add([[0]], [1.0])
        a[0].assign(a[0] - 1.0)
        b.assign(b + 1.0)

    monkeypatch.setattr(tf.config, "execution", execution)
    for i in range(20):
        changed()
        path = checkpoint.write(tmp_path / f"c{i}", options)
        changed()
        checkpoint.sync()
        reader = tf.train.load_checkpoint(path)
        expected = 2.0 * (2 * i + 1)
        assert reader.get_tensor("b/.ATTRIBUTES/VARIABLE_VALUE") == expected
        found = reader.get_tensor("a/.ATTRIBUTES/VARIABLE_VALUE")
        np.testing.assert_array_equal(found, np.full(size, expected, "f4"))


def test_a_snapshot_while_others_write(tmp_path: Path) -> None:
    a, b = tf.Variable(0.0), tf.Variable(tf.zeros([2000]))
    goes_on = [True]

    @tf.function
    def step() -> None:
        a.assign_add(1.0)
        b.assign_add(tf.ones([2000]))

    def write() -> None:
        while goes_on:
            step()

    step()
    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    checkpoint = tf.train.Checkpoint(a=a, b=b)
    options = tf.train.CheckpointOptions(enable_async=True)
    seen = set()
    try:
        for i in range(30):
            path = checkpoint.write(tmp_path / f"c{i}", options)
            checkpoint.sync()
            reader = tf.train.load_checkpoint(path)
            first = float(reader.get_tensor("a/.ATTRIBUTES/VARIABLE_VALUE"))
            second = np.unique(reader.get_tensor("b/.ATTRIBUTES/VARIABLE_VALUE"))
            assert second.tolist() == [first]
            seen.add(first)
    finally:
        goes_on.clear()
        for thread in threads:
            thread.join()
    assert len(seen) > 1


def test_views(tmp_path: Path) -> None:
    made = tf.Module()
    made.v, made.items = tf.Variable(1.0), [tf.Variable(2.0)]
    path = tf.train.Checkpoint(made).write(tmp_path / "x")
    view = tf.train.CheckpointView(path)
    assert view.children(0) == {"v": 1, "items": 2, "root": 0}
    assert view.descendants() == [0, 1, 2, 3]
    other = tf.Module()
    other.v, other.w = tf.Variable(0.0), tf.Variable(0.0)
    assert sorted(view.match(other)) == [0, 1]
    assert len(tf.train.TrackableView(made).descendants()) == 4
