"""Assignments in forms that blocks made into functions cannot hold -> plain ones.

x: int = 1                ->  x = 1              (annotations of local names are never evaluated)

del x                     ->  x = ag__.Undefined("x")

if a and (y := f()) > 0:  ->  if a:              (a walrus in an operand that may not run)
    body                          if (y := f()) > 0:
                                      body

z = a or (y := f())       ->  value_ = a
                              if not value_:
                                  value_ = (y := f())
                              z = value_

while (y := f()) > 0:     ->  go_on_ = (y := f()) > 0
    body                      while go_on_:
                                  body
                                  go_on_ = (y := f()) > 0
"""

from __future__ import annotations

import ast
import copy

from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.one_scope import OneScope
from weft._src.autograph.pyct.templates import replace


def transform(function: ast.FunctionDef, namer: Namer) -> None:
    """Rewrites the function in place. Loops follow in `test_in_body`, once they have flags."""
    declared = frozenset(
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    )
    function.body = _Assignments(namer, declared).block(function.body)


def assigns(node: ast.AST | None) -> bool:
    """Whether an expression assigns to a name."""
    return node is not None and any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))


def test_in_body(node: ast.While, stop: str | None, namer: Namer) -> list[ast.stmt]:
    """Moves a test that assigns to the end of the body; what has to stand before the loop."""
    flag = namer.new("go_on_")
    test = (
        "flag = test" if stop is None else "if not stop:\n    flag = test\nelse:\n    flag = False"
    )
    lower = _Assignments(namer).block
    before = lower(replace("flag = test", node, flag=flag, test=copy.deepcopy(node.test)))
    node.body += lower(replace(test, node, flag=flag, stop=stop, test=node.test))
    node.test = ast.copy_location(ast.Name(flag, ast.Load()), node.test)
    return before


def _may_not_run(node: ast.AST) -> bool:
    """Whether a walrus stands in an operand that is not always evaluated."""
    return any(
        (isinstance(n, ast.BoolOp) and any(assigns(v) for v in n.values[1:]))
        or (isinstance(n, ast.IfExp) and (assigns(n.body) or assigns(n.orelse)))
        for n in ast.walk(node)
    )


class _Assignments(OneScope):
    def __init__(self, namer: Namer, declared: frozenset[str] = frozenset()) -> None:
        self._namer = namer
        self._declared = declared  # names of other scopes

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self._value(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.stmt]:
        out: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id not in self._declared:
                template = f"{target.id} = ag__.Undefined({target.id!r})"
                out += [*replace(target.id, target), *replace(template, node)]
            else:
                out.append(ast.copy_location(ast.Delete([target]), node))
        return out

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._value(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        return self._value(node)

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        return self._value(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if isinstance(node.test, ast.BoolOp) and _may_not_run(node.test):
            if isinstance(node.test.op, ast.And):
                return self.visit_If(_nested(node))
            before, node.test = self._lowered(node.test)
            self.generic_visit(node)
            return [*before, node]
        return self.generic_visit(node)

    def _value(self, node: ast.Assign | ast.Expr | ast.Return) -> ast.AST | list[ast.stmt]:
        value = node.value
        if isinstance(value, (ast.BoolOp, ast.IfExp)) and _may_not_run(value):
            before, node.value = self._lowered(value)
            return [*before, node]
        return node

    def _lowered(self, value: ast.BoolOp | ast.IfExp) -> tuple[list[ast.stmt], ast.expr]:
        """Statements that compute the value, and its name."""
        name = self._namer.new("value_")
        if isinstance(value, ast.IfExp):
            out = replace(
                "if c:\n    value = a\nelse:\n    value = b",
                value, value=name, c=value.test, a=value.body, b=value.orelse,
            )  # fmt: skip
        else:
            test = "value" if isinstance(value.op, ast.And) else "not value"
            rest = value.values[-1]
            if len(value.values) > 2:
                rest = ast.copy_location(ast.BoolOp(value.op, value.values[1:]), value)
            out = replace(
                f"value = a\nif {test}:\n    value = b",
                value, value=name, a=value.values[0], b=rest,
            )  # fmt: skip
        return self.block(out), ast.copy_location(ast.Name(name, ast.Load()), value)


def _nested(node: ast.If) -> ast.If:
    """`if a and b` as `if a: if b`; what follows `else` then stands twice."""
    assert isinstance(node.test, ast.BoolOp)
    first, *others = node.test.values
    rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(ast.And(), others), node)
    inner = ast.copy_location(ast.If(rest, node.body, node.orelse), node)
    return ast.copy_location(ast.If(first, [inner], copy.deepcopy(node.orelse)), node)
