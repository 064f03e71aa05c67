r"""Regular expressions: those of RE2, which takes a time that grows with the text only.

Three engines run them: machine code for many strings (`pattern_search`), Python's `re` for simple
ones (`simple_patterns`), which is faster than a call of RE2 for each string, and RE2.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import STRING
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.ops import batching, rules
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings import pattern_search
from weft._src.ops.strings.elements import as_array, string_tensor
from weft._src.ops.strings.re2_patterns import Template, re2_pattern
from weft._src.ops.strings.simple_patterns import simple_pattern


def _scalar(op: str, spec: TensorSpec, name: str) -> None:
    rules.check_rank(op, spec, 0, name=name)


def _item(x: Any) -> bytes:
    return as_array(x).reshape(-1)[0]


def _full_match_infer(x: TensorSpec, pattern: TensorSpec) -> TensorSpec:
    _scalar("regex_full_match", pattern, "pattern")
    return x.with_dtype(dtypes.bool_)


def _full_match_kernel(xp: ArrayNamespace, x: Any, pattern: Any) -> Array:
    x = as_array(x)
    searched = pattern_search.full_matches(x, _item(pattern))
    if searched is not None:
        return searched
    strings = x.reshape(-1).tolist()
    simple = simple_pattern(_item(pattern))
    found = None if simple is None else simple.full_matches(strings)
    if found is None:
        found = re2_pattern(_item(pattern)).full_matches(strings)
    return xp.array(found, np.bool_).reshape(x.shape)


full_match_op = define_op(
    "RegexFullMatch",
    args("input pattern", STRING),
    infer=_full_match_infer,
    kernel=_full_match_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    ragged="elementwise",
    batch=batching.first_only,
)


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    r"""Whether the pattern matches the whole string, for each string.

    Args:
      input: a tensor of strings.
      pattern: a regular expression, a string scalar.

    Returns:
      A bool tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if the pattern is not valid.
      ShapeError: if it is no scalar.

    >>> tf.strings.regex_full_match(["tf.add", "tf"], r"tf\.\w+").numpy()
    array([ True, False])
    """
    return full_match_op(string_tensor(input), string_tensor(pattern), name=name)


_REWRITE = re.compile(rb"\\(?:(\d)|(\\)|(.?))", re.DOTALL)


def _template(rewrite: bytes, groups: int) -> Template:
    """The parts of a replacement: text, and numbers of groups (0 is the whole match)."""
    parts: Template = []
    end = 0
    for escape in _REWRITE.finditer(rewrite):
        digit, backslash, other = escape.groups()
        if other is not None or (digit and int(digit) > groups):
            raise InvalidArgumentError(
                None,
                None,
                f"regex_replace: {escape.group()!r} in rewrite {rewrite!r} is no group of the "
                f"pattern, which has {groups}. A backslash is written twice.",
            )
        parts += [rewrite[end : escape.start()], b"\\" if backslash else int(digit)]
        end = escape.end()
    return [part for part in [*parts, rewrite[end:]] if part != b""]


def _replace_infer(
    x: TensorSpec, pattern: TensorSpec, rewrite: TensorSpec, *, replace_global: bool
) -> TensorSpec:
    _scalar("regex_replace", pattern, "pattern")
    _scalar("regex_replace", rewrite, "rewrite")
    return x


def _replace_kernel(
    xp: ArrayNamespace, x: Any, pattern: Any, rewrite: Any, *, replace_global: bool
) -> Array:
    x = as_array(x)
    pattern, rewrite = _item(pattern), _item(rewrite)
    simple = simple_pattern(pattern)
    template = _template(rewrite, (simple or re2_pattern(pattern)).groups)
    searched = pattern_search.replaced(x, pattern, template, replace_global)
    if searched is not None:
        return searched
    strings = x.reshape(-1).tolist()
    out = None
    if simple is not None and rewrite.isascii() and b"\n" not in rewrite:
        parts = [part.decode() if isinstance(part, bytes) else part for part in template]
        out = simple.replaced(strings, parts, replace_global)
    if out is None:
        out = re2_pattern(pattern).replaced(strings, template, replace_global)
    return xp.as_strings(out, x.shape)


replace_op = define_op(
    "RegexReplace",
    args("input pattern rewrite", STRING),
    infer=_replace_infer,
    kernel=_replace_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
    ragged="elementwise",
    batch=batching.first_only,
)


def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Strings with what matches the pattern replaced; ``\1`` in `rewrite` is the first group.

    Args:
      input: a tensor of strings.
      pattern: a regular expression, a string scalar.
      rewrite: what stands instead, a string scalar; ``\0`` is all that matches.
      replace_global: whether all matches are replaced; if not, the first one in each string.

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: if the pattern is not valid, or `rewrite` names a group it does not
        have.
      ShapeError: if pattern or rewrite is no scalar.

    >>> tf.strings.regex_replace(
    ...     ["Text with tags.<br /><b>contains html</b>"], "<[^>]+>", " "
    ... ).numpy()
    array([b'Text with tags.  contains html '], dtype=object)
    """
    return replace_op(
        string_tensor(input),
        string_tensor(pattern),
        string_tensor(rewrite),
        replace_global=bool(replace_global),
        name=name,
    )
