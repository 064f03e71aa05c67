"""Tables and files in saved models: they come back with their content, each model with its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from checks.saved_models_in_tensorflow import tables


class Words(tf.Module):
    """A table of each kind, and a file."""

    def __init__(self) -> None:
        self.tables = tables(tf)
        self.log = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, text: Any) -> Any:
        ids = self.tables["words"].lookup(text)
        return ids, self.tables["dense"].lookup(ids), self.tables["mutable"].lookup(text)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def add(self, text: Any) -> Any:
        self.log.insert(text, tf.cast(tf.range(tf.size(text)), tf.int64))
        return self.log.size()


TEXT = tf.constant(["two", "b", "?"])


def saved(module: tf.Module, folder: Path) -> Any:
    """A module as it comes back."""
    tf.saved_model.save(module, folder)
    return tf.saved_model.load(folder)


def results(model: Any) -> list[Any]:
    """What a model finds."""
    return [x.numpy().tolist() for x in model(TEXT)]


def test_tables_come_back_with_their_content(tmp_path: Path) -> None:
    module = Words()
    module.add(tf.constant(["x", "y"]))
    loaded = saved(module, tmp_path / "m")
    assert results(loaded) == results(module)
    assert results(loaded)[0] == [2, -1, -1]
    assert results(loaded)[2] == [-1, 6, -1]
    assert loaded.add(tf.constant(["z"])) == 3
    assert module.log.size() == 2
    assert loaded.add(tf.constant(["z", "x"])) == 3


def test_two_loads_have_tables_of_their_own(tmp_path: Path) -> None:
    first = saved(Words(), tmp_path / "m")
    second = tf.saved_model.load(tmp_path / "m")
    assert first.add(tf.constant(["z"])) == 1
    assert second.add(tf.constant(["q", "r"])) == 2


def test_files_are_part_of_the_model(tmp_path: Path) -> None:
    paths = [tmp_path / name / "words.txt" for name in ("a", "b")]
    module = tf.Module()
    module.tables, module.assets = [], []
    for path, text in zip(paths, ("x\ny\n", "y\nz\nx\n"), strict=True):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        lines = tf.lookup.TextFileInitializer(path, tf.string, -2, tf.int64, -1)
        module.tables.append(tf.lookup.StaticHashTable(lines, -1))
        module.assets.append(tf.saved_model.Asset(path))
    module.f = tf.function(
        lambda s: [table.lookup(s) for table in module.tables],
        input_signature=[tf.TensorSpec([], tf.string)],
    )
    module.read = tf.function(lambda: module.assets[1].asset_path, input_signature=[])
    tf.saved_model.save(module, tmp_path / "m")
    for path in paths:
        path.unlink()
    (tmp_path / "m").rename(tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert [int(x) for x in loaded.f(tf.constant("x"))] == [0, 2]
    kept = Path(loaded.read().numpy().decode())
    assert kept.parent == (tmp_path / "moved" / "assets").resolve()
    assert kept.read_text(encoding="utf-8") == "y\nz\nx\n"
    assert loaded.assets[1].asset_path.numpy().decode() == str(kept)


def test_a_file_with_an_offset_is_saved_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("x\ny\n", encoding="utf-8")
    lines = tf.lookup.TextFileInitializer(path, tf.string, -2, tf.int64, -1, value_index_offset=10)
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(lines, -1)
    module.f = tf.function(module.table.lookup, input_signature=[tf.TensorSpec([], tf.string)])
    assert saved(module, tmp_path / "m").f(tf.constant("y")) == 11


def test_an_asset_that_is_gone_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    module = tf.Module()
    module.file = tf.saved_model.Asset(tmp_path / "nothing.txt")
    with pytest.raises(tf.errors.NotFoundError, match=r"asset of a model.*nothing\.txt"):
        tf.saved_model.save(module, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_nobody_owns_is_refused(tmp_path: Path) -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="mine")
    module = tf.Module()
    module.f = tf.function(table.lookup, input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.raises(ValueError, match="the table 'mine'.*Make it an attribute"):
        tf.saved_model.save(module, tmp_path / "m")


def test_loaded_functions_tell_their_variables(tmp_path: Path) -> None:
    module = tf.Module()
    module.v, module.w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    module.f = tf.function(lambda: module.v + module.w, input_signature=[])
    loaded = saved(module, tmp_path / "m")
    (trace,) = loaded.f.concrete_functions
    assert [v is w for v, w in zip(trace.variables, (loaded.v, loaded.w), strict=True)] == [
        True
    ] * 2
    assert trace.trainable_variables == (loaded.v,)
    signature = loaded.signatures["serving_default"]
    assert signature.trainable_variables == (loaded.v,)
    assert len(signature.variables) == 2


def test_signatures_of_one_tensor_take_it_by_place(tmp_path: Path) -> None:
    module = tf.Module()
    one = tf.TensorSpec([])
    module.f = tf.function(lambda x: 2.0 * x, input_signature=[one])
    pair = tf.function(lambda xs: xs[0] - xs[1], input_signature=[[one, one]])
    tf.saved_model.save(module, tmp_path / "m", signatures={"one": module.f, "pair": pair})
    signatures = tf.saved_model.load(tmp_path / "m").signatures
    assert signatures["one"](tf.constant(3.0))["output_0"] == 6.0
    found = signatures["pair"](xs=tf.constant(3.0), xs_1=tf.constant(1.0))
    assert found["output_0"] == 2.0
    with pytest.raises(TypeError, match="takes its arguments by name: xs, xs_1"):
        signatures["pair"](tf.constant(3.0), tf.constant(1.0))


def test_functions_by_alias(tmp_path: Path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: 2.0 * x, input_signature=[tf.TensorSpec([])])
    options = tf.saved_model.SaveOptions(function_aliases={"twice": module.f})
    tf.saved_model.save(module, tmp_path / "m", options=options)
    wanted = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded: Any = tf.saved_model.load(tmp_path / "m", options=wanted)
    assert loaded.function_aliases["twice"](tf.constant(2.0)) == 4.0
    assert not hasattr(tf.saved_model.load(tmp_path / "m"), "function_aliases")


RECORDED = Path(__file__).parent / "recorded" / "tensorflow-2.21.0"


def test_a_loaded_model_can_be_saved(tmp_path: Path) -> None:
    first = tf.saved_model.load(RECORDED / "network")
    x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    first.train(x, tf.ones([2, 2]))
    second = saved(first, tmp_path / "m")
    assert int(second.steps) == 1
    for key, value in first(x).items():
        assert second(x)[key].numpy().tolist() == value.numpy().tolist()
    assert second.train(x, tf.ones([2, 2])) == first.train(x, tf.ones([2, 2]))
    served = second.signatures["serving_default"](x=x)
    assert served["out"].numpy().tolist() == second(x)["out"].numpy().tolist()
    again = saved(tf.saved_model.load(RECORDED / "words"), tmp_path / "w")
    assert int(again(tf.constant(["TWO"]))[0][0]) == 2
    assert int(saved(again, tmp_path / "w")(tf.constant(["TWO"]))[0][0]) == 2  # in its place


def test_a_loaded_model_can_be_part_of_another(tmp_path: Path) -> None:
    module = tf.Module()
    module.inner = tf.saved_model.load(RECORDED / "words")
    text = tf.TensorSpec([None], tf.string)
    module.f = tf.function(lambda s: module.inner(s)[0] + 1, input_signature=[text])
    loaded = saved(module, tmp_path / "m")
    assert int(loaded.f(tf.constant(["two"]))[0]) == 3
    assert int(loaded.inner(tf.constant(["two"]))[0][0]) == 2
    assert list(loaded.inner.signatures) == ["serving_default"]
