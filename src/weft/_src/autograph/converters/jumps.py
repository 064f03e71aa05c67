"""`break` and `continue` -> flags; `else` of loops -> a condition after them.

while c:                       stop = False
    if a:                      while not stop and c:
        break          ->          if a:
    x = x + 1                          stop = True
                                   else:
                                       x = x + 1
"""

from __future__ import annotations

import ast

from weft._src.autograph.converters import assignments
from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.templates import expression, replace


def transform(function: ast.FunctionDef, namer: Namer) -> None:
    """Rewrites the loops of a function in place."""
    function.body = _Jumps(namer).block(function.body)


class _Jumps:
    def __init__(self, namer: Namer) -> None:
        self._namer = namer
        self._break: str | None = None
        self._continue: str | None = None

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, with jumps as flags and what they skip made conditional."""
        out: list[ast.stmt] = []
        for i, node in enumerate(statements):
            if isinstance(node, (ast.Break, ast.Continue)):
                flag = self._break if isinstance(node, ast.Break) else self._continue
                return [*out, *replace("flag = True", node, flag=flag)]
            jumps = _jumps_in(node)
            if isinstance(node, (ast.While, ast.For)):
                out += self._loop(node)  # its else clause may jump out of the loop around it
            else:
                self._children(node)
                out.append(node)
            if jumps and statements[i + 1 :]:
                return self._guard_rest(out, node, statements[i + 1 :])
        return out

    def _guard_rest(
        self, out: list[ast.stmt], node: ast.stmt, rest: list[ast.stmt]
    ) -> list[ast.stmt]:
        lowered = self.block(rest)
        if isinstance(node, ast.If):
            then, otherwise = node.always_jumps  # type: ignore[attr-defined]
            if then and not otherwise and not node.else_jumps:  # type: ignore[attr-defined]
                node.orelse = [*node.orelse, *lowered]
                return out
            if otherwise and not then and not node.then_jumps:  # type: ignore[attr-defined]
                node.body = [*node.body, *lowered]
                return out
        flags = [flag for flag in (self._break, self._continue) if flag is not None]
        test = " and ".join(f"not {flag}" for flag in flags)
        return out + replace(f"if {test}:\n    rest", node, rest=lowered)

    def _children(self, node: ast.stmt) -> None:
        if isinstance(node, ast.If):
            node.always_jumps = (_always_jumps(node.body), _always_jumps(node.orelse))  # type: ignore[attr-defined]
            node.then_jumps = any(_jumps_in(s) for s in node.body)  # type: ignore[attr-defined]
            node.else_jumps = any(_jumps_in(s) for s in node.orelse)  # type: ignore[attr-defined]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                setattr(node, name, self.block(block))
        for handler in getattr(node, "handlers", []):
            handler.body = self.block(handler.body)
        for case in getattr(node, "cases", []):
            case.body = self.block(case.body)

    def _loop(self, node: ast.While | ast.For) -> list[ast.stmt]:
        outer = self._break, self._continue
        kinds = {type(jump) for s in node.body for jump in own_jumps(s)}
        self._break = self._namer.new("break_") if ast.Break in kinds else None
        self._continue = self._namer.new("continue_") if ast.Continue in kinds else None
        stop, skip = self._break, self._continue
        node.body = self.block(node.body)
        self._break, self._continue = outer
        before: list[ast.stmt] = []
        if skip is not None:
            node.body = replace("flag = False", node, flag=skip) + node.body
            before += replace("flag = False", node, flag=skip)
        if stop is not None:
            before += replace("flag = False", node, flag=stop)
        if isinstance(node, ast.While) and assignments.assigns(node.test):
            before += assignments.test_in_body(node, stop, self._namer)
        elif stop is not None:
            if isinstance(node, ast.While):
                node.test = expression("not flag and test", node, flag=stop, test=node.test)
            else:
                node.extra_test = expression("not flag", node, flag=stop)  # type: ignore[attr-defined]
        after = self.block(node.orelse)
        node.orelse = []
        if after and stop is not None:
            after = replace("if not flag:\n    rest", node, flag=stop, rest=after)
        return [*before, node, *after]


def own_jumps(node: ast.AST) -> list[ast.AST]:
    """The jumps in a statement that belong to the loop around it."""
    if isinstance(node, (ast.Break, ast.Continue)):
        return [node]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
        return []
    if isinstance(node, (ast.While, ast.For)):
        return [jump for child in node.orelse for jump in own_jumps(child)]
    return [jump for child in ast.iter_child_nodes(node) for jump in own_jumps(child)]


def _jumps_in(node: ast.AST) -> bool:
    return bool(own_jumps(node))


def _always_jumps(statements: list[ast.stmt]) -> bool:
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, (ast.Break, ast.Continue)):
        return True
    if isinstance(last, ast.If):
        return _always_jumps(last.body) and _always_jumps(last.orelse)
    return False
