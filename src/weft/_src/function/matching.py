"""Recognises a call like the one before: code written for one kind of arguments.

Programs call a function in a loop, with arguments of one kind. Making a key of them and looking it
up costs 0.4 us a tensor in containers; code that knows what to expect takes 0.15 us. For `f(d, 3)`
with `d = {"a": x}` it reads

    def match(args, kwargs):
        try:
            v0, v1 = args
            if type(v0) is not dict or len(v0) != 1: return None
            v2 = v0['a']
            if type(v2) is not EagerTensor: return None
            v2 = v2._value
            if v2.dtype is not c0 or v2.shape != c1: return None
            if type(v1) is not int or v1 != c2: return None
            if kwargs: return None
        except (ValueError, KeyError, AttributeError):
            return None
        return [v2]

and gives the leaves that `keys.VALUES` would collect, None if its key might be another one. So it
need not know all kinds of arguments: what it does not know is left to keys.

Hot path: the code that is made here.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.convert import array_from
from weft._src.core.tensor import EagerTensor
from weft._src.function.keys import VALUES
from weft._src.function.signature import P, Parameters
from weft._src.state.variable import Variable

Arrangement = Callable[[list[Any]], list[Any]]
Matcher = Callable[[tuple[Any, ...], dict[str, Any]], "list[Any] | None"]

# Parameters that no positional argument of its own belongs to.
_FROM_STAR = (P.VAR_POSITIONAL, P.KEYWORD_ONLY, P.VAR_KEYWORD)

# Code is written when a key has come so often without another one between; and twice as often
# for each time that code was replaced, as it takes about 0.2 ms to write.
FIRST_REPEATS = 64


class _NoMatcher(Exception):  # noqa: N818 - says that there is none, no error
    """Arguments of a kind that only keys know."""


class _Code:
    """The text of a matcher, and the objects it compares with."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "EagerTensor": EagerTensor,
            "Variable": Variable,
            "ndarray": np.ndarray,
            "array_from": array_from,
        }
        self.leaves: list[str] = []
        self._count = 0

    def new(self) -> str:
        """The name of a value that the code looks at."""
        self._count += 1
        return f"v{self._count}"

    def constant(self, value: Any) -> str:
        """The name of something to compare with."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def refuse_if(self, condition: str) -> None:
        """Another kind of arguments: the matcher says so."""
        self.lines.append(f"if {condition}: return None")

    def unpack(self, whole: str, values: Any) -> None:
        """The items of a tuple or list, of which there must be as many."""
        parts = [self.new() for _ in values]
        self.lines.append(f"[{', '.join(parts)}] = {whole}")
        for part, value in zip(parts, values, strict=True):
            self.expect(part, value)

    def look_up(self, whole: str, values: dict[Any, Any], names: Any) -> None:
        """The items of a dict, by name; that there are no others has been checked."""
        for name in names:
            if type(name) is not str:
                raise _NoMatcher
            part = self.new()
            self.lines.append(f"{part} = {whole}[{name!r}]")
            self.expect(part, values[name])

    def expect(self, part: str, value: Any) -> None:
        """Code that refuses what is not of the kind of a value, and collects its leaves."""
        kind = type(value)
        if kind is EagerTensor and type(value._value) is np.ndarray:
            self.refuse_if(f"type({part}) is not EagerTensor")
            self._array(part, f"{part}._value", value._value)
        elif kind is np.ndarray:
            self.refuse_if(f"type({part}) is not ndarray")
            self._array(part, f"array_from({part})", array_from(value))
        elif kind is Variable:
            self.refuse_if(f"{part} is not {self.constant(weakref.ref(value))}()")
            self.lines.append(f"{part} = {part}._handle._value")
            self.leaves.append(part)
        elif value is None or kind is bool:
            self.refuse_if(f"{part} is not {value}")
        elif kind in (int, str, bytes) or (kind is float and value and value == value):  # noqa: PLR0124
            self.refuse_if(
                f"type({part}) is not {kind.__name__} or {part} != {self.constant(value)}"
            )
        elif kind is list or kind is tuple:
            self.refuse_if(f"type({part}) is not {kind.__name__}")
            self.unpack(part, value)
        elif kind is dict:
            self.refuse_if(f"type({part}) is not dict or len({part}) != {len(value)}")
            try:
                names = sorted(value)
            except TypeError:
                raise _NoMatcher from None
            self.look_up(part, value, names)
        else:
            raise _NoMatcher

    def _array(self, part: str, found: str, value: Any) -> None:
        dtype, shape = self.constant(value.dtype), self.constant(value.shape)
        self.lines.append(f"{part} = {found}")
        self.refuse_if(f"{part}.dtype is not {dtype} or {part}.shape != {shape}")
        self.leaves.append(part)


def matcher_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Matcher | None:
    """A function that recognises calls with arguments of these kinds, None if there is none.

    Args:
      args: the positional arguments of a call.
      kwargs: the others; leaves come in the order that these have here.
    """
    code = _Code()
    try:
        code.unpack("args", args)
        code.refuse_if(f"len(kwargs) != {len(kwargs)}" if kwargs else "kwargs")
        code.look_up("kwargs", kwargs, kwargs)
    except _NoMatcher:
        return None
    body = "\n".join([f"        {line}" for line in code.lines])
    text = (
        f"def match(args, kwargs):\n    try:\n{body}\n"
        "    except (ValueError, KeyError, AttributeError):\n        return None\n"
        f"    return [{', '.join(code.leaves)}]\n"
    )
    exec(compile(text, "<a call like the one before>", "exec"), code.names)
    match: Matcher = code.names["match"]
    return match


def arrangement_of(
    parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Arrangement | None:
    """From the leaves of arguments as they were given to those of the parameters, in order.

    Keyword arguments come in any order, and defaults are not given; None if nothing changes.
    """
    position = {p.name: i for i, p in enumerate(parameters.parameters)}
    last = len(position)
    # What `*args` and `**kwargs` collect stands at one place, in order.
    starred = next((i for i, p in enumerate(parameters.parameters) if p.kind in _FROM_STAR), last)
    named: list[tuple[tuple[int, Any], Any]] = [
        ((min(i, starred), i), value) for i, value in enumerate(args)
    ]
    named += [((position.get(name, last), name), value) for name, value in kwargs.items()]
    given = parameters.signature.bind_partial(*args, **kwargs).arguments
    left_out = [
        ((position[p.name], 0), p.default)
        for p in parameters.parameters
        if p.name not in given and p.default is not P.empty
    ]
    slices: list[tuple[Any, list[int]]] = []
    leaves: list[Any] = []
    given_leaves = 0
    for where, value in [*named, *left_out]:
        before = len(leaves)
        VALUES.encode(value, leaves)
        slices.append((where, list(range(before, len(leaves)))))
        if len(slices) == len(named):
            given_leaves = len(leaves)
    order = [i for _, indices in sorted(slices, key=lambda s: s[0]) for i in indices]
    more = leaves[given_leaves:]
    if more:
        return lambda found: [(found + more)[i] for i in order]
    if order == list(range(len(order))):
        return None
    return lambda found: [found[i] for i in order]
