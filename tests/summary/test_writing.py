"""Summaries are read back from the files, with a decoder of the tests' own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import weft as tf
from support.event_files import read_folder
from support.threads import in_threads


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    writer = tf.summary.create_file_writer(str(tmp_path))
    yield writer
    writer.close()


def test_scalars(writer: Any, tmp_path: Path) -> None:
    with writer.as_default():
        assert tf.summary.scalar("a", 1.5, step=1)
        assert tf.summary.scalar("b", tf.constant(3, tf.int64), step=np.int32(2), description="*b*")
        assert tf.summary.scalar("c", True, step=tf.Variable(2**40))
        assert tf.summary.scalar("d", tf.constant(float("nan"), tf.bfloat16), step=-1)
    found = read_folder(tmp_path)
    assert found.version == "brain.Event:2"
    assert found.brief[:3] == [(1, "a", 1.5), (2, "b", 3.0), (2**40, "c", 1.0)]
    assert (found.values[3].step, np.isnan(found.values[3].value)) == (-1, True)
    assert {v.value.dtype for v in found.values} == {np.dtype(np.float32)}
    assert [v.plugin for v in found.values] == ["scalars"] * 4
    assert found.values[1].description == "*b*"
    assert found.times == sorted(found.times)


def test_histogram(writer: Any, tmp_path: Path) -> None:
    with writer.as_default(step=0):
        tf.summary.histogram("spread", [[0.0, 1.0, 9.0], [10.0, 4.9, 5.1]], buckets=5)
        tf.summary.histogram("one value", tf.fill([2, 3], 7), buckets=2)
        tf.summary.histogram("nothing", tf.zeros([0]), buckets=2)
        tf.summary.histogram("not finite", [np.nan, 1.0, np.inf, 3.0], buckets=2)
        tf.summary.histogram("huge", np.array([-1.7e308, 1.7e308, 1e308]), buckets=2)
        tf.summary.histogram("default", tf.range(60))
    spread, one, nothing, finite, huge, default = [v.value for v in read_folder(tmp_path).values]
    assert spread.tolist() == [[0, 2, 2], [2, 4, 0], [4, 6, 2], [6, 8, 0], [8, 10, 2]]
    assert one.tolist() == [[7, 7, 0], [7, 7, 6]]
    assert nothing.tolist() == [[0, 0, 0]] * 2
    assert finite.tolist() == [[1, 2, 1], [2, 3, 1]]
    assert huge[:, 2].tolist() == [1, 2]
    assert default.shape == (30, 3)
    assert default[:, 2].tolist() == [2.0] * 30


def pixels_of(png: bytes, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
        return np.asarray(image).reshape(shape)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images(writer: Any, tmp_path: Path, channels: int) -> None:
    shape = (5, 6, 7, channels)
    given = np.random.default_rng(channels).integers(0, 256, shape).astype(np.uint8)
    with writer.as_default(step=0):
        tf.summary.image("bytes", given)
        tf.summary.image("floats", given.astype(np.float32) / 255, max_outputs=1)
        tf.summary.image("wide", given.astype(np.uint16) << 8, max_outputs=9)
        tf.summary.image("outside", tf.constant([[[[-1.0], [2.0], [np.nan]]]]))
    shown, floats, wide, outside = [v.value for v in read_folder(tmp_path).values]
    assert shown[:2].tolist() == [b"7", b"6"]
    assert (len(shown), len(floats), len(wide)) == (2 + 3, 2 + 1, 2 + 5)
    assert (pixels_of(shown[4], shape[1:]) == given[2]).all()
    assert (pixels_of(floats[2], shape[1:]) == given[0]).all()
    assert (pixels_of(wide[6], shape[1:]) == given[4]).all()
    assert pixels_of(outside[2], (1, 3, 1)).ravel().tolist() == [0, 255, 0]


def test_text_and_tensors(writer: Any, tmp_path: Path) -> None:
    with writer.as_default(step=4):
        tf.summary.text("note", "**bold** \N{GREEK SMALL LETTER ALPHA}")
        tf.summary.text("table", [["a", "b", "c"], ["d", "e", "f"]])
        tf.summary.write("raw", tf.constant([[1, 2, 3]], tf.int16), metadata=b"")
    note, table, raw = read_folder(tmp_path).values
    assert note.value[()].decode() == "**bold** \N{GREEK SMALL LETTER ALPHA}"
    assert table.value.tolist() == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]
    assert (note.plugin, raw.plugin, raw.value.tolist()) == ("text", "", [[1, 2, 3]])


def test_in_functions_each_call_writes_in_order(writer: Any, tmp_path: Path) -> None:
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x: Any) -> Any:
        with tf.name_scope("net"):
            tf.summary.scalar("loss", x)
            i = tf.constant(0)
            while i < 2:
                tf.summary.scalar("inner", i, step=i)
                i += 1
            if x > 1.0:
                tf.summary.text("large", "yes")
        tf.summary.histogram("h", tf.stack([x, x + 1]), buckets=1)
        step.assign_add(1)

    with writer.as_default(step=step):
        for x in (1.0, 2.0):
            train(tf.constant(x))
    train(tf.constant(3.0))  # the writer was captured
    loops = [(0, "net/while/inner", 0.0), (1, "net/while/inner", 1.0)]
    assert read_folder(tmp_path).brief == [
        (0, "net/loss", 1.0), *loops, (0, "h", [[1.0, 2.0, 2.0]]),
        (1, "net/loss", 2.0), *loops, (1, "net/cond/large", b"yes"), (1, "h", [[2.0, 3.0, 2.0]]),
        (2, "net/loss", 3.0), *loops, (2, "net/cond/large", b"yes"), (2, "h", [[3.0, 4.0, 2.0]]),
    ]  # fmt: skip
    assert train.experimental_get_tracing_count() == 1


def test_under_a_tape_and_in_datasets(writer: Any, tmp_path: Path) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.summary.scalar("x", x, step=0)
        return x * x

    def log(i: Any) -> Any:
        tf.summary.scalar("element", i, step=i)
        return i

    with writer.as_default():
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == 6.0
        assert len(list(tf.data.Dataset.range(3).map(log).batch(2))) == 2
    elements = [(i, "element", float(i)) for i in range(3)]
    assert read_folder(tmp_path).brief == [(0, "x", 3.0), *elements]


def test_record_if(writer: Any, tmp_path: Path) -> None:
    calls = []

    @tf.function
    def log(step: Any) -> Any:
        def costly() -> Any:
            calls.append(step)
            return tf.print("costly", output_stream="file://" + str(tmp_path / "log")) or step

        with tf.summary.record_if(step % 3 == 0):
            tf.summary.write("costly", costly, step=step)
            return tf.summary.scalar("s", step, step=step)

    with writer.as_default():
        assert [bool(log(tf.constant(i))) for i in range(4)] == [True, False, False, True]
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("x", 1.0, step=0)
            with tf.summary.record_if(lambda: tf.constant(True)):
                assert tf.summary.scalar("y", 1.0, step=0)
        assert tf.summary.should_record_summaries()
        assert tf.summary.write("z", lambda: tf.constant(1), step=0)
    assert not tf.summary.should_record_summaries()
    brief = [(step, tag) for step, tag, _ in read_folder(tmp_path).brief]
    assert brief == [(0, "costly"), (0, "s"), (3, "costly"), (3, "s"), (0, "y"), (0, "z")]
    assert (tmp_path / "log").read_text().split() == ["costly"] * 2


def test_steps_and_default_writers(writer: Any, tmp_path: Path) -> None:
    other = tf.summary.create_file_writer(str(tmp_path / "other"))
    get_step, set_step = tf.summary.experimental.get_step, tf.summary.experimental.set_step
    try:
        writer.set_as_default(step=2)
        with other.as_default(step=7):
            assert get_step() == 7
            tf.summary.scalar("a", 1)
        assert get_step() == 2
        tf.summary.scalar("b", 1)
        with other.as_default():
            tf.summary.scalar("c", 1)
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.append(get_step()))
        thread.start()
        thread.join()
        assert seen == [None]  # each thread has its own
    finally:
        set_step(None)
        tf.summary.create_noop_writer().set_as_default()
    assert read_folder(tmp_path).brief == [(2, "b", 1.0)]
    assert read_folder(tmp_path / "other").brief == [(7, "a", 1.0), (2, "c", 1.0)]


def test_wrong_use(writer: Any) -> None:
    assert not tf.summary.scalar("no writer", 1.0)
    with writer.as_default():
        with pytest.raises(ValueError, match="scalar: there is no step. Give it as step="):
            tf.summary.scalar("a", 1.0)
        with pytest.raises(TypeError, match=r"step must be an integer, got 1\.5"):
            tf.summary.scalar("a", 1.0, step=1.5)
        with pytest.raises(ValueError, match=r"data must have rank 0, got shape \(2,\)"):
            tf.summary.scalar("a", [1.0, 2.0], step=0)
        with pytest.raises(TypeError, match="name must be a string, got 3"):
            tf.summary.scalar(3, 1.0, step=0)
        with pytest.raises(TypeError, match="data must be a number, got string"):
            tf.summary.scalar("a", "b", step=0)
        with pytest.raises(TypeError, match="data must be strings, got float32"):
            tf.summary.text("a", 1.0, step=0)
        with pytest.raises(ValueError, match=r"image: data must have rank 4, got shape \(2, 3\)"):
            tf.summary.image("a", tf.zeros([2, 3]), step=0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="1, 2, 3 or 4 channels .*got 5"):
            tf.summary.image("a", tf.zeros([2, 3, 4, 5]), step=0)
        with pytest.raises(TypeError, match="uint8 or uint16, got int32"):
            tf.summary.image("a", tf.zeros([2, 3, 4, 1], tf.int32), step=0)
        with pytest.raises(ValueError, match="buckets must be an integer of at least 0, got -1"):
            tf.summary.histogram("a", [1.0], step=0, buckets=-1)
        with pytest.raises(TypeError, match="condition must be a truth value"):
            tf.summary.record_if(3).__enter__()

        @tf.function(input_signature=[tf.TensorSpec(None)])
        def of_any_rank(x: Any) -> Any:
            return tf.summary.scalar("a", x, step=0)

        assert of_any_rank(tf.constant(1.0))
        with pytest.raises(ValueError, match=r"rank 0, got shape \(3,\)[\s\S]*test_writing.py"):
            of_any_rank(tf.zeros([3]))


def test_closing(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(tmp_path / "deep" / "er", filename_suffix=".x")
    assert str(writer).endswith(".x>")

    @tf.function
    def log() -> Any:
        tf.summary.scalar("a", 1.0, step=0)
        tf.summary.flush()

    with writer.as_default():
        log()
    writer.close()
    writer.close()
    with pytest.raises(RuntimeError, match="is closed"):
        writer.as_default()
    with pytest.raises(tf.errors.FailedPreconditionError, match="is closed. Make another one"):
        log()
    assert read_folder(tmp_path / "deep" / "er").brief == [(0, "a", 1.0)]
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.OpError, match="create_file_writer"):
        tf.summary.create_file_writer(str(tmp_path / "file" / "x"))
    tf.summary.flush(tf.summary.create_noop_writer())
    with pytest.raises(ValueError, match="must be a summary writer, got 3"):
        tf.summary.flush(3)


def test_a_killed_program_loses_nothing(tmp_path: Path) -> None:
    program = f"""
import os, signal, weft as tf
with tf.summary.create_file_writer({str(tmp_path)!r}).as_default():
    for i in range(50):
        tf.summary.scalar("a", i, step=i)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == -9
    assert read_folder(tmp_path).brief == [(i, "a", float(i)) for i in range(50)]


def test_threads_write_whole_records(writer: Any, tmp_path: Path) -> None:
    def work(number: int) -> None:
        with writer.as_default():
            for i in range(40):
                tf.summary.text(str(number), "x" * 1000 * number, step=i)

    in_threads(work)
    steps: dict[str, list[int]] = {}
    for step, tag, _ in read_folder(tmp_path).brief:
        steps.setdefault(tag, []).append(step)
    assert steps == {str(n): list(range(40)) for n in range(4)}


def test_a_writer_of_nothing_leaves_the_one_around_it_alone(tmp_path: Path) -> None:
    nothing = tf.summary.create_noop_writer()
    with tf.summary.create_file_writer(str(tmp_path)).as_default(), nothing.as_default():
        assert tf.summary.scalar("a", 1.0, step=0)
        with nothing.as_default():
            assert tf.summary.scalar("a", 1.0, step=0)
    with nothing.as_default():
        assert not tf.summary.scalar("a", 1.0, step=0)
