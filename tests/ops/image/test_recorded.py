"""Results of `tf.image` are TensorFlow's (see `support.image_calls`)."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.image_calls import CALLS, FILE, KEYS, Call, made


def _recorded() -> dict[str, np.ndarray]:
    stored = np.load(FILE)
    at = {"f": 0, "i": 0}
    out = {}
    for line in stored["index"]:
        key, dtype, shape = str(line).rsplit("|", 2)
        sizes = tuple(int(n) for n in shape.split(",") if n)
        kind = "f" if np.dtype(dtype).kind == "f" else "i"
        count = int(np.prod(sizes))
        flat = stored["floats" if kind == "f" else "whole"][at[kind] : at[kind] + count]
        out[key] = flat.reshape(sizes).astype(dtype)
        at[kind] += count
    return out


RECORDED = _recorded()
EXACT = ("istortedBoundingBox", "distorted_bounding_box", "xtractGlimpse", "extract_glimpse")


@pytest.mark.parametrize(("key", "call"), list(zip(KEYS, CALLS, strict=True)), ids=KEYS)
def test_like_tensorflow(key: str, call: Call) -> None:
    for i, value in enumerate(made(tf, call)):
        expected = RECORDED[f"{key} {i}"]
        assert value.dtype == expected.dtype
        assert value.shape == expected.shape
        if any(word in call.path for word in EXACT):
            np.testing.assert_array_equal(value, expected)
            continue
        rough = value.dtype == np.float16
        if value.dtype.kind == "f":
            close = 2e-3 if rough else 1e-4
            np.testing.assert_allclose(
                value.astype(np.float64), expected.astype(np.float64), close, close
            )
            continue
        # A number that lies between two integers may fall to either side; those of int32 have
        # been float32, which has fewer digits.
        apart = np.abs(value.astype(np.float64) - expected.astype(np.float64))
        assert apart.max(initial=0) <= (2000 if value.dtype == np.int32 else 1)


def test_every_result_is_compared() -> None:
    assert {key.rsplit(" ", 1)[0] for key in RECORDED} == set(KEYS)
