"""The `weft` command, on a small file."""

from __future__ import annotations

import json
import os
import re
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
        (["code", "FILE"], "Name a function as FILE::function"),
        (["explain", "nowhere.py::f"], "There is no file nowhere.py"),
        (["explain", "FILE::sigend"], "'sigend'. Its traced functions are: Model.step, add_to, a"),
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


# --- programs with arguments, other forms of output ----------------------------------------------

TRAINING = """
import argparse
import sys
import weft as tf


@tf.function
def step(x):
    return tf.reduce_sum(x * 2.0)


class Model:
    @tf.function
    def predict(self, x):
        return x + 1.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int)
    parser.add_argument("--fail", action="store_true")
    options = parser.parse_args()
    model = Model()
    for n in range(1, options.steps + 1):
        step(tf.ones([n]))
        model.predict(tf.ones([2]))
    if options.fail:
        raise ValueError("no data\\nin the file")
    sys.exit(3)
"""


@pytest.fixture
def training(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(TRAINING)
    return str(path)


def test_programs_have_their_own_arguments(
    training: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(sys.argv)
    assert main(["explain", f"{training}::step", "--main", "--", "--steps", "3"]) == 3
    text = capsys.readouterr().out
    assert "3 traces, 3 calls" in text
    assert "remedy: pass reduce_retracing=True, or decorate it with @tf.function(input_sig" in text
    assert sys.argv == before


def test_all_functions_of_a_file(training: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", training, "--main", "--", "--steps", "2"]) == 3
    text = capsys.readouterr().out
    assert "step (train.py:7): 2 traces" in text
    assert "predict (train.py:13): 1 instances, 1 traces, 2 calls" in text


def test_errors_are_one_line(training: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", f"{training}::step", "--main"]
    assert main([*arguments, "--", "--steps", "1", "--fail"]) == 1
    error = capsys.readouterr().err
    assert error == f"weft: {training}:28: ValueError: no data (--debug shows more)\n"
    assert main([*arguments, "--debug", "--", "--steps", "1", "--fail"]) == 1
    error = capsys.readouterr().err
    assert "Traceback (most recent call last):" in error
    assert 'raise ValueError("no data' in error


def test_json(file: str, training: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{training}::step", "--main", "--json", "--", "--steps", "2"]) == 3
    data = json.loads(capsys.readouterr().out)
    (function,) = data["functions"]
    assert function["name"] == "step"
    assert [trace["calls"] for trace in function["traces"]] == [1, 1]
    assert [event["kind"] for event in data["timeline"] if "step" in event["name"]] == [
        *("trace", "call"),
        *("trace", "call"),
    ]
    assert data["timeline"][0]["where"].endswith("train.py:25")
    code = json.loads(output(capsys, "code", f"{file}::signed", "--stage", "generated", "--json"))
    assert "def" in code["generated"]
    graph = json.loads(output(capsys, "graph", f"{file}::signed", "--json"))
    exp = next(node for node in graph["nodes"] if node["op"] == "Exp")
    assert (exp["inputs"], exp["types"], exp["line"]) == (["x"], ["float32[3]"], 8)
    assert json.loads(output(capsys, "doctor", "--json"))["well"] is True


def test_a_timeline(training: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "timeline.html"
    arguments = ["explain", f"{training}::step", "--main", "--html", str(page)]
    assert main([*arguments, "--", "--steps", "4"]) == 3
    assert "timeline.html: " in capsys.readouterr().out
    text = page.read_text()
    assert "traced step (train.py:7) in" in text
    assert "<code>step(tf.ones([n]))</code>" in text
    assert "the shape of &#x27;x&#x27; was (1,) and is now (2,)" in text
    ET.fromstring(re.search("<svg.*</svg>", text)[0])


def test_colours(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in output(capsys, "explain", f"{file}::signed")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert output(capsys, "explain", f"{file}::signed").startswith("\x1b[1msigned")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in output(capsys, "explain", f"{file}::signed")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"weft {tf.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "completion", shell)
    for word in ("explain", "doctor", "main", "stage"):
        assert word in text
    if shell == "bash":
        asked = f"{text}\nCOMP_WORDS=(weft explain --h) COMP_CWORD=2; _weft; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["--help", "--html"]


def test_pipes_may_close(file: str) -> None:
    command = f"{sys.executable} -m weft code {file}::free --arg 'tf.constant([1.0])' | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("# --- converted")
    assert done.stderr == ""
