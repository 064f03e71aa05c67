"""Names for generated variables and functions that no user code uses."""

from __future__ import annotations

import ast


class Namer:
    """Hands out unused names in one function."""

    def __init__(self, tree: ast.AST) -> None:
        self._used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self._used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}

    def new(self, base: str) -> str:
        """`base`, or `base_1`, ... if that is taken."""
        name, n = base, 0
        while name in self._used:
            n += 1
            name = f"{base}_{n}"
        self._used.add(name)
        return name
