"""The rows of a sparse tensor, and results of rows that are sparse, for `tf.map_fn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import fill, joining, ranges
from weft._src.ops.control.tensor_array import TensorArray
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.ops.reduce import searching
from weft._src.ops.sparse import dense
from weft._src.ops.sparse.tensor import SparseTensor, SparseTensorSpec, sparse


class SparseRows:
    """A sparse tensor whose rows can be picked, each in the time that its elements take."""

    def __init__(self, x: SparseTensor) -> None:
        self._x = dense.reorder(x)
        self.shape, self.dtype = x.shape, x.dtype
        length = x.dense_shape[0]
        self.length = casting.cast(length, int32)
        numbers = ranges.range(length + 1)
        self._splits = searching.searchsorted(self._x.indices[:, 0], numbers, out_type=int64)

    def __getitem__(self, i: Any) -> SparseTensor:
        begin, end = self._splits[i], self._splits[i + 1]
        x = self._x
        row = SparseTensor._of(x.indices[begin:end, 1:], x.values[begin:end], x.dense_shape[1:])
        row.set_shape(self.shape[1:])
        return row

    @property
    def type_of_row(self) -> SparseTensorSpec:
        """What results are, if they are like the rows."""
        return SparseTensorSpec(self.shape[1:], self.dtype)


class CollectedSparse:
    """Sparse results: their elements one after the other, with the number of the row in front."""

    def __init__(self, op: str, spec: SparseTensorSpec, length: int | None) -> None:
        if spec.shape.rank is None:
            raise ValueError(f"{op}: the rank of {spec} must be known.")
        self._op, self._spec, self._length = op, spec, length
        self._rank = spec.shape.rank

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The shapes that the loop variables keep: two lists, and the largest sizes."""
        return TensorShape([]), TensorShape([]), TensorShape([self._rank])

    def start(self, length: Tensor) -> tuple[Any, ...]:
        """Before the first row."""
        places = TensorArray(int64, length, element_shape=[None, self._rank + 1], infer_shape=False)
        values = TensorArray(self._dtype, length, element_shape=[None], infer_shape=False)
        return places, values, fill.zeros([self._rank], int64)

    @property
    def _dtype(self) -> DType:
        return self._spec.dtype

    def added(self, before: Sequence[Any], i: Any, value: Any) -> tuple[Any, ...]:
        """With the result of one more row."""
        places, values, sizes = before
        found = sparse(self._op, value, "the result of fn")
        number = casting.cast(convert_to_tensor(i), int64)
        column = fill.zeros_like(found.indices[:, :1]) + number
        numbered = joining.concat([column, found.indices], 1)
        return (
            places.write(i, numbered),
            values.write(i, found.values),
            arithmetic.maximum(sizes, found.dense_shape),
        )

    def finished(self, collected: Sequence[Any]) -> SparseTensor:
        """One sparse tensor of all rows."""
        places, values, sizes = collected
        length = casting.cast(places.size(), int64)
        whole = SparseTensor._of(
            places.concat(), values.concat(), joining.concat([[length], sizes], 0)
        )
        whole.set_shape([self._length, *self._spec.shape])
        return whole
