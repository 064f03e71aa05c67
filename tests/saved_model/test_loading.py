"""SavedModels of TensorFlow run here, and damaged or hostile ones are refused."""

from __future__ import annotations

import ast
import gc
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from checks.record_saved_models import MODELS
from weft._src.messages.saved_models import SavedModel

RECORDED = Path(__file__).parent / "recorded"
VERSIONS = sorted(path.name for path in RECORDED.iterdir() if path.is_dir())


def calls(name: str) -> list[Any]:
    """The calls that were recorded of a model."""
    x = np.linspace(-1, 1, 6).reshape(2, 3).astype("f")
    y = np.ones((2, 2), "f")
    z = np.array([1.5, 2.0], "f")
    return {
        "network": [
            ("__call__", (x,), {}),
            ("train", (x, y), {}),
            ("train", (x, y), {}),
            ("serving_default", (), {"x": x}),
        ],
        "loops": [
            ("powers", (z, np.int32(9)), {}),
            ("scaled", (z,), {}),
            ("scaled", (z, 3.0), {"negate": True}),
        ],
        "words": [("__call__", (np.array([b"TWO", b"one", b"six"], object),), {})],
    }[name]


def called(model: Any, endpoint: str, args: Any, kwargs: Any) -> Any:
    if endpoint == "serving_default":
        function = model.signatures[endpoint]
    else:
        function = model if endpoint == "__call__" else getattr(model, endpoint)
    return function(*args, **kwargs)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MODELS)
def test_functions_give_what_they_give_there(version: str, name: str) -> None:
    folder = RECORDED / version / name
    model = tf.saved_model.load(folder)
    expected = ast.literal_eval((folder / "results.txt").read_text(encoding="utf-8"))
    for (endpoint, args, kwargs), results in zip(calls(name), expected, strict=True):
        found = tf.nest.flatten(called(model, endpoint, args, kwargs))
        for mine, theirs in zip(found, results, strict=True):
            if mine.dtype == tf.string:
                assert mine.numpy().tolist() == theirs
            else:
                np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def network() -> Any:
    return tf.saved_model.load(RECORDED / VERSIONS[-1] / "network")


def test_a_loaded_model_can_be_differentiated_trained_and_compiled() -> None:
    model = network()
    x = tf.random.normal([4, 3], seed=1)
    weights = [v for pair in model.layers for v in pair]
    assert [v.trainable for v in weights] == [True] * 4
    assert not model.steps.trainable

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x)["out"] - 0.5) ** 2)
        for v, g in zip(weights, tape.gradient(loss, weights), strict=True):
            v.assign_sub(0.3 * g)
        return loss

    losses = [float(step(x)) for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


def test_structures_names_and_signatures() -> None:
    model = network()
    x = np.zeros((1, 3), "f")
    assert sorted(model(x)) == ["mean", "out"]
    assert sorted(model(x=x)) == ["mean", "out"]
    signature = model.signatures["serving_default"]
    assert signature.structured_input_signature[1]["x"].shape.as_list() == [None, 3]
    assert sorted(signature(x=x)) == ["mean", "out"]
    assert repr(signature) == "<signature serving_default(x=float32[None, 3])>"
    del model
    gc.collect()
    assert sorted(signature(x=tf.constant(x))) == ["mean", "out"]  # its variables live on


def test_wrong_calls() -> None:
    model = network()
    with pytest.raises(ValueError, match=r"was not saved for these arguments: .*float32\[1, 2\]"):
        model(tf.zeros([1, 2]))
    with pytest.raises(TypeError, match="was not saved for these arguments"):
        model(tf.zeros([1, 3], tf.int32))
    with pytest.raises(TypeError, match="has no argument 'y'"):
        model(tf.zeros([1, 3]), y=1)
    with pytest.raises(TypeError, match="needs the argument 'x'"):
        model()
    with pytest.raises(TypeError, match="takes x, got y"):
        model.signatures["serving_default"](y=tf.zeros([1, 3]))
    with pytest.raises(TypeError, match="cannot be called"):
        tf.saved_model.load(RECORDED / VERSIONS[-1] / "loops")()


def test_what_is_no_saved_model(tmp_path: Path) -> None:
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="is no SavedModel: there is no file"):
        tf.saved_model.load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"nothing of the kind")
    with pytest.raises(tf.errors.DataLossError, match="is damaged"):
        tf.saved_model.load(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"no graph with the tags \['train'\]"):
        tf.saved_model.load(RECORDED / VERSIONS[-1] / "network", tags=["train"])


def changed(tmp_path: Path, name: str, change: Any) -> Path:
    """A copy of a model whose message was changed."""
    folder = tmp_path / name
    shutil.copytree(RECORDED / VERSIONS[-1] / name, folder)
    message = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    text = change(message.SerializeToString())
    (folder / "saved_model.pb").write_bytes(text)
    return folder


def test_missing_ops_are_all_listed_before_anything_runs(tmp_path: Path) -> None:
    folder = changed(
        tmp_path, "network", lambda text: text.replace(b"\x04Tanh", b"\x04Tahh").replace(
            b"\x06MatMul", b"\x06MatMuh"
        )
    )  # fmt: skip
    with pytest.raises(tf.errors.UnsupportedError) as caught:
        tf.saved_model.load(folder)
    assert "Tahh" in str(caught.value)
    assert "MatMuh" in str(caught.value)


def test_ops_that_reach_out_are_refused(tmp_path: Path) -> None:
    folder = changed(tmp_path, "words", lambda text: text.replace(b"StringLower", b"EagerPyFunc"))
    with pytest.raises(tf.errors.UnsupportedError, match="EagerPyFunc .*reaches out of the model"):
        tf.saved_model.load(folder)


def test_assets_outside_of_their_folder_are_refused(tmp_path: Path) -> None:
    folder = changed(
        tmp_path, "words", lambda text: text.replace(b"\x12\x09words.txt", b"\x12\x09../../etc")
    )
    with pytest.raises(tf.errors.DataLossError, match="does not lie in its folder"):
        tf.saved_model.load(folder)


def test_tables_of_other_files_are_refused(tmp_path: Path) -> None:
    """A hostile model names a file of the machine in a constant."""
    from weft._src.raw_ops.reaching_out import check_files

    inside = tmp_path / "assets" / "words.txt"
    inside.parent.mkdir()
    inside.write_text("a")
    op = "InitializeTableFromTextFileV2"
    check_files(op, {"filename": tf.constant(str(inside))}, str(tmp_path))
    with pytest.raises(tf.errors.UnsupportedError, match="not among the assets"):
        check_files(op, {"filename": tf.constant("/etc/passwd")}, str(tmp_path))
    (tmp_path / "assets" / "link").symlink_to("/etc/passwd")
    linked = tf.constant(str(tmp_path / "assets" / "link"))
    with pytest.raises(tf.errors.UnsupportedError, match="not among the assets"):
        check_files(op, {"filename": linked}, str(tmp_path))
    with pytest.raises(tf.errors.UnsupportedError, match="wants to print into file:"):
        check_files("PrintV2", {"output_stream": f"file://{tmp_path}/x"}, str(tmp_path))


def test_damage_never_crashes(tmp_path: Path) -> None:
    """Bytes changed, and files cut off: an error, or a model that runs."""
    source = RECORDED / VERSIONS[-1] / "network"
    folder = tmp_path / "model"
    shutil.copytree(source, folder)
    good = (source / "saved_model.pb").read_bytes()
    for at in range(0, len(good), 997):
        for data in (good[:at] + bytes([good[at] ^ 0x15]) + good[at + 1 :], good[:at]):
            (folder / "saved_model.pb").write_bytes(data)
            try:
                loaded = tf.saved_model.load(folder)
            except tf.errors.OpError:
                continue
            try:
                loaded(np.zeros((1, 3), "f"))
            except (tf.errors.OpError, TypeError, ValueError):  # other dtypes, shapes and names
                continue
