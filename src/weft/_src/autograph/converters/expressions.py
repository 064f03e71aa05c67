"""Calls, `and/or/not`, ternaries, comparisons, `assert` and `raise` -> operators.

f(x)              ->  ag__.converted(f)(x)
a and b           ->  ag__.and_(a, lambda: b)
a if c else b     ->  ag__.if_exp(c, lambda: a, lambda: b)
a < b < c         ->  ag__.compare_chain(a, b, (lambda: c,), (lambda a, b: a < b, ...), pure)
assert c, m       ->  ag__.assert_stmt(c, lambda: m)
raise e           ->  ag__.raise_stmt(lambda: e)
"""

from __future__ import annotations

import ast

from weft._src.autograph.converters.assignments import assigns
from weft._src.autograph.pyct.templates import expression, replace

# Functions that look at the frame they are called from.
_FRAME_SENSITIVE = frozenset({"super", "locals", "globals", "vars", "eval", "exec", "dir"})


class Expressions(ast.NodeTransformer):
    """Rewrites expressions everywhere in a tree."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _is_ag(node.func):
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(k) for k in node.keywords]
            return node
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_SENSITIVE:
            return node
        node = self.generic_visit(node)  # type: ignore[assignment]
        node.func = expression("ag__.converted(function)", node, function=node.func)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if any(map(assigns, node.values[1:])):  # a walrus in a lambda would be the lambda's own
            return self.generic_visit(node)  # type: ignore[return-value]
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        out = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            out = expression(f"ag__.{operator}(a, lambda: b)", node, a=self.visit(value), b=out)
        return out

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)  # type: ignore[return-value]
        return expression("ag__.not_(a)", node, a=self.visit(node.operand))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if assigns(node.body) or assigns(node.orelse):
            return self.generic_visit(node)  # type: ignore[return-value]
        return expression(
            "ag__.if_exp(c, lambda: a, lambda: b)",
            node, c=self.visit(node.test), a=self.visit(node.body), b=self.visit(node.orelse),
        )  # fmt: skip

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        pure = all(map(_is_pure, node.comparators[1:]))
        node = self.generic_visit(node)  # type: ignore[assignment]
        if len(node.ops) == 1:
            return _membership(node)
        if any(map(assigns, node.comparators[1:])):
            return node
        # Evaluated left to right, each operand once; what follows a false one is not evaluated.
        first, *others = node.comparators
        return expression(
            "ag__.compare_chain(left, first, others, tests, pure)",
            node, left=node.left, first=first,
            others=ast.Tuple([_lambda(o) for o in others], ast.Load()),
            tests=ast.Tuple([_test(op, node) for op in node.ops], ast.Load()),
            pure=ast.Constant(pure),
        )  # fmt: skip

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        message = self.visit(node.msg) if node.msg is not None else ast.Constant(None)
        return replace(
            "ag__.assert_stmt(test, lambda: message)",
            node,
            test=self.visit(node.test),
            message=message,
        )

    def visit_Raise(self, node: ast.Raise) -> ast.stmt | list[ast.stmt]:
        if node.exc is None:
            return node
        cause = ast.Constant(None) if node.cause is None else self.visit(node.cause)
        return replace(
            "ag__.raise_stmt(exception, cause, has_cause)",
            node, exception=self.visit(node.exc), cause=cause,
            has_cause=ast.Constant(node.cause is not None),
        )  # fmt: skip


def _is_ag(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "ag__"
    )


def _is_pure(node: ast.expr) -> bool:
    """Whether evaluating an operand does nothing but give its value."""
    kinds = (ast.Name, ast.Constant, ast.UnaryOp, ast.USub, ast.expr_context)
    return all(isinstance(child, kinds) for child in ast.walk(node))


def _lambda(body: ast.expr) -> ast.expr:
    return expression("lambda: body", body, body=body)


def _test(op: ast.cmpop, origin: ast.AST) -> ast.expr:
    test = expression("lambda a, b: a == b", origin)
    assert isinstance(test, ast.Lambda)
    assert isinstance(test.body, ast.Compare)
    test.body.ops = [op]
    test.body = _membership(test.body)
    return test


def _membership(node: ast.Compare) -> ast.expr:
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        inside = expression("ag__.in_(a, b)", node, a=node.left, b=node.comparators[0])
        return (
            inside
            if isinstance(node.ops[0], ast.In)
            else expression("ag__.not_(a)", node, a=inside)
        )
    return node
