"""Hostile arguments to `tf.summary`, with a writer: a right answer or a clear error."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from robustness.test_bad_input import limits
from robustness.test_bad_input_data import sweep

FUNCTIONS: dict[str, dict[str, Any]] = {
    "audio": {"name": "a", "data": tf.zeros([1, 5, 2]), "sample_rate": 8000, "step": 1},
    "create_file_writer": {"logdir": "logs"},
    "create_noop_writer": {},
    "flush": {},
    "graph": {"graph_data": tf.Graph()},
    "histogram": {"name": "h", "data": [1.0, 2.0], "step": 1},
    "image": {"name": "i", "data": tf.zeros([1, 2, 3, 1]), "step": 1},
    "record_if": {"condition": True},
    "scalar": {"name": "s", "data": 1.0, "step": 1},
    "should_record_summaries": {},
    "text": {"name": "t", "data": "words", "step": 1},
    "trace_export": {"name": "e", "step": 1},
    "trace_off": {},
    "trace_on": {},
    "write": {"tag": "w", "tensor": 1.0, "step": 1},
}


def test_every_function_is_here() -> None:
    public = [n for n in vars(tf.summary) if not n.startswith("_")]
    assert {n for n in public if inspect.isfunction(getattr(tf.summary, n))} == set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_hostile_arguments_to_summaries(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def called(*args: Any, **kwargs: Any) -> Any:
        if name == "trace_export":
            tf.summary.trace_on()
        function = getattr(tf.summary, name)
        if name == "record_if":
            with function(*args, **kwargs):
                return tf.summary.should_record_summaries()
        return function(*args, **kwargs)

    called.__signature__ = inspect.signature(getattr(tf.summary, name))  # type: ignore[attr-defined]
    writer = tf.summary.create_file_writer("out")
    try:
        with limits(), writer.as_default():
            problems = sweep(name, called, FUNCTIONS[name])
    finally:
        tf.summary.trace_off()
    assert not problems, "\n".join(problems)
