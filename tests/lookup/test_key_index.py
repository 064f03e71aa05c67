"""Keys found by machine code are those that the dictionary finds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.execution.native.machine import support
from weft._src.lookup import content, key_index
from weft._src.lookup.content import Content
from weft._src.lookup.key_index import KeyIndex

pytestmark = pytest.mark.skipif(support.reason_off() is not None, reason="there is no machine code")

RNG = random.Random(7)
# Around the lengths at which the code reads strings differently, with bytes that are alike.
WORDS = list({
    bytes(RNG.choices(b"ab\0\xff", k=RNG.choice([*range(10), 15, 16, 17, 23, 24, 25, 32, 33, 100])))
    for _ in range(2000)
})  # fmt: skip
NUMBERS = [0, -1, 1, 2**63 - 1, -(2**63), *range(-900, 900, 7), *[i << 32 for i in range(1, 500)]]
NUMBERS = list(dict.fromkeys([*NUMBERS, *[RNG.getrandbits(63) for _ in range(500)]]))


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_index, "WORTH_LOADING", 0)
    monkeypatch.setattr(content, "WORTH_USING", 1)


def objects(words: list[bytes]) -> np.ndarray:
    out = np.empty(len(words), object)
    out[:] = words
    return out


def array(keys: list[Any]) -> np.ndarray:
    return objects(keys) if keys and isinstance(keys[0], bytes) else np.array(keys, np.int64)


def rows_of(index: KeyIndex, keys: np.ndarray) -> list[int]:
    rows = index.find(keys)
    assert rows is not None
    return rows.tolist()


@pytest.mark.parametrize("keys", [WORDS, NUMBERS], ids=["strings", "ints"])
def test_all_that_is_there_and_nothing_else(keys: list[Any]) -> None:
    there, absent = keys[::2], keys[1::2]
    index = KeyIndex(tf.string if keys is WORDS else tf.int64, len(there))
    rows = np.arange(len(there))[::-1].copy()
    assert index.enter(array(there), rows)
    assert rows_of(index, array(there)) == rows.tolist()
    assert rows_of(index, array(absent)) == [-1] * len(absent)
    copies = [bytes(bytearray(key)) for key in there] if keys is WORDS else there
    assert rows_of(index, array(copies)) == rows.tolist()


@pytest.mark.parametrize(
    "count", [0, 1, 31, 32, 33, 65, (1 << 16) - 1, (1 << 16) + 1, (1 << 20) + 7]
)
def test_pieces_and_blocks(count: int) -> None:
    index = KeyIndex(tf.int64, 100)
    assert index.enter(np.arange(100), np.arange(100) * 2)
    asked = np.arange(count) % 150
    assert rows_of(index, asked) == np.where(asked < 100, asked * 2, -1).tolist()


def test_keys_that_do_not_lie_one_after_the_other() -> None:
    index = KeyIndex(tf.int64, 100)
    assert index.enter(np.arange(100), np.arange(100))
    assert rows_of(index, np.arange(40, dtype=np.int32)[::-2]) == list(range(39, 0, -2))


def test_objects_that_are_no_bytes() -> None:
    class Word(bytes):
        pass

    index = KeyIndex(tf.string, 3)
    assert index.enter(objects([b"a"]), np.array([0]))
    for other in (Word(b"a"), "a", None):
        assert index.find(objects([b"a", other])) is None  # type: ignore[list-item]
    assert index.find(np.empty(3, object)) is None
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], [5])
    found = table._table.find(objects([b"a", Word(b"a"), b"b"]), np.array(-1))
    assert found.tolist() == [5, 5, -1]


def test_an_index_is_full() -> None:
    index = KeyIndex(tf.int64, 1)
    room = index._room
    assert index.enter(np.arange(room), np.arange(room))
    assert not index.enter(np.array([-1]), np.array([0]))


@pytest.mark.parametrize("dtype", [tf.string, tf.int64, tf.int32])
def test_a_table_that_changes(dtype: tf.DType) -> None:
    rng = np.random.default_rng(5)
    table, known = Content(dtype, tf.int64), {}
    every: Any = np.arange(3000).astype(dtype.numpy_dtype)
    if dtype is tf.string:
        every = objects([b"%d" % i for i in range(3000)])
    for step in range(40):
        keys = rng.choice(every, rng.integers(1, 400))
        if step % 5 == 4:
            table.remove(keys)
            for key in keys.tolist():
                known.pop(key, None)
        elif step == 17:
            table.replace(keys, np.arange(len(keys)))
            known = dict(zip(keys.tolist(), range(len(keys)), strict=True))
        else:
            values = rng.integers(0, 10**6, len(keys))
            table.insert(keys, values)
            known.update(zip(keys.tolist(), values.tolist(), strict=True))
        values, missing = table.find(every, np.array(-1), tell=True)
        assert table._index is not None
        expected = [known.get(key, -1) for key in every.tolist()]
        assert values.tolist() == expected
        assert missing.tolist() == [i for i, key in enumerate(every.tolist()) if key not in known]


def test_an_index_is_made_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "WORTH_USING", 200)
    table = Content(tf.int64, tf.int64, fixed=True)
    table.insert(np.arange(1000), np.arange(1000))
    table.find(np.arange(199), np.array(-1))
    assert table._index is None  # too few in one call
    table.find(np.arange(500), np.array(-1))
    assert table._index is None  # fewer than there are
    table.find(np.arange(500), np.array(-1))
    assert table._index is not None
    monkeypatch.setattr(tf.config, "execution", "numpy")
    other = Content(tf.int64, tf.int64, fixed=True)
    other.insert(np.arange(10), np.arange(10))
    assert other.find(np.arange(300), np.array(-1))[0].tolist() == [*range(10), *[-1] * 290]
    assert other._index is None
