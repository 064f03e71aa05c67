"""Strings split, hashed, decoded, formatted: recorded facts of TensorFlow, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError

S = tf.strings
TEXTS = [
    b"", b"a", b"hello", b"abcdefgh", b"abcdefghijklmnop", b"\xff\x00x", b"x" * 33, b"y" * 100,
]  # fmt: skip
WORDS = ["hello world", "", "  a  b ", "a,b,,c"]
UNICODE = ["G\xf6d", "\U0001f60a!"]
BROKEN = [b"a\xff\xc3b", b"\xe3\x81", b"ok\x01\x7f"]


def listed(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return [listed(item) for item in x]
    return x.to_list() if isinstance(x, tf.RaggedTensor) else np.asarray(x.numpy()).tolist()


# Hashes: equal to TensorFlow 2.21's.
HASHES = [
    (
        lambda x: S.to_hash_bucket_fast(x, 2**62),
        [
            1936946117179621455, 3694432073954588131, 3786372426573024488, 4533385575889643785,
            1469030743107030717, 3624518969779763081, 3046993373088323127, 3286434551874864643,
        ],
    ),
    (
        lambda x: S.to_hash_bucket(x, 2**62),
        [
            105434511174508091, 2996632905371535868, 1331861223480393034, 3429851175771700306,
            956259514752743408, 233127881754670310, 3465179299843832916, 1367365306250348836,
        ],
    ),
    (
        lambda x: S.to_hash_bucket_strong(x, 2**62, [123, 456]),
        [
            887865449656487406, 2150915142212405420, 3917950836011642579, 2474413746348421976,
            800885696213477659, 3713774183456356680, 35790345289312529, 1476363199435396010,
        ],
    ),
    (lambda x: S.to_hash_bucket_strong(x, 10, [-1, 2]), [0, 0, 8, 4, 7, 0, 8, 0]),
    (
        lambda x: S.to_hash_bucket(x, 1000003),
        [598820, 789371, 546981, 41559, 318475, 798536, 632921, 411680],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "expected"), HASHES)
def test_hashes(fn: Any, expected: Any) -> None:
    assert fn(TEXTS).numpy().tolist() == expected
    assert fn(TEXTS).dtype is tf.int64
    spec = tf.TensorSpec(None, tf.string)
    assert tf.function(fn, input_signature=[spec])(TEXTS).numpy().tolist() == expected
    assert fn(tf.constant([], tf.string)).shape == (0,)
    assert fn("a").shape == ()


def test_ragged_strings_are_hashed() -> None:
    assert S.to_hash_bucket_fast(tf.ragged.constant([["a"], []]), 10).to_list() == [[9], []]


ROWS = [
    (lambda: S.split(WORDS), [[b"hello", b"world"], [], [b"a", b"b"], [b"a,b,,c"]]),
    (lambda: S.split(WORDS, ",")[3], [b"a", b"b", b"", b"c"]),
    (lambda: S.split([""], ","), [[b""]]),
    (
        lambda: S.split(WORDS, maxsplit=1),
        [[b"hello", b"world"], [], [b"a", b"b "], [b"a,b,,c", b""]],
    ),
    (lambda: S.split(["a b"], maxsplit=2), [[b"a", b"b", b""]]),
    (lambda: S.split(WORDS, " ", maxsplit=1)[2], [b"", b" a  b "]),
    (lambda: S.split([" a  b"], maxsplit=0), [[b" a  b"]]),
    (lambda: S.split(["a\x0bb\x1cc\td"]), [[b"a", b"b\x1cc", b"d"]]),
    (lambda: S.split("a b"), [b"a", b"b"]),
    (lambda: S.split([["a b", "c"]]), [[[b"a", b"b"], [b"c"]]]),
    (lambda: S.split(tf.ragged.constant([["a b"], []])), [[[b"a", b"b"]], []]),
    (lambda: S.bytes_split(["ab", ""]), [[b"a", b"b"], []]),
    (lambda: S.bytes_split("abc"), [b"a", b"b", b"c"]),
    (lambda: S.ngrams(["a", "b", "c"], 2), [b"a b", b"b c"]),
    (lambda: S.ngrams(["a", "b", "c"], (2, 3), separator="|"), [b"a|b", b"b|c", b"a|b|c"]),
    (lambda: S.ngrams(["a"], 2), []),
    (lambda: S.ngrams([["a", "b"], ["c", "d"]], 2), [[b"a b"], [b"c d"]]),
    (
        lambda: S.ngrams(["a", "b"], [2, 1], pad_values=("L", "R")),
        [b"L a", b"a b", b"b R", b"a", b"b"],
    ),
    (lambda: S.ngrams(short(), 2), [[b"a b"], [], []]),
    (
        lambda: S.ngrams(short(), 3, pad_values=("L", "R")),
        [
            [b"L L a", b"L a b", b"a b R", b"b R R"],
            [b"L L R", b"L R R"],
            [b"L L c", b"L c R", b"c R R"],
        ],
    ),
    (
        lambda: S.ngrams(short(), 3, pad_values="P", padding_width=1),
        [[b"P a b", b"a b P"], [], [b"P c P"]],
    ),
    (lambda: S.ngrams(short(), 3, preserve_short_sequences=True), [[b"a b"], [], [b"c"]]),
    (lambda: S.unicode_decode(UNICODE, "UTF-8"), [[71, 246, 100], [128522, 33]]),
    (lambda: S.unicode_decode("ab", "UTF-8"), [97, 98]),
    (
        lambda: S.unicode_decode(BROKEN, "UTF-8"),
        [[97, 65533, 65533, 98], [65533], [111, 107, 1, 127]],
    ),
    (lambda: S.unicode_decode(BROKEN, "UTF-8", "ignore"), [[97, 98], [], [111, 107, 1, 127]]),
    (
        lambda: S.unicode_decode(BROKEN, "UTF-8", "replace", 63, True),
        [[97, 63, 63, 98], [63], [111, 107, 63, 127]],
    ),
    (lambda: S.unicode_decode(BROKEN, "UTF-8", "ignore", 63, True)[2], [111, 107, 127]),
    (lambda: S.unicode_decode([b"\xd8\x3d\xde\x0a\x00"], "UTF-16-BE"), [[128522, 65533]]),
    (lambda: S.unicode_decode([b"\x00\x00\x00h"], "UTF-32-BE"), [[104]]),
    (lambda: S.unicode_decode([b"\xff"], "US ASCII"), [[65533]]),
    (
        lambda: S.unicode_decode_with_offsets(UNICODE, "UTF-8"),
        [[[71, 246, 100], [128522, 33]], [[0, 1, 3], [0, 4]]],
    ),
    (
        lambda: S.unicode_decode_with_offsets(BROKEN, "UTF-8", "ignore")[1],
        [[0, 3], [], [0, 1, 2, 3]],
    ),
    (
        lambda: S.unicode_split(UNICODE, "UTF-8"),
        [[b"G", b"\xc3\xb6", b"d"], [b"\xf0\x9f\x98\x8a", b"!"]],
    ),
    (lambda: S.unicode_split("ab", "UTF-8"), [b"a", b"b"]),
    (lambda: S.unicode_split_with_offsets(UNICODE, "UTF-8")[1], [[0, 1, 3], [0, 4]]),
    (lambda: S.unicode_encode([72, 128522], "UTF-8"), b"H\xf0\x9f\x98\x8a"),
    (lambda: S.unicode_encode([72, 128522], "UTF-16-BE"), b"\x00H\xd8=\xde\n"),
    (lambda: S.unicode_encode([[72], [33]], "UTF-32-BE"), [b"\x00\x00\x00H", b"\x00\x00\x00!"]),
    (lambda: S.unicode_encode([[[72]]], "UTF-8"), [[b"H"]]),
    (
        lambda: S.unicode_encode(tf.ragged.constant([[72, 55296], []]), "UTF-8"),
        [b"H\xef\xbf\xbd", b""],
    ),
    (lambda: S.unicode_encode([0x110000, 65], "UTF-8", "ignore"), b"A"),
    (lambda: S.unicode_transcode(["hi"], "UTF-8", "UTF-16-BE"), [b"\x00h\x00i"]),
    (lambda: S.unicode_transcode(BROKEN, "UTF-8", "UTF-8", "ignore"), [b"ab", b"", b"ok\x01\x7f"]),
    (lambda: S.unicode_transcode([b"\xe9"], "ISO-8859-1", "UTF-8"), [b"\xc3\xa9"]),
    (lambda: S.unicode_transcode([b"\x82\xa0"], "SHIFT-JIS", "UTF-8"), [b"\xe3\x81\x82"]),
    (lambda: S.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 3, ":"), [b"a:c", b"b", b""]),
    # Empty strings count only behind another one, as in TensorFlow.
    (lambda: S.unsorted_segment_join(["", "a", "", "b"], [0, 0, 0, 1], 2, ":"), [b"a:", b"b"]),
    (lambda: S.unsorted_segment_join(["", ""], [0, 0], 1, ":"), [b""]),
    (
        lambda: S.unsorted_segment_join([["", "q"], ["a", ""], ["", ""]], [0, 0, 0], 1, ":"),
        [[b"a:", b"q::"]],
    ),
    (
        lambda: S.unsorted_segment_join([["a", "x"], ["b", "y"], ["c", "z"]], [0, 1, 0], 2),
        [[b"ac", b"xz"], [b"b", b"y"]],
    ),
    (
        lambda: S.unsorted_segment_join([["a", "b"], ["c", "d"]], [[0, 1], [1, 0]], 2),
        [b"ad", b"bc"],
    ),
    (
        lambda: S.reduce_join(tf.ragged.constant([["a", "b"], []]), axis=1, separator="-"),
        [b"a-b", b""],
    ),
    (lambda: S.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), axis=0), [b"ac", b"b"]),
    (lambda: S.format("x = {}", tf.constant([1, 2, 3])), b"x = [1 2 3]"),
    (
        lambda: S.format("{} and {}", (tf.constant(1.5), tf.constant(["a", "b"]))),
        b'1.5 and ["a" "b"]',
    ),
    (lambda: S.format("{}", tf.range(10), summarize=2), b"[0 1 ... 8 9]"),
    (lambda: S.format("%t%", tf.constant("text"), placeholder="%t%"), b'"text"'),
    (lambda: S.format("none", ()), b"none"),
]


def short() -> Any:
    return tf.ragged.constant([["a", "b"], [], ["c"]])


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_rows(number: int) -> None:
    fn, expected = ROWS[number]
    assert listed(fn()) == expected
    assert listed(tf.function(fn)()) == expected


def test_strings_of_unknown_number() -> None:
    spec = [tf.TensorSpec([None], tf.string)]
    f = tf.function(lambda x: tf.reduce_sum(S.length(S.split(x)), 1), input_signature=spec)
    assert f(WORDS).numpy().tolist() == [10, 0, 2, 6]
    assert f(tf.constant([], tf.string)).numpy().tolist() == []
    decode = tf.function(lambda x: S.unicode_decode(x, "UTF-8").to_tensor(), input_signature=spec)
    assert decode(["ab", "c"]).numpy().tolist() == [[97, 98], [99, 0]]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: S.to_hash_bucket_fast(["a"], 0), ValueError, "to_hash_bucket_fast: num_buckets"),
        (lambda: S.to_hash_bucket_strong(["a"], 3, [1]), ValueError, "key must be two integers"),
        (lambda: S.split([1, 2]), TypeError, "string"),
        (lambda: S.split(tf.constant([1, 2])), TypeError, "strings.split: input must hold strings"),
        (lambda: S.ngrams(["a"], 0), ValueError, "ngram_width must be at least 1"),
        (lambda: S.ngrams("a", 1), ValueError, "at least one axis"),
        (lambda: S.ngrams(["a"], 2, pad_values="P", padding_width=0), ValueError, "padding_width"),
        (
            lambda: S.unicode_decode(BROKEN, "UTF-8", "strict"),
            InvalidArgumentError,
            "no valid utf-8",
        ),
        (lambda: S.unicode_decode(["a"], "nonsense"), InvalidArgumentError, "nonsense"),
        (lambda: S.unicode_decode(["a"], "UTF-8", "maybe"), ValueError, "errors must be one of"),
        (lambda: S.unicode_encode([0x110000], "UTF-8", "strict"), InvalidArgumentError, "1114112"),
        (lambda: S.unicode_encode([65], "LATIN1"), ValueError, "output_encoding must be one of"),
        (lambda: S.unsorted_segment_join(["a"], [5], 3), InvalidArgumentError, "got 5"),
        (lambda: S.unsorted_segment_join(["a"], [0, 0], 3), ValueError, "equal shapes"),
        (lambda: S.format("{} {}", [1]), ValueError, "2 placeholders"),
    ],
)
def test_wrong_use(wrong: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_a_width_without_anything_to_pad_with() -> None:
    with pytest.raises(ValueError, match="padding_width needs pad_values"):
        tf.strings.ngrams(["a", "b"], 2, padding_width=1)


def test_unicode_encode_needs_a_first_split() -> None:
    for function in (tf.raw_ops.UnicodeEncode, tf.function(tf.raw_ops.UnicodeEncode)):
        with pytest.raises(tf.errors.ShapeError, match="input_splits must begin with 0"):
            function(
                input_values=tf.constant([65]),
                input_splits=tf.constant([], tf.int64),
                output_encoding="UTF-8",
            )
