"""Names: for generated variables and functions that no user code uses, and of private members."""

from __future__ import annotations

import ast
import itertools
import types


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


def scope_like(code: types.CodeType, body: list[ast.stmt]) -> ast.ClassDef:
    """A class around statements, in which private names like `self.__x` mean what they do in code.

    It has the name of the class around that code, or one that changes no name.
    """
    # Functions are followed by "<locals>"; comprehensions, lambdas and that itself are no names.
    parts = itertools.pairwise(code.co_qualname.split("."))
    classes = [name for name, after in parts if after != "<locals>" and name.isidentifier()]
    scope = ast.parse(f"class {classes[-1] if classes else '_'}:\n    pass").body[0]
    assert isinstance(scope, ast.ClassDef)
    scope.body = body
    return scope
