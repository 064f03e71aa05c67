"""Small and quantized numbers are TensorFlow's, bit by bit (see `support.quantized_calls`)."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from support.quantized_calls import CALLS, FILE, KEYS, Call, made


def _recorded() -> dict[str, list[tuple[str, np.ndarray]]]:
    stored = np.load(FILE)
    content, at = stored["content"].tobytes(), 0
    out: dict[str, list[tuple[str, np.ndarray]]] = {}
    for line in stored["index"]:
        key, _, name, dtype, shape = str(line).rsplit("|", 4)
        sizes = tuple(int(n) for n in shape.split(",") if n)
        end = at + int(np.prod(sizes)) * np.dtype(dtype).itemsize
        value = np.frombuffer(content[at:end], dtype).reshape(sizes)
        out.setdefault(key, []).append((name, value))
        at = end
    assert at == len(content)
    return out


RECORDED = _recorded()


@pytest.mark.parametrize(("key", "call"), list(zip(KEYS, CALLS, strict=True)), ids=KEYS)
def test_like_tensorflow(key: str, call: Call) -> None:
    results = made(tf, call)
    assert [name for name, _ in results] == [name for name, _ in RECORDED[key]]
    for i, ((name, value), (_, expected)) in enumerate(zip(results, RECORDED[key], strict=True)):
        if name.startswith("float8"):
            value, expected = _with_one_nan(name, value), _with_one_nan(name, expected)
        assert value.dtype == expected.dtype
        if i and ("radient" in call.path or call.gradients > 1):  # sums, in another order
            np.testing.assert_allclose(value, expected, 1e-5, 1e-5)
        else:
            np.testing.assert_array_equal(value, expected, strict=True)


def _with_one_nan(name: str, bits: np.ndarray) -> np.ndarray:
    values = bits.view(tf.as_dtype(name).numpy_dtype).astype(np.float32)
    return np.where(np.isnan(values), np.uint8(255), bits)


def test_every_result_is_compared() -> None:
    assert set(RECORDED) == set(KEYS)
