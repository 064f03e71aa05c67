"""`tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.foldr`: functions over rows.

All are one `while_loop` that reads rows and writes results to TensorArrays. In a graph `map_fn`
does all rows at once where it can (`graph.row_maps`, which also has `tf.vectorized_map`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import DTypeLike, TensorNest
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import building, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.errors import OperatorNotAllowedInGraphError, OutOfRangeError, ShapeError
from weft._src.ops.arrays import fill, joining, shape as shapes
from weft._src.ops.control.collecting import Results, leaves, spec_of_leaf
from weft._src.ops.control.loop import while_loop
from weft._src.ops.control.nested import NestedTrace
from weft._src.ops.control.sparse_rows import SparseRows
from weft._src.ops.extension import batching
from weft._src.ops.extension.extension_type import ExtensionType
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.sparse.tensor import SparseTensor, SparseTensorSpec


class Rows:
    """The elements of a nest of tensors along their first axis."""

    def __init__(self, op: str, elems: Any, *, broadcast: bool = False) -> None:
        self._op = op
        self.structure = elems
        self.tensors = [_rows_of(op, leaf) for leaf in leaves(op, "elems", elems)]
        if not self.tensors:
            raise ValueError(f"{op}: elems must hold at least one tensor, got {elems!r}.")
        if any(t.shape.rank == 0 for t in self.tensors):
            raise ShapeError(
                f"{op}: elems must be tensors with at least one axis, got a scalar. A list is "
                "taken for several elems: convert it with tf.constant."
            )
        sizes = [None if t.shape.rank is None else t.shape[0] for t in self.tensors]
        known = {n for n in sizes if n is not None and not (broadcast and n == 1)}
        if len(known) > 1:
            raise ShapeError(f"{op}: elems must have one length, got {sorted(known)}.")
        # The one row of a tensor of length 1 goes with every row of the others.
        self._single = [broadcast and n == 1 and any(m != 1 for m in sizes) for n in sizes]
        longest = self._single.index(False)
        self.static_length = next(iter(known)) if known else sizes[longest]
        self.length = (
            convert_to_tensor(self.static_length)
            if self.static_length is not None
            else _length_of(self.tensors[longest])
        )

    def __getitem__(self, i: Any) -> Any:
        rows = [t[0] if one else t[i] for t, one in zip(self.tensors, self._single, strict=True)]
        return self.packed(rows)

    def packed(self, row: Sequence[Any]) -> Any:
        """The parts of a row in the structure of the elements."""
        return nest.pack_sequence_as(self.structure, list(row))

    def batched(self) -> tuple[list[Any], list[bool]]:
        """All rows of each tensor, and which tensors have more than one for all."""
        pairs = zip(self.tensors, self._single, strict=True)
        return [t[0] if one else t for t, one in pairs], [not one for one in self._single]

    @property
    def has_composites(self) -> bool:
        """Whether some elements are ragged or sparse."""
        return any(isinstance(t, (CompositeTensor, SparseRows)) for t in self.tensors)

    def specs(self) -> list[TensorSpec]:
        """The types of one row."""
        return [
            TensorSpec.of(t.dtype, None if t.spec.dims is None else t.spec.dims[1:])
            for t in self.tensors
        ]

    def types(self) -> Any:
        """The dtypes (specs, of the rows of ragged tensors), in the structure of the elements."""
        return nest.pack_sequence_as(self.structure, [_type_of_row(t) for t in self.tensors])

    def check_not_empty(self) -> None:
        if self.static_length == 0:
            raise OutOfRangeError(
                None, None, f"{self._op}: elems has no rows; pass an initializer to allow that."
            )


def _rows_of(op: str, leaf: Any) -> Any:
    """What rows are picked from."""
    if isinstance(leaf, ExtensionType):
        raise TypeError(
            f"{op}: a {type(leaf).__qualname__} has no rows. Derive it from "
            "tf.experimental.BatchableExtensionType, or pass the tensors of its fields."
        )
    x = convert_to_tensor(leaf)
    if isinstance(x, SparseTensor) and op == "map_fn":
        return SparseRows(x)
    if isinstance(x, CompositeTensor) and not isinstance(x, RaggedTensor):
        raise x.refusal(op)
    return x


def _length_of(x: Any) -> Tensor:
    return x.length if isinstance(x, SparseRows) else shapes.shape(x)[0]


def check_callable(op: str, fn: Callable[..., Any]) -> None:
    """Refuses what cannot be called."""
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable, got {fn!r}.")


@hides_own_frames
def map_fn(
    fn: Callable[[Any], Any],
    elems: TensorNest,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """The results of `fn` on each row of `elems`, stacked.

    `fn_output_signature` (or `dtype`) gives the dtypes of the results if they are not those of
    `elems`.

    Args:
      fn: a function of one row: of a tensor, or of a structure like that of `elems`.
      elems: a tensor, ragged or sparse tensor, or a structure of them, of one length along their
        first axes.
      dtype: the older name of `fn_output_signature`.
      parallel_iterations: 1 makes sure that a traced function runs row by row; others are ignored.
      back_prop: accepted for compatibility, ignored.
      swap_memory: accepted for compatibility, ignored.
      infer_shape: accepted for compatibility, ignored.
      fn_output_signature: the structure of the results, of dtypes, `tf.TensorSpec`,
        `tf.RaggedTensorSpec` or `tf.SparseTensorSpec`; None means that of `elems`.

    Returns:
      A structure like that of the results of `fn`, with the results of all rows stacked.

    Raises:
      TypeError: if `fn` cannot be called.
      ValueError: if there are no elems, or `fn` returns another structure.
      DTypeError: if `fn` returns other dtypes.
      ShapeError: if the elems have different lengths, or one is a scalar.

    >>> tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]])).numpy()
    array([3, 7], dtype=int32)
    """
    check_callable("map_fn", fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    special = [*leaves("map_fn", "elems", elems), *leaves("map_fn", "dtype", signature)]
    if batching.has_encoder(special):
        return batching.mapped_to_signature(
            lambda f, tensors, types: map_fn(
                f,
                tensors,
                parallel_iterations=parallel_iterations,
                name=name,
                fn_output_signature=types,
            ),
            fn,
            elems,
            signature,
        )
    rows = Rows("map_fn", elems)
    signature = rows.types() if signature is None else signature
    if state.graph is not None and parallel_iterations != 1:
        made = _batched(fn, rows, signature)
        if made is not None:
            return made
    return _map("map_fn", fn, rows, signature, name)


def _map(op: str, fn: Callable[[Any], Any], rows: Rows, signature: Any, name: str | None) -> Any:
    found = [*rows.tensors, *leaves(op, "fn_output_signature", signature)]
    composite = (RaggedTensor, RaggedTensorSpec, SparseRows, SparseTensorSpec)
    is_composite = any(isinstance(x, composite) for x in found)
    if state.graph is None and not rows.static_length and not is_composite:
        return _no_rows(fn, rows, signature)
    results = Results(op, signature, rows.length, rows.static_length)
    _, collected = while_loop(
        lambda i, _: i < rows.length,
        lambda i, before: (i + 1, results.write(before, i, fn(rows[i]))),
        (convert_to_tensor(0), results.start),
        shape_invariants=[TensorShape([]), results.shapes],
        name=name or "map",
    )
    return results.finished(collected)


def _type_of_row(x: Any) -> Any:
    """What rows of a tensor are, if results are like them."""
    if isinstance(x, SparseRows):
        return x.type_of_row
    if not isinstance(x, RaggedTensor):
        return x.dtype
    shape = None if x.shape.rank is None else x.shape[1:]
    return RaggedTensorSpec(shape, x.dtype, x.ragged_rank - 1, x.row_splits.dtype)


def mapped_row_by_row(fn: Callable[[Any], Any], rows: Rows) -> Any:
    """What `tf.vectorized_map` does with a function that cannot be batched."""
    if state.graph is not None or not rows.static_length:
        types = _result_types(fn, rows)
        signature = nest.map_structure(lambda spec: spec.dtype, types)
        return _map("vectorized_map", fn, rows, signature, None)
    made = [nest.map_structure(convert_to_tensor, fn(rows[i])) for i in range(rows.static_length)]
    return nest.map_structure(lambda *leaves: joining.stack(leaves), *made)


def _result_types(fn: Callable[[Any], Any], rows: Rows) -> Any:
    """What `fn` gives for a row: it is traced into a graph that is thrown away."""
    with building(state.graph if state.graph is not None else _new_graph()):
        traced = NestedTrace(fn, "row", rows.specs(), (rows.structure,))
    return nest.pack_sequence_as(traced.result, traced.specs)


def _no_rows(fn: Callable[[Any], Any], rows: Rows, signature: Any) -> Any:
    """Results without rows, of the type they would have in a graph."""
    # If `fn` asks rows for their values, the signature is all that is known.
    with contextlib.suppress(OperatorNotAllowedInGraphError):
        signature = _result_types(fn, rows)
    found = leaves("map_fn", "fn_output_signature", signature)
    specs = [spec_of_leaf("map_fn", leaf) for leaf in found]
    empty = [fill.zeros([0, *(() if shape is None else shape)], dtype) for dtype, shape in specs]
    return nest.pack_sequence_as(signature, empty)


def install(new_graph: Callable[[], Any]) -> None:
    """The graph layer says how to make a graph."""
    global _new_graph  # noqa: PLW0603 - a hook, set once at import
    _new_graph = new_graph


def install_batching(batched: Callable[[Callable[[Any], Any], Rows, Any], Any]) -> None:
    """The graph layer says how a function is done for all rows at once; None if it cannot be."""
    global _batched  # noqa: PLW0603 - a hook, set once at import
    _batched = batched


_new_graph: Callable[[], Any]
_batched: Callable[[Callable[[Any], Any], Rows, Any], Any]


@hides_own_frames
def scan(
    fn: Callable[[Any, Any], Any],
    elems: TensorNest,
    initializer: TensorNest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All intermediate values of folding `elems` with `fn(accumulated, row)`, stacked.

    Args:
      fn: a function of what was accumulated and one row; it returns the next accumulated value.
      elems: a tensor or a structure of tensors, of one length along their first axes.
      initializer: the first accumulated value, a tensor or structure; None means the first row.
      parallel_iterations: accepted for compatibility, ignored.
      back_prop: accepted for compatibility, ignored.
      swap_memory: accepted for compatibility, ignored.
      infer_shape: accepted for compatibility, ignored.
      reverse: whether to go from the last row to the first. Results stay at the places of their
        rows.

    Returns:
      A structure like that of the accumulated value, each with a first axis as long as `elems`.

    Raises:
      TypeError: if `fn` cannot be called.
      OutOfRangeError: if there are neither rows nor an initializer.
      ShapeError: if the elems have different lengths, or one is a scalar.

    >>> tf.scan(lambda total, x: total + x, tf.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)
    """
    check_callable("scan", fn)
    rows = Rows("scan", elems)
    start, first = _start("scan", rows, initializer, reverse)
    signature = nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), start)
    results = Results("scan", signature, rows.length, rows.static_length)
    collected: Any = results.start

    def place(i: Any) -> Any:
        return rows.length - 1 - i if reverse else i

    if first:
        collected = results.write(collected, place(0), start)

    def step(i: Any, accumulated: Any, before: Any) -> Any:
        value = fn(accumulated, rows[place(i)])
        return i + 1, value, results.write(before, place(i), value)

    out = while_loop(
        lambda i, *_: i < rows.length,
        step,
        (convert_to_tensor(first), start, collected),
        name=name or "scan",
    )
    return results.finished(out[2])


def _start(op: str, rows: Rows, initializer: Any, reverse: bool) -> tuple[Any, int]:
    """The value a fold starts with, and the number of its first row."""
    if initializer is not None:
        parts = [convert_to_tensor(leaf) for leaf in leaves(op, "initializer", initializer)]
        return nest.pack_sequence_as(initializer, parts), 0
    rows.check_not_empty()
    return rows[rows.length - 1 if reverse else 0], 1


def _fold(
    op: str, fn: Callable[..., Any], elems: Any, initializer: Any, reverse: bool, name: str | None
) -> Any:
    check_callable(op, fn)
    rows = Rows(op, elems)
    start, first = _start(op, rows, initializer, reverse)
    _, result = while_loop(
        lambda i, _: i < rows.length,
        lambda i, value: (i + 1, fn(value, rows[rows.length - 1 - i if reverse else i])),
        (convert_to_tensor(first), start),
        name=name or op,
    )
    return result


@hides_own_frames
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: TensorNest,
    initializer: TensorNest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of `elems` combined with `fn(accumulated, row)` from the first to the last.

    Args:
      fn: a function of what was accumulated and one row; it returns the next accumulated value.
      elems: a tensor or a structure of tensors, of one length along their first axes.
      initializer: the first accumulated value, a tensor or structure; None means the first row.
      parallel_iterations: accepted for compatibility, ignored.
      back_prop: accepted for compatibility, ignored.
      swap_memory: accepted for compatibility, ignored.

    Returns:
      The last accumulated value.

    Raises:
      TypeError: if `fn` cannot be called.
      OutOfRangeError: if there are neither rows nor an initializer.
      ShapeError: if the elems have different lengths, or one is a scalar.

    >>> tf.foldl(lambda total, x: total - x, tf.constant([1, 2, 3])).numpy()
    np.int32(-4)
    """
    return _fold("foldl", fn, elems, initializer, False, name)


@hides_own_frames
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: TensorNest,
    initializer: TensorNest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of `elems` combined with `fn(accumulated, row)` from the last to the first.

    Args:
      fn: a function of what was accumulated and one row; it returns the next accumulated value.
      elems: a tensor or a structure of tensors, of one length along their first axes.
      initializer: the first accumulated value, a tensor or structure; None means the last row.
      parallel_iterations: accepted for compatibility, ignored.
      back_prop: accepted for compatibility, ignored.
      swap_memory: accepted for compatibility, ignored.

    Returns:
      The last accumulated value.

    Raises:
      TypeError: if `fn` cannot be called.
      OutOfRangeError: if there are neither rows nor an initializer.
      ShapeError: if the elems have different lengths, or one is a scalar.

    >>> tf.foldr(lambda total, x: total - x, tf.constant([1, 2, 3])).numpy()
    np.int32(0)
    """
    return _fold("foldr", fn, elems, initializer, True, name)
