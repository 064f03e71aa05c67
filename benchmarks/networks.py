"""ResNet-50 and MobileNetV2 of Keras as a whole, beside Keras on TensorFlow, in default mode.

Images of 96 x 96 pixels: inference of one, and a training step of eight. Both libraries run the
same text in processes of their own, in turns, after enough calls for default mode to have settled.
"""

from __future__ import annotations

from benchmarks.harness import Peers, Row, in_turns, microseconds

_SECONDS_BEFORE, _ROUNDS, _CALLS = 12, 7, 3

_IMPORT = {
    "weft": "import weft as tf\nfrom weft import keras\n",
    "tensorflow": "import tensorflow as tf\nimport keras\n",
}
_NETWORK = """
import time
import numpy as np
keras.utils.set_random_seed(1)
network = keras.applications.NAME(input_shape=(96, 96, 3), weights=None, classes=10)
rng = np.random.default_rng(0)
images = tf.constant(rng.random((SIZE, 96, 96, 3), dtype="float32"))
labels = tf.constant(rng.integers(0, 10, SIZE))
"""
_USES = {
    "inference of an image": (1, """
@tf.function
def step():
    return network(images, training=False)
"""),
    "training step of 8 images": (8, """
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(network.trainable_variables)

@tf.function
def step():
    with tf.GradientTape() as tape:
        found = network(images, training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, found))
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    return loss
"""),
}  # fmt: skip
_CALL = f"""
call = lambda: np.asarray(step())
call()
began = time.perf_counter()
while time.perf_counter() - began < {_SECONDS_BEFORE}:
    call()
"""


def run(peers: Peers) -> list[Row]:
    """A row for each network and use."""
    networks = ("ResNet50", "MobileNetV2")
    return [_row(peers, name, use) for use in _USES for name in networks]


def _row(peers: Peers, name: str, use: str) -> Row:
    size, program = _USES[use]
    network = _NETWORK.replace("NAME", name).replace("SIZE", str(size))
    setups = {who: f"{head}{network}{program}{_CALL}" for who, head in _IMPORT.items()}
    with peers.sessions(setups, threads=0) as there:
        timers = {
            who: lambda session=session: session.time("call()", _CALLS)
            for who, session in there.items()
        }
        times = in_turns(timers, _ROUNDS)
    shown = ", ".join(f"{who} {microseconds(seconds)}" for who, seconds in times.items())
    ratio = times["tensorflow"] / times["weft"] if "tensorflow" in times else None
    return Row(f"tensorflow / {name}, {use}", ratio, ">= 1", shown)
