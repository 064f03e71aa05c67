"""Keras on Weft beside Keras on TensorFlow: a step of `fit`, `predict`, and the time to get there.

Both run the same text in processes of their own, in turns. Steps are timed after several hundred of
them; "from the start" is the time from the start of a process until the first `fit` has returned.
"""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.harness import Peers, Row, Session, in_turns, microseconds

ROUNDS, STEPS, EPOCHS = 5, 100, 2

_IMPORT = {"weft": "from weft import keras", "tensorflow": "import keras"}

_MODELS = """
import numpy as np
L = keras.layers

def mlp():
    return keras.Sequential([L.Dense(32, "relu"), L.Dense(32, "relu"), L.Dense(1)]), (13,), (1,)

def lstm():
    return keras.Sequential([L.LSTM(32), L.Dense(1)]), (20, 8), (1,)

def cnn():
    return keras.Sequential([
        L.Conv2D(16, 3, activation="relu"), L.MaxPooling2D(),
        L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(), L.Flatten(), L.Dense(10)
    ]), (28, 28, 1), (10,)

def attention():
    inputs = L.Input((16, 32))
    x = L.LayerNormalization()(inputs + L.MultiHeadAttention(4, 8)(inputs, inputs))
    x = L.LayerNormalization()(x + L.Dense(32)(L.Dense(64, "relu")(x)))
    return keras.Model(inputs, L.Dense(1)(L.GlobalAveragePooling1D()(x))), (16, 32), (1,)

model, inputs, outputs = NAME()
model.compile("adam", "mse")
rng = np.random.default_rng(0)
x = rng.normal(size=(32 * STEPS, *inputs)).astype("float32")
y = rng.normal(size=(32 * STEPS, *outputs)).astype("float32")
fit = lambda epochs: model.fit(x, y, batch_size=32, epochs=epochs, verbose=0)
fit(1)
"""

# With what is wanted of TensorFlow's time.
MODELS = {"mlp": 10, "lstm": 3, "cnn": 3, "attention": 3}


def _setup(library: str, name: str) -> str:
    return f"{_IMPORT[library]}\n{_MODELS}".replace("STEPS", str(STEPS)).replace("NAME", name)


def run(peers: Peers) -> list[Row]:
    """Rows for each model."""
    here = Peers({"weft": sys.executable, **peers.interpreters})
    libraries = [library for library in _IMPORT if library in here.interpreters]
    rows = [row for name in MODELS for row in _steps(here, name)]
    rows += [_from_the_start(here, libraries, name) for name in MODELS]
    return [*rows, _import(here, libraries)]


def _steps(here: Peers, name: str) -> list[Row]:
    with (
        here.session("weft", _setup("weft", name)) as mine,
        here.session("tensorflow", _setup("tensorflow", name)) as theirs,
    ):
        sessions = {"weft": mine, "tensorflow": theirs}
        there = {who: s for who, s in sessions.items() if s is not None}
        for session in there.values():
            session.time("fit(5)", 1)
            session.time("model.predict(x[:32], verbose=0)", 20)
        step = _timed(there, f"fit({EPOCHS})", 1, STEPS * EPOCHS)
        predict = _timed(there, "model.predict(x[:32], verbose=0)", 10, 1)
    wanted = 1 / MODELS[name]
    return [
        _row(f"Keras: a step of fit, {name}", step, f"<= {wanted:.2f}"),
        _row(f"Keras: predict of 32 rows, {name}", predict, "<= 0.1"),
    ]


def _timed(
    sessions: dict[str, Session], statement: str, number: int, parts: int
) -> dict[str, float]:
    timers = {
        who: lambda session=session: session.time(statement, number) / parts
        for who, session in sessions.items()
    }
    return in_turns(timers, ROUNDS)


def _from_the_start(here: Peers, libraries: list[str], name: str) -> Row:
    programs = {library: _setup(library, name) for library in libraries}
    return _row(f"Keras: from the start to the first fit, {name}", _alone(here, programs), "<= 1")


def _import(here: Peers, libraries: list[str]) -> Row:
    programs = {library: _IMPORT[library] for library in libraries}
    return _row("Keras: import", _alone(here, programs), "<= 0.5")


def _alone(here: Peers, programs: dict[str, str]) -> dict[str, float]:
    """Seconds of whole processes; compiled code of earlier ones is not used."""

    def timed(library: str) -> float:
        started = time.perf_counter()
        command = [
            "env", "WEFT_CACHE_DIR=", "TF_CPP_MIN_LOG_LEVEL=3",
            here.interpreters[library], "-c", programs[library],
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - started

    return in_turns({library: lambda name=library: timed(name) for library in programs}, 2)


def _row(name: str, seconds: dict[str, float], bound: str) -> Row:
    theirs = seconds.get("tensorflow")
    ratio = None if theirs is None else seconds["weft"] / theirs
    shown = ", ".join(f"{who} {microseconds(took)}" for who, took in seconds.items())
    return Row(name, ratio, bound, shown)
