"""The stories of the demo are told without a hitch, and the notebook runs from top to bottom."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import linecache
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
STORIES = {
    "gaussian_fit": ["after 150 more steps", "location 1.9"],
    "polymorphism": ["the value of 'count' was 3 and is now 4", "1 trace for three lengths"],
    "side_effects": ["seen = ['traced', 0, 1, 2]", "Python:  [0, 0, 0, 0]", "[0, 1, 2, 3]"],
    "control_dependencies": ["returned 8.0", "returned 32.0", "[2.0, 4.0, 6.0]"],
    "control_flow": ["1 2 Fizz 4 Buzz", "[0, 8, 111, 118]", "'y' must also be defined"],
    "regression": ["eager     mean loss", "function  after 40 epochs"],
    "inspecting_graphs": ["100 elements: list  1703 nodes, dataset 7"],
    "tensorboard_export": ["events, ", "network"],
    "keras_regression": ["eagerly, 64 houses", "function, 5 epochs", "val_mae"],
    "saved_models": ["0.9997  0.9997  A wonderful film", "TensorFlow  0.8894, slope -0.4956"],
}  # fmt: skip


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The examples, timing hardly anything and writing elsewhere."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    known = set(sys.modules)
    telling = importlib.import_module("telling")
    monkeypatch.setattr(telling, "SECONDS", 0.01)
    monkeypatch.setattr(importlib.import_module("tensorboard_export"), "LOGS", tmp_path / "logs")
    monkeypatch.setattr(importlib.import_module("saved_models"), "WRITTEN", tmp_path / "line")
    yield telling
    for name in set(sys.modules) - known:
        if name in STORIES or name in ("telling", "report", "demo"):
            del sys.modules[name]


@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str, examples: Any, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(name)
    story = examples.Story(module.TITLE)
    module.tell(story)
    told = capsys.readouterr().out
    assert [text for text in STORIES[name] if text not in told] == []
    assert any(block.kind != "text" for block in story.blocks)


def test_report(examples: Any) -> None:
    demo, report = importlib.import_module("demo"), importlib.import_module("report")
    assert [module.__name__ for module in demo.STORIES] == list(STORIES)
    story = importlib.import_module("control_flow")
    told = examples.Story(story.TITLE)
    story.tell(told)
    page = report.page([told], 1.0)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")  # it stands alone
    assert "https://" not in page
    for timing in told.timings:
        assert page.count(timing.name.replace("'", "&#x27;")) >= 2  # in the chart and the table
    drawings = page.count("<svg")
    assert drawings == 1 + sum(block.kind == "svg" for block in told.blocks)
    ET.fromstring(report.chart(told.timings))
    for block in told.blocks:
        if block.kind == "svg":
            ET.fromstring(block.content)


def test_notebook() -> None:
    path = EXAMPLES / "tour.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    for cell in notebook["cells"]:
        assert cell["id"]
        assert cell["cell_type"] in ("markdown", "code")
        if cell["cell_type"] == "code":
            source, name = "".join(cell["source"]), f"<{path.name}, {cell['id']}>"
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            with contextlib.redirect_stdout(out):
                exec(compile(source, name, "exec"), namespace)
    assert out.getvalue().count("tracing with") == 2
