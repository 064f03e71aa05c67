"""Rows of elements that hold ragged or sparse tensors, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from weft._src.data.core import columns
from weft._src.data.core.base import INPUT, dataset_op
from weft._src.data.core.columns import Column
from weft._src.data.core.stage import UNKNOWN, Cursor, Run, Stage
from weft._src.data.core.structure import Values


class ColumnRowsStage(Stage):
    """The rows of every element, one by one, ragged and sparse ones among them."""

    __slots__ = ("columns", "length", "method", "source")

    def __init__(
        self, source: Stage, method: str, layout: Sequence[Column], length: int = UNKNOWN
    ) -> None:
        self.source, self.method, self.columns, self.length = source, method, layout, length

    def cursor(self, run: Run) -> Cursor:
        return _ColumnRowsCursor(self, self.source.cursor(run))

    def cardinality(self) -> int:
        return self.length


class _ColumnRowsCursor(Cursor):
    own = ("_at", "_length", "_values")
    inputs = ("_source",)

    def __init__(self, stage: ColumnRowsStage, source: Cursor) -> None:
        self._columns, self._method, self._source = stage.columns, stage.method, source
        self._values: Values = ()
        self._at = self._length = 0

    def __next__(self) -> Values:
        while self._at >= self._length:
            self._values, self._at = columns.by_row(self._columns, next(self._source)), 0
            self._length = columns.count_rows(self._columns, self._values, self._method)
        self._at += 1
        return columns.row(self._columns, self._values, self._at - 1)


column_rows_op = dataset_op(
    "ColumnRowsDataset",
    INPUT,
    lambda xp, source, *, method, layout: ColumnRowsStage(
        source, method, columns.from_plain(layout)
    ),
)
