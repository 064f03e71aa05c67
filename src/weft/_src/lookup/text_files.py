"""Keys and values out of the lines of a text file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import RESOURCE, STRING, DType, float32, float64, int32, int64, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.core.xp import as_strings
from weft._src.errors import InvalidArgumentError
from weft._src.fileio.paths import file_errors
from weft._src.lookup.ops import table_of
from weft._src.ops import rules
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op

WHOLE_LINE, LINE_NUMBER = -2, -1

_INTEGER = re.compile(rb"\s*[+-]?[0-9]+\s*")
_FLOAT = re.compile(
    rb"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan)\s*",
    re.IGNORECASE,
)


class _Lines:
    """The lines of a file, of which each has the same fields."""

    def __init__(self, path: str, count: int, delimiter: bytes) -> None:
        self._path, self._delimiter = path, delimiter
        with file_errors("TextFileInitializer", path), open(path, "rb") as file:
            text = file.read()
        lines = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        self._lines = [line.removesuffix(b"\r") for line in lines]
        if count >= 0:
            if len(lines) < count:
                raise self._error(f"vocab_size is {count}, and there are {len(lines)} lines")
            del self._lines[count:]
        if not self._lines:
            raise self._error("there are no lines")
        if b"" in self._lines:
            raise self._error(f"line {self._lines.index(b'')} is empty")

    def column(self, index: int, dtype: DType, offset: int) -> Array:
        """What a key or value index means for each line. Lines are counted from 0."""
        if index == LINE_NUMBER:
            if dtype is not int64:
                raise self._error(f"line numbers are int64, not {dtype.name}")
            if not -(2**63) <= offset < 2**63 - len(self._lines):
                raise self._error(f"line numbers from the offset {offset} on do not fit int64")
            return np.arange(offset, offset + len(self._lines), dtype=np.int64)
        fields = self._lines if index == WHOLE_LINE else self._fields(index)
        if dtype is string:
            return as_strings(fields, (len(fields),))
        if dtype not in (int32, int64, float32, float64):
            raise self._error(f"text cannot be read as {dtype.name}")
        return self._numbers(fields, dtype)

    def _fields(self, index: int) -> list[bytes]:
        split = [line.split(self._delimiter) for line in self._lines]
        for number, parts in enumerate(split):
            if len(parts) <= index:
                raise self._error(
                    f"line {number}, {self._lines[number]!r}, has {len(parts)} columns, and column "
                    f"{index} is wanted"
                )
        return [parts[index] for parts in split]

    def _numbers(self, fields: list[bytes], dtype: DType) -> Array:
        pattern, kind = (_INTEGER, int) if dtype.is_integer else (_FLOAT, float)
        convert: Callable[[bytes], Any] = kind
        limits = np.iinfo(dtype.numpy_dtype) if dtype.is_integer else None
        numbers = []
        for line, field in enumerate(fields):
            number = convert(field) if pattern.fullmatch(field) else None
            if number is None or (limits and not limits.min <= number <= limits.max):
                raise self._error(f"{field!r} in line {line} is no {dtype.name}")
            numbers.append(number)
        return np.array(numbers, dtype.numpy_dtype)

    def _error(self, problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(None, None, f"TextFileInitializer: {self._path}: {problem}.")


def _infer(table: TensorSpec, filename: TensorSpec, **_: Any) -> tuple[()]:
    rules.check_rank("TextFileInitializer", filename, 0, name="filename")
    return ()


def _kernel(
    xp: ArrayNamespace,
    table: Any,
    filename: Any,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: bytes,
    offset: int,
) -> tuple[()]:
    known = table_of(table)
    if len(delimiter) != 1:
        raise InvalidArgumentError(
            None, None, f"TextFileInitializer: delimiter must be one byte, got {delimiter!r}."
        )
    name = filename if isinstance(filename, bytes) else filename[()]
    lines = _Lines(os.fsdecode(name), vocab_size, delimiter)
    known.initialize(
        lines.column(key_index, known.key_dtype, offset),
        lines.column(value_index, known.value_dtype, offset),
    )
    return ()


initialize_from_file_op = define_op(
    "InitializeTableFromTextFileV2",
    args("table_handle", RESOURCE) + args("filename", STRING),
    infer=_infer,
    kernel=_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    reads=(0,),
    writes=(0,),
    host_io=True,
    self_contained=True,
)
