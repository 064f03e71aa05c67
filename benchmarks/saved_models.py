"""SavedModels that TensorFlow wrote: loaded and called by Weft, by TensorFlow and by ONNX Runtime.

TensorFlow (`--peer tensorflow=PYTHON`, with Keras) makes the models first; without it there is
nothing to load. If its environment has `tf2onnx`, and there is `--peer onnxruntime=PYTHON`, small
models are compared with that, too. All are in processes of their own and take turns.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Peers, Row, Session, in_turns, microseconds

ROUNDS, WARM_SECONDS = 5, 4.0

_MAKE = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
L = keras.layers
folder = sys.argv[1]
keras.utils.set_random_seed(0)

def exported(name, model):
    model.export(os.path.join(folder, name), verbose=False)

def saved(name, function, *specs):
    module = tf.Module()
    module.w = tf.Variable(np.random.default_rng(0).normal(size=(8, 8)).astype("f") * 0.3)
    module.serve = tf.function(lambda *x: function(module.w, *x), input_signature=specs)
    path = os.path.join(folder, name)
    tf.saved_model.save(module, path, signatures=module.serve)

exported("MLP", keras.Sequential(
    [keras.Input((13,)), L.Dense(32, "relu"), L.Dense(32, "gelu"), L.Dense(1)]))
exported("MLP with tanh", keras.Sequential(
    [keras.Input((13,)), L.Dense(32, "relu"), L.Dense(32, "tanh"), L.Dense(1)]))
exported("CNN", keras.Sequential([
    keras.Input((28, 28, 1)), L.Conv2D(8, 3, activation="relu"), L.BatchNormalization(),
    L.MaxPooling2D(), L.DepthwiseConv2D(3), L.GlobalAveragePooling2D(), L.Dense(10, "softmax")]))
x = keras.Input((10, 16))
y = L.LayerNormalization()(x + L.MultiHeadAttention(2, 8)(x, x))
exported("attention", keras.Model(x, L.Dense(3)(L.GlobalAveragePooling1D()(y))))
exported("LSTM", keras.Sequential(
    [keras.Input((20,), dtype="int32"), L.Embedding(50, 8), L.LSTM(16), L.Dense(1)]))
exported("bidirectional GRU", keras.Sequential(
    [keras.Input((12, 5)), L.Bidirectional(L.GRU(7)), L.Dense(2)]))

def unrolled(w, x):
    for _ in range(10):
        x = tf.tanh(x @ w)
        x = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 0.5, lambda: x + 0.1)
    return x
saved("ten branches", unrolled, tf.TensorSpec([None, 8], name="x"))

def collected(w, x):
    out = tf.TensorArray(tf.float32, 50, element_shape=[None, 8])
    def body(i, x, out):
        x = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(x @ w), lambda: x + 0.1)
        return i + 1, x, out.write(i, x)
    return tf.while_loop(lambda i, *_: i < 50, body, (0, x, out))[2].stack()
saved("loop of 50 steps", collected, tf.TensorSpec([None, 8], name="x"))

A = keras.applications
large = dict(weights=None, input_shape=(96, 96, 3), classes=10)
exported("MobileNetV2", A.MobileNetV2(**large))
exported("ResNet50", A.ResNet50(**large))
"""

# What is wanted of calls: how many times faster than TensorFlow. ONNX Runtime is asked for those
# that it has, and that are small.
MODELS: dict[str, tuple[float, bool]] = {
    "MLP": (20, False),
    "MLP with tanh": (20, True),
    "CNN": (20, True),
    "attention": (20, True),
    "LSTM": (20, True),
    "bidirectional GRU": (20, False),
    "ten branches": (20, True),
    "loop of 50 steps": (2, False),
    "MobileNetV2": (2, False),
    "ResNet50": (1, False),
}

_LOAD = {
    "weft": """
import numpy as np
import weft as tf
""",
    "tensorflow": """
import numpy as np
import tensorflow as tf
""",
}
_GIVE = """
path = {path!r}
def first():
    global model, serve, given
    model = tf.saved_model.load(path)
    serve = model.signatures["serving_default"]
    specs = serve.structured_input_signature[1]
    rng = np.random.default_rng(0)
    given = {{}}
    for name, spec in specs.items():
        shape = [2 if n is None else n for n in spec.shape]
        numbers = rng.integers(0, 5, shape).astype(spec.dtype.as_numpy_dtype)
        given[name] = tf.constant(numbers)
    return serve(**given)
first()
"""
_ONNX = """
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
session = onnxruntime.InferenceSession({path!r}, options, providers=["CPUExecutionProvider"])
rng = np.random.default_rng(0)
kinds = {{"tensor(float)": "float32", "tensor(int32)": "int32", "tensor(int64)": "int64"}}
given = {{
    x.name: rng.integers(0, 5, [n if isinstance(n, int) else 2 for n in x.shape]).astype(
        kinds[x.type])
    for x in session.get_inputs()
}}
session.run(None, given)
"""


def run(peers: Peers) -> list[Row]:
    """Rows for each model; none without TensorFlow, which makes them."""
    python = peers.interpreters.get("tensorflow")
    if python is None:
        return [Row("SavedModels", None, "", "TensorFlow makes them, and it is not given")]
    here = Peers({"weft": sys.executable, **peers.interpreters})
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        subprocess.run([python, "-c", _MAKE, text], check=True, capture_output=True)
        _convert(python, folder)
        starts = [_from_the_start(here, folder / name, name) for name in MODELS]
        return [*starts, *[row for name in MODELS for row in _model(here, folder / name, name)]]


def _convert(python: str, folder: Path) -> None:
    """Files for ONNX Runtime, if TensorFlow's environment can make them."""
    for name, (_, wanted) in MODELS.items():
        if wanted:
            target = str(folder / f"{name}.onnx")
            source = ["--saved-model", str(folder / name), "--output", target]
            command = [python, "-m", "tf2onnx.convert", *source]
            subprocess.run(command, check=False, capture_output=True)


def _model(here: Peers, path: Path, name: str) -> list[Row]:
    give = _GIVE.format(path=str(path))
    onnx = path.with_name(f"{name}.onnx")
    asked = here if onnx.exists() else Peers()
    with (
        here.session("weft", _LOAD["weft"] + give) as mine,
        here.session("tensorflow", _LOAD["tensorflow"] + give) as theirs,
        asked.session("onnxruntime", _ONNX.format(path=str(onnx))) as other,
    ):
        assert mine is not None
        assert theirs is not None
        both = {"weft": mine, "tensorflow": theirs}
        timers = {who: lambda s=s: s.time("first()", 1) for who, s in both.items()}
        load = in_turns(timers, 3)
        calls = {who: (s, "serve(**given)") for who, s in both.items()}
        if other is not None:
            calls["onnxruntime"] = (other, "session.run(None, given)")
        call = _calls(calls)
    rows = [
        _row(f"SavedModel: loaded once more, first result, {name}", load, "tensorflow", "<= 1"),
        _row(f"SavedModel: a call, {name}", call, "tensorflow", f"<= {1 / MODELS[name][0]:.2f}"),
    ]
    if other is not None:
        rows.append(_row(f"SavedModel: beside ONNX Runtime, {name}", call, "onnxruntime", "<= 1"))
    return rows


def _calls(asked: dict[str, tuple[Session, str]]) -> dict[str, float]:
    """Seconds of a call, once compiled code has had the time to take over."""
    for session, statement in asked.values():
        until = time.perf_counter() + WARM_SECONDS
        while time.perf_counter() < until:
            session.time(statement, 5)
    timers = {who: session.timer(text, 0.2) for who, (session, text) in asked.items()}
    return in_turns(timers, ROUNDS)


def _from_the_start(here: Peers, path: Path, name: str) -> Row:
    """Whole processes, from their start to the first result: what who serves a model waits for."""
    programs = {who: text + _GIVE.format(path=str(path)) for who, text in _LOAD.items()}

    def timed(who: str) -> float:
        started = time.perf_counter()
        command = [here.interpreters[who], "-c", programs[who]]
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - started

    found = in_turns({who: lambda who=who: timed(who) for who in programs}, 3)
    return _row(f"SavedModel: from start to first result, {name}", found, "tensorflow", "<= 0.20")


def _row(name: str, seconds: dict[str, float], peer: str, bound: str) -> Row:
    shown = ", ".join(f"{who} {microseconds(took)}" for who, took in seconds.items())
    return Row(name, seconds["weft"] / seconds[peer], bound, shown)
