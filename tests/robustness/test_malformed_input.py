"""Bytes from elsewhere that are wrong are refused by name, whatever is wrong with them."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import zlib
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.support.wire_fields import bytes_field, varint_field

import weft as tf
from fuzzing import files
from fuzzing.mutations import mutated
from fuzzing.parsers import ALLOWED, Parser, parsers
from weft._src.messages.wire import varint
from weft.errors import ParseError

T = tf.train

# --- every parser, with mutated valid input ------------------------------------------------------

PARSERS = parsers()


def by_name(parser: Parser) -> str:
    return parser.name


@pytest.mark.parametrize("parser", PARSERS, ids=by_name)
def test_valid_input_is_read(parser: Parser) -> None:
    for data in parser.samples:
        assert files.failure_of(parser, data, inf) is None


@pytest.mark.parametrize("parser", PARSERS, ids=by_name)
@settings(max_examples=25, derandomize=True, deadline=None, database=None)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_mutated_input(parser: Parser, seed: int, data: Any) -> None:
    first, second = (data.draw(st.sampled_from(parser.samples)) for _ in range(2))
    damaged = mutated(random.Random(seed), first, second)
    assert files.failure_of(parser, damaged, inf) is None


@pytest.mark.parametrize("seed", range(24))
def test_a_sample_of_the_fuzzer(seed: int) -> None:
    parser, inputs = files.inputs_of(seed)
    for data in inputs:
        assert files.failure_of(parser, data, inf) is None


# --- the fuzzer itself ---------------------------------------------------------------------------

_CRASHES = Parser("crashes", "if b'!' in data:\n    import os\n    os.abort()", (b"",))


@pytest.mark.parametrize(
    ("program", "most", "kind"),
    [
        ("raise KeyError(data)", inf, "KeyError"),
        ("tf.io.parse_tensor(data, tf.float32)", inf, None),
        ("pass", 0, "slow"),
        ("tf.py_function(lambda: 1 // 0, [], tf.int32)", inf, "ZeroDivisionError"),
    ],
)
def test_what_the_fuzzer_finds(program: str, most: float, kind: str | None) -> None:
    found = files.failure_of(Parser("made up", program, (b"",)), b"abc", most)
    assert (found.kind if found else None) == kind


def test_a_finding_is_small_and_a_program(tmp_path: Path) -> None:
    # In a process of its own: it forks.
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from fuzzing import files
from fuzzing.parsers import Parser
program = "if b'!' in data:\\n    import os\\n    os.abort()"
parser = Parser("crashes", program, (b"",))
at, failure = files.in_child(parser, [b"fine", b"a long! input"])
print(at, failure.kind, files.shrunk(parser, b"a long! input", failure.kind))
print(files.in_child(parser, [b"fine"]))
pages = "many = bytearray(2**28)\\nmany[::4096] = bytes(2**16)"  # touched, and no more
large = Parser("large", pages, (b"",))
print(files.in_child(large, [b""])[1].kind)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "1 crash b'!'\nNone\nlarge\n", done.stderr
    program = _CRASHES.reproduction(b"fine")
    assert program.startswith("import numpy as np\nimport weft as tf\ndata = b'fine'\nif b'!'")


# --- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (T.FloatList, b"\x0a\x05abcde"),  # five bytes of packed floats
        (T.Int64List, b"\x08" + b"\xff" * 10 + b"\x01"),  # a number of eleven bytes
        (T.Int64List, b"\x0a\x01\xff"),  # a packed number without an end
        (T.Int64List, b"\x13\x08\x01"),  # a group without an end
        (T.Int64List, b"\x13\x08\x01\x1c"),  # ... that ends as another one
        (T.Int64List, b"\x14"),  # ... that did not begin
        (T.Int64List, b"\x13" * 120 + b"\x14" * 120),  # groups in groups in groups ...
        (T.Int64List, b"\x0e"),  # a way of storing that does not exist
        (T.Int64List, b"\x00\x01"),  # field number 0
        (T.Int64List, b"\x88\x80\x80\x80\x80\x00\x01"),  # a key of six bytes
        (T.Int64List, b"\x88\x80\x80\x80\x7f\x01"),  # a key of more than 32 bits
        (T.BytesList, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"),  # a negative length
        (T.Features, b"\x0a\x03\x0a\x01\xff"),  # a name that is no UTF-8
    ],
)
def test_bytes_that_are_no_message(kind: Any, data: bytes) -> None:
    with pytest.raises(ParseError, match=f"These bytes are no serialized {kind.__name__}."):
        kind.FromString(data)


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (T.FloatList, b"\x08\x05", []),  # a field stored as nothing that is known is skipped
        (T.FloatList, b"\x09abcdefgh", []),
        (T.BytesList, b"\x08\x05", []),
        (T.BytesList, b"\x0dabcd", []),
        (T.Int64List, b"\x0dabcd", []),
        (T.Int64List, b"\x08" + b"\xff" * 9 + b"\x7f", [-1]),
        (T.Int64List, b"\x13\x08\x01\x14\x08\x02", [2]),  # so is a group
        (T.BytesList, b"\x0a\x81\x80\x80\x80\x00a", [b"a"]),
    ],
)
def test_what_protocol_buffers_skip_is_skipped(kind: Any, data: bytes, expected: Any) -> None:
    assert kind.FromString(data).value == expected


def test_names_stored_as_numbers_are_skipped() -> None:
    assert list(T.Features.FromString(b"\x0a\x02\x08\x01").feature) == [""]
    assert list(T.Features.FromString(b"\x08\x02").feature) == []


def example_with(feature: bytes) -> bytes:
    return bytes_field(1, bytes_field(1, bytes_field(1, b"x") + bytes_field(2, feature)))


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        (b"\x12\x07\x0a\x05abcde", "holds float32, expected int64"),
        (b"\x3a\x00", "holds something unknown, expected int64"),
        (b"\x18\x01", "holds something unknown, expected int64"),
        (b"\x1a\x0c\x08" + b"\xff" * 10 + b"\x01", "no serialized Int64List"),
    ],
)
def test_parse_example_refuses(feature: bytes, text: str) -> None:
    wanted = {"x": tf.io.VarLenFeature(tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.io.parse_single_example(example_with(feature), wanted)


def test_parse_example_takes_the_first_list() -> None:
    wanted = {"x": tf.io.VarLenFeature(tf.int64)}
    for feature in (b"\x1a\x02\x08\x01\x1a\x02\x08\x02", b"\x1a\x02\x08\x01\x12\x00"):
        found = tf.io.parse_single_example(example_with(feature), wanted)["x"]
        assert found.values.numpy().tolist() == [1]


# --- tensors -------------------------------------------------------------------------------------


def proto(dtype: Any, dims: list[int], *content: bytes) -> bytes:
    sizes = b"".join([bytes_field(2, varint_field(1, size)) for size in dims])
    number = tf.as_dtype(dtype).as_datatype_enum
    return b"".join([varint_field(1, number), bytes_field(2, sizes), *content])


def floats(*values: float) -> bytes:
    return bytes_field(5, np.array(values, "<f4").tobytes())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (proto("float32", [2], bytes_field(4, b"abcd")), r"\[2\] holds 4 bytes, expected 8"),
        (proto("float32", [-1], floats(1)), r"shape \[-1\], which no tensor can have"),
        (proto("float32", [2**40, 2**40], floats(1)), "which no tensor can have"),
        (proto("float32", [0, 2**62, 2**62]), "which no tensor can have"),
        (proto("float32", [1] * 65, floats(1)), "which no tensor can have"),
        (proto("bool", [2], bytes_field(4, b"\2\0")), "neither 0 nor 1"),
        (proto("resource", [1]), "dtype number 20, which no tensor has"),
        (varint_field(1, 2**63), "dtype number 0, which no tensor has"),
        (proto("float32", [1], bytes_field(5, b"abcde")), "no serialized TensorProto"),
    ],
)
def test_parse_tensor_refuses(data: bytes, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.io.parse_tensor(data, tf.float32)


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        ("float32", proto("float32", [3]), [0, 0, 0]),
        ("float32", proto("float32", [2], floats(1, 2, 3)), [1, 2]),
        ("float32", proto("float32", [1], bytes_field(7, b"\1")), [0]),
        ("float32", proto("float32", [0], floats(1)), []),
        ("string", proto("string", [2]), [b"", b""]),
        ("string", proto("string", [3], bytes_field(8, b"a"), bytes_field(8, b"b")),
         [b"a", b"b", b"b"]),
        ("complex64", proto("complex64", [2], bytes_field(9, np.float32([1, 2, 3]).tobytes())),
         [1 + 2j, 1 + 2j]),
        ("uint8", proto("uint8", [1], bytes_field(7, varint(300))), [44]),
        ("int8", proto("int8", [1], varint_field(7, -3)), [-3]),
        ("uint64", proto("uint64", [1], varint_field(17, 2**64 - 1)), [2**64 - 1]),
        ("bool", proto("bool", [2], varint_field(11, 1)), [True, True]),
    ],
)  # fmt: skip
def test_parse_tensor_of_lists(dtype: str, data: bytes, expected: Any) -> None:
    assert tf.io.parse_tensor(data, dtype).numpy().tolist() == expected


def test_decoded_truth_values_are_true_or_false() -> None:
    decoded = tf.io.decode_raw(b"\2\0\1", tf.bool).numpy()
    assert decoded.view(np.uint8).tolist() == [1, 0, 1]


# --- text ----------------------------------------------------------------------------------------


def test_numbers_of_any_length() -> None:
    assert tf.strings.to_number("1" * 5000).numpy() == np.inf
    assert tf.strings.to_number("-0x1p99999").numpy() == -np.inf
    assert tf.strings.to_number("0" * 9000 + "7", tf.int32).numpy() == 7
    for text in ("1" * 5000, "1" * 21, "-"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not an integer of dtype"):
            tf.strings.to_number(text, tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a number"):
        tf.strings.to_number("1" * 100_000 + "x")  # in a time that grows with its length only


@pytest.mark.parametrize("field", ["1_0", "1" * 5000 + "_", "0x", "1 2"])
def test_csv_has_the_numbers_of_to_number(field: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="which is no float32"):
        tf.io.decode_csv(field, [[1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="which is no int32"):
        tf.io.decode_csv(field, [[1]])
    assert tf.io.decode_csv("0x1.8", [[1.0]])[0].numpy() == 1.5


@pytest.mark.parametrize("name", ["hex", "rot13", "idna", "unicode_escape", "bz2", "a\0b"])
def test_no_encodings(name: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not known"):
        tf.strings.unicode_decode(b"ab", name)


@pytest.mark.parametrize(
    ("encoding", "text", "points", "starts"),
    [
        ("UTF-8", b"a\xe2\x28\xc3\xb6\xff", [97, 65533, 40, 246, 65533], [0, 1, 2, 3, 5]),
        ("UTF-16", b"\xfe\xff\0a\0b", [97, 98], [0, 4]),
        ("UTF-16", b"\xff\xfea\0b\0", [97, 98], [0, 4]),
        ("UTF-16", b"\0a\0b", [97, 98], [0, 2]),
        ("UTF-32", b"\0\0\0a\0\0\xd8\0\0\x11\0\0\0", [97, 65533, 65533, 65533], [0, 4, 8, 12]),
        ("UTF-16-LE", b"a\0\xd8\xd8a", [97, 65533], [0, 2]),
        ("shift_jis", b"\x80\xc3\x98\x98\x82", [65533, 65411, 65533, 65533, 65533],
         [0, 1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_invalid_text(encoding: str, text: bytes, points: Any, starts: Any) -> None:
    found = tf.strings.unicode_decode_with_offsets(text, encoding)
    assert [part.numpy().tolist() for part in found] == [points, starts]
    if 65533 in points:
        at = starts[points.index(65533)]
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"broken at byte {at}"):
            tf.strings.unicode_decode(text, encoding, errors="strict")


@pytest.mark.parametrize("text", ["aGVsbG8==", "aGVsbG8====", "====", "a", "aG VsbG8"])
def test_no_base64(text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="no web-safe base64"):
        tf.io.decode_base64(text)


# --- compressed data, saved datasets -------------------------------------------------------------


def test_compressed_streams_one_behind_the_other() -> None:
    both = gzip.compress(b"a") + gzip.compress(b"b")
    assert tf.io.decode_compressed(both, "GZIP").numpy() == b"ab"
    assert tf.io.decode_compressed(zlib.compress(b"a") + b"xx", "ZLIB").numpy() == b"a"
    for data in (b"", zlib.compress(b"hello")[:-3]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="it is cut short"):
            tf.io.decode_compressed(data, "ZLIB")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "JSONDecodeError"),
        ("[" * 100_000, "RecursionError"),
        ("[]", "TypeError"),
        ('{"count": 1}', "KeyError"),
        ('{"element_spec": {"none": 1}, "count": "many"}', "number of elements is 'many'"),
        ('{"element_spec": {"set": []}, "count": 1}', "'set' is no kind of structure"),
        ('{"element_spec": {"tensor": ["float33", []]}, "count": 1}', "float33"),
    ],
)
def test_descriptions_of_datasets_saved_by_0_1(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "dataset_spec.json").write_text(text)
    with pytest.raises(tf.errors.DataLossError, match=f"(?s)does not describe a saved.*{reason}"):
        tf.data.Dataset.load(str(tmp_path))


def test_descriptions_of_saved_datasets(tmp_path: Path) -> None:
    tf.data.Dataset.range(3).save(str(tmp_path))
    described, metadata = tmp_path / "dataset_spec.pb", tmp_path / "snapshot.metadata"
    kept = described.read_bytes()
    for data, reason in ((b"\xff", "no serialized"), (b"\x70\x01", "elements hold True")):
        described.write_bytes(data)
        with pytest.raises(tf.errors.DataLossError, match=f"(?s)does not describe.*({reason})"):
            tf.data.Dataset.load(str(tmp_path))
    described.write_bytes(kept)
    for data, error, reason in (
        (bytes_field(2, b"../x") + varint_field(4, 2), tf.errors.DataLossError, "no folder"),
        (bytes_field(2, b"1") + varint_field(4, 7), tf.errors.UnsupportedError, "version 7"),
    ):
        metadata.write_bytes(data)
        with pytest.raises(error, match=reason):
            tf.data.Dataset.load(str(tmp_path))


def test_all_of_these_errors_are_allowed() -> None:
    assert issubclass(ParseError, ALLOWED)
