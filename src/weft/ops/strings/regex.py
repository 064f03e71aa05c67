r"""Regular expressions.

TensorFlow's are those of RE2. They are run by Python's `re` after a translation of what is written
differently; what only one of the two knows (looking ahead, references to groups, ``\pL``) is an
error.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import STRING
from weft.core.specs import TensorSpec
from weft.core.tensor import Array, Tensor
from weft.errors import InvalidArgumentError
from weft.ops import rules
from weft.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft.ops.strings.elements import as_array, mapped, string_tensor

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_TOKEN = re.compile(
    r"""
      \\Q (?P<literal> .*?) (?: \\E | \Z)   # text between \Q and \E stands for itself
    | \\x \{ (?P<code> [0-9a-fA-F]+ ) \}
    | \\ (?P<escape> .)
    | \[: (?P<posix> \w+) :\]
    | (?P<look> \( \? <? [=!] | \( \? < )
    | (?P<plain> .)
    """,
    re.VERBOSE | re.DOTALL,
)


@functools.lru_cache(256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    try:
        return re.compile(_translated(_decode(pattern)), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(
            None, None, f"The regular expression {pattern!r} is not valid: {error}."
        ) from None


def _translated(pattern: str) -> str:
    out: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(pattern):
        text, kind = token.group(), token.lastgroup
        if kind == "literal":
            text = re.escape(token["literal"])
        elif kind == "escape":
            text = _translated_escape(token["escape"], text, in_class)
        elif kind == "posix" and in_class:
            if token["posix"] not in _POSIX:
                raise re.error(f"unknown class {text}")
            text = _POSIX[token["posix"]]
        elif kind == "code":
            text = re.escape(chr(int(token["code"], 16)))
        elif kind == "look" and not in_class:
            raise re.error(f"{text} (looking ahead or behind) is not supported")
        elif text == "[" and not in_class:
            in_class = True
        elif text == "[":
            text = "\\["
        elif text == "]" and in_class and out[-1] not in ("[", "[^"):
            in_class = False
        elif text == "^" and in_class and out[-1] == "[":
            out.pop()
            text = "[^"
        elif text == "$" and not in_class:
            text = "(?-m:$(?!\\n))" if "(?m" not in pattern else text
        out.append(text)
    return "".join(out)


def _translated_escape(letter: str, text: str, in_class: bool) -> str:
    if letter == "z" and not in_class:
        return "\\Z"
    if letter in "pPCXGZ" or (letter in "123456789" and not in_class):
        raise re.error(f"{text} is not supported")
    return text


def _decode(s: bytes) -> str:
    # Bytes that are no UTF-8 are kept, each as a character of its own.
    return s.decode("utf-8", "surrogateescape")


def _encode(s: str) -> bytes:
    return s.encode("utf-8", "surrogateescape")


def _scalar(op: str, spec: TensorSpec, name: str) -> None:
    rules.check_rank(op, spec, 0, name=name)


def _item(x: Any) -> bytes:
    return as_array(x).reshape(-1)[0]


def _full_match_infer(x: TensorSpec, pattern: TensorSpec) -> TensorSpec:
    _scalar("regex_full_match", pattern, "pattern")
    return x.with_dtype(dtypes.bool_)


def _full_match_kernel(xp: Any, x: Any, pattern: Any) -> Array:
    x = as_array(x)
    fullmatch = _compiled(_item(pattern)).fullmatch
    found = [fullmatch(_decode(s)) is not None for s in x.reshape(-1).tolist()]
    return xp.array(found, np.bool_).reshape(x.shape)


full_match_op = define_op(
    "RegexFullMatch",
    args("input pattern", STRING),
    infer=_full_match_infer,
    kernel=_full_match_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    r"""Whether the pattern matches the whole string, for each string.

    >>> tf.strings.regex_full_match(["tf.add", "tf"], r"tf\.\w+").numpy()
    array([ True, False])
    """
    return full_match_op(string_tensor(input), string_tensor(pattern), name=name)


_REWRITE = re.compile(r"\\(?:(\d)|(\\)|(.?))", re.DOTALL)


def _template(rewrite: str, groups: int) -> list[str | int]:
    """The parts of a replacement: text, and numbers of groups (0 is the whole match)."""
    parts: list[str | int] = []
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
        parts += [rewrite[end : escape.start()], "\\" if backslash else int(digit)]
        end = escape.end()
    return [*parts, rewrite[end:]]


def _replace_infer(
    x: TensorSpec, pattern: TensorSpec, rewrite: TensorSpec, *, replace_global: bool
) -> TensorSpec:
    _scalar("regex_replace", pattern, "pattern")
    _scalar("regex_replace", rewrite, "rewrite")
    return x


def _replace_kernel(xp: Any, x: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Array:
    regex = _compiled(_item(pattern))
    template = _template(_decode(_item(rewrite)), regex.groups)

    def replaced(s: bytes) -> bytes:
        text = _decode(s)
        parts: list[str] = []
        end, last = 0, -1
        for match in regex.finditer(text):
            start, stop = match.span()
            if start == stop == last:
                continue  # nothing matched right behind a match
            parts.append(text[end:start])
            parts += [part if isinstance(part, str) else match[part] or "" for part in template]
            end = last = stop
            if not replace_global:
                break
        return _encode("".join([*parts, text[end:]]))

    return mapped(xp, replaced, x)


replace_op = define_op(
    "RegexReplace",
    args("input pattern rewrite", STRING),
    infer=_replace_infer,
    kernel=_replace_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Strings with what matches the pattern replaced; ``\1`` in `rewrite` is the first group.

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
