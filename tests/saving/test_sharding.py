"""Checkpoints and models that a policy divides among files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.saving.bundle import BundleReader

policies = tf.train.experimental


def options(policy: Any) -> tf.train.CheckpointOptions:
    return tf.train.CheckpointOptions(experimental_sharding_callback=policy)


def model() -> tf.train.Checkpoint:
    return tf.train.Checkpoint(
        a=tf.Variable(np.arange(60, dtype=np.float32).reshape(3, 4, 5)),
        b=tf.Variable(np.arange(7, dtype=np.int64)),
        c=tf.Variable(2.5, dtype=tf.float64),
        d=tf.Variable(["text", "more"]),
        e=tf.Variable(tf.zeros([0, 3])),
    )


def data_files(prefix: str) -> list[str]:
    return sorted(glob.glob(f"{prefix}.data-*"))


@pytest.mark.parametrize("limit", [1, 8, 21, 30, 100, 500, 10**6])
def test_files_of_a_size(tmp_path: Path, limit: int) -> None:
    prefix = str(tmp_path / "made")
    saved = model()
    saved.write(prefix, options(policies.MaxShardSizePolicy(limit)))
    files = data_files(prefix)
    assert (len(files) == 1) == (limit == 10**6)
    # Text and single numbers are never cut; between tensors there is room up to the next 64th byte.
    whole = max(8, len(BundleReader(prefix).read("_CHECKPOINTABLE_OBJECT_GRAPH").item()) + 16)
    pieces = max(1, limit // 4)
    assert all(os.path.getsize(file) <= max(limit, whole) + 64 * pieces for file in files)
    read = model()
    for name in "abce":
        getattr(read, name).assign(tf.zeros_like(getattr(read, name)))
    read.read(prefix).assert_consumed()
    for name in "abcde":
        np.testing.assert_array_equal(getattr(read, name), getattr(saved, name))


def test_another_checkpoint_takes_its_place(tmp_path: Path) -> None:
    prefix = str(tmp_path / "made")
    saved = model()
    for limit in (100, 100, 10**6, 10**6, 30, 100):
        saved.b.assign_add(tf.ones([7], tf.int64))
        saved.write(prefix, options(policies.MaxShardSizePolicy(limit)))
        ends = {file.rpartition("-of-")[2] for file in data_files(prefix)}
        assert len(ends) == 1
        read = model()
        read.read(prefix).assert_consumed()
        np.testing.assert_array_equal(read.b, saved.b)
    assert not glob.glob(f"{prefix}.tmp*")


def test_one_file_for_the_process(tmp_path: Path) -> None:
    prefix = str(tmp_path / "made")
    model().write(prefix, options(policies.ShardByTaskPolicy()))
    assert len(data_files(prefix)) == 1


class Chosen(policies.ShardingCallback):
    """A callback that gives what a function makes of the tensors."""

    description = "chosen by a test"

    def __init__(self, choose: Any) -> None:
        self._choose = choose

    def __call__(self, shardable_tensors: Sequence[policies.ShardableTensor]) -> Any:
        return self._choose(shardable_tensors)


def test_a_callback_of_the_user(tmp_path: Path) -> None:
    seen: list[policies.ShardableTensor] = []

    def one_by_one(tensors: Sequence[policies.ShardableTensor]) -> Any:
        seen.extend(tensors)
        return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in tensors]

    prefix, saved = str(tmp_path / "made"), model()
    saved.write(prefix, options(Chosen(one_by_one)))
    assert len(data_files(prefix)) == 6
    first = seen[0]
    assert (first.checkpoint_key, first.dtype) == ("a/.ATTRIBUTES/VARIABLE_VALUE", tf.float32)
    assert first.shape == [3, 4, 5]
    assert first.trackable is saved.a
    assert seen[-1].checkpoint_key == "_CHECKPOINTABLE_OBJECT_GRAPH"
    model().read(prefix).assert_consumed()


@pytest.mark.parametrize(
    ("choose", "match"),
    [
        (lambda tensors: [], "left out parts"),
        (lambda tensors: [{tensors[0].checkpoint_key: {"": tensors[0].tensor}}] * 2, "two files"),
        (
            lambda tensors: [
                {
                    tensors[0].checkpoint_key: {
                        "3 4 5 0,2:-:-": tensors[0].tensor[:2],
                        "3 4 5 1,1:-:-": tensors[0].tensor[1:2],
                    }
                }
            ],
            "two files",
        ),
        (lambda tensors: [{"other": {"": tf.zeros([])}}], "made up 'other'"),
        (lambda tensors: [{t.checkpoint_key: {"": t.tensor[:1]} for t in tensors[:1]}], "it has"),
        (
            lambda tensors: [{tensors[0].checkpoint_key: {"3 4 5 all": tensors[0].tensor}}],
            "a part looks like",
        ),
        (
            lambda tensors: [
                {t.checkpoint_key: {"3 4 5 0,1:-:-": t.tensor[:1]} for t in tensors[:1]}
            ],
            "left out parts",
        ),
    ],
)
def test_callbacks_that_are_wrong_write_nothing(tmp_path: Path, choose: Any, match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        model().write(str(tmp_path / "made"), options(Chosen(choose)))
    assert os.listdir(tmp_path) == []


def test_models_are_divided_too(tmp_path: Path) -> None:
    module = tf.Module()
    module.v = tf.Variable(np.arange(100, dtype=np.float32))
    module.f = tf.function(lambda: tf.reduce_sum(module.v), input_signature=[])
    policy = policies.MaxShardSizePolicy(100)
    chosen = tf.saved_model.SaveOptions(experimental_sharding_callback=policy)
    tf.saved_model.save(module, str(tmp_path / "model"), options=chosen)
    assert len(data_files(str(tmp_path / "model" / "variables" / "variables"))) > 3
    assert tf.saved_model.load(str(tmp_path / "model")).f().numpy() == 4950.0


def test_what_options_refuse() -> None:
    for kind in (tf.train.CheckpointOptions, tf.saved_model.SaveOptions):
        with pytest.raises(ValueError, match="must be a tf.train.experimental.ShardingCallback"):
            kind(experimental_sharding_callback=3)
    with pytest.raises(ValueError, match="at least one byte"):
        policies.MaxShardSizePolicy(0)
