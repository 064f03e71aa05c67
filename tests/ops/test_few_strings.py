"""Functions of a few strings, which Python works on at once: the same as one by one."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.ops.strings import number_text

RNG = np.random.default_rng(5)
BYTES = [RNG.bytes(int(n)) for n in RNG.integers(0, 9, 60)]


def one_by_one(function: Any, strings: list[Any]) -> list[Any]:
    return [function(tf.constant([text])).numpy()[0] for text in strings]


FINE = ["1", "-2", "1.5", ".5", "5.", "+7", "1e3", "-1E-3", "00012", "-0", "0.1", "1e400", "1e-400"]
ODD = ["1_0", " 3", "3 ", "nan", "inf", "0x1p3", "1,5", "", "-", "e5", "1e", "--1", "1.2.3", "+-1"]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_numbers_among_others(dtype: Any) -> None:
    wanted = np.array([number_text.float_in(s.encode()) for s in FINE], dtype.as_numpy_dtype)
    found = tf.strings.to_number(FINE, dtype).numpy()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
    for odd in ODD:
        value = number_text.float_in(odd.encode())
        if value is None:
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not a number"):
                tf.strings.to_number([*FINE, odd], dtype)
        else:
            np.testing.assert_array_equal(tf.strings.to_number([*FINE, odd], dtype)[-1], value)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_integers_among_others(dtype: Any) -> None:
    limits = [str(dtype.max), str(dtype.min), str(dtype.max + 1), str(dtype.min - 1)]
    for text in ["12", "-3", "-0", "007", "+5", "1-2", "-", "", "1.0", "1_0", " 4", *limits]:
        value = number_text.int_in(text.encode(), dtype)
        if value is None:
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not an integer"):
                tf.strings.to_number(["1", text], dtype)
        else:
            found = tf.strings.to_number([["1"], [text]], dtype).numpy()
            assert found.tolist() == [[1], [value]]
            assert found.dtype == dtype.as_numpy_dtype


def test_thousands_of_digits() -> None:
    long = "9" * 5000
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an integer"):
        tf.strings.to_number(["1", long], tf.int64)
    assert tf.strings.to_number(["1", "0" * 5000 + "7"], tf.int64).numpy().tolist() == [1, 7]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("shape", [(60,), (4, 15), (60, 1)])
def test_base64(shape: tuple[int, ...], pad: bool) -> None:
    x = np.array(BYTES, object).reshape(shape)
    found = tf.io.encode_base64(x, pad)
    plain = [base64.urlsafe_b64encode(text) for text in BYTES]
    wanted = plain if pad else [text.rstrip(b"=") for text in plain]
    assert found.numpy().reshape(-1).tolist() == wanted
    assert tf.io.decode_base64(found).numpy().tolist() == x.tolist()
    assert tf.io.encode_base64(tf.zeros([0, 2], tf.string)).shape == [0, 2]
    assert tf.io.decode_base64(tf.zeros([0, 2], tf.string)).shape == [0, 2]


@pytest.mark.parametrize(
    "bad", [b"a", b"abcde", b"ab,c", b",", b"ab+c", b"ab c", b"a=bc", b"abc=="]
)
def test_no_base64_among_others(bad: bytes) -> None:
    for strings in ([bad, b"abcd"], [b"abcd", bad], [bad]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no web-safe base64"):
            tf.io.decode_base64(strings)


TEXTS = ["", "plain", "grüße", "日本", "🙂x", "a\0b"]


@pytest.mark.parametrize("target", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("errors", ["replace", "ignore", "strict"])
def test_transcoding(target: str, errors: str) -> None:
    valid: list[bytes] = [text.encode() for text in TEXTS]
    made = tf.strings.unicode_transcode(valid, "UTF-8", target, errors).numpy()
    assert made.tolist() == [text.encode(target.lower()) for text in TEXTS]
    for bad in (b"\xff", b"ab\xc3", b"\xed\xa0\x80", b"\xc0\xaf"):
        if errors == "strict":
            with pytest.raises(tf.errors.InvalidArgumentError):
                tf.strings.unicode_transcode([*valid, bad], "UTF-8", target, errors)
            continue

        def transcode(x: Any) -> Any:
            return tf.strings.unicode_transcode(x, "UTF-8", target, errors)

        assert transcode([*valid, bad]).numpy().tolist() == one_by_one(transcode, [*valid, bad])
        assert transcode([*valid, bad]).numpy().tolist()[:-1] == made.tolist()
