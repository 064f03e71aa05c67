"""Strings that machine code makes one by one: the same as Python's, and nothing is lost."""

from __future__ import annotations

import ctypes
import random
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.flags import flags
from weft._src.execution.native.machine import support
from weft._src.ops.strings import making, packed
from weft._src.ops.strings.packed import Packed

RNG = random.Random(11)
COUNT = 3000  # more than those for which NumPy makes the array

LETTERS = [b"a", b"Z", b"\0", b" ", b"\t", b"\x80", b"\xbf", "é".encode(), "€".encode(), b"=", b"_"]
WORDS = [b"".join(RNG.choices(LETTERS, k=RNG.randrange(n))) for n in (3, 9, 18, 40, 700)] + [b""]
WORDS += [b"".join(RNG.choices(LETTERS, k=RNG.randrange(24))) for _ in range(COUNT)]
EDGES = (*range(70), 479, 480, 511, 512, 513, 4000)
SIZES = [bytes(range(n % 256)) * (1 + n // 256) for n in EDGES]


def objects(words: list[Any]) -> Any:
    out = np.empty(len(words), object)
    out[:] = words
    return out


GROUPS: tuple[Any, ...] = ("packing", "making", "writing")


@pytest.fixture(params=["by hand", "by Python"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Machine code that makes objects itself, or asks Python for each; where the allocator is."""
    monkeypatch.setattr(flags, "execution", "native")
    assert support.reason_off() is None
    found = packed.packers_for(1)
    assert found is not None
    assert found.allocate, "objects of this Python are known, so they are made by hand"
    allocate = found.allocate if request.param == "by hand" else 0
    take(allocate, monkeypatch)
    return allocate


def take(allocate: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for group in GROUPS:
        found = packed.packers_for(1, group)
        assert found is not None
        monkeypatch.setitem(packed._state.packers, group, found._replace(allocate=allocate))


def cut_characters(s: bytes, pos: int, length: int) -> bytes | None:
    starts = [i for i, byte in enumerate(s) if byte & 0xC0 != 0x80]
    begin = pos + len(starts) if pos < 0 else pos
    if not 0 <= begin <= len(starts):
        return None
    end = len(starts) if length < 0 else min(begin + length, len(starts))
    places = [*starts, len(s)]
    return s[places[begin] : places[end]]


def cut_bytes(s: bytes, pos: int, length: int) -> bytes | None:
    begin = pos + len(s) if pos < 0 else pos
    if not 0 <= begin <= len(s):
        return None
    return s[begin:] if length < 0 else s[begin : begin + length]


NUMBERS = (0, 1, 2, 7, 16, 33, -1, -2, -9, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
def test_parts_of_strings(unit: str, machine: int) -> None:
    python = cut_bytes if unit == "BYTE" else cut_characters
    for pos in NUMBERS:
        for length in NUMBERS:
            fine = [s for s in (WORDS[:60] + SIZES) if python(s, pos, length) is not None]
            one = [np.array(n, np.int64) for n in (pos, length)]
            found = making.cut(objects(fine), *one, unit)
            assert found is not None
            assert found.tolist() == [python(s, pos, length) for s in fine]
            each = [np.full(len(fine), n, np.int64) for n in (pos, length)]
            again = making.cut(objects(fine), *each, unit)
            assert again is not None
            assert again.tolist() == found.tolist()


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
@pytest.mark.parametrize("pos", [3, -3, 2**62, -(2**63)])
def test_a_part_outside_is_left_to_python(unit: str, pos: int, machine: int) -> None:
    words = [b"abcdef"] * 99 + ["é".encode()]
    assert making.cut(objects(words), np.array([pos]), np.array([1]), unit) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"pos {pos} is out of range"):
        tf.strings.substr(words, np.int64(pos), np.int64(1), unit)


def test_parts_broadcast(machine: int) -> None:
    words = np.array([[b"hello"], [b"world"]], object)
    found = tf.strings.substr(words, [[0, 1, -2], [2, 3, 4]], [[1, 2, 3], [-1, 0, 9]])
    assert found.numpy().tolist() == [[b"h", b"el", b"lo"], [b"rld", b"", b"d"]]
    assert tf.strings.substr("hello", [0, 1], [9, 1]).numpy().tolist() == [b"hello", b"e"]


@pytest.mark.parametrize(
    ("make", "python"),
    [
        (making.stripped, bytes.strip),
        (lambda x: making.translated(x, bytes(range(256)).upper()), bytes.upper),
        (lambda x: making.translated(x, bytes(256)), lambda s: bytes(len(s))),
    ],
)  # fmt: skip
def test_changed_strings(
    make: Callable[[Any], Any], python: Callable[[bytes], bytes], machine: int
) -> None:
    for words in ([], [b""], WORDS, SIZES, [b" \t" + s + b"\v \n" for s in SIZES]):
        found = make(objects(words))
        assert found.tolist() == [python(s) for s in words]
    grid = make(objects(WORDS[:60]).reshape(3, 20)[:, ::2])
    assert grid.tolist() == [[python(s) for s in WORDS[20 * i : 20 * i + 20 : 2]] for i in range(3)]


@pytest.mark.parametrize("separator", [b"", b"-", "€, ".encode(), b"long" * 30])
def test_joined_strings(separator: bytes, machine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = WORDS[:200] + SIZES
    x = objects(words)
    found = making.joined([x, x[::-1], objects([b"|"]), x], len(x), separator)
    rows = list(zip(words, words[::-1], [b"|"] * len(x), words, strict=True))
    assert found is not None
    assert found.tolist() == [separator.join(row) for row in rows]
    grid = x[:200].reshape(20, 10)
    found = making.joined_runs(x[:200], np.arange(20) * 10, np.full(20, 10), separator)
    assert found is not None
    assert found.tolist() == [separator.join(row) for row in grid.tolist()]
    for axis in (0, 1, None, [1, 0]):
        one = tf.strings.reduce_join(grid, axis, separator=separator.decode())
        monkeypatch.setattr(flags, "execution", "numpy")
        other = tf.strings.reduce_join(grid, axis, separator=separator.decode())
        monkeypatch.setattr(flags, "execution", "native")
        assert np.asarray(one).tolist() == np.asarray(other).tolist()


def test_base64(machine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for pad in (False, True):
        for words in ([], WORDS, SIZES):
            text = tf.io.encode_base64(tf.constant(words, tf.string), pad=pad)
            assert tf.io.decode_base64(text).numpy().tolist() == words
            monkeypatch.setattr(flags, "execution", "numpy")
            again = tf.io.encode_base64(tf.constant(words, tf.string), pad=pad)
            monkeypatch.setattr(flags, "execution", "native")
            assert text.numpy().tolist() == again.numpy().tolist()


def test_pieces(machine: int) -> None:
    for words in ([], [b""], [b"  "], WORDS, SIZES):
        for find, python in (
            (making.words, bytes.split),
            (making.single_bytes, lambda s: [s[i : i + 1] for i in range(len(s))]),
        ):
            indices, pieces, most = find(objects(words))  # type: ignore[operator,misc]
            rows = [python(s) for s in words]  # type: ignore[operator]
            assert pieces.tolist() == [piece for row in rows for piece in row]
            wanted = [[i, k] for i, row in enumerate(rows) for k in range(len(row))]
            assert indices.tolist() == wanted
            assert most == max(map(len, rows), default=0)


@pytest.mark.parametrize("separator", [b"a", b"Z", b"=", b"==", b"aa", b"\x80\0", b"a" * 50])
def test_pieces_between_separators(separator: bytes, machine: int) -> None:
    words = [*WORDS, *SIZES, b"a" * 7, b"==" * 5, separator, separator * 4, b"x" + separator]
    for limit in (-1, 0, 1, 2, 2**62):
        found = making.parts(objects(words), separator, limit)
        assert found is not None
        rows = [s.split(separator, min(limit, 2**31)) for s in words]
        assert found[1].tolist() == [piece for row in rows for piece in row]
        assert found[0].tolist() == [[i, k] for i, row in enumerate(rows) for k in range(len(row))]
        assert found[2] == max(map(len, rows))


def test_characters_are_counted(machine: int) -> None:
    words = [*WORDS, *SIZES]
    found = making.character_counts(objects(words))
    assert found is not None
    assert found.tolist() == [sum(byte & 0xC0 != 0x80 for byte in s) for s in words]


@pytest.mark.parametrize("bad", [(-1, 1), (0, 5), (4, 1), (5, 0), (2**62, 2**62), (1, -1)])
def test_runs_outside_are_left_to_python(bad: tuple[int, int], machine: int) -> None:
    x = objects([b"a", b"b", b"c", b"d"])
    starts, counts = [np.array([0, n]) for n in bad]
    counts[0] = 4
    assert making.joined_runs(x, starts, counts, b"-") is None
    starts[1], counts[1] = 4, 0
    found = making.joined_runs(x, starts, counts, b"-")
    assert found is not None
    assert found.tolist() == [b"a-b-c-d", b""]


def test_segments_outside_are_left_to_python(machine: int) -> None:
    x = objects([b"a", b"b", b"c"])
    found = making.joined_segments(x, np.array([1, 0, 1]), 2, b"-")
    assert found is not None
    assert found.tolist() == [b"b", b"a-c"]
    for bad in (2, -1, 2**62):
        assert making.joined_segments(x, np.array([1, 0, bad]), 2, b"-") is None
    assert making.joined_segments(objects([b"a", None]), np.array([0, 0]), 2, b"-") is None


def test_segments_that_have_grown_are_refused(machine: int) -> None:
    """What was measured before may have been replaced in the array."""
    packers = packed.packers_for(2, "making")
    assert packers is not None
    made = packed.made(packers, "make_segments", 1, {"sizes": np.array([3])})
    assert made is not None
    separator = np.frombuffer(b"-", np.uint8)
    job = {"targets": np.array([0, 0]), "target_room": 1, "data": separator, "room": 1}
    job |= {"target": made[0], "starts": np.array([-1])}
    assert not packed.done(packers, "fill_segments", 2, {**job, "objects": objects([b"a", b"bc"])})
    job["starts"] = np.array([-1])
    assert packed.done(packers, "fill_segments", 2, {**job, "objects": objects([b"a", b"b"])})
    assert made[0].tolist() == [b"a-b"]


def test_joined_segments(machine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [b"", b"a", b"", b"bc", b"", b""] * 20
    for ids in (np.arange(120) % 7, np.arange(120) // 4, np.full(120, 3), np.arange(120) % 2 * 40):
        for separator in ("", "-"):
            one = tf.strings.unsorted_segment_join(words, ids, 41, separator)
            monkeypatch.setattr(flags, "execution", "numpy")
            other = tf.strings.unsorted_segment_join(words, ids, 41, separator)
            monkeypatch.setattr(flags, "execution", "native")
            assert one.numpy().tolist() == other.numpy().tolist()
    grid = tf.strings.unsorted_segment_join([["a", "b"], ["c", "d"]], [[1, 0], [1, 2]], 3)
    assert grid.numpy().tolist() == [b"b", b"ac", b"d"]
    rows = tf.strings.unsorted_segment_join(["a", "b"], 1, 2)
    assert rows.numpy().tolist() == [[b"", b""], [b"a", b"b"]]


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_case_of_text(change: Callable[[str], str]) -> None:
    """Half characters at an end do not meet the next string, and words end there."""
    words = ["ΑΣ", "Σ", "ΑΣΑ", "straße", "İıǅ", "ŉ", "ﬁ", ""]
    texts = [word.encode() for word in words] + [b"\xe2\x82", b"\xac", b"A\xc3", b"\xa4"]
    function = tf.strings.lower if change is str.lower else tf.strings.upper
    for some in (texts, [*texts, b"a\0B"], [*texts, b"\0"], texts[:1], [b""], [b"", b""], []):
        found = function(tf.constant(some, tf.string), encoding="utf-8")
        assert found.numpy().tolist() == [
            change(s.decode("utf-8", "replace")).encode() for s in some
        ]
    assert function([["ä"], ["Ö"]], encoding="utf-8").shape == (2, 1)


def test_pieces_beyond_their_room_are_refused(machine: int) -> None:
    """What was counted before may have been replaced in the array."""
    packers = packed.packers_for(2, "making")
    assert packers is not None
    x = objects([b"a b", b"c d e"])
    for starts, room in (([0, 2], 4), ([-1, 2], 5), ([0, 2**62], 5), ([0, 2], 0)):
        indices = np.full((8, 2), -7)
        job = {"objects": x, "starts": np.array(starts), "targets": indices, "room": room}
        for name in ("split_words", "split_bytes"):
            assert packed.made(packers, name, 2, job, pieces=8) is None
            assert (indices[room:] == -7).all()


def test_other_objects_are_left_to_python(machine: int) -> None:
    class Word(bytes):
        pass

    for other in (Word(b"ab"), None, 7, "text"):
        x = objects([b"abc", other] * 30)
        one = np.array([0])
        assert making.cut(x, one, one, "BYTE") is None
        assert making.cut(x, one, one, "UTF8_CHAR") is None
        assert making.stripped(x) is None
        assert making.translated(x, bytes(256)) is None
        assert making.joined([x, x], len(x), b"") is None
        assert making.joined_runs(x, np.array([0, 30]), np.array([30, 30]), b"") is None
        assert making.character_counts(x) is None
        assert making.parts(x, b",", -1) is None
        assert making.encoded(x, bytes(64), False) is None
        assert making.decoded(x, bytes(256)) is None
        assert making.words(x) is None
    x = objects([b"abc", Word(b" ab ")] * 30)
    assert tf.strings.strip(x).numpy().tolist() == [b"abc", b"ab"] * 30
    assert tf.strings.substr(x, 0, 2).numpy().tolist() == [b"ab", b" a"] * 30
    assert tf.strings.split(x).to_list() == [[b"abc"], [b"ab"]] * 30


# --- floats --------------------------------------------------------------------------------------

FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.125, 0.375, 1e-320, 5e-324, 1e15, 1e16, 1e19, 1e300]
FLOATS += [2.0**53, 2.0**53 - 1, 2.0**53 + 2, -(2.0**52) - 0.5, 2.0**52 - 0.5, 9.9999995, 0.9999995]
FLOATS += [float("inf"), float("-inf"), float("nan"), -float("nan"), 4.35, 0.1, 1 / 3, 1844674407.9]
FLOATS += [(RNG.random() - 0.5) * 10.0 ** RNG.randrange(-20, 25) for _ in range(COUNT)]
FLOATS += [struct.unpack("d", RNG.randbytes(8))[0] for _ in range(COUNT)]
# Many of these lie in the middle between two texts.
FLOATS += [RNG.randrange(10**6) / 2.0 ** RNG.randrange(60) for _ in range(COUNT)]


@pytest.mark.parametrize("precision", [-1, *range(16), 17, 40])
def test_floats_as_text(precision: int, machine: int) -> None:
    form = b"%f" if precision < 0 else b"%%.%df" % precision
    found = tf.strings.as_string(tf.constant(FLOATS, tf.float64), precision=precision)
    assert found.numpy().tolist() == [form % x for x in FLOATS]
    for dtype in (tf.float32, tf.float16, tf.bfloat16):
        small = tf.cast(tf.constant(FLOATS[: COUNT // 2], tf.float64), dtype)
        found = tf.strings.as_string(small, precision=precision)
        wide = tf.cast(small, tf.float64).numpy().tolist()
        assert found.numpy().tolist() == [form % x for x in wide]


FORMS: list[dict[str, Any]] = [
    {**kind, **fill, "precision": precision}
    for kind in ({}, {"scientific": True}, {"shortest": True})
    for fill in ({}, {"width": 12}, {"fill": "+"}, {"fill": " ", "width": 9})
    for precision in (-1, 0, 1, 2, 5, 9, 14, 15, 16, 20)
]
FORMS += [{"fill": fill, "width": width} for fill in ("0", "-", "+", "#") for width in (1, 9, 600)]


@pytest.mark.parametrize("options", FORMS, ids=str)
def test_other_forms_of_floats(
    options: dict[str, Any], machine: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tf.constant(FLOATS[: COUNT + 500], tf.float64)
    one = tf.strings.as_string(x, **options).numpy().tolist()
    monkeypatch.setattr(flags, "execution", "numpy")
    assert one == tf.strings.as_string(x, **options).numpy().tolist()


@pytest.mark.parametrize("kind", ["scientific", "shortest"])
def test_floats_near_powers_of_ten(kind: str, machine: int) -> None:
    """Where the number of digits before the point is decided, and rounding adds one."""
    ends = [10.0**n for n in range(-24, 24)] + [2.0**n for n in range(-80, 70)]
    near = [x * (1 + k * 2.0**-52) for x in ends for k in (-2, -1, 0, 1, 2)]
    near += [float(f"9.{'9' * k}5e{n}") for k in range(17) for n in range(-18, 20)]
    for precision in range(16):
        form = b"%%.%d%b" % (precision, b"e" if kind == "scientific" else b"g")
        found = tf.strings.as_string(near, precision=precision, **{kind: True})
        wide = np.float32(near).astype(np.float64).tolist()
        assert found.numpy().tolist() == [form % x for x in wide]
        found = tf.strings.as_string(np.array(near), precision=precision, **{kind: True})
        assert found.numpy().tolist() == [form % x for x in near]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("options", [{}, {"width": 7}, {"width": 24, "fill": "0"}, {"fill": "+"}])
def test_integers_as_text(dtype: str, options: dict[str, Any], machine: int) -> None:
    limits = np.iinfo(dtype)
    numbers = [limits.min, limits.max, 0, 1, 9, 10, 99, 100]
    numbers += [-9, -10] if limits.min else []
    sign = "+" if options.get("fill") == "+" and limits.min < 0 else ""
    zero = "0" if options.get("fill") == "0" else ""
    form = f"%{sign}{zero}{options.get('width', '')}d".encode()
    found = tf.strings.as_string(np.array(numbers * 20, dtype), **options)
    assert found.numpy().tolist() == [form % n for n in numbers * 20]


def test_complex_numbers_and_truth_values(machine: int) -> None:
    x = np.array(FLOATS[:600]).reshape(2, 300)
    z = np.empty(x.shape, np.complex128)
    z.real, z.imag = x, x[::-1]
    found = tf.strings.as_string(z, precision=3).numpy()
    pairs = zip(x.reshape(-1).tolist(), x[::-1].reshape(-1).tolist(), strict=True)
    assert found.reshape(-1).tolist() == [b"(%.3f,%.3f)" % pair for pair in pairs]
    assert tf.strings.as_string([[True], [False]]).numpy().tolist() == [[b"true"], [b"false"]]
    assert tf.strings.as_string(True).numpy() == b"true"


# --- what is made belongs to its array -----------------------------------------------------------


def each_way(x: Any) -> list[Callable[[], Any]]:
    one, three = np.array([1]), np.array([3])
    wide = np.linspace(-1000, 1000, len(x))
    text = making.encoded(x, bytes(range(65, 129)), pad=False)
    assert text is not None
    numbers = bytes([n - 65 if 65 <= n < 129 else 255 for n in range(256)])
    return [
        lambda: making.cut(x, one, three, "BYTE"),
        lambda: making.cut(x, one, three, "UTF8_CHAR"),
        lambda: making.stripped(x),
        lambda: making.translated(x, bytes(range(256)).upper()),
        lambda: making.joined([x, x], len(x), b"-"),
        lambda: making.joined_runs(x, np.arange(0, len(x), 2), np.full(len(x) // 2, 2), b"-"),
        lambda: making.encoded(x, bytes(range(65, 129)), pad=True),
        lambda: making.decoded(text, numbers),
        lambda: making.joined_segments(x, np.arange(len(x)) % 1000, 1000, b"-"),
        lambda: making.words(x),
        lambda: making.parts(x, b" ", 2),
        lambda: making.single_bytes(x),
        lambda: making.written(wide, "%.3f"),
        lambda: packed.unpack(packed.pack(x), x.shape),
    ]


def test_references_are_counted(machine: int) -> None:
    kept = b"as it was %d" % COUNT
    before = sys.getrefcount(kept)
    x = objects([b" %d ab" % i for i in range(COUNT - 2)] + [kept, kept])
    assert sys.getrefcount(kept) == before + 2
    found = making.stripped(x)
    assert found is not None
    assert found[-1] is kept
    del x
    assert sys.getrefcount(kept) == before + 2
    other = objects([b"made %d" % COUNT])
    fresh, python = sys.getrefcount(found[0]), sys.getrefcount(other[0])
    assert fresh == python
    del found
    assert sys.getrefcount(kept) == before


@pytest.mark.parametrize("count", [200, COUNT])
def test_nothing_stays_behind(count: int, machine: int) -> None:
    x = objects([b" a%d b" % i for i in range(count)])
    ways = each_way(x)
    for way in ways * 2:
        assert way() is not None
    blocks, nones = sys.getallocatedblocks(), sys.getrefcount(None)
    for way in ways * 3:
        way()
    assert abs(sys.getallocatedblocks() - blocks) < count // 2 + packed.HELD
    assert abs(sys.getrefcount(None) - nones) < count // 2


def test_few_blocks_are_held(machine: int) -> None:
    """One in each arena, the first time: it does not grow with what is made."""
    x = objects([b"abc%d" % i for i in range(COUNT)])
    for _ in range(3):
        making.cut(x, np.array([1]), np.array([5]), "BYTE")
    held = packed._state.held.copy()
    for _ in range(20):
        making.cut(x, np.array([1]), np.array([5]), "BYTE")
    assert len(held) == packed.HELD
    if machine:
        assert held.any()
    grown = packed._state.held != held
    assert not grown[held != 0].any()


@pytest.mark.parametrize("machine", ["by hand"], indirect=True)
@pytest.mark.parametrize("left", [0, 1, 400])
def test_no_memory(left: int, machine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When there is none for the next string, those before it are given back."""
    x = objects([b" a%d b" % i for i in range(1000)])
    ways = each_way(x)
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
    allocate, given = kind(machine), [0]

    def some(size: int) -> int | None:
        given[0] += 1
        return allocate(size) if given[0] <= left else None

    taker = kind(some)
    address = ctypes.cast(taker, ctypes.c_void_p).value or 0
    take(address, monkeypatch)
    blocks = sys.getallocatedblocks()
    for way in ways * 2:
        given[0] = 0
        if way is ways[-3]:  # single bytes are Python's own
            assert way() is not None
            continue
        with pytest.raises(MemoryError):
            way()
    assert sys.getallocatedblocks() - blocks < 200


@pytest.mark.parametrize("size", [2**62, 2**63 - 34, 2**63 - 1, -1, -(2**63)])
def test_sizes_that_cannot_be(size: int, machine: int) -> None:
    """Nothing is asked for, and nothing read."""
    data = np.zeros(10, np.uint8)
    with pytest.raises(AssertionError, match="outside"):
        packed.unpack(Packed(data, np.array([0, 0]), np.array([3, size])), (2,))


def test_several_threads(machine: int) -> None:
    x = objects(WORDS + SIZES[2:])
    x = x[: len(x) // 2 * 2]
    ways = each_way(x)
    wanted = [flat(way()) for way in ways]
    wrong: list[int] = []

    def work(first: int) -> None:
        for i in range(first, first + 2 * len(ways)):
            number = i % len(ways)
            if flat(ways[number]()) != wanted[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(5 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def flat(found: Any) -> list[Any]:
    parts = found if isinstance(found, tuple) else (found,)
    return [np.asarray(part).tolist() for part in parts]
