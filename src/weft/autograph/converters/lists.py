"""`l.append(x)` on a local list -> `l = ag__.list_append(l, x)`, so that loops can carry it."""

from __future__ import annotations

import ast

from weft.autograph.pyct.symbols import writes
from weft.autograph.pyct.templates import replace


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


class _Appends(ast.NodeTransformer):
    def __init__(self, local: set[str]) -> None:
        self._local = local

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            out.extend(made if isinstance(made, list) else [made])
        return out

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # converted on its own

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in self._local
            and len(call.args) == 1
            and not call.keywords
        ):
            return replace(
                "target = ag__.list_append(target, item)",
                node, target=call.func.value.id, item=call.args[0],
            )  # fmt: skip
        return node
