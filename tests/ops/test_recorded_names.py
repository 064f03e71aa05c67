"""Calls of functions of many kinds give what TensorFlow gave (`checks/record_name_values.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from checks.record_name_values import VALUES, calls

RECORDED = json.loads((Path(__file__).parent / "recorded_names.json").read_text())


def called(call: str, names: dict[str, Any]) -> Any:
    return eval(call, {"tf": tf, "np": np, **names})


def test_all_calls_are_recorded() -> None:
    assert list(RECORDED) == calls()


@pytest.mark.parametrize("call", RECORDED)
def test_call(call: str) -> None:
    dtype, shape, numbers = RECORDED[call]
    expected = np.array(numbers, dtype).reshape(shape)
    names = {key: tf.constant(value) for key, value in VALUES.items()}
    open_sizes = [tf.TensorSpec([None] * value.ndim, value.dtype) for value in VALUES.values()]

    def traced(*tensors: Any) -> Any:
        return called(call, dict(zip(VALUES, tensors, strict=True)))

    results = [called(call, names), tf.function(traced)(*names.values())]
    if "inverse_mdct" not in call:  # it has to know the size of a frame
        results.append(tf.function(traced, input_signature=open_sizes)(*names.values()))
    for result in results:
        assert result.dtype == dtype
        np.testing.assert_allclose(result.numpy(), expected, rtol=2e-5, atol=3e-5)
