"""The rules by the names that op blocks use."""

from __future__ import annotations

from collections.abc import Callable

from weft._src.core.dtypes import FLOATING, DType
from weft._src.execution.native.machine.builder import Scalar

Rule = Callable[..., Scalar]

_rules: dict[str, tuple[frozenset[DType], Rule]] = {}


def rule_for(name: str, dtype: DType) -> Rule | None:
    """The rule of that name if it knows the dtype."""
    allowed, found = _rules.get(name, (frozenset(), None))
    return found if dtype in allowed else None


def scalar_rules() -> dict[str, tuple[frozenset[DType], Rule]]:
    """All rules by their names, with the dtypes they know."""
    return dict(_rules)


def rule(names: str, allowed: frozenset[DType] = FLOATING) -> Callable[[Rule], Rule]:
    """Registers a function for some names and the dtypes it knows."""

    def register(function: Rule) -> Rule:
        for name in names.split():
            _rules[name] = (allowed, function)
        return function

    return register
