"""Strings cut into pieces, and pieces put together to n-grams."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import INDEX, STRING, int64, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import composed_graph_forms, rules, static
from weft._src.ops.arrays import joining, ranges, shape as shapes
from weft._src.ops.elementwise import arithmetic
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import products
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings import in_bulk, making, packed
from weft._src.ops.strings.elements import as_array, string_tensor, text_argument
from weft._src.ops.strings.ragged import rows_of_strings


def _sparse_infer(x: TensorSpec, *_: Any, **__: Any) -> tuple[TensorSpec, ...]:
    rules.check_rank("strings.split", x, 1, name="input")
    count = Dim()
    return (
        TensorSpec.of(int64, (count, 2)),
        TensorSpec.of(string, (count,)),
        TensorSpec.of(int64, (2,)),
    )


def _as_sparse(xp: ArrayNamespace, rows: Sequence[Sequence[bytes]]) -> tuple[Array, Array, Array]:
    """Rows of pieces as indices, values and dense shape."""
    lengths = [len(row) for row in rows]
    ids = np.repeat(np.arange(len(rows)), lengths)
    columns = [column for length in lengths for column in range(length)]
    indices = np.stack([ids, np.array(columns, np.int64)], 1).astype(np.int64)
    flat = [piece for row in rows for piece in row]
    shape = np.array([len(rows), max(lengths, default=0)], np.int64)
    return indices, xp.as_strings(flat, (len(flat),)), shape


def _pieces(text: bytes, separator: bytes, maxsplit: int) -> list[bytes]:
    if maxsplit == 0:
        return [text]
    if separator:
        return text.split(separator, maxsplit)
    if maxsplit < 0:
        return text.split()
    # What is left after the last split is a piece of its own, also if it is empty.
    pieces: list[bytes] = []
    rest = text.lstrip()
    while rest:
        piece, *tail = rest.split(None, 1)
        pieces.append(piece)
        rest = tail[0] if tail else b""
        if len(pieces) == maxsplit:
            return [*pieces, rest]
    return pieces


def _split_kernel(
    xp: ArrayNamespace, x: Array, separator: Any, *, maxsplit: int
) -> tuple[Array, ...]:
    cut = bytes(as_array(separator)[()])
    if (cut or maxsplit < 0) and packed.pays(x.size, "making"):
        found = making.parts(x, cut, maxsplit) if cut else making.words(x)
        if found is not None:
            return *found[:2], np.array([len(x), found[2]], np.int64)
    return _as_sparse(xp, [_pieces(text, cut, maxsplit) for text in x.tolist()])


def _split_infer(x: TensorSpec, separator: TensorSpec, *, maxsplit: int) -> tuple[TensorSpec, ...]:
    rules.check_rank("strings.split", separator, 0, name="sep")
    return _sparse_infer(x)


split_op = define_op(
    "StringSplitV2",
    args("input sep", STRING),
    infer=_split_infer,
    kernel=_split_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
)


def split(
    input: TensorLike,
    sep: TensorLike | None = None,
    maxsplit: TensorLike = -1,
    name: str | None = None,
) -> Any:
    """The pieces of each string between separators; without one, between white space.

    One string gives a vector of pieces, several a ragged tensor with a row for each.

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.
      sep: the separator, a string scalar; None or "" means any white space.
      maxsplit: how often each is cut at most, a Python integer; -1 means no limit.

    Returns:
      A `tf.RaggedTensor` of strings with one axis more than `input`; a vector for a scalar.

    Raises:
      DTypeError: if `input` does not hold strings.
      ShapeError: if `sep` is no scalar.
      ValueError: if the rank is not known while tracing.

    >>> tf.strings.split(["hello world", "a b c"]).to_list()
    [[b'hello', b'world'], [b'a', b'b', b'c']]
    """
    most = static.static_int("strings.split", maxsplit, "maxsplit")
    separator = string_tensor(b"" if sep is None else sep)

    def rows(x: Tensor) -> tuple[RaggedTensor]:
        indices, pieces, shape = split_op(x, separator, maxsplit=most, name=name)
        made = RaggedTensor.from_value_rowids(pieces, indices[:, 0], shape[0], validate=False)
        return (made,)

    return rows_of_strings("strings.split", input, rows)[0]


def _bytes_kernel(xp: ArrayNamespace, x: Array) -> tuple[Array, ...]:
    # The same as splitting at nothing, which is how TensorFlow's op of that name is called.
    if packed.pays(x.size, "making"):
        found = making.single_bytes(x)
        if found is not None:
            return *found[:2], np.array([len(x), found[2]], np.int64)
    return _as_sparse(xp, [[text[i : i + 1] for i in range(len(text))] for text in x.tolist()])


bytes_split_op = define_op(
    "StringBytesSplit",
    args("input", STRING),
    infer=_sparse_infer,
    kernel=_bytes_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
    graphdef=composed_graph_forms.bytes_split,
)


def bytes_split(input: TensorLike, name: str | None = None) -> Any:
    """The bytes of each string.

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.

    Returns:
      A `tf.RaggedTensor` of strings of one byte, with one axis more than `input`; a vector for a
      scalar.

    Raises:
      DTypeError: if `input` does not hold strings.
      ValueError: if the rank is not known while tracing.

    >>> tf.strings.bytes_split(["hi", ""]).to_list()
    [[b'h', b'i'], []]
    """

    def rows(x: Tensor) -> tuple[RaggedTensor]:
        indices, pieces, shape = bytes_split_op(x, name=name)
        made = RaggedTensor.from_value_rowids(pieces, indices[:, 0], shape[0], validate=False)
        return (made,)

    return rows_of_strings("strings.bytes_split", input, rows)[0]


# --- n-grams -----------------------------------------------------------------------------------


def _ngrams_infer(data: TensorSpec, splits: TensorSpec, **_: Any) -> tuple[TensorSpec, ...]:
    rules.check_rank("strings.ngrams", data, 1, name="data")
    rules.check_rank("strings.ngrams", splits, 1, name="data_splits")
    return TensorSpec.of(string, (Dim(),)), splits


def _ngrams_kernel(
    xp: ArrayNamespace,
    data: Array,
    splits: Array,
    *,
    separator: str,
    ngram_widths: tuple[int, ...],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Array, Array]:
    width = ngram_widths[0] if len(ngram_widths) == 1 and not preserve_short_sequences else 0
    is_bare = width == 1 or (width > 1 and pad_width == 0)
    if is_bare and _are_rows(splits, len(data)) and packed.pays(len(data)):
        return in_bulk.neighbours(data, splits, width, separator.encode())
    tokens, ends = data.tolist(), splits.tolist()
    if ends and (ends[0] != 0 or ends[-1] != len(tokens) or ends != sorted(ends)):
        raise InvalidArgumentError(
            None, None,
            "StringNGrams: data_splits must ascend from 0 to the number of strings, "
            f"{len(tokens)}, got {ends}.",
        )  # fmt: skip
    join = separator.encode().join
    left, right = [left_pad.encode()], [right_pad.encode()]
    out: list[bytes] = []
    new_splits = [0] if ends else []
    for start, stop in itertools.pairwise(ends):
        row, found = tokens[start:stop], len(out)
        for width in ngram_widths:
            pad = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            padded = left * pad + row + right * pad
            out += [join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if preserve_short_sequences and row and len(out) == found:
            pad = max(pad_width, 0)
            out.append(join(left * pad + row + right * pad))
        new_splits.append(len(out))
    return xp.as_strings(out, (len(out),)), np.array(new_splits, splits.dtype)


def _are_rows(splits: Array, count: int) -> bool:
    """Whether splits ascend from 0 to the number of strings."""
    is_whole = bool(len(splits)) and splits[0] == 0 and splits[-1] == count
    return is_whole and bool((splits[1:] >= splits[:-1]).all())


ngrams_op = define_op(
    "StringNGrams",
    args("data", STRING) + args("data_splits", INDEX),
    infer=_ngrams_infer,
    kernel=_ngrams_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=2,
    fresh=True,
)


def ngrams(
    data: TensorLike,
    ngram_width: TensorLike,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: Any = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbours along the last axis joined, `ngram_width` at a time (or of several widths).

    Args:
      data: strings, a tensor of rank 1 or more or a ragged tensor.
      ngram_width: how many are joined, an integer of at least 1, or a list of them.
      separator: a Python string that stands between them.
      pad_values: a string, or two of them, that are put before and behind each row; None means
        none.
      padding_width: how many are put there, at most one less than the width; None means as many.
      preserve_short_sequences: whether a row that is too short for any n-gram is joined as a whole.

    Returns:
      A string tensor of the rank of `data`; ragged if `data` is.

    Raises:
      ValueError: if a width is below 1, or `pad_values` is missing or not one or two strings.
      ShapeError: if `data` is a scalar.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy()
    array([b'a b', b'b c'], dtype=object)
    """
    x = data if isinstance(data, RaggedTensor) else string_tensor(data)
    attrs = {
        "separator": text_argument("strings.ngrams", separator, "separator"),
        "ngram_widths": _widths(ngram_width),
        **_padding(pad_values, padding_width),
        "preserve_short_sequences": bool(preserve_short_sequences),
    }
    if isinstance(x, RaggedTensor):
        return _ragged_ngrams(x, attrs, name)
    return _dense_ngrams(x, attrs, name)


def _dense_ngrams(x: Tensor, attrs: dict[str, Any], name: str | None) -> Tensor:
    """Rows of one length have equally many n-grams, so the result is a tensor too."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError("strings.ngrams: the rank of data must be known while tracing.")
    if rank == 0:
        raise ShapeError("strings.ngrams: data must have at least one axis, got a scalar.")
    shape = shapes.shape_op(x, out_type=int64)
    count = products.reduce_prod(shape[:-1])
    splits = ranges.range(count + 1, dtype=int64) * shape[-1]
    flat, ends = ngrams_op(shapes.reshape(x, [-1]), splits, name=name, **attrs)
    if rank == 1:
        return flat
    width = ends[-1] // arithmetic.maximum(count, 1)
    return shapes.reshape(flat, joining.concat([shape[:-1], shapes.expand_dims(width, 0)], 0))


def _ragged_ngrams(x: RaggedTensor, attrs: dict[str, Any], name: str | None) -> RaggedTensor:
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_ragged_ngrams(x.values, attrs, name))
    if x.values.shape.rank != 1:
        return x.with_values(_dense_ngrams(x.values, attrs, name))
    return RaggedTensor._of(*ngrams_op(x.values, x.row_splits, name=name, **attrs))


def _widths(value: Any) -> tuple[int, ...]:
    found = static.static_ints("strings.ngrams", value, "ngram_width")
    widths = (found,) if isinstance(found, int) else tuple(found or ())
    if any(width < 1 for width in widths):
        raise ValueError(f"strings.ngrams: ngram_width must be at least 1, got {value!r}.")
    return widths


def _padding(pad_values: TensorLike, padding_width: TensorLike) -> dict[str, Any]:
    if pad_values is None:
        if padding_width is not None:
            raise ValueError("strings.ngrams: padding_width needs pad_values to pad with.")
        return {"left_pad": "", "right_pad": "", "pad_width": 0}
    pair = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if len(pair) != 2:
        raise ValueError(
            f"strings.ngrams: pad_values must be a string or two of them, got {pad_values!r}."
        )
    left, right = [text_argument("strings.ngrams", pad, "pad_values") for pad in pair]
    width = -1
    if padding_width is not None:
        width = static.static_int("strings.ngrams", padding_width, "padding_width")
        if width < 1:
            raise ValueError(f"strings.ngrams: padding_width must be at least 1, got {width}.")
    return {"left_pad": left, "right_pad": right, "pad_width": width}
