"""Code written as text with names to be filled in, instead of trees built node by node."""

from __future__ import annotations

import ast
import copy
import textwrap
from typing import Any


def replace(template: str, origin: ast.AST, **replacements: Any) -> list[ast.stmt]:
    """The statements of a template; a name in it is replaced by a tree, by statements, or a name.

    Every new node gets the place of `origin` in the file; what is filled in keeps its own.
    """
    tree = ast.parse(textwrap.dedent(template))
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword)):
            _place(node, origin)
    return list(_Fill(replacements).visit(tree).body)


def expression(template: str, origin: ast.AST, **replacements: Any) -> ast.expr:
    """The expression of a template."""
    statement = replace(template, origin, **replacements)[0]
    assert isinstance(statement, ast.Expr)
    return statement.value


def _place(node: Any, origin: Any) -> None:
    # One line: of a call over several, Python reports the last in tracebacks.
    node.lineno = node.end_lineno = origin.lineno
    node.col_offset = node.end_col_offset = origin.col_offset


class _Fill(ast.NodeTransformer):
    def __init__(self, replacements: dict[str, Any]) -> None:
        self._replacements = replacements

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A name that stands alone may become any number of statements."""
        if isinstance(node.value, ast.Name) and node.value.id in self._replacements:
            value = self._replacements[node.value.id]
            if isinstance(value, list):
                return value
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        value = self._replacements.get(node.id)
        if value is None:
            return node
        if isinstance(value, str):
            return ast.copy_location(ast.Name(value, node.ctx), node)
        value = copy.copy(value)
        if hasattr(value, "ctx"):
            value.ctx = node.ctx
        return value

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        value = self._replacements.get(node.name)
        if isinstance(value, str):
            node.name = value
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        value = self._replacements.get(node.arg)
        if isinstance(value, str):
            node.arg = value
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        return self._declaration(node)

    def visit_Global(self, node: ast.Global) -> Any:
        return self._declaration(node)

    def _declaration(self, node: Any) -> Any:
        names: list[str] = []
        for name in node.names:
            value = self._replacements.get(name, name)
            names.extend(value if isinstance(value, (list, tuple)) else [value])
        node.names = names
        return node if names else None
