"""`and`, `or`, `not`, `in` and chained comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.autograph.operators.conditional import if_exp
from weft.autograph.operators.state import is_symbolic
from weft.core.convert import convert_to_tensor
from weft.ops.math import comparison
from weft.ops.reduce import logic

Thunk = Callable[[], Any]


def and_(a: Thunk, b: Thunk) -> Any:
    """`a() and b()`; b is only evaluated if it is needed, also in graphs."""
    left = a()
    if not is_symbolic(left):
        return left and b()
    return if_exp(left, b, lambda: False)


def or_(a: Thunk, b: Thunk) -> Any:
    """`a() or b()`; b is only evaluated if it is needed, also in graphs."""
    left = a()
    if not is_symbolic(left):
        return left or b()
    return if_exp(left, lambda: True, b)


def not_(a: Any) -> Any:
    """`not a`."""
    return comparison.logical_not(convert_to_tensor(a)) if is_symbolic(a) else not a


def in_(item: Any, container: Any) -> Any:
    """`item in container`."""
    if is_symbolic(container):
        return logic.reduce_any(comparison.equal(container, item))
    if is_symbolic(item) and isinstance(container, (list, tuple, range, set, frozenset)):
        found: Any = False
        for other in container:
            same = comparison.equal(item, other)
            found = same if found is False else comparison.logical_or(found, same)
        return found
    return item in container


def compare_chain(operands: Sequence[Thunk], tests: Sequence[Callable[[Any, Any], Any]]) -> Any:
    """`a < b < c`: each operand once, left to right, until a comparison is false."""
    left = operands[0]()
    result: Any = True
    for operand, test in zip(operands[1:], tests, strict=True):
        right = operand()
        one = test(left, right)
        if is_symbolic(one) and is_symbolic(result):
            result = comparison.logical_and(result, one)
        elif is_symbolic(one) or is_symbolic(result):
            result = and_(lambda r=result: r, lambda o=one: o)  # type: ignore[misc]
        elif not one:
            return one
        else:
            result = one
        left = right
    return result
