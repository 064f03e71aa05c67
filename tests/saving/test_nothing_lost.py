"""Whatever happens while a checkpoint is written, one that is whole is there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.saving import writing
from weft._src.saving.bundle import BundleReader
from weft._src.saving.safetensors import write_safetensors

# Writes one state after another under one name until it is killed; all of a state are equal.
WRITER = """
import os, random, signal, sys, time
import numpy as np
import weft as tf

prefix, kills = sys.argv[1], int(sys.argv[2])
random.seed(3)
variables = {f"v{i}": tf.Variable(np.zeros(2000, "float32")) for i in range(6)}
checkpoint = tf.train.Checkpoint(**variables)
checkpoint.write(prefix)

def write_for_ever():
    number = int(time.time_ns() % 1_000_000)
    while True:
        number += 1
        for v in variables.values():
            v.assign(np.full(2000, number, "float32"))
        checkpoint.write(prefix)

for _ in range(kills):
    child = os.fork()
    if not child:
        write_for_ever()
    time.sleep(random.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    checkpoint.read(prefix).assert_consumed()
    found = {float(x) for v in variables.values() for x in np.unique(v.numpy())}
    assert len(found) == 1, found
print("whole")
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_killed_at_any_moment(tmp_path: Path) -> None:
    kills = os.environ.get("WEFT_KILLS", "60")
    assert run(WRITER, str(tmp_path / "c"), kills) == "whole\n"


def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    program = """
        import sys
        import weft as tf

        v = tf.Variable([float(sys.argv[2])] * 500)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(v=v), sys.argv[1], 3, checkpoint_name=f"c{sys.argv[2]}")
        for _ in range(15):
            manager.save()
        """
    text = textwrap.dedent(program)
    running = [
        subprocess.Popen([sys.executable, "-c", text, str(tmp_path), str(who)]) for who in (1, 2)
    ]
    assert [process.wait() for process in running] == [0, 0]
    newest = tf.train.latest_checkpoint(tmp_path)
    assert newest is not None
    for index in tmp_path.glob("*.index"):
        BundleReader(str(index).removesuffix(".index")).verify()


@pytest.mark.parametrize("ending", ["", ".safetensors"])
def test_two_processes_under_one_name(ending: str, tmp_path: Path) -> None:
    """The one that is last wins, with all of its values."""
    program = """
        import sys
        import weft as tf

        variables = [tf.Variable([float(sys.argv[2])] * 50) for _ in range(5)]
        checkpoint = tf.train.Checkpoint(v=variables)
        for _ in range(150):
            checkpoint.write(sys.argv[1])
        """
    text = textwrap.dedent(program)
    path = f"{tmp_path}/c{ending}"
    running = [subprocess.Popen([sys.executable, "-c", text, path, str(who)]) for who in (1, 2, 3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    variables = [tf.Variable(tf.zeros([50])) for _ in range(5)]
    tf.train.Checkpoint(v=variables).read(path).assert_consumed()
    assert len({float(x) for v in variables for x in v.numpy()}) == 1
    assert len(list(tmp_path.iterdir())) == (1 if ending else 2)


@pytest.mark.parametrize("moment", ["x.data-00000-of-00002", "x.index"])
def test_another_writer_in_the_middle(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who writes under the same name meanwhile waits for the few steps that put files in place."""
    path = str(tmp_path / "x")
    writing.write_bundle(path, [("v", np.zeros(3))])
    replace = os.replace
    other = threading.Thread(target=writing.write_bundle, args=(path, [("v", np.full(3, 2.0))]))

    def interrupted(source: str, target: str) -> None:
        if target.endswith(moment) and not other.ident:
            other.start()
            other.join(0.5)
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    writing.write_bundle(path, [("v", np.ones(3))])
    other.join()
    assert BundleReader(path).read("v").tolist() == [2, 2, 2]
    assert len(list(tmp_path.iterdir())) == 2


class _Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@pytest.mark.parametrize("room", [0, 10, 3000, 4100])
def test_a_full_disk_leaves_the_old_one(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    v = tf.Variable(np.ones(1000, "float32"))
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "c")
    before = sorted(file.name for file in tmp_path.iterdir())
    v.assign(np.zeros(1000, "float32"))
    with monkeypatch.context() as patch:
        patch.setattr(writing, "open", lambda *a, **k: _Full(open(*a, **k), room), raising=False)  # noqa: SIM115 - it closes it
        with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
            checkpoint.write(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == before
    checkpoint.read(path).assert_consumed()
    np.testing.assert_array_equal(v, np.ones(1000))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.OpError, match="Saving a checkpoint"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "file" / "c")


def test_a_file_system_without_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "replace", refused)
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    checkpoint.read(checkpoint.write(tmp_path / "c")).assert_consumed()
    assert "cannot be put in its place by renaming" in caplog.text
    assert len(list(tmp_path.iterdir())) == 2


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    """No damage gives other values: it is an error, or changes nothing."""
    values = {"a": np.arange(5.0), "b": np.array([b"text", b"", b"more"], object)}
    path = str(tmp_path / "c")
    writing.write_bundle(path, list(values.items()))
    for name in ("c.index", "c.data-00000-of-00001"):
        good = (tmp_path / name).read_bytes()
        for at in range(len(good)):
            for damaged in (
                good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :],
                good[:at],
            ):
                (tmp_path / name).write_bytes(damaged)
                try:
                    reader = BundleReader(path)
                    found = {key: reader.read(key) for key in reader.names()}
                except (tf.errors.DataLossError, tf.errors.NotFoundError):
                    continue
                assert set(found) == set(values), (name, at)
                for key, value in values.items():
                    assert found[key].tolist() == value.tolist(), (name, at)
        (tmp_path / name).write_bytes(good)


def test_a_signal_while_writing_leaves_no_files(tmp_path: Path) -> None:
    program = """
        import os, signal, sys, threading, time
        import numpy as np
        import weft as tf

        checkpoint = tf.train.Checkpoint(v=tf.Variable(np.zeros(3_000_000, "float32")))
        writing = threading.Event()

        def interrupt():
            writing.wait()
            time.sleep(0.005)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            writing.set()
            for _ in range(200):
                checkpoint.write(sys.argv[1])
        except KeyboardInterrupt:
            checkpoint.read(sys.argv[1]).expect_partial() if os.path.exists(
                sys.argv[1] + ".index") else None
            names = os.listdir(os.path.dirname(sys.argv[1]))
            print([name for name in names if "tmp" in name])
        """
    assert run(program, str(tmp_path / "c")) == "[]\n"


@pytest.mark.parametrize("ending", ["", ".safetensors"])
def test_bytes_that_are_no_bool(ending: str, tmp_path: Path) -> None:
    wrong = np.array([0, 1, 2], np.uint8).view(np.bool_)
    path = f"{tmp_path}/x{ending}"
    if ending:
        write_safetensors("test", path, {"b": wrong}, {})
    else:
        writing.write_bundle(path, [("b", wrong)])
    with pytest.raises(tf.errors.DataLossError, match="'b' in .* neither 0 nor 1"):
        tf.train.load_variable(path, "b")
