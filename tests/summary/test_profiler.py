"""`tf.profiler.experimental`, sound, and summaries that are messages already."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.event_files import read_folder
from weft._src.messages.events import Event, Summary, Value

P = tf.profiler.experimental


def events(folder: Path) -> Any:
    (path,) = folder.glob("plugins/profile/*/*.trace.json.gz")
    with gzip.open(path, "rt") as file:
        return json.load(file)["traceEvents"]


def test_a_profile_has_functions_nodes_and_names(tmp_path: Path) -> None:
    @tf.function
    def double(x: Any) -> Any:
        return tf.exp(x) * 2

    with P.Profile(str(tmp_path)), P.Trace("train", step_num=3, _r=1) as trace:
        trace.set_metadata(more=2)
        double(tf.constant([1.0, 2.0]))
    found = events(tmp_path)
    names = {event["name"] for event in found}
    assert "train#step_num=3,_r=1,more=2#" in names
    assert any("double" in name for name in names)
    for event in found:
        assert event["ph"] == "X"
        assert event["dur"] >= 0
        assert event["ts"] >= 0
    outer = next(e for e in found if e["cat"] == "trace")
    inner = next(e for e in found if e["cat"] == "function")
    assert outer["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3


def test_beginning_and_end(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnavailableError, match="no profile has begun"):
        P.stop()
    P.start(str(tmp_path), P.ProfilerOptions(host_tracer_level=3))
    try:
        with pytest.raises(tf.errors.AlreadyExistsError, match="on already"):
            P.start(str(tmp_path))
    finally:
        P.stop(save=False)
    assert list(tmp_path.iterdir()) == []
    with P.Trace("without a profile"):
        pass
    with pytest.raises(TypeError, match="name must be text"):
        P.Trace(3)  # type: ignore[arg-type]


def test_sound(tmp_path: Path) -> None:
    clips = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 4, 2)
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=5):
        assert tf.summary.audio("a", clips, 8000, max_outputs=2, description="d")
        assert tf.function(lambda x: tf.summary.audio("b", x, 44100))(clips[:1])
    first, second = read_folder(tmp_path).values
    assert (first.step, first.tag, first.plugin, first.description) == (5, "a", "audio", "d")
    assert first.value.shape == (2, 2)
    assert first.value[:, 1].tolist() == [b"", b""]
    for stored, clip, rate in (
        (first.value[1, 0], clips[1], 8000),
        (second.value[0, 0], clips[0], 44100),
    ):
        sound, found = tf.audio.decode_wav(stored)
        assert found.numpy() == rate
        np.testing.assert_allclose(sound, clip, atol=1e-4)
    for args, error, text in (
        ((clips, 0), ValueError, "sample_rate"),
        ((clips[0], 8), ValueError, "rank 3"),
        ((clips.astype(int), 8), TypeError, "floats from -1 to 1"),
    ):
        with pytest.raises(error, match=text):
            tf.summary.audio("x", *args, step=0)
    with pytest.raises(ValueError, match="encoding"):
        tf.summary.audio("x", clips, 8, encoding="mp3", step=0)


def test_summaries_that_are_messages(tmp_path: Path) -> None:
    unknown = b"\n\x08\n\x01q\x15\x00\x00\x00@"  # a simple value, as TensorFlow 1 writes it
    write = tf.summary.experimental.write_raw_pb
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3):
        assert write(unknown)
        assert tf.function(lambda x: write(x))(tf.constant([unknown, unknown]))
        with tf.summary.record_if(False):
            assert not write(unknown)
        with pytest.raises(tf.errors.InvalidArgumentError, match="no serialized Summary"):
            write(b"\xff")
    (path,) = tmp_path.iterdir()
    found = [Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))][1:]
    assert [(e.step, e.summary.SerializeToString()) for e in found] == [(3, unknown)] * 3
    assert Summary(value=[Value(tag="q")]).value[0].tag == "q"
