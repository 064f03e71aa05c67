"""Machine code and Python read the same of Examples, whatever the bytes are."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.support.threads import in_threads
from tests.support.wire_fields import bytes_field, varint_field

import weft as tf
from fuzzing.mutations import mutated
from weft._src.core.dtypes import float32, int64, string
from weft._src.core.flags import flags
from weft._src.fileio import example_columns
from weft._src.fileio.example_columns import MISSING, columns_in_python
from weft._src.messages.wire import varint

T = tf.train
WANTED = (("b", string), ("f", float32), ("i", int64), ("", int64), ("é", float32))


@pytest.fixture
def native() -> Iterator[None]:
    before = flags.execution
    flags.execution = "native"
    yield
    flags.execution = before


def strings_of(items: list[Any]) -> Any:
    out = np.empty(len(items), object)
    out[:] = items
    return out


def example(**features: Any) -> bytes:
    made: bytes = T.Example(features=T.Features(feature=features)).SerializeToString()
    return made


def ints(*values: int) -> Any:
    return T.Feature(int64_list=T.Int64List(value=values))


def floats(*values: float) -> Any:
    return T.Feature(float_list=T.FloatList(value=values))


def texts(*values: bytes) -> Any:
    return T.Feature(bytes_list=T.BytesList(value=values))


SAMPLES = [
    example(b=texts(b"one", b"", b"\xff\0"), f=floats(0.5, -1e30), i=ints(1, 300, -7, 2**62)),
    example(f=floats(*range(40)), é=floats(), other=ints(3), **{"": ints(-(2**63))}),
    example(i=ints(*[3**k for k in range(39)]), b=T.Feature(), é=floats(float("inf"))),
    example(),
    b"",
]


def shown(column: Any) -> Any:
    """Bits, so that NaN is equal to itself."""
    values = column.values if column.values.dtype == object else column.values.tobytes()
    return column.counts.tolist(), values if isinstance(values, bytes) else values.tolist()


def both(items: list[bytes]) -> tuple[Any, Any]:
    """What Python and what machine code say; an error is its text, None is "something unusual"."""
    try:
        expected: Any = [shown(column) for column in columns_in_python(items, WANTED)]
    except tf.errors.InvalidArgumentError as error:
        expected = str(error)
    found = example_columns._column_reader(WANTED).read(strings_of(items))
    if found is None:
        return expected, None
    counts, values = found
    columns = [example_columns.Column(*pair) for pair in zip(counts, values, strict=True)]
    return expected, [shown(column) for column in columns]


def test_they_agree() -> None:
    expected, found = both(SAMPLES)
    assert found == expected
    assert found[0] == ([3, MISSING, MISSING, MISSING, MISSING], [b"one", b"", b"\xff\0"])
    assert both([]) == ([([], []), *[([], b"")] * 4],) * 2


def pair(name: bytes, feature: bytes) -> bytes:
    return bytes_field(1, bytes_field(1, bytes_field(1, name) + bytes_field(2, feature)))


@pytest.mark.parametrize(
    "data",
    [
        pair(b"i", b"\x1a\x04\x08\x05\x08\x07"),  # numbers that are not packed
        pair(b"i", b"\x1a\x06\x0a\x02\x05\x07\x08\x09"),  # or not all
        pair(b"f", b"\x12\x0a\x0dabcd\x0dabcd"),
        pair(b"f", b"\x12\x0b\x0dabcd\x0a\x04abcd"),
        pair(b"i", b"\x1a\x07\x0dabcd\x08\x02"),  # fields that nobody knows in between
        pair(b"b", b"\x0a\x05\x08\x01\x0a\x01a"),
        pair(b"i", b"\x1a\x0c\x0a\x0a" + b"\xff" * 9 + b"\x7f"),  # bits that are too many
        pair(b"i", b"\x1a\x02\x0a\x00"),
        pair(b"i", b"\x1a\x00") + pair(b"i", b"\x1a\x02\x08\x07"),  # the last one counts
        pair(b"i", b""),
        b"\x0a\x04\x0a\x02\x08\x01" + b"\x10\x05\x1dabcd\x19abcdefgh\x22\x01a",
        bytes_field(1, bytes_field(1, bytes_field(2, b"\x1a\x02\x08\x07") + bytes_field(1, b"i"))),
        b"\x0a\x80\x80\x80\x80\x00",  # a length of five bytes
    ],
)
def test_unusual_ones_are_read(data: bytes) -> None:
    expected, found = both([SAMPLES[0], data])
    assert isinstance(expected, list)
    assert found == expected


@pytest.mark.parametrize(
    "data",
    [
        pair(b"i", b"\x1a\x02\x08\x01\x12\x00"),  # two lists, of which the first counts
        b"\x13\x08\x01\x14",  # a group
        varint_field(5000, 1),
    ],
)
def test_rare_ones_are_left_to_python(data: bytes) -> None:
    expected, found = both([data])
    assert isinstance(expected, list)
    assert found is None


@pytest.mark.parametrize(
    "data",
    [
        b"zzz",
        SAMPLES[0][:-1],
        pair(b"i", b"\x12\x00"),
        pair(b"f", b"\x12\x07\x0a\x05abcde"),
        pair(b"i", b"\x1a\x03\x0a\x01\xff"),
        pair(b"i", b"\x1a\x0d\x0a\x0b" + b"\xff" * 10 + b"\x01"),
        pair(b"i", b"\x1a\x0c\x08" + b"\xff" * 10 + b"\x01"),
        pair(b"i", b"\x1a\x02\x00\x01"),
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
        b"\x0a" + varint(2**34) + b"a",
    ],
)
@pytest.mark.usefixtures("native")
def test_errors_are_those_of_python(data: bytes) -> None:
    expected, found = both([SAMPLES[0], data])
    assert isinstance(expected, str)
    assert found is None
    features = {key: tf.io.VarLenFeature(dtype) for key, dtype in WANTED}
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.io.parse_example([SAMPLES[0], data], features)
    assert str(raised.value).startswith(expected)


@pytest.mark.parametrize("seed", range(8))
def test_mutated_ones(seed: int) -> None:
    rng = random.Random(seed)
    usual = 0
    for _ in range(400):
        data = mutated(rng, rng.choice(SAMPLES), rng.choice(SAMPLES))
        expected, found = both([data])
        assert found is None or found == expected
        usual += found is not None
    assert usual > 40


@pytest.mark.parametrize("other", [None, "text", bytearray(b""), type("B", (bytes,), {})(b"")])
def test_other_objects_are_left_to_python(other: Any) -> None:
    assert example_columns._column_reader(WANTED).read(strings_of([b"", other])) is None


@pytest.mark.usefixtures("native")
def test_many_examples_and_references() -> None:
    items = [example(b=texts(b"%d" % i * (i % 3)), i=ints(*range(i % 4))) for i in range(9_000)]
    features = {"b": tf.io.FixedLenFeature([], tf.string), "i": tf.io.VarLenFeature(tf.int64)}
    before = sys.getrefcount(None)
    for _ in range(3):
        parsed = tf.io.parse_example(items[::2], features)
    assert abs(sys.getrefcount(None) - before) < 1000
    found = parsed["b"].numpy()
    assert found.tolist() == [b"%d" % i * (i % 3) for i in range(0, 9_000, 2)]
    _, (raw,) = example_columns._column_reader((("b", string),)).read(strings_of(items))
    assert sys.getrefcount(raw[20]) == sys.getrefcount(b"%d" % 12345) + 1  # the array's
    assert parsed["i"].dense_shape.numpy().tolist() == [4_500, 2]


def test_in_threads() -> None:
    items = [strings_of(SAMPLES * (k + 1)) for k in range(4)]
    reader = example_columns._column_reader(WANTED)
    expected = [reader.read(strings)[0].tolist() for strings in items]

    def read(k: int) -> None:
        for _ in range(200):
            counts, values = reader.read(items[k % 4])
            assert counts.tolist() == expected[k % 4]
            assert len(values[0]) == 3 * (k % 4 + 1)

    in_threads(read, 8)


@pytest.mark.usefixtures("native")
def test_unknown_rank() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.string)])
    def parse(x: Any) -> Any:
        sequence = tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)
        return tf.io.parse_example(x, {"i": tf.io.VarLenFeature(tf.int64), "f": sequence})

    several, one = parse(SAMPLES), parse(SAMPLES[0])
    assert several["i"].dense_shape.numpy().tolist() == [5, 39]
    assert several["f"].shape == (5, 40)
    assert one["i"].dense_shape.numpy().tolist() == [4]
    assert one["f"].numpy().tolist() == [0.5, np.float32(-1e30)]


def test_it_is_used_when_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_columns._worth, "seconds", 0.0)
    strings = strings_of(SAMPLES)
    monkeypatch.setattr(flags, "execution", "numpy")
    monkeypatch.setattr(example_columns, "_WORTH_LOADING", 0.0)
    assert not example_columns._worth.is_native()
    monkeypatch.setattr(flags, "execution", "auto")
    assert not example_columns._worth.is_native()
    expected = [shown(column) for column in example_columns.columns_of(strings, WANTED)]
    assert example_columns._worth.is_native()
    monkeypatch.setattr(example_columns, "columns_in_python", None)
    assert [shown(c) for c in example_columns.columns_of(strings, WANTED)] == expected


def test_nothing_is_read_behind_a_string() -> None:
    """Bytes objects without the zero that CPython puts behind them, before a forbidden page."""
    script = r"""
import ctypes, random, sys
sys.path[:0] = %r
import numpy as np
from fuzzing.mutations import mutated
from tests.io.test_example_columns import SAMPLES, WANTED, both, strings_of
from weft._src.execution.native.machine import guarded
from weft._src.fileio import example_columns

def guarded_string(text):
    header = ctypes.string_at(id(text), bytes.__basicsize__ - 1)
    pages = guarded._Pages.of(len(header) + len(text))
    place = pages.place(len(header) + len(text))
    pages[place : place + len(header) + len(text)] = header + text
    ctypes.c_ssize_t.from_address(pages.address + place).value = 1 << 20  # lives for ever
    return pages, pages.address + place

rng = random.Random(0)
reader = example_columns._column_reader(WANTED)
for k in range(1500):
    text = mutated(rng, rng.choice(SAMPLES), rng.choice(SAMPLES))
    if k %% 3 == 0:
        whole = rng.choice(SAMPLES)
        text = whole[: rng.randint(0, len(whole))]
    pages, address = guarded_string(text)
    strings = np.empty(1, object)
    ctypes.memmove(strings.ctypes.data, ctypes.byref(ctypes.c_void_p(address)), 8)
    found, plain = reader.read(strings), reader.read(strings_of([text]))
    assert (found is None) == (plain is None)
    if found is not None:
        assert found[0].tolist() == plain[0].tolist()
    ctypes.memset(strings.ctypes.data, 0, 8)
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", script % sys.path], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr[-2000:]
