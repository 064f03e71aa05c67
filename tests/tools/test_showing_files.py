"""`weft show` and `weft check` tell what is in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

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


def test_a_saved_model_of_weft(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, tmp_path)
    assert main(["show", str(tmp_path)]) == 0
    written = f"written by weft {tf.__version__}, checksum as written"
    assert written in capsys.readouterr().out
    path = tmp_path / "saved_model.pb"
    path.write_bytes(b"\x08\x02" + path.read_bytes()[2:])
    assert main(["show", str(tmp_path)]) == 2
    assert "saved_model.pb is damaged: its checksum is" in capsys.readouterr().err


def test_what_is_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "check"):
        assert main([command, str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("weft: ")


def test_a_safetensors_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.safetensors"
    tf.save(path, {"a": [1.0, 2.0], "long": [True]}, metadata={"by": "hand"})
    assert main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"safetensors {path}: 2 tensors\n  by = 'hand'\n  a     F32        [2]\n" in out
    assert "checksums: all as written" in out
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.endswith("2 tensors\nchecksums: all as written\n")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert main(["show", str(path)]) == 0
    assert "checksums: " + str(path) in capsys.readouterr().out
    assert main(["check", str(path)]) == 1
    path.write_bytes(path.read_bytes()[:-1])
    assert main(["check", str(path)]) == 2
    assert "ends at byte" in capsys.readouterr().err


def test_a_safetensors_file_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file({"a": np.zeros(3)}, path)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out.endswith("  a  F64        [3]\nnot checksummed\n")
    header = b'{"s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(2))
    assert main(["check", str(path)]) == 1
    assert "s  F8_E8M0    [2]  (a dtype that Weft does not have)" in capsys.readouterr().out
