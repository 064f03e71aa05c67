"""The table of rules that blocks of ops name, one file for each family of ops."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

from weft._src.core.xla_rules import KERNEL, XlaRule
from weft._src.ops.registry import Op

Rule = Callable[..., Any]  # of the lowering, the node and the values of its inputs

_rules: dict[str, Rule] = {}


def lowers(name: str) -> Callable[[Rule], Rule]:
    """Registers a rule under the name that op blocks use for it: `xla=Lowered("gather")`."""

    def register(rule: Rule) -> Rule:
        if name in _rules:
            raise ValueError(f"Two rules of XLA are named {name!r}.")
        _rules[name] = rule
        return rule

    return register


@functools.cache
def all_rules() -> dict[str, Rule]:
    """All rules by their names."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return _rules


@functools.cache
def rule_of(op: Op) -> Rule | None:
    """The rule that an op's block names, with its options; None if XLA has no form of it."""
    xla = op.xla
    if not isinstance(xla, XlaRule):
        return None
    if xla is KERNEL:
        return _by_kernel
    rule = all_rules()[xla.name]
    return partial(rule, **xla.options) if xla.options else rule


def _by_kernel(lowering: Any, node: Any, *inputs: Any) -> Any:
    return lowering.by_kernel(node, *inputs)
