"""Functions of images, on one image and on a batch, beside TensorFlow's."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Peers, Row, in_turns, microseconds, timer_of

ROUNDS, SECONDS = 5, 0.2

_IMAGES = """
import numpy as np
numbers = np.random.default_rng(0).random((32, 224, 224, 3), np.float32)
batch = tf.constant(numbers)
image = batch[0]
small = tf.constant((numbers * 255).astype(np.uint8))
"""

CALLS = (
    "resize({x}, (256, 256))",
    "resize({x}, (128, 128), antialias=True)",
    "resize({x}, (256, 256), 'bicubic')",
    "resize({x}, (256, 256), 'nearest')",
    "resize({x}, (128, 128), 'area')",
    "resize({x}, (128, 128), 'lanczos3', antialias=True)",
    "flip_left_right({x})",
    "rot90({x})",
    "rgb_to_grayscale({x})",
    "adjust_brightness({x}, 0.1)",
    "adjust_contrast({x}, 1.5)",
    "adjust_hue({x}, 0.1)",
    "adjust_saturation({x}, 1.5)",
    "per_image_standardization({x})",
)
INPUTS = ("image", "batch", "small")


def run(peers: Peers) -> list[Row]:
    """Rows for each function: an image of floats, a batch of them, a batch of bytes."""
    rows = []
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{_IMAGES}", namespace)
    with peers.session("tensorflow", f"import tensorflow as tf\n{_IMAGES}") as tensorflow:
        for call in CALLS:
            for x in INPUTS:
                statement = f"tf.image.{call.format(x=x)}"
                ours = eval(f"lambda: {statement}", namespace)
                timers = {"Weft": timer_of(ours, SECONDS)}
                if tensorflow is not None:
                    timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
                times = in_turns(timers, ROUNDS)
                theirs = times.get("TensorFlow")
                ratio = None if theirs is None else times["Weft"] / theirs
                detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
                rows.append(Row(f"{statement} / TensorFlow", ratio, "<= 2", detail))
    return rows
