"""The rules by the names that op blocks use."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from weft._src.core.dtypes import FLOATING, DType
from weft._src.execution.native.machine.builder import Scalar

Rule = Callable[..., Scalar]

# What a rule costs, compared with an addition.
COSTLY = 10
SLOW = 3


class ScalarRule(NamedTuple):
    """How one element is computed, and what is known of that."""

    function: Rule
    allowed: frozenset[DType]
    cost: int
    doubtful: bool


_rules: dict[str, ScalarRule] = {}


def rule_for(name: str, dtype: DType) -> Rule | None:
    """The rule of that name if it knows the dtype."""
    found = _rules.get(name)
    return found.function if found is not None and dtype in found.allowed else None


def scalar_rules() -> dict[str, ScalarRule]:
    """All rules by their names."""
    return dict(_rules)


def cost_of(name: str) -> int:
    """What a rule costs; copies and the like, which are no rules of ops, are quick."""
    found = _rules.get(name)
    return 1 if found is None else found.cost


def is_doubtful(name: str) -> bool:
    """Whether the fast form of a rule is wrong for rare numbers."""
    found = _rules.get(name)
    return found is not None and found.doubtful


def rule(
    name: str,
    allowed: frozenset[DType] = FLOATING,
    *,
    cost: int = 1,
    doubtful: bool = False,
) -> Callable[[Rule], Rule]:
    """Registers a function under a name, with the dtypes it knows.

    doubtful: it has a fast form that is wrong for rare numbers, which are then computed again.
    """

    def register(function: Rule) -> Rule:
        if name in _rules:
            raise ValueError(f"Two scalar rules are named {name!r}.")
        _rules[name] = ScalarRule(function, allowed, cost, doubtful)
        return function

    return register
