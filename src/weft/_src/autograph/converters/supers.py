"""`super()` -> `super(__class__, self)`, so that it also works in the body of a branch or a loop.

Without arguments it looks at the first argument of the function it stands in; bodies of branches
and loops become functions of their own.
"""

from __future__ import annotations

import ast
from typing import Any

from weft._src.autograph.pyct.templates import expression


def transform(function: ast.FunctionDef) -> None:
    """Rewrites the function in place; inner functions have first arguments of their own."""
    positional = [*function.args.posonlyargs, *function.args.args]
    if positional:
        rewriter = _Supers(positional[0].arg)
        function.body = [rewriter.visit(statement) for statement in function.body]


class _Supers(ast.NodeTransformer):
    def __init__(self, first: str) -> None:
        self._first = first

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        plain = isinstance(node.func, ast.Name) and node.func.id == "super"
        if plain and not node.args and not node.keywords:
            return expression(f"super(__class__, {self._first})", node)
        return node

    def visit(self, node: ast.AST) -> Any:
        inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
        return node if isinstance(node, inner) else super().visit(node)
