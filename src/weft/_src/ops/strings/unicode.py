"""Unicode: strings to code points and back, and from one encoding to another."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.dtypes import INDEX, STRING, DType, int32, int64, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import ArgumentError, ShapeError
from weft._src.ops import graph_forms, rules, static
from weft._src.ops.arrays import ranges, shape as shapes
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.reduce import products
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.strings import packed
from weft._src.ops.strings.code_points import (
    codec_of,
    decoded,
    decoded_in_bulk,
    encoded,
    encoded_in_bulk,
)
from weft._src.ops.strings.elements import text_argument
from weft._src.ops.strings.ragged import rows_of_strings

OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_ERRORS = ("replace", "strict", "ignore")
REPLACEMENT = 65533


# --- decoding ----------------------------------------------------------------------------------


def _decode_infer(x: TensorSpec, *, splits_dtype: DType, **_: Any) -> tuple[TensorSpec, ...]:
    rules.check_rank("unicode_decode", x, 1, name="input")
    count = Dim()
    rows = Dim() if x.dims is None or isinstance(x.dims[0], Dim) else x.dims[0] + 1
    return (
        TensorSpec.of(splits_dtype, (rows,)),
        TensorSpec.of(int32, (count,)),
        TensorSpec.of(int64, (count,)),
    )


def _decode_kernel(
    xp: ArrayNamespace,
    x: Array,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    splits_dtype: DType,
) -> tuple[Array, ...]:
    codec = codec_of(input_encoding)
    if packed.pays(x.size) and not replace_control_characters:
        found = decoded_in_bulk(packed.pack(x), codec)
        if found is not None:
            splits = np.concatenate([[0], np.cumsum(found[2])])
            return splits.astype(splits_dtype.numpy_dtype), found[0], found[1]
    rows = [
        decoded(text, codec, errors, replacement_char, replace_control_characters)
        for text in x.tolist()
    ]
    splits = np.cumsum([0, *[len(points) for points, _ in rows]])
    points = [point for row, _ in rows for point in row]
    starts = [start for _, row in rows for start in row]
    return (
        splits.astype(splits_dtype.numpy_dtype),
        np.array(points, np.int32),
        np.array(starts, np.int64),
    )


decode_op = define_op(
    "UnicodeDecodeWithOffsets",
    args("input", STRING),
    infer=_decode_infer,
    kernel=_decode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    graphdef=graph_forms.as_op("UnicodeDecodeWithOffsets", splits_dtype="Tsplits"),
    fresh=True,
)


def options(op: str, errors: str, replacement_char: Any) -> dict[str, Any]:
    if not isinstance(errors, str) or errors not in _ERRORS:
        raise ValueError(f"{op}: errors must be one of {_ERRORS}, got {errors!r}.")
    replacement = static.static_int(op, replacement_char, "replacement_char")
    if not 0 <= replacement <= 0x10FFFF or 0xD800 <= replacement <= 0xDFFF:
        raise ValueError(f"{op}: replacement_char must be a Unicode character, got {replacement}.")
    return {"errors": errors, "replacement_char": replacement}


def decode(
    op: str,
    input: Any,
    encoding: str,
    errors: str,
    replacement: TensorLike,
    controls: Any,
    name: Any,
) -> list[Any]:
    """Code points and byte offsets, ragged like the input."""
    attrs = {
        "input_encoding": text_argument(op, encoding, "input_encoding"),
        **options(op, errors, replacement),
        "replace_control_characters": bool(controls),
    }
    codec_of(attrs["input_encoding"])

    def rows(x: Tensor) -> tuple[RaggedTensor, ...]:
        splits, points, starts = decode_op(x, splits_dtype=int64, name=name, **attrs)
        return RaggedTensor._of(points, splits), RaggedTensor._of(starts, splits)

    return rows_of_strings(op, input, rows)


def unicode_decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    r"""The code points of each string.

    Bytes that are not valid are replaced, ignored, or an error ("strict").

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.
      input_encoding: the name of their encoding, such as "UTF-8".
      errors: what to do with what is not valid: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is not valid.
      replace_control_characters: whether control characters count as not valid.

    Returns:
      A `tf.RaggedTensor` of int32 with one axis more than `input`; a vector for a scalar.

    Raises:
      InvalidArgumentError: if the encoding is not known, or in mode "strict" a string is not valid.
      ValueError: if there is no such mode, or `replacement_char` is no character.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.unicode_decode(["hi", "\u00f6"], "UTF-8").to_list()
    [[104, 105], [246]]
    """
    return decode(
        "unicode_decode",
        input,
        input_encoding,
        errors,
        replacement_char,
        replace_control_characters,
        name,
    )[0]


def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    r"""The code points of each string, and at which byte each begins.

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.
      input_encoding: the name of their encoding, such as "UTF-8".
      errors: what to do with what is not valid: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is not valid.
      replace_control_characters: whether control characters count as not valid.

    Returns:
      Two ragged tensors with one axis more than `input`, vectors for a scalar: code points (int32),
      and numbers of bytes (int64).

    Raises:
      InvalidArgumentError: if the encoding is not known, or in mode "strict" a string is not valid.
      ValueError: if there is no such mode, or `replacement_char` is no character.
      DTypeError: if `input` does not hold strings.

    >>> points, starts = tf.strings.unicode_decode_with_offsets(["\u00f6!"], "UTF-8")
    >>> points.to_list(), starts.to_list()
    ([[246, 33]], [[0, 2]])
    """
    points, starts = decode(
        "unicode_decode_with_offsets",
        input,
        input_encoding,
        errors,
        replacement_char,
        replace_control_characters,
        name,
    )
    return points, starts


# --- encoding ----------------------------------------------------------------------------------


def _encode_infer(points: TensorSpec, splits: TensorSpec, **_: Any) -> TensorSpec:
    rules.check_rank("unicode_encode", points, 1, name="input")
    rules.check_rank("unicode_encode", splits, 1, name="input_splits")
    known = None if splits.dims is None else splits.dims[0]
    if known == 0:
        raise ShapeError("unicode_encode: input_splits must begin with 0, but it is empty.")
    return TensorSpec.of(string, (known - 1 if isinstance(known, int) else Dim(),))


def _encode_kernel(
    xp: ArrayNamespace,
    points: Array,
    splits: Array,
    *,
    output_encoding: str,
    errors: str,
    replacement_char: int,
) -> Array:
    codec = OUTPUTS[output_encoding]
    if packed.pays(len(splits)) and _are_splits(splits, len(points)):
        found = encoded_in_bulk(points, np.diff(splits), codec)
        if found is not None:
            return found.strings((len(splits) - 1,))
    numbers, ends = points.tolist(), splits.tolist()
    texts = [
        encoded(numbers[a:b], codec, errors, replacement_char) for a, b in itertools.pairwise(ends)
    ]
    return xp.as_strings(texts, (len(texts),))


def _are_splits(splits: Array, count: int) -> bool:
    """Whether these divide all of so many elements into rows."""
    return bool(splits[0] == 0 and splits[-1] == count and (np.diff(splits) >= 0).all())


encode_op = define_op(
    "UnicodeEncode",
    args("input_values", frozenset({int32})) + args("input_splits", INDEX),
    infer=_encode_infer,
    kernel=_encode_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def output_encoding_of(op: str, encoding: str) -> str:
    if not isinstance(encoding, str) or encoding not in OUTPUTS:
        raise ArgumentError(
            f"{op}: output_encoding must be one of {tuple(OUTPUTS)}, got {encoding!r}."
        )
    return str(encoding)


def unicode_encode(
    input: TensorLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    r"""The strings that rows of code points spell; the last axis is the one that goes.

    Args:
      input: code points, int32: a tensor of rank 1 or more, or a ragged tensor.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with what is no character: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is no character.

    Returns:
      A string tensor without the last axis of `input`; ragged if more of its axes are.

    Raises:
      InvalidArgumentError: if in mode "strict" a number is no character.
      ValueError: if there is no such mode or encoding, or `replacement_char` is no character.
      ShapeError: if `input` is a scalar.

    >>> tf.strings.unicode_encode([[71, 246, 100], [33, 33, 33]], "UTF-8").numpy()
    array([b'G\xc3\xb6d', b'!!!'], dtype=object)
    """
    attrs = {
        "output_encoding": output_encoding_of("unicode_encode", output_encoding),
        **options("unicode_encode", errors, replacement_char),
    }
    if isinstance(input, RaggedTensor):
        return _encode_ragged(input, attrs, name)
    x = of_dtype("unicode_encode", input, int32, "input")
    rank = x.shape.rank
    if rank is None:
        raise ValueError("unicode_encode: the rank of input must be known while tracing.")
    if rank == 0:
        raise ShapeError("unicode_encode: input must have at least one axis, got a scalar.")
    shape = shapes.shape_op(x, out_type=int64)
    outer = shape[:-1]
    splits = ranges.range(products.reduce_prod(outer) + 1, dtype=int64) * shape[-1]
    strings = encode_op(shapes.reshape(x, [-1]), splits, name=name, **attrs)
    return shapes.reshape(strings, outer)


def _encode_ragged(x: RaggedTensor, attrs: dict[str, Any], name: str | None) -> Any:
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_encode_ragged(x.values, attrs, name))
    if x.values.shape.rank != 1:
        return x.with_values(unicode_encode(x.values, name=name, **attrs))
    return encode_op(convert_to_tensor(x.values, dtype=int32), x.row_splits, name=name, **attrs)
