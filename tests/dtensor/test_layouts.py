"""Meshes and layouts as descriptions: what TensorFlow 2.21 says of them. No jax is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError, UnsupportedError

d = tf.experimental.dtensor
HERE = "/job:localhost/replica:0/task:0/device"
TEXT = f"|x=2,y=2|0,1,2,3|0,1,2,3|{HERE}:CPU:0,{HERE}:CPU:1,{HERE}:CPU:2,{HERE}:CPU:3"


@pytest.fixture(autouse=True)
def _four_names_of_the_cpu() -> Iterator[None]:
    assert d.initialize_accelerator_system("CPU", num_logical_cpu_devices=4) == "CPU"
    yield
    d.initialize_accelerator_system(num_logical_cpu_devices=1)
    d.shutdown_accelerator_system()


def mesh() -> Any:
    return d.create_mesh([("x", 2), ("y", 2)], devices=[f"CPU:{i}" for i in range(4)])


def test_meshes() -> None:
    m = mesh()
    assert (m.dim_names, m.shape(), m.size, m.name, m.strides) == (
        ["x", "y"],
        [2, 2],
        4,
        "",
        [2, 1],
    )
    assert (m.dim_size("x"), m["y"], m.contains_dim("z")) == (2, ("y", 2), False)
    assert (m.device_type(), m.num_local_devices()) == ("CPU", 4)
    assert m.local_devices() == [f"{HERE}:CPU:{i}" for i in range(4)]
    assert m.local_device_ids() == [0, 1, 2, 3]
    assert m.global_device_ids().tolist() == [[0, 1], [2, 3]]
    assert m.local_device_locations()[1] == {"x": 0, "y": 1}
    assert m.unravel_index()[2] == {"x": 1, "y": 0}
    assert m.coords(3).numpy().tolist() == [1, 1]
    assert (m.min_global_device_id(), m.is_remote(), m.is_single_device()) == (0, False, False)
    assert m.host_mesh() is m
    assert m.to_string() == TEXT
    assert d.Mesh.from_string(TEXT) == m
    assert hash(d.Mesh.from_string(TEXT)) == hash(m)
    assert repr(m) == f"Mesh.from_string({TEXT})"
    assert d.create_mesh({"a": 4}, device_type="CPU").to_string().startswith("|a=4|0,1,2,3|")
    assert d.create_mesh(device_type="CPU").dim_names == ["x"]
    assert d.create_distributed_mesh([("x", 4)], "name").name == "name"
    gpus = d.Mesh(["x"], np.arange(2), [0, 1], ["GPU:0", "GPU:1"])
    assert gpus.host_mesh().local_devices() == [f"{HERE}:CPU:0", f"{HERE}:CPU:1"]
    assert d.Mesh.from_device("CPU:1").is_single_device()


def test_layouts() -> None:
    m, free = mesh(), d.UNSHARDED
    layout = d.Layout(["x", "y"], m)
    assert (layout.sharding_specs, layout.rank, layout.shape) == (["x", "y"], 2, [2, 2])
    assert (layout.num_shards(0), d.Layout(["x", free], m).num_shards(1)) == (2, 1)
    assert d.Layout.replicated(m, 2).is_fully_replicated()
    assert d.Layout.batch_sharded(m, "x", 3).sharding_specs == ["x", free, free]
    assert d.Layout.batch_sharded(m, "x", 3, axis=1).sharding_specs == [free, "x", free]
    assert d.Layout.inner_sharded(m, "y", 2).sharding_specs == [free, "y"]
    assert layout.delete([0]).sharding_specs == ["y"]
    assert layout.to_string() == f"sharding_specs:x,y, mesh:{TEXT}"
    assert d.Layout([], m).to_string() == f"sharding_specs: mesh:{TEXT}"
    for one in (layout, d.Layout([], m), d.Layout([free], m)):
        assert d.Layout.from_string(one.to_string()) == one
    assert layout.offset_to_shard() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert layout.offset_tuple_to_global_index((1, 0)) == 2
    assert layout.global_shape_from_local_shape(tf.TensorShape([2, 3])) == [4, 6]
    assert layout.local_shape_from_global_shape(tf.TensorShape([4, 6])) == [2, 3]
    assert d.Layout(["x", free], m).is_batch_parallel()
    assert d.Layout.from_device("CPU:0").is_single_device()
    assert layout.to_parted() == layout
    assert len({layout, d.Layout(["x", "y"], m)}) == 1


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda m: m.dim_size("q"), ValueError, "there is no axis 'q'; there are x, y"),
        (lambda m: d.create_mesh([("x", 3)], device_type="CPU"), ValueError, "need 3 devices, and"),
        (lambda m: d.create_mesh([("x", 2), ("x", 2)]), ValueError, "axes must differ"),
        (lambda m: d.Mesh(["x"], np.zeros((2, 2)), [], []), ValueError, "1 names of axes"),
        (lambda m: d.Mesh(["x"], np.arange(1), [0], []), ValueError, "1 numbers of devices and 0"),
        (lambda m: d.Mesh(["x"], np.arange(2), [0, 1], ["CPU:0", "GPU:0"]), ValueError, "one type"),
        (lambda m: d.Mesh.from_string("x"), ValueError, "'x' is no mesh as text"),
        (lambda m: d.Layout.from_string("x"), ValueError, "'x' is no layout as text"),
        (lambda m: d.Layout(["q"], m), ValueError, "'q' is no axis of the mesh, which has x, y"),
        (lambda m: d.Layout(["x", "x"], m), ValueError, "can divide one axis of a tensor only"),
        (lambda m: d.Layout("x", m), ValueError, "must be a list of names, got 'x'"),
        (lambda m: d.Layout(["x"], 3), ValueError, "mesh must be a Mesh, got 3"),
        (lambda m: d.relayout(1.0, "x"), TypeError, "layout must be a .*Layout, got 'x'"),
        (lambda m: d.fetch_layout(tf.constant(1)), InvalidArgumentError, "relayout makes one"),
        (lambda m: d.unpack(tf.constant(1)), InvalidArgumentError, "unpack: a tensor that several"),
        (lambda m: d.pack([1.0] * 3, d.Layout([], m)), InvalidArgumentError, "got 3 parts"),
        (lambda m: d.pack([1.0] * 4, d.Layout(["x"], m)), InvalidArgumentError, "0 axes, and the"),
        (
            lambda m: d.pack([[1.0], [1, 2.0], [1.0], [1.0]], d.Layout(["x"], m)),
            InvalidArgumentError,
            "one shape and dtype",
        ),
        (lambda m: d.default_mesh(3).__enter__(), ValueError, "a .*Mesh is expected, got 3"),
        (lambda m: d.DTensorCheckpoint(3), ValueError, "mesh must be a Mesh, got 3"),
        (lambda m: d.initialize_tpu_system("TPU"), UnsupportedError, "has no TPUs"),
        (lambda m: d.sharded_save(m, "", [], [], []), UnsupportedError, "tf.train.Checkpoint"),
    ],
)
def test_wrong_use(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong(mesh())


def test_datasets_that_do_not_fit() -> None:
    m, data = mesh(), tf.data.Dataset.range(8)
    layout = d.Layout(["x"], m)
    with pytest.raises(ValueError, match="a batch of 3 cannot be divided evenly along 'x'"):
        d.DTensorDataset(data, mesh=m, layouts=layout, global_batch_size=3, batch_dim="x")
    other = d.create_mesh([("z", 2)], devices=["CPU:0", "CPU:1"])
    with pytest.raises(ValueError, match="a layout is of another mesh"):
        d.DTensorDataset(data, mesh=other, layouts=layout, global_batch_size=2)
    with pytest.raises(UnsupportedError, match="no tf.data service"):
        d.DTensorDataset(
            data, mesh=m, layouts=layout, global_batch_size=2, tf_data_service_config=1
        )


def test_who_takes_part() -> None:
    assert (d.client_id(), d.num_clients(), d.job_name(), d.jobs()) == (0, 1, "localhost", [])
    assert d.full_job_name(2) == "localhost/replica:0/task:2"
    assert d.num_local_devices("CPU") == d.num_global_devices("CPU") == 4
    assert d.num_local_devices("TPU") == 0
    assert not d.is_dtensor(3)
    with d.default_mesh(mesh()):
        assert d.get_default_mesh() == mesh()
    assert d.get_default_mesh() is None
