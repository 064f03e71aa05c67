"""Models that Weft saves: the files, what comes back from them, and what is refused.

That TensorFlow loads them is checked by checks/saved_models_in_tensorflow.py, whose models are
saved and loaded here.
"""

from __future__ import annotations

import collections
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from checks import saved_models_in_tensorflow as models
from weft._src.fileio.crc32c import crc32c
from weft._src.fileio.structured_values import message_of
from weft._src.messages.saved_models import FunctionSpec, SavedModel
from weft._src.messages.wire import varint
from weft._src.ops.registry import all_ops
from weft._src.raw_ops.signatures import signature_of
from weft._src.saved_model import seals
from weft._src.saved_model.functions import Parameters
from weft._src.saved_model.loading import meta_graph

models.define(tf)


class Network(tf.Module):
    """Two layers, a list, a dict and a training step."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.w = tf.Variable(rng.normal(size=(3, 5)).astype("f"), name="w")
        self.rest = [tf.Variable(rng.normal(size=(5, 2)).astype("f")), tf.Variable(tf.zeros(2))]
        self.counts = {"steps": tf.Variable(0, trainable=False)}

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def __call__(self, x: Any) -> Any:
        return tf.nn.softmax(tf.nn.relu(x @ self.w) @ self.rest[0] + self.rest[1])

    @tf.function
    def train(self, x: Any, y: Any, *, rate: float = 0.1, bias: Any = 0.0) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.nn.elu(x @ self.w) @ self.rest[0] + self.rest[1] + bias
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        weights = [self.w, *self.rest]
        for weight, slope in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(rate * slope)
        self.counts["steps"].assign_add(1)
        return {"loss": loss, "steps": self.counts["steps"].read_value()}


X = np.linspace(-1, 1, 12).reshape(4, 3).astype("f")
Y = np.array([0, 1, 1, 0], "i")


def graph_of(folder: Path) -> Any:
    (graph,) = SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs
    return graph


@pytest.mark.parametrize("name", models.CASES)
def test_every_model_comes_back(name: str, tmp_path: Path) -> None:
    models.saved(tf, name, tmp_path)  # compares results, and counts calls


@pytest.mark.parametrize("name", models.CASES)
def test_nodes_are_what_tensorflow_declares(name: str, tmp_path: Path) -> None:
    models.saved(tf, name, tmp_path)
    graph = graph_of(tmp_path / name)
    functions = {function.signature.name for function in graph.graph_def.library.function}
    bodies = [list(function.node_def) for function in graph.graph_def.library.function]
    for node in [node for body in [*bodies, list(graph.graph_def.node)] for node in body]:
        signature = signature_of(node.op)
        assert signature is not None, node.op
        declared = {attribute.name for attribute in signature.attributes}
        needed = {attribute.name for attribute in signature.attributes if not attribute.has_default}
        assert needed <= set(node.attr) <= declared, node.op
        for value in node.attr.values():
            if value.WhichOneof("value") == "func":
                assert value.func.name in functions


def test_traces_variables_and_containers_come_back(tmp_path: Path) -> None:
    network = Network()
    before = network(X).numpy()
    network.train(tf.constant(X), tf.constant(Y), rate=0.5)
    network.train(tf.constant(X), tf.constant(Y), bias=tf.constant([1.0, 2.0]))
    tf.saved_model.save(network, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert not np.allclose(loaded(X).numpy(), before)
    np.testing.assert_allclose(loaded(X).numpy(), network(X).numpy(), 1e-6)
    assert int(loaded.counts["steps"]) == 2
    assert [v.trainable for v in (loaded.w, loaded.counts["steps"])] == [True, False]
    for _ in range(2):
        mine = network.train(tf.constant(X), tf.constant(Y), bias=tf.constant([1.0, 2.0]))
        theirs = loaded.train(tf.constant(X), tf.constant(Y), bias=tf.constant([1.0, 2.0]))
        np.testing.assert_allclose(mine["loss"].numpy(), theirs["loss"].numpy(), 1e-5)
    np.testing.assert_allclose(network.rest[0].numpy(), loaded.rest[0].numpy(), 1e-5)
    loaded.train(tf.constant(X), tf.constant(Y), rate=0.5)
    with pytest.raises(ValueError, match="was not saved for these arguments"):
        loaded.train(tf.constant(X), tf.constant(Y), rate=0.25)


def test_the_only_function_with_a_signature_is_served(tmp_path: Path) -> None:
    network = Network()
    tf.saved_model.save(network, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert list(loaded.signatures) == ["serving_default"]
    out = loaded.signatures["serving_default"](x=tf.constant(X))
    np.testing.assert_allclose(out["output_0"].numpy(), network(X).numpy(), 1e-6)
    signed = graph_of(tmp_path / "m").signature_def["serving_default"]
    assert signed.inputs["x"].name == "serving_default_x:0"


def test_signatures_by_name_keep_the_order_of_their_arguments(tmp_path: Path) -> None:
    module = tf.Module()
    spec = tf.TensorSpec([None])
    minus = tf.function(lambda zebra, ant: {"b": zebra - ant, "a": ant})
    chosen = minus.get_concrete_function(spec, spec)
    tf.saved_model.save(module, tmp_path / "m", signatures={"minus": chosen})
    served = tf.saved_model.load(tmp_path / "m").signatures["minus"]
    out = served(zebra=tf.constant([5.0]), ant=tf.constant([2.0]))
    assert out["b"].numpy().tolist() == [3.0]
    assert out["a"].numpy().tolist() == [2.0]


def test_a_model_can_be_saved_again(tmp_path: Path) -> None:
    tf.saved_model.save(Network(), tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    module = tf.Module()
    module.inner = loaded
    module.f = tf.function(loaded.__call__, input_signature=[tf.TensorSpec([None, 3])])
    tf.saved_model.save(module, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    np.testing.assert_allclose(again.f(X).numpy(), loaded(X).numpy(), 1e-6)


def test_captured_tensors_are_constants(tmp_path: Path) -> None:
    module = tf.Module()
    held = tf.constant([1.0, 2.0])
    module.f = tf.function(lambda x: x + held, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert loaded.f(tf.constant([1.0, 1.0])).numpy().tolist() == [2.0, 3.0]


def test_writes_happen_in_order_and_without_results(tmp_path: Path) -> None:
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(input_signature=[])
    def change() -> None:
        before = module.v.read_value()
        module.v.assign(before * 2.0)
        module.v[1].assign(module.v[0] + 10.0)
        module.v.scatter_add(tf.IndexedSlices(tf.constant([5.0]), tf.constant([2])))

    module.change = change
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    assert loaded.change() is None
    assert loaded.v.numpy().tolist() == [2.0, 12.0, 11.0]
    assert module.v.numpy().tolist() == [1.0, 2.0, 3.0]


def test_all_ops_without_a_form_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([2, 3])])
    def f(x: Any) -> Any:
        tf.numpy_function(lambda a: a, [x], tf.float32)
        rows = tf.RaggedTensor.from_tensor(x)
        values = [tf.strings.length(tf.strings.format("{}", rows)) for _ in range(2)]
        return values[0] + values[1], tf.linalg.expm(tf.matmul(x, x, transpose_b=True))

    module.f = f
    with pytest.raises(tf.errors.UnsupportedError) as caught:
        tf.saved_model.save(module, tmp_path / "m")
    text = str(caught.value)
    assert "RaggedText (2 times): TensorFlow has no such op" in text
    assert "MatrixExponential (1 times)" in text
    assert "PyFunc (1 times)" in text
    assert os.listdir(tmp_path) == []


def test_variables_that_nobody_owns_are_refused(tmp_path: Path) -> None:
    module = tf.Module()
    lost = tf.Variable(1.0, name="lost")
    module.f = tf.function(lambda: lost + 1.0, input_signature=[])
    with pytest.raises(ValueError, match=r"uses the variable 'lost.*Make it an attribute"):
        tf.saved_model.save(module, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_streams_of_random_numbers_go_on(tmp_path: Path) -> None:
    module = tf.Module()
    module.generator = tf.random.Generator.from_seed(4)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def draw(n: Any) -> Any:
        return (
            tf.random.normal([n]),
            tf.random.uniform([2, n], seed=5),
            module.generator.normal([n]),
        )

    module.draw = draw
    draw(tf.constant(3))
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for _ in range(2):
        for mine, theirs in zip(draw(tf.constant(3)), loaded.draw(tf.constant(3)), strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_draws_that_tensorflow_makes_in_another_way(tmp_path: Path) -> None:
    """Of seeds the same numbers, of streams others of the same distribution, each time new ones."""
    module = tf.Module()
    shares = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def draw(shares: Any) -> Any:
        logits = tf.cast(tf.math.log(shares), tf.float32)
        return (
            tf.random.stateless_categorical(logits, 40, [3, 1]),
            tf.random.categorical(logits, 5000, dtype=tf.int32),
            tf.random.shuffle(tf.range(300)),
            tf.random.gamma([5000], [2.0, 3.0]),
        )

    module.draw = draw
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    seeded, classes, shuffled, gamma = [x.numpy() for x in loaded.draw(shares)]
    np.testing.assert_array_equal(seeded, draw(shares)[0].numpy())
    assert classes.dtype == np.int32
    counts = np.array([np.bincount(row, minlength=3) for row in classes])
    np.testing.assert_allclose(counts / 5000, shares, atol=0.03)
    assert sorted(shuffled.tolist()) == list(range(300))
    np.testing.assert_allclose(gamma.mean(0), [2.0, 3.0], rtol=0.1)
    again = [x.numpy() for x in loaded.draw(shares)]
    for before, after in zip((classes, shuffled, gamma), again[1:], strict=True):
        assert not np.array_equal(before, after)


def test_wrong_arguments_are_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="obj must be a trackable object"):
        tf.saved_model.save(3, tmp_path / "m")  # type: ignore[arg-type]
    module = tf.Module()
    module.f = tf.function(lambda x: tf.constant(1))
    with pytest.raises(ValueError, match=r"has no input_signature"):
        tf.saved_model.save(module, tmp_path / "m", signatures=module.f)
    with pytest.raises(ValueError, match=r"must be a tf.function or one of its traces, got 3"):
        tf.saved_model.save(module, tmp_path / "m", signatures={"a": 3})
    module.f(object)
    with pytest.raises(TypeError, match="f was traced for"):
        tf.saved_model.save(module, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    network = Network()
    folder = tmp_path / "m"
    tf.saved_model.save(network, folder)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    network.rest[1].assign([1.0, 9.0])
    tf.saved_model.save(network, folder)
    assert tf.saved_model.load(folder).rest[1].numpy().tolist() == [1.0, 9.0]
    assert sorted(os.listdir(folder)) == ["assets", "notes.txt", "saved_model.pb", "variables"]
    assert os.listdir(tmp_path) == ["m"]


def test_options_name_tags_and_aliases(tmp_path: Path) -> None:
    network = Network()
    options = tf.saved_model.SaveOptions(
        extra_tags=["small"], function_aliases={"forward": network.__call__}
    )
    tf.saved_model.save(network, tmp_path / "m", options=options)
    info = graph_of(tmp_path / "m").meta_info_def
    assert list(info.tags) == ["serve", "small"]
    assert list(info.function_aliases.values()) == ["forward"]


def test_a_gradient_given_by_the_user_is_not_replaced_by_another(tmp_path: Path) -> None:
    @tf.custom_gradient
    def twice(x: Any) -> Any:
        return 2.0 * x, lambda g: 100.0 * g

    module = tf.Module()
    module.f = tf.function(twice, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    x = tf.constant(3.0)
    assert loaded.f(x).numpy() == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(LookupError, match=r"tf.custom_gradient is not part of a SavedModel"):
            loaded.f(x)


def test_forms_are_for_ops_that_need_one() -> None:
    same = [op.name for op in all_ops() if op.graphdef is None and signature_of(op.name)]
    assert len(same) > 200
    assert sum(op.graphdef is not None for op in all_ops()) > 80


# --- checksums -----------------------------------------------------------------------------------


def test_every_changed_byte_of_the_file_is_found(tmp_path: Path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, tmp_path)
    path = tmp_path / "saved_model.pb"
    good = path.read_bytes()
    for at in range(len(good) - 7):  # behind it stand the number of a field and the checksum
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x11]) + good[at + 1 :])
        with pytest.raises(tf.errors.DataLossError, match="its checksum is 0x.* was written"):
            meta_graph(tmp_path)
    for at in (len(good) - 4, len(good) - 1):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x11]) + good[at + 1 :])
        with pytest.raises(tf.errors.DataLossError, match="its checksum is 0x.* was written"):
            tf.saved_model.load(tmp_path)


def test_assets_have_checksums(tmp_path: Path) -> None:
    recorded = Path(__file__).parent / "recorded" / "tensorflow-2.21.0" / "words"
    shutil.copytree(recorded, tmp_path / "m")
    path = tmp_path / "m" / "saved_model.pb"
    path.write_bytes(seals.sealed(path.read_bytes(), str(tmp_path / "m")))
    tf.saved_model.load(tmp_path / "m")
    asset = tmp_path / "m" / "assets" / "words.txt"
    text = asset.read_bytes()
    asset.write_bytes(text[:-1])
    with pytest.raises(tf.errors.DataLossError, match="words.txt is damaged: its checksum is"):
        tf.saved_model.load(tmp_path / "m")
    asset.unlink()
    with pytest.raises(tf.errors.DataLossError, match="the asset 'words.txt' is missing"):
        tf.saved_model.load(tmp_path / "m")


@pytest.mark.parametrize(
    "line", ["0000000g words.txt", "00000000 ../saved_model.pb", "", "0 /dev/zero"]
)
def test_hostile_lists_of_assets(line: str, tmp_path: Path) -> None:
    content = b"\x08\x01" + varint(22341 << 3 | 2) + bytes([len(line) + 1]) + line.encode() + b"\n"
    seal = varint(22342 << 3 | 5) + crc32c(content).to_bytes(4, "little")
    (tmp_path / "saved_model.pb").write_bytes(content + seal)
    with pytest.raises(tf.errors.DataLossError, match="is not the checksum of an asset"):
        tf.saved_model.load(tmp_path)


@pytest.mark.parametrize(
    "fields",
    [
        {"defaults": [1.0, 2.0, 3.0]},
        {"args": 5},
        {"args": [1.0]},
        {"kwonlydefaults": [1]},
        {"kwonlyargs": "name"},
    ],
)
def test_parameters_that_cannot_be(fields: dict[str, Any]) -> None:
    kind = collections.namedtuple(
        "FullArgSpec", ["args", "defaults", "kwonlydefaults", "kwonlyargs"]
    )
    known = {"args": ["x"], "defaults": [1.0], "kwonlydefaults": {}, "kwonlyargs": []}
    spec = FunctionSpec(fullargspec=message_of(kind(**known)))
    assert Parameters(spec).defaults == {"x": 1.0}
    spec = FunctionSpec(fullargspec=message_of(kind(**known | fields)))
    with pytest.raises(
        tf.errors.DataLossError, match="the parameters of a function are said to be"
    ):
        Parameters(spec)


def test_code_points_are_written(tmp_path: Path) -> None:
    class Points(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, x: Any) -> Any:
            return tf.strings.unicode_decode(x, "UTF-8").to_tensor()

    tf.saved_model.save(Points(), tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert loaded(tf.constant(["ab", "ü"])).numpy().tolist() == [[97, 98], [252, 0]]
