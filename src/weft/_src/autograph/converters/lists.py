"""Methods that change a local list -> assignments, so that branches and loops can carry it.

l.append(x)    ->  l = ag__.list_append(l, x)
x = l.pop()    ->  l, x = ag__.list_pop(l)
l.insert(i, x) ->  l = ag__.list_change(l, "insert", i, x)     (also extend, remove, clear, ...)
"""

from __future__ import annotations

import ast
from typing import Any

from weft._src.autograph.pyct.one_scope import OneScope
from weft._src.autograph.pyct.symbols import writes
from weft._src.autograph.pyct.templates import replace

_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"})


def transform(function: ast.FunctionDef) -> None:
    """Rewrites the function in place. Lists of enclosing scopes are left alone."""
    declared = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    assigned = {s for s in writes(*function.body) if s not in declared}
    function.body = _Appends(assigned).block(function.body)


class _Appends(OneScope):
    def __init__(self, local: set[str]) -> None:
        self._local = local

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = self._change(node.value)
        if call is None:
            return node
        target, method = call.func.value.id, call.func.attr  # type: ignore[attr-defined]
        if method == "pop":
            template = "target = ag__.list_pop(target)[0]"
        elif method in ("append", "extend") and len(call.args) == 1:
            template = f"target = ag__.list_{method}(target)"
        else:
            template = f"target = ag__.list_change(target, {method!r})"
        return self._assignment(template, node, call, target=target)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        call = self._change(node.value)
        if call is None or call.func.attr != "pop" or len(node.targets) != 1:  # type: ignore[attr-defined]
            return node
        target = call.func.value.id  # type: ignore[attr-defined]
        return self._assignment(
            "target, value = ag__.list_pop(target)", node, call,
            target=target, value=node.targets[0],
        )  # fmt: skip

    def _change(self, call: ast.expr) -> ast.Call | None:
        """A call of a method that changes a local list."""
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in _CHANGES
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in self._local
            and not call.keywords
            and not any(isinstance(a, ast.Starred) for a in call.args)
        ):
            return call
        return None

    def _assignment(
        self, template: str, node: ast.stmt, call: ast.Call, **names: Any
    ) -> list[ast.stmt]:
        made = replace(template, node, **names)
        assert isinstance(made[0], ast.Assign)
        value = made[0].value
        made_call = value.value if isinstance(value, ast.Subscript) else value
        assert isinstance(made_call, ast.Call)
        made_call.args += call.args
        return made
