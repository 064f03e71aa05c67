"""The `weft` command, on a small file."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import weft as tf
from weft._src.tools import doctor
from weft._src.tools.cli import main
from weft._src.tools.drawing import _control_edges

PROGRAM = """
import weft as tf


@tf.function(input_signature=[tf.TensorSpec([3])])
def signed(x):
    with tf.name_scope("inner"):
        return tf.reduce_sum(tf.exp(x) * 2.0)


@tf.function
def free(x, n=2):
    while tf.reduce_sum(x) < 10.0:
        x = x * n
    return x


@tf.function(input_signature=[tf.TensorSpec([None])])
def any_length(x):
    return tf.exp(x) * x


variable = tf.Variable([1.0, 2.0])


@tf.function
def add_to(v):
    v.assign_add(tf.exp(v) * 2.0)


def plain(x):
    return x + 1


class Model(tf.Module):
    @tf.function
    def step(self, x):
        return x - 1.0


model = Model()
number = 3
if __name__ == "__main__":
    free(tf.constant([1.0]))
    free(tf.constant([1.0, 2.0]))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_explain(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "explain", f"{file}::signed")
    assert "1 traces, 0 calls" in text
    assert "program.py:5" in text
    text = output(capsys, "explain", f"{file}::free", "--main")
    assert "2 traces, 2 calls" in text
    assert "the shape of 'x' was (1,) and is now (2,)" in text
    text = output(capsys, "explain", f"{file}::model.step", "--arg", "tf.TensorSpec([None])")
    assert "x: TensorSpec(shape=(None,)" in text
    assert "plain" in output(capsys, "explain", f"{file}::plain", "--arg", "number")


def test_code(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "code", f"{file}::free", "--arg", "tf.constant([1.0])")
    converted, generated, native = text.split("# --- ")[1:]
    assert "ag__.while_stmt" in converted
    assert "while True:" in generated or "while " in generated
    assert "define" in native
    text = output(capsys, "code", f"{file}::signed", "--stage", "native")
    assert text.startswith("# --- native")
    assert "define" in text
    text = output(
        capsys, "code", f"{file}::free", "--stage", "native", "--arg", "tf.TensorSpec([None])"
    )
    assert "There is no native code: it is made for known sizes" in text
    text = output(capsys, "code", f"{file}::any_length", "--stage", "native", "--arg", "[1.0, 2.0]")
    assert "define" in text
    text = output(capsys, "code", f"{file}::add_to", "--stage", "native", "--arg", "variable")
    assert "define" in text


def test_graph(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "inner/Exp = Exp(x)" in output(capsys, "graph", f"{file}::signed")
    svg = tmp_path / "graph.svg"
    output(capsys, "graph", f"{file}::free", "--arg", "tf.constant([1.0])", "-o", str(svg))
    drawing = ET.parse(svg)
    names = [t.text for t in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"free", "x", "while", "while: cond", "while: body"} <= set(names)
    page = tmp_path / "graph.html"
    output(capsys, "graph", f"{file}::signed", "--optimized", "-o", str(page))
    assert "<svg" in page.read_text()
    assert "inner" in page.read_text()


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = output(capsys, "doctor")
    for tier in ("reference", "numpy", "native"):
        assert f"tier {tier}" in text
    assert text.count("works") == 3
    monkeypatch.setattr(doctor, "_compile", lambda *_: 1 / 0)
    assert main(["doctor"]) == 1
    assert "FAILS: ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["explain", "FILE"], "Name a function as FILE::function"),
        (["explain", "nowhere.py::f"], "There is no file nowhere.py"),
        (["explain", "FILE::sigend"], "'sigend'. Its traced functions are: add_to, any_length"),
        (["explain", "FILE::model.stop"], "has no 'stop'"),
        (["explain", "FILE::number"], "is no function but 3"),
        (["explain", "FILE::free"], "Give each as --arg"),
        (["explain", "FILE::free", "--arg", "tf.zerros([2])"], "zerros([2])': AttributeError"),
        (["graph", "FILE::signed", "-o", "x.png"], "ends in .svg or .html, got 'x.png'"),
    ],
)  # fmt: skip
def test_wrong_use(
    file: str, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([a.replace("FILE", file) for a in arguments]) == 2
    assert text in capsys.readouterr().err


def test_as_a_module(file: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "weft", "graph", f"{file}::signed"],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.startswith("graph signed(x: float32[3]):")


def test_drawings_show_what_waits_for_what() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        before = v + 0.0
        v.assign(x)
        after = v + 0.0
        return before + after

    nodes = f.get_concrete_function(tf.constant(1.0)).graph.nodes
    names = [node.op.name for node in nodes]
    write = names.index("AssignVariableOp")
    reads = [i for i, name in enumerate(names) if name == "ReadVariableOp"]
    assert _control_edges(nodes) == {(reads[0], write), (write, reads[1])}
