"""What statements read and write: names, and places like `self.x` and `d["k"]`.

A symbol is the text of a name, an attribute of a symbol, or an item of a symbol under a constant or
a name. Writing `a` changes all symbols that start with it; they are then no symbols of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable


def symbol_of(node: ast.AST) -> str | None:
    """The text of a place that can be assigned to, None if it is no symbol."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = symbol_of(node.value)
        return None if base is None else f"{base}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name)):
        base = symbol_of(node.value)
        return None if base is None else f"{base}[{ast.unparse(node.slice)}]"
    return None


def is_simple(symbol: str) -> bool:
    """Whether a symbol is a plain name."""
    return symbol.isidentifier()


def root(symbol: str) -> str:
    """The name a symbol starts with."""
    for i, c in enumerate(symbol):
        if c in ".[":
            return symbol[:i]
    return symbol


class _Reads(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.closures: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        symbol = symbol_of(node)
        if symbol is not None and isinstance(node.ctx, ast.Load):
            self.names.add(symbol)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        symbol = symbol_of(node)
        if symbol is not None and isinstance(node.ctx, ast.Load):
            self.names.add(symbol)
        self.visit(node.value)
        self.visit(node.slice)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        symbol = symbol_of(node.target)
        if symbol is not None:
            self.names.add(symbol)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inner(node, node.body)
        for decorator in node.decorator_list:
            self.visit(decorator)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inner(node, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inner(None, node.body)

    def _inner(self, node: ast.FunctionDef | ast.Lambda | None, body: Iterable[ast.AST]) -> None:
        """A nested function may run at any later time: what it reads stays alive."""
        inner = _Reads()
        for part in body:
            inner.visit(part)
        if node is not None:
            for default in (*node.args.defaults, *[d for d in node.args.kw_defaults if d]):
                self.visit(default)
        self.names |= inner.names
        self.closures |= inner.names | inner.closures


def reads(*nodes: ast.AST | None) -> set[str]:
    """The symbols read anywhere in the trees."""
    visitor = _Reads()
    for node in nodes:
        if node is not None:
            visitor.visit(node)
    return visitor.names


def closure_reads(*nodes: ast.AST) -> set[str]:
    """The names that nested functions in the trees read."""
    visitor = _Reads()
    for node in nodes:
        visitor.visit(node)
    return visitor.closures


class _Writes(ast.NodeVisitor):
    def __init__(self) -> None:
        self.symbols: dict[str, None] = {}  # in the order of first writing

    def _target(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Tuple, ast.List)):
            for item in node.elts:
                self._target(item)
        elif isinstance(node, ast.Starred):
            self._target(node.value)
        else:
            symbol = symbol_of(node)
            if symbol is not None:
                self.symbols.setdefault(symbol)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._target(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._target(node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._target(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._target(node.target)

    def visit_For(self, node: ast.For) -> None:
        self._target(node.target)
        self.generic_visit(node)

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._target(node.optional_vars)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.symbols.setdefault((alias.asname or alias.name).split(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.symbols.setdefault(alias.asname or alias.name)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._target(target)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name is not None:
            self.symbols.setdefault(node.name)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.symbols.setdefault(node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.symbols.setdefault(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Its assignments are its own."""


def writes(*nodes: ast.AST) -> list[str]:
    """The symbols written anywhere in the trees, nested functions excepted."""
    visitor = _Writes()
    for node in nodes:
        visitor.visit(node)
    return list(visitor.symbols)
