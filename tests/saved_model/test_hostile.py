"""Models by people who mean harm: loading runs nothing of theirs, and takes what is there."""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft._src.messages.graphs import FunctionDef, NodeDef, OpDef
from weft._src.messages.saved_models import SavedModel
from weft._src.raw_ops import reaching_out
from weft._src.raw_ops.signatures import signature_of

RECORDED = Path(__file__).parent / "recorded" / "tensorflow-2.21.0"


def changed(tmp_path: Path, change: Callable[[Any], None], name: str = "words") -> Path:
    """A recorded model of which something was changed."""
    folder = tmp_path / "model"
    shutil.copytree(RECORDED / name, folder)
    message = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    change(message.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return folder


def function(graph: Any, part: str) -> Any:
    """The function whose name has this in it, and its number among the library's."""
    found = [f for f in graph.graph_def.library.function if part in f.signature.name]
    return found[0]


def constant(body: Any, name: str, text: bytes) -> None:
    """Adds a string constant."""
    node = body.node_def.add(name=name, op="Const")
    node.attr["dtype"].type = tf.string.as_datatype_enum
    node.attr["value"].tensor.dtype = tf.string.as_datatype_enum
    node.attr["value"].tensor.string_val.append(text)


def writes(body: Any, target: Path) -> None:
    """Adds a node that writes a file."""
    constant(body, "evil_name", bytes(target))
    constant(body, "evil_text", b"owned")
    body.node_def.add(
        name="evil", op="WriteFile", input=["evil_name:output:0", "evil_text:output:0"]
    )


def test_files_are_not_written_when_a_model_is_loaded(tmp_path: Path) -> None:
    target = tmp_path / "evil.txt"
    folder = changed(tmp_path, lambda graph: writes(function(graph, "_initializer_"), target))
    with pytest.raises(tf.errors.UnsupportedError, match="WriteFile.*reaches out of the model"):
        tf.saved_model.load(folder)
    assert not target.exists()
    tf.saved_model.load(folder, allow_io=True)
    assert target.read_text(encoding="utf-8") == "owned"


def test_functions_that_pose_as_savers_are_looked_at_all_the_same(tmp_path: Path) -> None:
    """Functions that save and restore are not run, so their ops are not listed."""
    target = tmp_path / "evil.txt"

    def change(graph: Any) -> None:
        body = function(graph, "_initializer_")
        writes(body, target)
        nodes = graph.object_graph_def.nodes
        number = next(
            i
            for i, node in enumerate(nodes)
            if body.signature.name in list(node.function.concrete_functions)
        )
        saver = nodes[0].saveable_objects["evil"]
        saver.save_function = saver.restore_function = number

    folder = changed(tmp_path, change)
    with pytest.raises(tf.errors.UnsupportedError, match="WriteFile.*reaches out of the model"):
        tf.saved_model.load(folder)
    assert not target.exists()


def test_loading_fills_tables_and_does_nothing_else(tmp_path: Path) -> None:
    def change(graph: Any) -> None:
        body = function(graph, "_initializer_")
        constant(body, "evil", b"a")
        body.node_def.add(name="work", op="StringLower", input=["evil:output:0"])

    folder = changed(tmp_path, change)
    with pytest.raises(tf.errors.UnsupportedError, match="StringLower: while a model is loaded"):
        tf.saved_model.load(folder)
    tf.saved_model.load(folder, allow_io=True)


@pytest.mark.parametrize("op", ["ReadFile", "MatchingFiles", "EagerPyFunc", "PyFunc"])
def test_ops_that_reach_out_are_refused_before_anything_runs(tmp_path: Path, op: str) -> None:
    def change(graph: Any) -> None:
        body = function(graph, "__call__")
        constant(body, "evil_name", b"/etc/passwd")
        body.node_def.add(name="evil", op=op, input=["evil_name:output:0"])

    with pytest.raises(tf.errors.UnsupportedError, match=f"{op} .*reaches out of the model"):
        tf.saved_model.load(changed(tmp_path, change))


def test_datasets_are_not_kept_in_files(tmp_path: Path) -> None:
    check = reaching_out.check_files
    check("CacheDatasetV2", {"filename": tf.constant("")}, str(tmp_path))
    with pytest.raises(tf.errors.UnsupportedError, match="keep a dataset in '/elsewhere/x'"):
        check("CacheDatasetV2", {"filename": tf.constant("/elsewhere/x")}, str(tmp_path))


def test_weights_of_candidates_are_not_read_from_files(tmp_path: Path) -> None:
    def change(graph: Any) -> None:
        body = function(graph, "__call__")
        true = body.node_def.add(name="true_classes", op="Const")
        true.attr["dtype"].type = tf.int64.as_datatype_enum
        true.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([[0]], tf.int64))
        node = body.node_def.add(
            name="evil", op="FixedUnigramCandidateSampler", input=["true_classes:output:0"]
        )
        for name, number in (("num_true", 1), ("num_sampled", 1), ("range_max", 2)):
            node.attr[name].i = number
        node.attr["unique"].b = True
        node.attr["vocab_file"].s = b"/etc/passwd"

    with pytest.raises(tf.errors.UnsupportedError, match="A model wants to read '/etc/passwd'"):
        tf.saved_model.load(changed(tmp_path, change))(tf.constant(["a"]))


def test_all_ops_that_name_files_are_known() -> None:
    """A raw op that is added, and takes the name of a file, has to be thought of."""
    harmless = {"CTCBeamSearchDecoder", "TensorSliceDataset"}  # merge_repeated; is_files
    words = ("file", "path", "directory", "url", "address")
    for name in dir(tf.raw_ops):
        signature = signature_of(name)
        if signature is None:
            continue
        parts = [part.name.lower() for part in (*signature.inputs, *signature.attributes)]
        if any(word in part for part in parts for word in words):
            known = reaching_out._OUTSIDE | reaching_out._CACHES | harmless
            known |= reaching_out._VOCABULARIES
            assert name in known, f"tf.raw_ops.{name} takes {parts}"


# --- files ----------------------------------------------------------------------------------------


def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("key\n", encoding="utf-8")
    return path


def test_assets_that_are_links_out_of_the_model_are_refused(tmp_path: Path) -> None:
    outside = secret(tmp_path)
    folder = changed(tmp_path, lambda graph: None)
    asset = folder / "assets" / "words.txt"
    asset.unlink()
    asset.symlink_to(outside)
    with pytest.raises(tf.errors.DataLossError, match="does not lie in its folder"):
        tf.saved_model.load(folder)
    tf.saved_model.load(folder, allow_io=True)


def test_a_folder_of_assets_that_is_a_link_is_refused(tmp_path: Path) -> None:
    secret(tmp_path)
    folder = changed(tmp_path, lambda graph: None)
    shutil.rmtree(folder / "assets")
    (folder / "assets").symlink_to(tmp_path)
    (tmp_path / "words.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(tf.errors.DataLossError, match="does not lie in its folder"):
        tf.saved_model.load(folder)


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "../../secret.txt", "", "."])
def test_assets_with_other_names_are_refused(tmp_path: Path, name: str) -> None:
    secret(tmp_path)

    def change(graph: Any) -> None:
        graph.asset_file_def[0].filename = name

    with pytest.raises(tf.errors.DataLossError, match="does not lie in its folder"):
        tf.saved_model.load(changed(tmp_path, change))


def test_a_linked_model_is_a_model(tmp_path: Path) -> None:
    folder = changed(tmp_path, lambda graph: None)
    (tmp_path / "link").symlink_to(folder)
    found = tf.saved_model.load(tmp_path / "link")(tf.constant(["two"]))
    assert int(found[0][0]) == 2


# --- sizes ----------------------------------------------------------------------------------------


def chain(graph: Any, count: int) -> None:
    """Functions of which each calls the next one twice; the first one fills a table."""
    library = graph.graph_def.library.function
    for i in range(count):
        following = [f"evil_{i + 1}"] * 2 if i + 1 < count else []
        nodes = [NodeDef(name=f"call_{k}", op=name) for k, name in enumerate(following)]
        library.append(FunctionDef(signature=OpDef(name=f"evil_{i}"), node_def=nodes))
    function(graph, "_initializer_").node_def.add(name="evil", op="evil_0")


def test_functions_that_call_each_other_too_often_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft._src.saved_model.importing._MOST_NODES", 10_000)
    folder = changed(tmp_path, lambda graph: chain(graph, 60))
    with pytest.raises(tf.errors.UnsupportedError, match="more than 10000 nodes"):
        tf.saved_model.load(folder)


def test_functions_that_call_each_other_too_deeply_are_refused(tmp_path: Path) -> None:
    def change(graph: Any) -> None:
        body = function(graph, "_initializer_")
        graph.graph_def.library.function.append(
            FunctionDef(signature=OpDef(name="evil"), node_def=[NodeDef(name="again", op="evil")])
        )
        body.node_def.add(name="evil", op="evil")

    with pytest.raises(tf.errors.UnsupportedError, match="too deeply"):
        tf.saved_model.load(changed(tmp_path, change))


@pytest.mark.parametrize("sizes", [[2**40], [2**20, 2**20], [2**28], [2**62, 2**62]])
def test_constants_take_no_more_than_is_written(tmp_path: Path, sizes: list[int]) -> None:
    def change(graph: Any) -> None:
        node = function(graph, "_initializer_").node_def.add(name="evil", op="Const")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        tensor = node.attr["value"].tensor
        tensor.dtype = tf.float32.as_datatype_enum
        tensor.float_val.append(1.0)
        for size in sizes:
            tensor.tensor_shape.dim.add(size=size)

    folder = changed(tmp_path, change)
    tracemalloc.start()
    with pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.DataLossError)):
        tf.saved_model.load(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**27


def test_types_nested_too_deeply_are_an_error(tmp_path: Path) -> None:
    def change(graph: Any) -> None:
        functions = graph.object_graph_def.concrete_functions
        name = next(iter(functions))
        deep = b""
        for _ in range(5000):  # lists in lists: field 51 is a list, whose field 1 its items
            inner = b"\x0a" + _size(len(deep)) + deep
            deep = b"\x9a\x03" + _size(len(inner)) + inner
        functions[name].output_signature.MergeFromString(deep)

    with pytest.raises((tf.errors.DataLossError, tf.errors.OpError)):
        tf.saved_model.load(changed(tmp_path, change))


def _size(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])
