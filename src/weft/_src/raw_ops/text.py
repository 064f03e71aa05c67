"""Raw ops on strings whose arguments or results have another form than public functions."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.ops.strings.elements import text_argument
from weft._src.ops.strings.splitting import bytes_split_op, split_op


def known_text(op: str, value: Any, name: str) -> str:
    """A text that must be known while tracing; in graphs it is a constant tensor."""
    known = tf.get_static_value(value) if isinstance(value, tf.Tensor) else value
    if known is None:
        raise TypeError(f"{op}: {name} must be known while tracing, got {value!r}.")
    text = known.item() if hasattr(known, "item") else known
    return text_argument(op, text.decode() if isinstance(text, bytes) else text, name)


def fingerprint(data: TensorLike, method: TensorLike, name: str | None = None) -> tf.Tensor:
    return tf.fingerprint(data, known_text("Fingerprint", method, "method"), name)


def split(
    input: TensorLike, delimiter: TensorLike, skip_empty: bool = True, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """At each of the characters of the delimiter; without one, after every byte."""
    x = tf.convert_to_tensor(input, tf.string)
    characters = known_text("StringSplit", delimiter, "delimiter")
    if not characters:
        return bytes_split_op(x, name=name)
    for character in characters[1:]:
        pattern = "".join([f"\\x{byte:02x}" for byte in character.encode()])
        x = tf.strings.regex_replace(x, pattern, characters[0].replace("\\", "\\\\"))
    indices, pieces, shape = split_op(x, tf.constant(characters[0]), maxsplit=-1, name=name)
    # An empty string has no pieces at all.
    filled = pieces if skip_empty else tf.gather(x, indices[:, 0])
    return _with_pieces(indices, pieces, shape, tf.where(tf.strings.length(filled) > 0)[:, 0])


def _with_pieces(
    indices: tf.Tensor, values: tf.Tensor, shape: tf.Tensor, kept: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Some of the pieces, one behind the other in their rows."""
    rows, pieces = tf.gather(indices[:, 0], kept), tf.gather(values, kept)
    counts = tf.math.unsorted_segment_sum(tf.ones_like(rows), rows, shape[0])
    starts = tf.cumsum(counts, exclusive=True)
    columns = tf.range(tf.size(rows, tf.int64)) - tf.gather(starts, rows)
    longest = tf.reduce_max(tf.concat([counts, [0]], 0))
    return tf.stack([rows, columns], 1), pieces, tf.stack([shape[0], longest])


def decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    Tsplits: DTypeLike = tf.int64,
    name: str | None = None,
) -> Any:
    """The splits and the code points."""
    splits, points, _ = tf.raw_ops.UnicodeDecodeWithOffsets(
        input=input,
        input_encoding=input_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        Tsplits=Tsplits,
    )
    return splits, points
