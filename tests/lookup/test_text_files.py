"""Tables out of text files. Contents and error classes are TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import (
    DTypeError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)

Init = tf.lookup.TextFileInitializer
LINE, NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
BAND = b"emerson 10\nlake 20\npalmer 30\n"
NAMES = [b"emerson", b"lake", b"palmer"]
WHOLE = BAND.split(b"\n")[:3]


@pytest.fixture
def content(tmp_path: Path) -> Callable[..., Any]:
    """What a table holds that is made from a text."""

    def made(
        text: bytes, key_dtype: Any, key: int, value_dtype: Any, value: int, **more: Any
    ) -> Any:
        path = tmp_path / "lines.txt"
        path.write_bytes(text)
        init = Init(str(path), key_dtype, key, value_dtype, value, **more)
        default = "?" if value_dtype is tf.string else 0
        table = tf.lookup.StaticHashTable(init, default)
        return [x.numpy().tolist() for x in table.export()]

    return made


COLUMNS: list[tuple[bytes, Any, int, Any, int, dict[str, Any], Any]] = [
    (BAND, tf.string, 0, tf.int64, 1, {"delimiter": " "}, [NAMES, [10, 20, 30]]),
    (BAND, tf.string, 0, tf.int32, 1, {"delimiter": " "}, [NAMES, [10, 20, 30]]),
    (BAND, tf.string, 0, tf.float32, 1, {"delimiter": " "}, [NAMES, [10.0, 20.0, 30.0]]),
    (BAND, tf.int32, 1, tf.string, 0, {"delimiter": " "}, [[10, 20, 30], NAMES]),
    (BAND, tf.string, 0, tf.string, 0, {"delimiter": " "}, [NAMES, NAMES]),
    (BAND, tf.string, LINE, tf.string, 1, {"delimiter": " "}, [WHOLE, [b"10", b"20", b"30"]]),
    (BAND, tf.string, LINE, tf.int64, NUMBER, {}, [WHOLE, [0, 1, 2]]),
    (BAND, tf.int64, NUMBER, tf.string, LINE, {}, [[0, 1, 2], WHOLE]),
    (BAND, tf.string, LINE, tf.int64, NUMBER, {"vocab_size": 2}, [WHOLE[:2], [0, 1]]),
    (BAND, tf.string, LINE, tf.int64, NUMBER, {"vocab_size": 3}, [WHOLE, [0, 1, 2]]),
    (BAND, tf.string, LINE, tf.int64, NUMBER, {"value_index_offset": 9}, [WHOLE, [9, 10, 11]]),
    (BAND, tf.int64, NUMBER, tf.string, LINE, {"value_index_offset": 9}, [[9, 10, 11], WHOLE]),
    (b"5\n6\n", tf.int64, LINE, tf.int64, NUMBER, {}, [[5, 6], [0, 1]]),
    (b"a\nb", tf.string, LINE, tf.int64, NUMBER, {}, [[b"a", b"b"], [0, 1]]),
    (b"a\r\nb\r\n", tf.string, LINE, tf.int64, NUMBER, {}, [[b"a", b"b"], [0, 1]]),
    (b"a\rb\nc\n", tf.string, LINE, tf.int64, NUMBER, {}, [[b"a\rb", b"c"], [0, 1]]),
    (b"a\0b\nc\xff\n", tf.string, LINE, tf.int64, NUMBER, {}, [[b"a\0b", b"c\xff"], [0, 1]]),
    (b"a  1\n", tf.string, 0, tf.string, 1, {"delimiter": " "}, [[b"a"], [b""]]),
    (b"a\t 7 \nb\t+8\nc\t-9", tf.string, 0, tf.int64, 1, {}, [[b"a", b"b", b"c"], [7, 8, -9]]),
    (b"a\t1e3\nb\t-inf", tf.string, 0, tf.float64, 1, {}, [[b"a", b"b"], [1000.0, -np.inf]]),
    (b"a 1\na 1\n", tf.string, 0, tf.int64, 1, {"delimiter": " "}, [[b"a"], [1]]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(COLUMNS)))
def test_lines_and_columns(number: int, content: Callable[..., Any]) -> None:
    text, key_dtype, key, value_dtype, value, more, expected = COLUMNS[number]
    assert content(text, key_dtype, key, value_dtype, value, **more) == expected


BAD: list[tuple[bytes, Any, int, type[Exception], str]] = [
    (b"a 1\nb", tf.int64, 1, InvalidArgumentError, "line 1, b'b', has 1 columns, and column 1"),
    (b"a 1\nb x", tf.int64, 1, InvalidArgumentError, "b'x' in line 1 is no int64"),
    (b"a 1_0", tf.int64, 1, InvalidArgumentError, "b'1_0' in line 0 is no int64"),
    (b"a ", tf.int64, 1, InvalidArgumentError, "b'' in line 0 is no int64"),
    (b"a 99999999999", tf.int32, 1, InvalidArgumentError, "b'99999999999' in line 0 is no int32"),
    (b"a 1.5x", tf.float64, 1, InvalidArgumentError, "b'1.5x' in line 0 is no float64"),
    (b"a true", tf.bool, 1, InvalidArgumentError, "text cannot be read as bool"),
    (b"a 1\n\nb 2\n", tf.int64, 1, InvalidArgumentError, "line 1 is empty"),
    (b"\n", tf.int64, 1, InvalidArgumentError, "line 0 is empty"),
    (b"", tf.int64, 1, InvalidArgumentError, "there are no lines"),
    (b"a 1\na 2\n", tf.int64, 1, FailedPreconditionError, "key b'a' is there with two values, 1"),
    (b"a\nb\na\n", tf.int64, NUMBER, FailedPreconditionError, "b'a' .* two values, 0 and 2"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_files(number: int, content: Callable[..., Any]) -> None:
    text, dtype, index, error, said = BAD[number]
    with pytest.raises(error, match=said):
        content(text, tf.string, 0, dtype, index, delimiter=" ")


def test_more_words_than_lines(content: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="vocab_size is 5, and there are 3 lines"):
        content(BAND, tf.string, LINE, tf.int64, NUMBER, vocab_size=5)
    for delimiter in ("ab", ""):
        with pytest.raises(InvalidArgumentError, match="delimiter must be one byte, got b'"):
            content(BAND, tf.string, 0, tf.int64, 1, delimiter=delimiter)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    missing = Init(tmp_path / "nothing", tf.string, LINE, tf.int64, NUMBER)
    with pytest.raises(NotFoundError, match="nothing: No such file or directory"):
        tf.lookup.StaticHashTable(missing, -1)
    folder = Init(str(tmp_path), tf.string, LINE, tf.int64, NUMBER)
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        tf.lookup.StaticHashTable(folder, -1)


def test_mistakes() -> None:
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"vocab_size must be at least 1, got {size}"):
            Init("f", tf.string, 0, tf.int64, 1, vocab_size=size)
    with pytest.raises(ValueError, match="filename must name a file, got ''"):
        Init("", tf.string, 0, tf.int64, 1)
    with pytest.raises(TypeError, match="a file name is expected, got 5"):
        Init(5, tf.string, 0, tf.int64, 1)
    with pytest.raises(ValueError, match="key_index must be a column, .* got -3"):
        Init("f", tf.string, -3, tf.int64, 1)
    with pytest.raises(DTypeError, match="value_dtype must be int64 for line numbers, got float32"):
        Init("f", tf.string, LINE, tf.float32, NUMBER)


def test_a_vocabulary_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("a\nb\nc\n")
    init = Init(path, tf.string, LINE, tf.int64, NUMBER)
    table = tf.lookup.StaticVocabularyTable(init, 2)
    assert table[["a", "c", "q", "emu"]].numpy().tolist() == [0, 2, 4, 4]
