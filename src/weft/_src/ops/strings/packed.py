"""All strings of an array as one run of bytes, on which NumPy can work, and back; their hashes.

The execution layer offers machine code for it (`install_packers`), which reads and makes the bytes
objects. It is loaded in the background when some strings were met; until then, Python does the
same.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from weft._src.core import farmhash, string_hashes, xp
from weft._src.core.flags import flags
from weft._src.core.tensor import Array

# The words of a job, which is all that machine code is given.
JOB = (
    "objects", "at", "stop", "bytes type", "sizes", "starts", "step", "data", "room", "targets",
    "target", "target room", "columns", "column count", "new bytes", "incref", "decref", "allocate",
    "held", "region", "made", "out", "long places", "long count", "first key", "second key",
    "plus", "width", "fill", "signed", "general", "limit", "status",
)  # fmt: skip
Words = dict[str, Array | int]
HELD = 16  # blocks that keep memory of Python's, a megabyte each, from being given back
_FINE, _OTHER, _FULL = range(3)  # how it ended; other: no bytes object, or a wrong place

_AT_ONCE = 1 << 16  # strings, then Python looks for signals and other threads
_WORTH_LOADING = 10_000  # strings that were met: Python needs some 10 ms for them
_WORTH_USING = 50  # strings in one call
_MANY = 2000  # for which an array is better made without None
WORTH_PACKING = 400  # the same for what Python does in a fifth of a microsecond for each


class Packers(NamedTuple):
    """Machine code of a group: functions by their names, each takes the address of a job.

    `empty` makes an array of objects without any, which machine code fills; `allocate` is the
    address of Python's allocator, 0 if only Python may make objects.
    """

    empty: Callable[[int], Array]
    allocate: int
    functions: dict[str, Callable[[int], None]]


class Packed(NamedTuple):
    """Strings one behind the other, or parts of them: `data[start : start + size]`."""

    data: Array  # uint8
    starts: Array  # int64, as the next
    sizes: Array

    def strings(self, shape: tuple[int, ...]) -> Array:
        """An array of bytes objects."""
        return unpack(self, shape)


# What is compiled together, as that takes long: on runs of bytes, of strings, of numbers.
Group = Literal["packing", "making", "writing"]

# Set by the execution layer: loads a group and hands it over, at once if the last argument says so,
# or some time later. Where machine code cannot run, nothing comes.
Load = Callable[[Group, Callable[[Packers], None], bool], None]


class _State:
    """A race between threads does no harm: of two that ask, both get the same."""

    def __init__(self) -> None:
        self.load: Load | None = None
        self.packers: dict[Group, Packers] = {}
        self.asked: set[Group] = set()
        self.met = 0
        self.held = np.zeros(HELD, np.int64)  # addresses of blocks


_state = _State()


def install_packers(load: Load) -> None:
    """The execution layer says where the machine code comes from."""
    _state.load = load


def packers_for(count: int, group: Group = "packing", *, new: bool = False) -> Packers | None:
    """The machine code of a group, if so many strings are for it; `new` ones are counted."""
    if flags.execution == "numpy":
        return None
    waits = flags.execution == "native"
    if count < _WORTH_USING and not waits:
        _state.met += count if new else 0
        return None
    found = _state.packers.get(group)
    if found is None and group not in _state.asked:
        _state.met += count if new else 0
        if waits or _state.met >= _WORTH_LOADING:
            assert _state.load is not None
            _state.asked.add(group)
            _state.load(group, functools.partial(_state.packers.__setitem__, group), waits)
            found = _state.packers.get(group)
    return found


def pays(count: int, group: Group = "packing", *, costly: bool = True) -> bool:
    """Whether so many strings are better worked on with machine code.

    Args:
      count: how many there are.
      group: what is asked for: with "packing" they are put in one run of bytes.
      costly: whether Python takes long for each of them.
    """
    if not costly and count < WORTH_PACKING and flags.execution != "native":
        return False
    return packers_for(count, group, new=True) is not None


@functools.cache
def _constants() -> dict[str, int]:
    api = ctypes.pythonapi
    found = {
        "new bytes": api.PyBytes_FromStringAndSize,
        "incref": api.Py_IncRef,
        "decref": api.Py_DecRef,
    }
    addresses = {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in found.items()}
    return {**addresses, "bytes type": id(bytes), "held": _state.held.ctypes.data}


_PLACES = {name.replace(" ", "_"): place for place, name in enumerate(JOB)}
_AT, _STOP, _LONG, _STATUS, _ALLOCATE = [
    _PLACES[name] for name in ("at", "stop", "long_count", "status", "allocate")
]
_Job: Any = ctypes.c_int64 * len(JOB)


@functools.cache
def _begun() -> list[int]:
    """A job with what is the same in all of them."""
    words = [0] * len(JOB)
    for name, value in _constants().items():
        words[JOB.index(name)] = value
    return words


def _run(packers: Packers, name: str, count: int, **words: Array | int) -> tuple[int, int]:
    """How a job ended, and how many strings were left out; arrays are given by addresses."""
    function = packers.functions[name]
    numbers = _begun().copy()
    numbers[_ALLOCATE] = packers.allocate
    for word, value in words.items():
        numbers[_PLACES[word]] = (
            value.__array_interface__["data"][0] if isinstance(value, np.ndarray) else int(value)
        )
    job = _Job(*numbers)
    address = ctypes.addressof(job)
    for begin in range(0, count, _AT_ONCE):
        job[_AT], job[_STOP] = begin, min(begin + _AT_ONCE, count)
        function(address)
        if job[_STATUS] != _FINE:
            break
    return job[_STATUS], job[_LONG]


def made(
    packers: Packers, name: str, count: int, words: Words, *, pieces: int | None = None
) -> tuple[Array, int] | None:
    """New strings, and how many were left out; None if one is for Python to make.

    Args:
      packers: machine code.
      name: of the function.
      count: how many strings there are.
      words: what the job holds; arrays are contiguous, and stand for their addresses.
      pieces: how many strings are made of these; None means as many.

    Raises:
      MemoryError: if there is no memory for one.
    """
    size = count if pieces is None else pieces
    out = packers.empty(size) if size >= _MANY else np.empty(size, object)
    status, left_out = _run(packers, name, count, made=out, **words)
    if status == _FULL:
        raise MemoryError
    return (out, left_out) if status == _FINE else None


def done(packers: Packers, name: str, count: int, words: Words) -> bool:
    """Whether a function that makes no strings was done; else it is for Python.

    Raises:
      MemoryError: if something would be too large.
    """
    status, _ = _run(packers, name, count, **words)
    if status == _FULL:
        raise MemoryError
    return status == _FINE


def sizes(strings: Array) -> Array:
    """How many bytes each string of an array has, as int64."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    packers = packers_for(flat.size, new=True)
    if packers is not None:
        out = np.empty(flat.size, np.int64)
        if _run(packers, "measure", flat.size, objects=flat, sizes=out)[0] == _FINE:
            return out.reshape(strings.shape)
    return np.fromiter(map(len, flat.tolist()), np.int64, flat.size).reshape(strings.shape)


def counted(name: str, strings: Array, **words: Array | int) -> Array | None:
    """A number for each string of a contiguous vector; None if that is for Python to say."""
    packers = packers_for(strings.size, "making")
    if packers is None:
        return None
    out = np.empty(strings.size, np.int64)
    job: Words = {"objects": strings, "sizes": out, **words}
    return out if done(packers, name, strings.size, job) else None


def pack(strings: Array) -> Packed:
    """The strings of an array, in order."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    found = sizes(flat)
    ends = np.cumsum(found)
    starts = ends - found
    total = int(ends[-1]) if flat.size else 0
    packers = packers_for(flat.size)
    if packers is not None:
        data = np.empty(total, np.uint8)
        job = {"objects": flat, "sizes": found, "starts": starts, "data": data}
        if _run(packers, "pack", flat.size, **job)[0] == _FINE:
            return Packed(data, starts, found)
    return Packed(np.frombuffer(b"".join(flat.tolist()), np.uint8), starts, found)


def unpack(packed: Packed, shape: tuple[int, ...]) -> Array:
    """An array of bytes objects from pieces of a run of bytes."""
    data = np.ascontiguousarray(packed.data)
    starts, found = [np.ascontiguousarray(x, np.int64) for x in packed[1:]]
    packers = packers_for(found.size, new=True)
    if packers is not None:
        job: Words = {"sizes": found, "starts": starts, "data": data, "room": data.size}
        out = made(packers, "unpack", found.size, job)
        assert out is not None, "a string lies outside of its data"
        return out[0].reshape(shape)
    text = data.tobytes()
    pairs = zip(starts.tolist(), (starts + found).tolist(), strict=True)
    return xp.as_strings([text[a:b] for a, b in pairs], shape)


def move(packed: Packed, targets: Array, out: Array) -> None:
    """Copies every piece to its place in another run of bytes."""
    data = np.ascontiguousarray(packed.data)
    starts, found, places = [
        np.ascontiguousarray(x, np.int64) for x in (packed.starts, packed.sizes, targets)
    ]
    packers = packers_for(found.size)
    if packers is not None:
        job: Words = {"sizes": found, "starts": starts, "data": data, "room": data.size}
        there: Words = {"targets": places, "target": out, "target_room": out.size}
        status, _ = _run(packers, "move", found.size, **job, **there)
        assert status == _FINE, "a piece lies outside of its data"
        return
    for start, size, place in zip(starts.tolist(), found.tolist(), places.tolist(), strict=True):
        out[place : place + size] = data[start : start + size]


def read(strings: Array) -> tuple[Array, Array]:
    """What `parse` finds, of the strings of an array themselves."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    packers = packers_for(flat.size)
    if packers is not None:
        values, decimals = np.empty(flat.size, np.int64), np.empty(flat.size, np.int64)
        job = {"objects": flat, "targets": decimals, "out": values}
        if _run(packers, "read", flat.size, **job)[0] == _FINE:
            return values, decimals
    return parse(pack(flat))


_PLAIN = re.compile(rb"([+-]?)(?=\d|\.\d)(\d*)(\.?)(\d*)")
_MOST_DIGITS = 18
NEGATIVE_ZERO = -(2**63)


def parse(pieces: Packed) -> tuple[Array, Array]:
    """The numbers that pieces spell in plain decimals, as integers without their points.

    And how many digits stand behind a point, plus one; 0 if there is no point, -1 if a piece is no
    such number, or one of more than 18 digits. A zero with a minus is `NEGATIVE_ZERO`.
    """
    data = np.ascontiguousarray(pieces.data)
    starts, found = [np.ascontiguousarray(x, np.int64) for x in pieces[1:]]
    values, decimals = np.empty(found.size, np.int64), np.empty(found.size, np.int64)
    packers = packers_for(found.size)
    if packers is not None:
        job: Words = {"sizes": found, "starts": starts, "data": data, "room": data.size}
        status, _ = _run(packers, "parse", found.size, targets=decimals, out=values, **job)
        assert status == _FINE, "a piece lies outside of its data"
        return values, decimals
    for i, text in enumerate(unpack(pieces, found.shape).tolist()):
        match = _PLAIN.fullmatch(text)
        sign, whole, point, rest = match.groups() if match else (b"", b"", b"", b"")
        is_plain = match is not None and len(whole + rest) <= _MOST_DIGITS
        values[i] = int(sign + whole + rest) if is_plain else 0
        if is_plain and sign == b"-" and not values[i]:
            values[i] = NEGATIVE_ZERO
        decimals[i] = (len(rest) + 1 if point else 0) if is_plain else -1
    return values, decimals


# --- hashes --------------------------------------------------------------------------------------


def fingerprints(strings: Array) -> Array:
    """FarmHash's fingerprint of each string of an array, as uint64."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    packers = packers_for(flat.size, new=True)
    if packers is not None:
        out, places = np.empty(flat.size, np.uint64), np.empty(flat.size, np.int64)
        job = {"objects": flat, "out": out, "long_places": places}
        status, count = _run(packers, "fingerprint", flat.size, **job)
        if status == _FINE:
            if count:  # long ones are for NumPy
                long = places[:count]
                out[long] = farmhash.fingerprints(flat[long].tolist())
            return out.reshape(strings.shape)
    return farmhash.fingerprints(flat.tolist()).reshape(strings.shape)


def murmur(strings: Array) -> Array:
    """MurmurHash64A of each string of an array, as uint64."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    packers = packers_for(flat.size, new=True)
    if packers is not None:
        out = np.empty(flat.size, np.uint64)
        if _run(packers, "murmur", flat.size, objects=flat, out=out)[0] == _FINE:
            return out.reshape(strings.shape)
    return string_hashes.murmur(flat.tolist()).reshape(strings.shape)


def siphash(strings: Array, key: tuple[int, int]) -> Array:
    """SipHash-2-4 of each string of an array under a key, as uint64."""
    flat = np.ascontiguousarray(strings.reshape(-1))
    packers = packers_for(flat.size, new=True)
    if packers is not None:
        out = np.empty(flat.size, np.uint64)
        keys = np.array([number & (2**64 - 1) for number in key], np.uint64).view(np.int64)
        job = {"objects": flat, "out": out, "first_key": keys[0], "second_key": keys[1]}
        if _run(packers, "siphash", flat.size, **job)[0] == _FINE:
            return out.reshape(strings.shape)
    return string_hashes.siphash(flat.tolist(), key).reshape(strings.shape)
