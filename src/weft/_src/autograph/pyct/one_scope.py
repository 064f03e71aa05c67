"""Rewriting the statements of one function, not those of functions and classes inside of it."""

from __future__ import annotations

import ast


class OneScope(ast.NodeTransformer):
    """A transformer that leaves inner scopes alone: each is converted on its own."""

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements rewritten; one may become several, or none."""
        out: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            if isinstance(made, list):
                out.extend(made)
            elif made is not None:
                out.append(made)
        return out

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node
