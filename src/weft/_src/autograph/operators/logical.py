"""`and`, `or`, `not`, `in` and chained comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.autograph.operators.conditional import condition_tensor, if_exp
from weft._src.autograph.operators.state import is_symbolic
from weft._src.core.convert import convert_to_tensor
from weft._src.ops.elementwise import comparison
from weft._src.ops.reduce import logic

Thunk = Callable[[], Any]


def and_(left: Any, b: Thunk) -> Any:
    """`left and b()`; b is only evaluated if it is needed, also in graphs."""
    if not is_symbolic(left):
        return left and b()
    return if_exp(left, b, lambda: False)


def or_(left: Any, b: Thunk) -> Any:
    """`left or b()`; b is only evaluated if it is needed, also in graphs."""
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


def compare_chain(
    left: Any,
    right: Any,
    others: Sequence[Thunk],
    tests: Sequence[Callable[[Any, Any], Any]],
    pure: bool,
) -> Any:
    """`a < b < c`: each operand once, left to right, until a comparison is false.

    If evaluating the others does nothing else, a graph may compare them all.
    """
    result = tests[0](left, right)
    if not others:
        return result

    def rest() -> Any:
        return compare_chain(right, others[0](), others[1:], tests[1:], pure)

    if not (pure and is_symbolic(result)):
        return and_(result, rest)
    later = rest()
    if not is_symbolic(later):
        return and_(result, lambda: later)
    return comparison.logical_and(condition_tensor(result), condition_tensor(later))
