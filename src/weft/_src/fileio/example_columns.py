"""Features of many serialized Examples, column by column: what each example has of each feature.

Machine code reads what is as usual; where it is off, or something is not, Python does.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.dtypes import DType, float32, int64, string
from weft._src.core.flags import flags
from weft._src.errors import InvalidArgumentError, ParseError
from weft._src.execution import forking
from weft._src.messages.wire import (
    BYTES,
    FIXED32,
    VARINT,
    contents,
    fields,
    not_serialized,
    unpacked_varints,
)

Array = np.ndarray[Any, Any]

KINDS = {1: string, 2: float32, 3: int64}  # by the field of a Feature that holds the list
_LISTS = {1: "BytesList", 2: "FloatList", 3: "Int64List"}
_NUMBERS: dict[int, np.dtype[Any]] = {2: np.dtype("<f4"), 3: np.dtype(np.int64)}
MISSING = -1
_WORTH_LOADING = 0.2  # seconds that Python took; loading takes about as long


class Column(NamedTuple):
    """A feature of all examples: how many values each has (or MISSING), and all of them."""

    counts: Array
    values: Array


Wanted = tuple[tuple[str, DType], ...]  # names and dtypes


def columns_of(strings: Array, wanted: Wanted) -> list[Column]:
    """The columns of the features with these names and dtypes.

    InvalidArgumentError if a string is no Example, or a feature holds something else.
    """
    if _worth.is_native():
        reader = _column_reader(wanted)
        found = None if reader is None else reader.read(np.ascontiguousarray(strings))
        if found is not None:
            counts, values = found
            return [Column(*pair) for pair in zip(counts, values, strict=True)]
    started = time.perf_counter()
    out = columns_in_python(strings.tolist(), wanted)
    _worth.seconds += time.perf_counter() - started
    return out


class _Worth:
    """Counts the time that Python takes until loading machine code has been worth it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def is_native(self) -> bool:
        """Whether machine code is asked."""
        if flags.execution == "numpy":
            return False
        return flags.execution == "native" or self.seconds > _WORTH_LOADING


_worth = _Worth()


@functools.cache
def _loaded() -> Any:
    """The machine code, None where it cannot run. LLVM is imported when it is needed first."""
    with forking.lock:
        from weft._src.execution.native import example_reading
    return example_reading.load()


@functools.lru_cache(256)
def _column_reader(wanted: Wanted) -> Any:
    loaded = _loaded()
    names = {key for key, _ in wanted}
    if loaded is None or len(names) < len(wanted):  # one of two dtypes has to be wrong
        return None
    numbers = {dtype: number for number, dtype in KINDS.items()}
    return loaded.columns(
        [key.encode() for key, _ in wanted],
        [numbers[dtype] for _, dtype in wanted],
        [dtype.numpy_dtype for _, dtype in wanted],
    )


# --- in Python -----------------------------------------------------------------------------------


def columns_in_python(strings: Sequence[bytes], wanted: Wanted) -> list[Column]:
    """The same for anything, and the one that knows what is wrong with it."""
    found = [_features(data, i) for i, data in enumerate(strings)]
    return [column_of(key, dtype, found, range(len(found))) for key, dtype in wanted]


def _features(data: bytes, i: int) -> dict[bytes, bytes]:
    """The serialized features by name."""
    out = {}
    try:
        for features in contents(data, 1, "Example"):
            for entry in contents(features, 1, "Features"):
                name = feature = b""
                for number, stored, content in fields(entry, "Features"):
                    if number == 1 and stored == BYTES:
                        name = content
                    elif number == 2 and stored == BYTES:
                        feature = content
                out[name] = feature
    except ParseError as error:
        raise InvalidArgumentError(
            None, None, f"parse_example: string {i} is no serialized Example: {error}"
        ) from error
    return out


def column_of(
    key: str, dtype: DType, found: Sequence[dict[bytes, bytes]], examples: Sequence[int]
) -> Column:
    """A feature of serialized features by name; errors say which example they belong to."""
    name = key.encode()
    counts = np.full(len(found), MISSING, np.int64)
    parts: list[Any] = []
    for i, features in enumerate(found):
        feature = features.get(name)
        if feature:
            values = _values(feature, key, dtype, examples[i])
            counts[i] = len(values)
            parts.append(values)
    if dtype is string:
        texts = [text for part in parts for text in part]
        flat = np.empty(len(texts), object)
        flat[:] = texts
        return Column(counts, flat)
    empty = np.empty(0, dtype.numpy_dtype)
    return Column(counts, np.concatenate([empty, *parts], dtype=dtype.numpy_dtype))


def _values(feature: bytes, key: str, dtype: DType, i: int) -> Any:
    """The values of a feature, which is not empty: bytes in a list, or an array of numbers."""
    try:
        number, stored, content = fields(feature, "Feature")[0]
        known = number in KINDS and stored == BYTES
        if not known or KINDS[number] is not dtype:
            got = KINDS[number].name if known else "something unknown"
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the feature {key!r} of example {i} holds {got}, expected "
                f"{dtype.name}.",
            )
        if number == 1:
            return contents(content, 1, _LISTS[1])
        return _numbers(content, number)
    except ParseError as error:
        raise InvalidArgumentError(
            None, None, f"parse_example: the feature {key!r} of example {i}: {error}"
        ) from error


def _numbers(content: bytes, kind: int) -> Array:
    """The numbers in a serialized list, which may be packed together or not.

    A field that is stored in another way is one that nobody knows: it is left out.
    """
    dtype = _NUMBERS[kind]
    parts = []
    for number, stored, value in fields(content, _LISTS[kind]):
        if number != 1:
            continue
        try:
            if kind == 2 and stored in (BYTES, FIXED32):
                parts.append(np.frombuffer(value, dtype))
            elif kind == 3 and stored == BYTES:
                parts.append(unpacked_varints(value).view(np.int64))
            elif kind == 3 and stored == VARINT:
                parts.append(np.array([value], np.uint64).view(np.int64))
        except (IndexError, ValueError):  # half a number
            raise not_serialized(_LISTS[kind]) from None
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])
