"""Which symbols are still needed after a statement: decides what branches and loops hand on.

Works on structured code: returns, breaks and continues have been turned into flags before.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from weft._src.autograph.pyct.symbols import closure_reads, reads, root, writes

Live = frozenset[str]


def annotate(function: ast.FunctionDef) -> None:
    """Gives every if, while and for in a function `live_out`, and loops `live_head` too."""
    always = frozenset(closure_reads(*function.body))
    _block(function.body, always, always)


def _block(statements: Sequence[ast.stmt], live: Live, always: Live) -> Live:
    for statement in reversed(statements):
        live = _statement(statement, live | always, always)
    return live


def _statement(node: ast.stmt, live: Live, always: Live) -> Live:
    node.live_out = live  # type: ignore[attr-defined]
    if isinstance(node, ast.If):
        return (
            reads_of(node.test)
            | _block(node.body, live, always)
            | _block(node.orelse, live, always)
        )
    if isinstance(node, ast.While):
        return _loop(node, node.body, reads_of(node.test), (), live, always)
    if isinstance(node, ast.For):
        test = reads_of(getattr(node, "extra_test", None))
        before = _loop(node, node.body, test, _targets(node.target), live, always)
        return before | reads_of(node.iter)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inner = _block(node.body, live, always)
        return inner | reads_of(*[item.context_expr for item in node.items])
    if isinstance(node, ast.Try):
        parts = [node.body, node.orelse, node.finalbody, *[h.body for h in node.handlers]]
        out = live
        for part in parts:
            out = out | _block(part, live, always)
        # An exception may leave the body anywhere, so nothing written there is surely dead.
        return out | reads_of(*node.body, *node.handlers)
    if isinstance(node, ast.Match):
        out = live
        for case in node.cases:
            out = out | _block(case.body, live, always) | reads_of(case.guard)
        return out | reads_of(node.subject)
    return _without(live, writes(node)) | reads_of(node)


def _loop(
    node: ast.While | ast.For,
    body: Sequence[ast.stmt],
    test: Live,
    targets: Sequence[str],
    live: Live,
    always: Live,
) -> Live:
    head = live | test
    while True:
        new = head | _without(_block(body, head, always), targets)
        if new == head:
            break
        head = new
    node.live_head = head  # type: ignore[union-attr]
    return head


def _targets(node: ast.expr) -> list[str]:
    return writes(ast.Assign([node], ast.Constant(None)))


def _without(live: Live, written: Sequence[str]) -> Live:
    """What is needed before a write: a plain name takes its attributes and items with it."""
    names = set(written)
    return frozenset(s for s in live if s not in names and root(s) not in names)


def reads_of(*nodes: ast.AST | None) -> Live:
    """The symbols read in the trees, with all that they start with."""
    return frozenset(reads(*nodes))
