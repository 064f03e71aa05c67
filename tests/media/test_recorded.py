"""What files hold is what TensorFlow finds in them (see `support.media_calls`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.media_calls import ERROR, ROUGH, Call, calls, made, recorded, summary
from weft._src.core.flags import flags

CALLS, RECORDED = calls(), recorded()
# TensorFlow does not find samples behind a part that it does not know.
READ_HERE_ONLY = {"audio.decode_wav wav note before"}


def outcome(key: str, call: Call) -> Any:
    try:
        return summary(key, made(tf, call))
    except tf.errors.InvalidArgumentError:
        return ERROR


@pytest.mark.parametrize("group", sorted({call.path for call in CALLS.values()}))
@pytest.mark.parametrize("tier", ["auto", "native", "numpy"])
def test_like_tensorflow(group: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", tier)
    several = {key: call for key, call in CALLS.items() if call.path == group}
    different = {}
    for key, call in several.items():
        found = outcome(key, call)
        if key not in ROUGH and key not in READ_HERE_ONLY and found != RECORDED[key]:
            different[key] = found, RECORDED[key]
    assert not different


@pytest.mark.parametrize("key", ROUGH)
def test_within_rounding(key: str) -> None:
    (found,), (expected,) = made(tf, CALLS[key]), RECORDED[key]
    apart = np.abs(found.astype(np.int64) - np.array(expected))
    assert apart.max() <= 5
    assert 0 < apart.mean() < 1.5


@pytest.mark.parametrize("key", READ_HERE_ONLY)
def test_read_here_only(key: str) -> None:
    assert RECORDED[key] == ERROR
    assert outcome(key, CALLS[key]) != ERROR


def test_every_result_is_compared() -> None:
    assert RECORDED.keys() == CALLS.keys()
    assert 500 < list(RECORDED.values()).count(ERROR) < 900
