"""What `tf.map_fn` and `tf.scan` do with the result of each row: stack them, or make rows of them.

Results of one shape go into a TensorArray. Those of a `tf.RaggedTensorSpec` are joined as they
come: their values, and the lengths of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import TensorLike
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, as_dtype
from weft._src.core.growing import GrowingList
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops.arrays import fill, joining, shape as shapes, shape_checks
from weft._src.ops.control.sparse_rows import CollectedSparse
from weft._src.ops.control.tensor_array import TensorArray, TensorArraySpec
from weft._src.ops.ragged import rows as row_lengths
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.sparse.tensor import SparseTensorSpec


class Results:
    """The results of all rows, in the structure they have for one row."""

    def __init__(self, op: str, signature: Any, length: Tensor, static_length: int | None) -> None:
        self._op = op
        self._structure = signature
        found = leaves(op, "fn_output_signature", signature)
        self._parts: list[Any] = [_kind_of(leaf)(op, leaf, static_length) for leaf in found]
        self.start = tuple([part.start(length) for part in self._parts])

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes that the loop variables keep."""
        return [shape for part in self._parts for shape in part.shapes]

    def write(self, collected: Sequence[Any], i: Any, value: Any) -> tuple[Any, ...]:
        """What was collected, and the result of one row."""
        try:
            nest.assert_same_structure(self._structure, value)
        except (TypeError, ValueError) as e:
            raise ValueError(
                f"{self._op}: fn must return the structure of elems, or of fn_output_signature. {e}"
            ) from None
        parts = zip(self._parts, collected, nest.flatten(value), strict=True)
        return tuple([part.added(before, i, leaf) for part, before, leaf in parts])

    def finished(self, collected: Sequence[Any]) -> Any:
        """One tensor per result."""
        parts = zip(self._parts, collected, strict=True)
        out = [part.finished(held) for part, held in parts]
        return nest.pack_sequence_as(self._structure, out)


def _kind_of(leaf: Any) -> type:
    if isinstance(leaf, SparseTensorSpec):
        return CollectedSparse
    return _Ragged if isinstance(leaf, RaggedTensorSpec) else _Stacked


def leaves(op: str, name: str, value: Any) -> list[Any]:
    """The leaves of an argument."""
    try:
        found = nest.flatten(value)
    except RecursionError:
        raise ValueError(f"{op}: {name} contains itself.") from None
    for leaf in found:
        if isinstance(leaf, GrowingList):  # a list is several elems, not the rows of one
            raise leaf.refusal(op)
    return found


def spec_of_leaf(op: str, leaf: Any) -> tuple[DType, Any]:
    """The dtype and the shape (None if it is not known) that a signature gives."""
    if isinstance(leaf, TensorSpec):
        return leaf.dtype, leaf.shape
    try:
        return as_dtype(leaf), None
    except TypeError:
        raise TypeError(
            f"{op}: fn_output_signature must hold dtypes, TensorSpecs, RaggedTensorSpecs and "
            f"SparseTensorSpecs, got {leaf!r}."
        ) from None


def _check_dtype(op: str, found: DType, wanted: DType) -> None:
    if found is not wanted:
        raise DTypeError(
            f"{op}: fn returned {found.name} where {wanted.name} was expected. Pass "
            f"fn_output_signature=tf.{found.name}, or convert with tf.cast."
        )


class _Stacked:
    """Results of one shape."""

    shapes = (TensorShape([]),)

    def __init__(self, op: str, leaf: Any, length: int | None) -> None:
        self._op, self._length = op, length
        self._dtype, self._shape = spec_of_leaf(op, leaf)

    def start(self, length: Tensor) -> TensorArray:
        return TensorArray(self._dtype, size=length, element_shape=self._shape)

    def added(self, array: TensorArray, i: Any, leaf: Any) -> TensorArray:
        tensor = convert_to_tensor(leaf, dtype_hint=self._dtype)
        _check_dtype(self._op, tensor.dtype, self._dtype)
        if isinstance(tensor, RaggedTensor):
            raise TypeError(
                f"{self._op}: fn returned a RaggedTensor. Pass "
                f"fn_output_signature={tensor._type_spec}."
            )
        out = array.write(i, tensor)
        self._shape = out.element_shape  # what the loop's body was seen to write
        return out

    def finished(self, array: TensorArray) -> Tensor:
        known = TensorArray._of(TensorArraySpec(self._shape, array.dtype), array.handle)
        tensor = known.stack()
        if state.graph is not None and self._length is not None and tensor.shape.rank:
            tensor = shape_checks.ensure_shape(tensor, [self._length, *tensor.shape[1:]])
        return tensor


class _Ragged:
    """Results of different lengths, or ragged themselves."""

    def __init__(self, op: str, spec: RaggedTensorSpec, length: int | None) -> None:
        self._op, self._spec = op, spec
        inner = spec.flat_values_spec.shape
        if inner.rank is None or any(size is None for size in inner[1:]):
            raise ValueError(
                f"{op}: the inner sizes of {spec} must be known; only ragged axes may differ."
            )
        self._inner = inner[1:].as_list()
        lengths = [TensorShape([None])] * (spec.ragged_rank + 1)
        self.shapes = (TensorShape([None, *self._inner]), *lengths)

    def start(self, length: Tensor) -> tuple[Tensor, ...]:
        none = fill.zeros([0], self._spec.row_splits_dtype)
        flat = fill.zeros([0, *self._inner], self._spec.dtype)
        return (flat, *[none] * (self._spec.ragged_rank + 1))

    def added(self, before: Sequence[Tensor], i: Any, leaf: Any) -> tuple[Tensor, ...]:
        x = leaf if isinstance(leaf, RaggedTensor) else convert_to_tensor(leaf)
        _check_dtype(self._op, x.dtype, self._spec.dtype)
        found = x.ragged_rank if isinstance(x, RaggedTensor) else 0
        rank = self._spec.shape.rank
        if found != self._spec.ragged_rank or x.shape.rank not in (None, rank):
            raise ShapeError(
                f"{self._op}: fn returned shape {x.shape} with {found} ragged axes where "
                f"{self._spec} was expected. Pass the fn_output_signature of what fn returns, such "
                f"as fn_output_signature=tf.{x.dtype.name}."
            )
        parts = zip(before, self._parts_of(x), strict=True)
        return tuple([joining.concat([held, more], 0) for held, more in parts])

    def _parts_of(self, x: TensorLike) -> list[Tensor]:
        dtype = self._spec.row_splits_dtype
        if not isinstance(x, RaggedTensor):
            return [x, shapes.shape_op(x, out_type=dtype)[:1]]
        x = x.with_row_splits_dtype(dtype)
        return [x.flat_values, shapes.expand_dims(x.nrows(), 0), *x.nested_row_lengths()]

    def finished(self, collected: Sequence[Tensor]) -> RaggedTensor:
        out: Any = collected[0]
        for lengths in reversed(collected[1:]):
            out = RaggedTensor._of(out, row_lengths.from_lengths(lengths))
        return out
