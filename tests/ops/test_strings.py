"""Strings. Texts of numbers, and what regular expressions match, are recorded from TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, check_case

s = tf.strings


def texts(*items: Any) -> Any:
    return np.array(items, object)


def strings(shape: tuple[int, ...], *items: str) -> Any:
    return np.array(items, object).reshape(shape)


GRID = strings((2, 3), "a", "Bc", "", "  dEf", "ä ", "12")


def join(x: Any, y: Any, z: Any) -> Any:
    return s.join([x, y, z], separator="-")


def numbers(x: Any, **options: Any) -> Any:
    return s.as_string(x, **options)


def upper(x: Any) -> Any:
    return s.upper(x), s.lower(x), s.strip(x), s.length(x), s.upper(x, encoding="utf-8")


def substr(x: Any, pos: Any, length: Any) -> Any:
    return s.substr(x, pos, length)


def replaced(x: Any) -> Any:
    return s.regex_replace(x, "[a-c]", "<\\0>"), s.regex_full_match(x, r"\s*\w+")


def through_a_scalar(x: Any, y: Any) -> Any:
    # In a plan the sum of two scalar strings may be a bare bytes object.
    z = x + y
    return s.length(z), s.join([z, z]), s.upper(z), s.substr(z, 1, 2), s.regex_replace(z, "b", "c")


def case(fn: Any, *inputs: Any, expect: Any = None, **attrs: Any) -> Case:
    return Case(fn, list(inputs), attrs, expect, grad=False)


CASES = [
    case(join, GRID, texts("x").reshape(()), GRID),
    case(join, *[np.array("x", object)] * 3, expect=lambda *_: b"x-x-x"),
    case(join, *[np.zeros((0, 2), object)] * 3),
    case(upper, GRID),
    case(upper, np.zeros((3, 0), object)),
    case(through_a_scalar, np.array("ab", object), np.array("bc", object)),
    case(substr, GRID, np.array(0), np.array(2)),
    case(substr, strings((2, 1), "hello", "wor"), np.array([1, 0]), np.array([2, 3])),
    case(replaced, GRID),
    case(s.to_number, strings((2, 2), "1.5", "-2e3", " 3 ", "0x10")),
    case(s.to_number, strings((2,), "15", "-2"), out_type=tf.int64),
] + [
    case(s.reduce_join, GRID, axis=axis, keepdims=keepdims, separator=",")
    for axis in (None, 0, -1, (1, 0), ())
    for keepdims in (False, True)
] + [
    case(numbers, np.arange(6).astype(dtype).reshape(2, 3), width=3)
    for dtype in (np.int8, np.int64, np.uint16, np.float16, np.float64, np.complex64, np.bool_)
]  # fmt: skip


@pytest.mark.parametrize("row", CASES, ids=lambda c: c.id)
def test_cases(row: Case) -> None:
    check_case(row)


def test_join() -> None:
    assert s.join([["a", "b"], "x"], "-").numpy().tolist() == [b"a-x", b"b-x"]
    assert s.join([]).numpy() == b""
    assert s.join([[], []]).shape == [0]
    assert (s.join(["a"]) + "b").numpy() == b"ab"


def test_reduce_join_takes_axes_in_their_order() -> None:
    x = [["a", "b"], ["c", "d"]]
    assert s.reduce_join(x).numpy() == b"abcd"
    assert s.reduce_join(x, [0, 1]).numpy() == b"acbd"
    assert s.reduce_join(x, [1, 0]).numpy() == b"abcd"
    assert s.reduce_join(x, 0).numpy().tolist() == [b"ac", b"bd"]
    assert s.reduce_join("a").numpy() == b"a"
    assert s.reduce_join(tf.zeros([0, 3], tf.string), 0).numpy().tolist() == [b""] * 3


def test_length_of_text_and_of_what_is_none() -> None:
    assert s.length(["a", "äb", ""]).numpy().tolist() == [1, 3, 0]
    assert s.length(["a", "äb", ""], "UTF8_CHAR").numpy().tolist() == [1, 2, 0]
    assert int(s.length(b"\xff\x80a\xe4\xb8", "UTF8_CHAR")) == 3


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        (3.14159, {}, b"3.141590"),
        (3.14159, {"precision": 2}, b"3.14"),
        (3.14159, {"scientific": True}, b"3.141590e+00"),
        (1e10, {"shortest": True}, b"1e+10"),
        (123456789.0, {"shortest": True}, b"1.23457e+08"),
        (3.14159, {"precision": 3, "shortest": True}, b"3.14"),
        (1e30, {}, b"1000000015047466219876688855040.000000"),
        (2.5, {"precision": 0}, b"2"),
        (-0.0, {}, b"-0.000000"),
        (np.float64(0.1), {"precision": 20}, b"0.10000000000000000555"),
        (3, {"width": 6}, b"     3"),
        (-3, {"width": 6, "fill": "0"}, b"-00003"),
        (-3, {"width": 6, "fill": "-"}, b"-3    "),
        (3, {"width": 6, "fill": "+"}, b"    +3"),
        (3, {"fill": " "}, b" 3"),
        (np.uint8(3), {"fill": "+"}, b"3"),
        (3.5, {"width": 8, "precision": 1, "fill": "0"}, b"000003.5"),
        (np.nan, {"width": 6, "fill": "0"}, b"   nan"),
        (-np.inf, {"width": 6, "fill": "-"}, b"-inf  "),
        (True, {"width": 7}, b"true"),
        (1 + 2j, {}, b"(1.000000,2.000000)"),
        (1 + 2j, {"width": 10, "fill": "0"}, b"(001.000000,002.000000)"),
        ("abc", {"width": 6}, b"   abc"),
        ("abc", {"precision": 3}, b"abc"),
        (np.uint64(2**63), {}, b"9223372036854775808"),
    ],
)
def test_as_string(value: Any, options: dict[str, Any], expected: bytes) -> None:
    assert tf.as_string(value, **options).numpy() == expected


def test_substr() -> None:
    for pos, length, expected in [
        (1, 3, b"ell"),
        (-3, 2, b"ll"),
        (5, 2, b""),
        (1, 100, b"ello"),
        (1, -1, b"ello"),
    ]:
        assert s.substr("hello", pos, length).numpy() == expected
    assert s.substr("hello", [1, 2], [1, 2]).numpy().tolist() == [b"e", b"ll"]
    assert s.substr(["hello", "by"], [1], [3]).numpy().tolist() == [b"ell", b"y"]
    assert s.substr("hello", [[1]], [[3]]).numpy().tolist() == [[b"ell"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 3 is out of range.*'by'"):
        s.substr(["hello", "by"], 3, 1)
    grid = s.substr(["hello", "abc"], [[1], [0]], [[2], [3]]).numpy().tolist()
    assert grid == [[b"el", b"bc"], [b"hel", b"abc"]]
    assert s.substr("äöüß", -2, 1, unit="UTF8_CHAR").numpy().decode() == "ü"
    assert s.substr("äöüß", 4, 1, unit="UTF8_CHAR").numpy() == b""
    assert s.substr("hello", tf.constant(1, tf.int64), 2).numpy() == b"el"


def test_case_and_white_space() -> None:
    assert s.lower(["ÄB", b"\xc4"]).numpy().tolist() == ["Äb".encode(), b"\xc4"]
    assert s.lower("İIΣ", encoding="utf-8").numpy() == b"i\xcc\x87i\xcf\x82"
    assert s.upper("äbß", "utf-8").numpy().decode() == "ÄBSS"
    assert s.lower(b"\xffA", "utf-8").numpy() == b"\xef\xbf\xbda"
    assert s.strip(["\t\n x\r\v\f", "\u00a0x"]).numpy().tolist() == [b"x", b"\xc2\xa0x"]


def test_to_number() -> None:
    values = s.to_number(["inf", "-Infinity", ".5", "5.", "+1.5", "0x1p3", "1e39"]).numpy()
    assert values.tolist() == [np.inf, -np.inf, 0.5, 5, 1.5, 8, np.inf]
    assert np.all(np.isnan(s.to_number(["NaN", "nan(abc)"])))
    assert int(s.to_number(" +12 ", tf.uint64)) == 12


@pytest.mark.parametrize(
    ("text", "pattern", "rewrite", "expected"),
    [
        ("hello", "(h)(e)", "\\2\\1", b"ehllo"),
        ("hello", "l", "\\0\\0", b"hellllo"),
        ("hello", "", "-", b"-h-e-l-l-o-"),
        ("hello", "l*", "-", b"-h-e-o-"),
        ("baaac", "a*", "x", b"xbxcx"),
        ("aab", "a|aa", "x", b"xxb"),
        ("a.b", "\\.", "\\\\", b"a\\b"),
        ("héllo", ".", "x", b"xxxxx"),
        ("abc", "(?i)B", "z", b"azc"),
        ("abc", "(?P<n>b)", "z", b"azc"),
        ("abc", "\\x{62}", "z", b"azc"),
        ("a\nb", "$", "X", b"a\nbX"),
        ("a]b-c", "[]-]", "_", b"a_b_c"),
        ("a$b", "[$]", "_", b"a_b"),
        ("x1 y", "[[:alpha:]]", "_", b"_1 _"),
        ("a.c", "\\Qa.\\E", "_", b"_c"),
        (b"\xff\xfe", "\\w", "_", b"\xff\xfe"),
    ],
)
def test_regex_replace(text: Any, pattern: str, rewrite: str, expected: bytes) -> None:
    assert s.regex_replace(text, pattern, rewrite).numpy() == expected


def test_regex() -> None:
    assert s.regex_replace("hello", "l", "L", replace_global=False).numpy() == b"heLlo"
    matched = s.regex_full_match(["abc", "xabc", "a\nb", "é", "a\n"], "a.*|.|a$").numpy()
    assert matched.tolist() == [True, False, False, True, False]
    assert s.regex_full_match(["ab", "b"], tf.constant("a|ab")).numpy().tolist() == [True, False]


INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: s.join([["a", "b"], ["c"]]), tf.errors.ShapeError, r"\(2,\) and \(1,\)"),
        (lambda: s.join("ab"), TypeError, "inputs must be a list"),
        (lambda: s.join(["a"], separator=3), TypeError, "separator must be"),
        (lambda: s.join(["a", 1]), TypeError, "string"),
        (lambda: s.length("a", unit="X"), INVALID, "got 'X'"),
        (lambda: s.length(tf.constant(3)), tf.errors.DTypeError, "of string.*strings.as_string"),
        (lambda: tf.constant(3) + "a", tf.errors.DTypeError, r"as numbers with tf.strings.to_num"),
        (
            lambda: tf.reduce_sum(["a"]),
            tf.errors.DTypeError,
            r"it as numbers with tf.strings.to_number",
        ),
        (lambda: s.as_string(3, precision=2), INVALID, "floating dtypes, got int32"),
        (lambda: s.as_string(3.0, scientific=True, shortest=True), INVALID, "both be True"),
        (lambda: s.as_string(3, width=3, fill="*"), INVALID, r"got '\*'"),
        (lambda: s.substr("hello", 6, 2), INVALID, "pos 6 is out of range .* length 5"),
        (lambda: s.substr("hello", -6, 2), INVALID, "pos -6"),
        (lambda: s.substr("äö", 3, 1, unit="UTF8_CHAR"), INVALID, "length 2"),
        (lambda: s.substr(["ab"], 1, [2]), tf.errors.ShapeError, "pos and len"),
        (lambda: s.substr("ab", 1.0, 2.0), tf.errors.DTypeError, "pos has dtype float32"),
        (lambda: s.lower("A", encoding="latin"), INVALID, "got 'latin'"),
        (lambda: s.reduce_join(["a"], 2), tf.errors.ShapeError, "axis 2 is out of range"),
        (lambda: s.to_number("1_0"), INVALID, "b'1_0' is not a number"),
        (lambda: s.to_number("99999999999", tf.int32), INVALID, "an integer of dtype int32"),
        (lambda: s.to_number("5", tf.int8), tf.errors.DTypeError, "got int8"),
        (lambda: s.regex_full_match("a", "["), INVALID, "is not valid"),
        (lambda: s.regex_full_match("a", "(?=a)a"), INVALID, r"invalid perl operator: \(\?="),
        (lambda: s.regex_full_match("a", ["a"]), tf.errors.ShapeError, "pattern must have rank 0"),
        (lambda: s.regex_replace("a", "(a)", "\\2"), INVALID, "no group of the pattern"),
    ],
)
def test_errors(call: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_code_pages_of_windows_keep_control_characters() -> None:
    text = tf.strings.unicode_transcode(b"h\x81\x93", "windows-1252", "UTF-8")
    assert text.numpy().decode() == "h\x81\u201c"
    open_in_greek = tf.strings.unicode_transcode(b"\xd2", "windows-1253", "UTF-8")
    assert open_in_greek.numpy().decode() == "\ufffd"
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_encoding"):
        tf.strings.unicode_transcode("a", "UTF-8", "UTF-16")


@pytest.mark.parametrize("splits", [[0, 5], [1, 2], [0, 2, 1], [0, -1], [0, 1]])
def test_ngrams_of_splits_that_are_none(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="data_splits must ascend"):
        tf.raw_ops.StringNGrams(
            data=["a", "b"], data_splits=splits, separator=" ", ngram_widths=[1], left_pad="",
            right_pad="", pad_width=0, preserve_short_sequences=False,
        )  # fmt: skip


def test_scripts_of_code_points() -> None:
    points = [0, ord("A"), 0x3B1, 0x416, 0x5D0, 0x4E00, -1, 0x110000, 0xD800, 0x10FFFF]
    expected = [0, 25, 14, 8, 19, 17, -1, -1, 103, 103]
    np.testing.assert_array_equal(tf.strings.unicode_script(points), expected)
    traced = tf.function(tf.strings.unicode_script)
    np.testing.assert_array_equal(traced(tf.constant(points)), expected)
    rows = tf.ragged.constant([[65], [0x416, 0x5D0]])
    assert tf.strings.unicode_script(rows).to_list() == [[25], [8, 19]]
    with pytest.raises(tf.errors.DTypeError, match="int64"):
        tf.strings.unicode_script(tf.constant([65], tf.int64))
