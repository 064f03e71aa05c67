"""`weft show` and `weft check` tell what is in files."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft._src.tools.cli import main

RECORDED = Path(__file__).parents[1] / "saved_model" / "recorded"


def test_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tmp_path / "c")
    assert main(["show", path]) == 0
    out = capsys.readouterr().out
    assert "2 tensors in 1 data files" in out
    assert "v/.ATTRIBUTES/VARIABLE_VALUE  float32    [2]" in out
    assert "checksums: all as written" in out
    (data,) = tmp_path.glob("c.data*")
    content = bytearray(data.read_bytes())
    content[3] ^= 1
    data.write_bytes(content)
    assert main(["show", path]) == 0
    assert "is damaged: the checksum of" in capsys.readouterr().out


def test_a_saved_model(capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(RECORDED / "tensorflow-2.21.0" / "network")
    assert main(["show", folder]) == 0
    out = capsys.readouterr().out
    assert "written by TensorFlow 2.21.0, not checksummed" in out
    assert "takes x: float32 (None, 3)" in out
    assert main(["check", folder]) == 0
    assert "0 kinds cannot run" in capsys.readouterr().out


def test_what_is_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "check"):
        assert main([command, str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("weft: ")
