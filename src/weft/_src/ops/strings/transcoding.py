"""Strings in another encoding, and their characters one by one."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import STRING, int64
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import rules
from weft._src.ops.arrays import ranges, shape as shapes
from weft._src.ops.ragged import elementwise
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings import packed, unicode
from weft._src.ops.strings.code_points import (
    codec_of,
    decoded,
    decoded_in_bulk,
    encoded,
    encoded_in_bulk,
)
from weft._src.ops.strings.elements import as_array, mapped, string_tensor, text_argument


def _transcode_kernel(
    xp: ArrayNamespace,
    x: Any,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Array:
    source, target = codec_of(input_encoding), unicode.OUTPUTS[output_encoding]

    def transcode(text: bytes) -> bytes:
        points, _ = decoded(text, source, errors, replacement_char, replace_control_characters)
        return encoded(points, target, errors, replacement_char)

    x = as_array(x)
    if source == "utf-8" and x.size < packed.WORTH_PACKING and not replace_control_characters:
        try:  # a few that are valid, as they mostly are
            made = [str(text, "utf-8").encode(target) for text in x.reshape(-1).tolist()]
            return xp.as_strings(made, x.shape)
        except UnicodeDecodeError:
            return mapped(xp, transcode, x)
    if packed.pays(x.size) and not replace_control_characters:
        found = decoded_in_bulk(packed.pack(x), source)
        out = None if found is None else encoded_in_bulk(found[0], found[2], target)
        if out is not None:
            return out.strings(x.shape)
    return mapped(xp, transcode, x)


transcode_op = define_op(
    "UnicodeTranscode",
    args("input", STRING),
    infer=rules.same,
    kernel=_transcode_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    trusts_kernel=True,
    fresh=True,
    elementwise=True,
)


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = unicode.REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    r"""Strings in another encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".

    Args:
      input: a tensor of strings.
      input_encoding: the name of the encoding they have, any that Python knows.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what to do with what is not valid: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is not valid.
      replace_control_characters: whether control characters count as not valid.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if the encoding is not known, or in mode "strict" a string is not valid.
      ValueError: if there is no such mode or output encoding, or `replacement_char` is no
        character.

    >>> tf.strings.unicode_transcode(["hi"], "UTF-8", "UTF-16-BE").numpy()
    array([b'\x00h\x00i'], dtype=object)
    """
    op = "unicode_transcode"
    source = text_argument(op, input_encoding, "input_encoding")
    codec_of(source)
    return transcode_op(
        string_tensor(input),
        input_encoding=source,
        output_encoding=unicode.output_encoding_of(op, output_encoding),
        **unicode.options(op, errors, replacement_char),
        replace_control_characters=bool(replace_control_characters),
        name=name,
    )


def _characters(
    op: str, input: Any, encoding: str, errors: str, replacement: TensorLike, name: Any
) -> Any:
    target = unicode.output_encoding_of(op, encoding)
    points, starts = unicode.decode(op, input, encoding, errors, replacement, False, name)

    def encode_each(flat: Tensor) -> Tensor:
        splits = ranges.range(shapes.size(flat, out_type=int64) + 1, dtype=int64)
        return unicode.encode_op(
            flat, splits, output_encoding=target, **unicode.options(op, errors, replacement)
        )

    if isinstance(points, RaggedTensor):
        return elementwise.map_flat_values(encode_each, points), starts
    return encode_each(points), starts


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = unicode.REPLACEMENT,
    name: str | None = None,
) -> Any:
    r"""The characters of each string, as strings.

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.
      input_encoding: the name of their encoding, such as "UTF-8".
      errors: what to do with what is not valid: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is not valid.

    Returns:
      A `tf.RaggedTensor` of strings, in the same encoding, with one axis more than `input`; a
      vector for a scalar.

    Raises:
      InvalidArgumentError: if the encoding is not known, or in mode "strict" a string is not valid.
      ValueError: if there is no such mode, or `replacement_char` is no character.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.unicode_split(["hi", "\u00f6!"], "UTF-8").to_list()
    [[b'h', b'i'], [b'\xc3\xb6', b'!']]
    """
    return _characters("unicode_split", input, input_encoding, errors, replacement_char, name)[0]


def unicode_split_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = unicode.REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    r"""The characters of each string, and at which byte each begins.

    Args:
      input: strings, a tensor or ragged tensor of any rank that is known while tracing.
      input_encoding: the name of their encoding, such as "UTF-8".
      errors: what to do with what is not valid: "replace", "ignore", or "strict" for an error.
      replacement_char: the code point that stands for what is not valid.

    Returns:
      Two ragged tensors with one axis more than `input`, vectors for a scalar: the characters, and
      int64 numbers of bytes.

    Raises:
      InvalidArgumentError: if the encoding is not known, or in mode "strict" a string is not valid.
      ValueError: if there is no such mode, or `replacement_char` is no character.
      DTypeError: if `input` does not hold strings.

    >>> characters, starts = tf.strings.unicode_split_with_offsets(["\u00f6!"], "UTF-8")
    >>> starts.to_list()
    [[0, 2]]
    """
    op = "unicode_split_with_offsets"
    characters, starts = _characters(op, input, input_encoding, errors, replacement_char, name)
    return characters, starts
