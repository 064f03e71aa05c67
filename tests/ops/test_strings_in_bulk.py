"""Strings in one run of bytes, with machine code: the same as string by string."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import farmhash, string_hashes
from weft._src.core.flags import flags
from weft._src.ops.strings import packed
from weft._src.ops.strings.packed import Packed

RNG = random.Random(7)


def objects(words: list[Any]) -> Any:
    out = np.empty(len(words), object)
    out[:] = words
    return out


def random_bytes(count: int, longest: int = 40) -> list[bytes]:
    return [bytes(RNG.choices(range(256), k=RNG.randrange(longest))) for _ in range(count)]


WORDS = [b"", b" ", b" a b\t", b"\n\x0b", "äöü €𝄞".encode(), b"ABC xyz", *random_bytes(300, 70)]


@pytest.fixture(params=["numpy", "native"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(flags, "execution", request.param)
    return str(request.param)


def both(function: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found = []
    for mode in ("numpy", "native"):
        monkeypatch.setattr(flags, "execution", mode)
        found.append([np.asarray(x).tolist() for x in tf.nest.flatten(function(), True)])
    return found


@pytest.mark.parametrize("words", [[], [b""], [b"a"], WORDS, WORDS * 300])
def test_there_and_back(words: list[bytes], tier: str) -> None:
    x = objects(words)
    found = packed.pack(x)
    assert found.data.tobytes() == b"".join(words)
    assert found.sizes.tolist() == list(map(len, words))
    assert packed.unpack(found, x.shape).tolist() == words
    assert packed.sizes(objects(words)[::2]).tolist() == list(map(len, words[::2]))
    backwards = Packed(found.data, found.starts[::-1], found.sizes[::-1])
    assert packed.unpack(backwards, x.shape).tolist() == words[::-1]
    out = np.zeros(found.data.size, np.uint8)
    packed.move(backwards, np.cumsum(backwards.sizes) - backwards.sizes, out)
    assert out.tobytes() == b"".join(words[::-1])


def test_other_objects(tier: str) -> None:
    class Word(bytes):
        pass

    x = objects([b"a", Word(b"bc"), b""] * 40)
    assert packed.sizes(x).tolist() == [1, 2, 0] * 40
    assert packed.pack(x).data.tobytes() == b"abc" * 40
    assert packed.fingerprints(x)[1] == farmhash.fingerprints([b"bc"])[0]


@pytest.mark.parametrize("bad", [(-1, 1), (0, 11), (10, 1), (2**62, 2**62), (5, -1)])
def test_pieces_outside_are_refused(bad: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    data = np.zeros(10, np.uint8)
    piece = Packed(data, np.array([bad[0]]), np.array([bad[1]]))
    with pytest.raises(AssertionError, match="outside"):
        packed.unpack(piece, (1,))
    with pytest.raises(AssertionError, match="outside"):
        packed.move(piece, np.array([0]), np.zeros(1 << 10, np.uint8))
    with pytest.raises(AssertionError, match="outside"):
        packed.parse(piece)
    there = Packed(data, np.array([0]), np.array([4]))
    for place in (-1, 7, 2**62):
        with pytest.raises(AssertionError, match="outside"):
            packed.move(there, np.array([place]), np.zeros(10, np.uint8))


def test_hashes(tier: str) -> None:
    words = [*random_bytes(500, 90), *[b"x" * n for n in range(70)]]
    x = objects(words)
    assert packed.fingerprints(x).tolist() == farmhash.fingerprints(words).tolist()
    assert packed.murmur(x).tolist() == string_hashes.murmur(words).tolist()
    for key in ((1, 2), (-5, 2**63 - 1)):
        assert packed.siphash(x, key).tolist() == string_hashes.siphash(words, key).tolist()
    assert packed.murmur(x.reshape(5, -1)).shape == (5, len(words) // 5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.strings.length(x),
        lambda x: tf.strings.length(x, unit="UTF8_CHAR"),
        tf.strings.lower,
        tf.strings.upper,
        tf.strings.strip,
        lambda x: tf.strings.substr(x, 0, 3),
        lambda x: tf.strings.substr(x, tf.fill(x.shape, 0), tf.fill(x.shape, -1)),
        lambda x: tf.strings.substr(tf.strings.join([x, "12345"]), -4, 2),
        lambda x: tf.strings.join([x, "-", tf.reverse(x, [0])], separator="·"),
        lambda x: tf.strings.join([x]),
        lambda x: tf.strings.to_hash_bucket_fast(x, 1000),
        lambda x: tf.strings.to_hash_bucket_strong(x, 1000, [7, 9]),
        lambda x: tf.strings.to_hash_bucket(x, 1000),
        tf.fingerprint,
        tf.strings.split,
        lambda x: tf.strings.split(tf.strings.join([x, x, " ", x, "\t"])),
        tf.strings.bytes_split,
        tf.io.encode_base64,
        lambda x: tf.io.encode_base64(x, pad=True),
        lambda x: tf.io.decode_base64(tf.io.encode_base64(x)),
        lambda x: tf.io.decode_base64(tf.io.encode_base64(x, pad=True)),
        lambda x: tf.strings.unicode_decode_with_offsets(x, "UTF-8"),
        lambda x: tf.strings.unicode_split(x, "UTF-8"),
        lambda x: tf.strings.unicode_decode(x[:6], "UTF-8"),
        lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
        lambda x: tf.strings.ngrams(x, 2),
        lambda x: tf.strings.ngrams(x, 1, separator="-"),
        lambda x: tf.strings.ngrams(x, 3, separator=""),
        lambda x: tf.strings.ngrams(x, 3, separator="·-"),
        lambda x: tf.strings.ngrams(x, [2, 3]),
        lambda x: tf.strings.ngrams(x, 2, pad_values="p"),
        lambda x: tf.strings.ngrams(x, 1000, preserve_short_sequences=True),
        lambda x: tf.strings.ngrams(x, 1000),
        lambda x: tf.strings.ngrams(tf.strings.split(tf.strings.join([x, " a b c"])), 3),
    ],
)
def test_ops(function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(WORDS + WORDS)
    one, other = both(lambda: function(x), monkeypatch)
    assert one == other
    grid = tf.reshape(x, [2, -1])
    one, other = both(lambda: function(grid), monkeypatch)
    assert one == other


def test_a_part_outside_is_told(tier: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 3 is out of range for the strin"):
        tf.strings.substr([b"abc"] * 99 + [b"a"], 3, 1)


NUMBERS = [
    b"0", b"-0", b"+5", b"12", b"007", b"-123456", b"99999999999", b"2147483647", b"2147483648",
    b"-2147483648", b"999999999999999999", b"9223372036854775807", b"-9223372036854775808",
]  # fmt: skip
DECIMALS = [
    b"1.5", b".5", b"5.", b"-0.0", b"3.14159", b"123456789.123456", b"0.1", b"1e5", b" 7 ", b"inf",
    b"-nan", b"1234567890123456789.5", b"0.000000000000000001", b"0x1p3", b"+.25",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int64])
def test_numbers(dtype: tf.DType, monkeypatch: pytest.MonkeyPatch) -> None:
    words = NUMBERS if dtype is tf.int64 else NUMBERS + DECIMALS
    rng = np.random.default_rng(3)
    words = words + [b"%d" % n for n in rng.integers(-(10**12), 10**12, 100)]
    if dtype is not tf.int64:
        words = words + [b"%.*f" % (int(k), v) for k, v in zip(range(100), rng.normal(size=100))]
    one, other = both(lambda: tf.strings.to_number(words * 2, dtype), monkeypatch)
    np.testing.assert_array_equal(one, other)
    assert np.signbit(one[0][1]) == (dtype is not tf.int64)


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        (b"0", 0, 0), (b"-12", -12, 0), (b"+1.50", 150, 3), (b".5", 5, 2), (b"5.", 5, 1),
        (b"007", 7, 0), (b"9" * 18, 10**18 - 1, 0), (b"9" * 19, 0, -1), (b"", 0, -1), (b".", 0, -1),
        (b"+", 0, -1), (b"1.2.3", 0, -1), (b"1e5", 0, -1), (b"1 ", 0, -1), (b"--1", 0, -1),
        (b"-.", 0, -1), (b"\xff", 0, -1), (b"/", 0, -1), (b":", 0, -1),
    ],
)  # fmt: skip
def test_plain_decimals(text: bytes, value: int, decimals: int, tier: str) -> None:
    found = packed.parse(packed.pack(objects([b"7", text, b"8"] * 30)))
    assert [x[1] for x in found] == [value, decimals]
    assert [x[2].tolist() for x in found] == [8, 0]


@pytest.mark.parametrize("word", [b"", b"-", b".", b"1.2.3", b"12a", b"1_0", b"--1", b"1 2"])
def test_no_numbers(word: bytes, tier: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a number"):
        tf.strings.to_number([b"1"] * 99 + [word])
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an integer of dtype int32"):
        tf.strings.to_number([b"1"] * 99 + [word], tf.int32)


@pytest.mark.parametrize("word", [b"2147483648", b"-2147483649", b"99999999999999999999"])
def test_numbers_beyond_the_dtype(word: bytes, tier: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an integer of dtype int32"):
        tf.strings.to_number([b"1"] * 99 + [word], tf.int32)


@pytest.mark.parametrize(
    "bad", [b"a", b"ab=", b"abc==", b"a b=", b"ab+/", b"=", b"ab===", b"abcd="]
)
def test_no_base64(bad: bytes, tier: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is no web-safe base64"):
        tf.io.decode_base64([b"abcd"] * 60 + [bad])


TEXTS = ["", "abc", "äöü €𝄞", "\0\x01", "日本語", "🎉" * 5] * 20


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
def test_text(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        points, starts = tf.strings.unicode_decode_with_offsets(TEXTS, "UTF-8")
        back = tf.strings.unicode_encode(points, encoding)
        return points, starts, back, tf.strings.unicode_transcode(TEXTS, "UTF-8", encoding)

    one, other = both(run, monkeypatch)
    assert one == other
    assert one[-1] == [text.encode(encoding) for text in TEXTS] == one[-2]


@pytest.mark.parametrize("bad", [b"\xc3", b"\xa4", b"a\xff", b"\xed\xa0\x80"])
def test_text_that_is_none(bad: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between others whose bytes would make it whole.
    x = [b"\xa4" if bad == b"\xc3" else b"x", bad, b"\xa4", b"ok"] * 20
    one, other = both(lambda: tf.strings.unicode_decode_with_offsets(x, "UTF-8"), monkeypatch)
    assert one == other
    with pytest.raises(tf.errors.InvalidArgumentError, match="is no valid utf-8"):
        tf.strings.unicode_decode(x, "UTF-8", errors="strict")


@pytest.mark.parametrize("errors", ["replace", "ignore"])
def test_code_points_that_are_none(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = tf.RaggedTensor.from_row_lengths([65, -1, 0xD800, 0x110000, 228] * 20, [3, 0, 2] * 20)
    one, other = both(lambda: tf.strings.unicode_encode(points, "UTF-8", errors), monkeypatch)
    assert one == other


CSV = [b"%d,%.3f,w%d, 7 ,1e%d" % (i, i / 7, i, i % 5) for i in range(100)]


@pytest.mark.parametrize(
    ("lines", "defaults", "options"),
    [
        (CSV, [0, 0.0, "", 0, 0.0], {}),
        (CSV, [[0], [tf.float64.max], [""]], {"select_cols": [0, 1, 2]}),
        ([b",,"] * 60, [5, 1.5, "x"], {}),
        ([b"1,NA,NA", b"NA,2.5,b"] * 40, [5, 1.5, "x"], {"na_value": "NA"}),
        ([b"1|2", b"3|4"] * 40, [0, 0], {"field_delim": "|"}),
        ([b'1,"a,b"', b"2,c"] * 40, [0, ""], {}),
        ([b'1,"a"', b"2,c"] * 40, [0, ""], {"use_quote_delim": False}),
        ([b"-2147483648,9223372036854775807"] * 60, [0, tf.int64], {}),
    ],
)
def test_csv(
    lines: list[bytes], defaults: list[Any], options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = both(lambda: tf.io.decode_csv(lines, defaults, **options), monkeypatch)
    assert one == other


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1", "2 fields are expected, record 60 has 1"),
        (b"", "2 fields are expected, record 60 has 0"),
        (b"1,2,3", "2 fields are expected, record 60 has 3"),
        (b"x,2", "field 0 in record 60 is b'x', which is no int32"),
        (b"9999999999,2", "field 0 in record 60 is b'9999999999', which is no int32"),
        (b"1,", "field 1 is empty in record 60, but is required"),
        (b'1,"2', "has no end"),
    ],
)
def test_csv_that_is_wrong(line: bytes, message: str, tier: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.io.decode_csv([b"1,2"] * 60 + [line], [0, tf.float32])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integers_as_strings(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    limits = np.iinfo(dtype)
    ends = [10**n + i for n in range(20) for i in (-1, 0, 1)] + [2**32, 2**32 - 1, limits.max]
    edges = [n for e in ends for n in (e, -e) if limits.min <= n <= limits.max]
    x = np.array([*edges, limits.min], dtype)
    for some in (x, x[:0], np.zeros(3, dtype), x[x >= 0], np.resize(x, (2, 60))):
        found = tf.strings.as_string(some).numpy()
        assert found.shape == some.shape
        assert found.reshape(-1).tolist() == [b"%d" % n for n in some.reshape(-1).tolist()]


def test_ngrams_of_rows_that_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", "native")
    words = tf.constant(["a", "b", "c", "d"])
    for splits in ([0, 3, 1, 4], [1, 4], [0, 3], [0, 5], [0, -1, 4]):
        rows = tf.RaggedTensor.from_row_splits(words, splits, validate=False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="data_splits must ascend"):
            tf.strings.ngrams(rows, 2)
    rows = tf.RaggedTensor.from_row_lengths(words, [1, 0, 3])
    assert tf.strings.ngrams(rows, 2).to_list() == [[], [], [b"b c", b"c d"]]
