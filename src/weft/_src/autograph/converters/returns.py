"""`return` anywhere -> one return at the end.

    if c:                     if c:
        return a                  retval = a
    x = x + 1         ->      else:
    return x                      x = x + 1
                                  retval = x
                              return retval

What follows a branch that returns moves into the other branch. Only where that cannot be done (a
return deeper inside, or in a loop) a flag says whether the function has returned.
"""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any

from weft._src.autograph.converters.jumps import own_jumps
from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.templates import replace


class Returns(Enum):
    """Whether a block returns."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


def transform(function: ast.FunctionDef, namer: Namer) -> None:
    """Rewrites the function in place."""
    found = [node for node in _own_nodes(function.body) if isinstance(node, ast.Return)]
    if not found or (len(found) == 1 and found[0] is function.body[-1]):
        return
    _Lowering(function, namer).run()


def _own_nodes(statements: list[ast.stmt]) -> list[ast.AST]:
    """All nodes of the statements except those of nested functions and classes."""
    out: list[ast.AST] = []
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        out.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
            todo.extend(ast.iter_child_nodes(node))
    return out


class _Lowering:
    def __init__(self, function: ast.FunctionDef, namer: Namer) -> None:
        self._function = function
        self._value = namer.new("retval_")
        self._flag = namer.new("do_return_")

    def run(self) -> None:
        function = self._function
        body = list(function.body)
        last = body[-1]
        if not isinstance(last, ast.Return):
            # Running off the end returns None.
            body.append(ast.copy_location(ast.Return(None), last))
        lowered, _ = self._block(body, in_loop=False)
        start = replace(
            "value = ag__.Undefined('return value')\nflag = False",
            function.body[0], value=self._value, flag=self._flag,
        )  # fmt: skip
        function.body = [*start, *lowered, *replace("return value", last, value=self._value)]

    def _block(
        self, statements: list[ast.stmt], *, in_loop: bool
    ) -> tuple[list[ast.stmt], Returns]:
        out: list[ast.stmt] = []
        status = Returns.NEVER
        for i, node in enumerate(statements):
            rest = statements[i + 1 :]
            if isinstance(node, ast.Return):
                return [*out, *self._return(node, in_loop)], Returns.ALWAYS
            found = self._inside(node, in_loop)
            if found is Returns.NEVER:
                out.append(node)
                continue
            out.append(node)
            if in_loop:
                # Every return in here also breaks; only an inner loop has to hand it on.
                if isinstance(node, (ast.While, ast.For)):
                    out += replace("if flag:\n    break", node, flag=self._flag)
                status = Returns.MAYBE
                continue
            if found is Returns.ALWAYS:
                return out, Returns.ALWAYS
            return self._with_rest(out, node, rest)
        return out, status

    def _with_rest(
        self, out: list[ast.stmt], node: ast.stmt, rest: list[ast.stmt]
    ) -> tuple[list[ast.stmt], Returns]:
        """What follows a statement that may have returned."""
        lowered, status = self._block(rest, in_loop=False)
        if isinstance(node, ast.If):
            then, otherwise = node.then_status, node.else_status  # type: ignore[attr-defined]
            if then is Returns.ALWAYS and otherwise is Returns.NEVER:
                node.orelse = [*node.orelse, *lowered]
                return out, status if status is Returns.ALWAYS else Returns.MAYBE
            if otherwise is Returns.ALWAYS and then is Returns.NEVER:
                node.body = [*node.body, *lowered]
                return out, status if status is Returns.ALWAYS else Returns.MAYBE
        if lowered:
            out += replace("if not flag:\n    rest", node, flag=self._flag, rest=lowered)
        return out, status if status is Returns.ALWAYS else Returns.MAYBE

    def _inside(self, node: ast.stmt, in_loop: bool) -> Returns:
        """Lowers the returns inside of a statement; whether it returns."""
        if isinstance(node, ast.If):
            node.body, then = self._block(node.body, in_loop=in_loop)
            node.orelse, otherwise = self._block(node.orelse, in_loop=in_loop)
            node.then_status, node.else_status = then, otherwise  # type: ignore[attr-defined]
            return _either(then, otherwise)
        if isinstance(node, (ast.While, ast.For)):
            endless = _is_endless(node)
            node.body, status = self._block(node.body, in_loop=True)
            node.orelse, after = self._block(node.orelse, in_loop=in_loop)
            never = status is Returns.NEVER and after is Returns.NEVER
            if never:
                return Returns.NEVER
            return Returns.ALWAYS if endless else Returns.MAYBE
        if isinstance(node, ast.With):
            node.body, status = self._block(node.body, in_loop=in_loop)
            return status
        if isinstance(node, ast.Try):
            return self._try(node, in_loop)
        if isinstance(node, ast.Match):
            statuses = []
            for case in node.cases:
                case.body, status = self._block(case.body, in_loop=in_loop)
                statuses.append(status)
            return Returns.NEVER if set(statuses) == {Returns.NEVER} else Returns.MAYBE
        return Returns.NEVER

    def _try(self, node: ast.Try, in_loop: bool) -> Returns:
        statuses = []
        parts: list[Any] = [node, *node.handlers]
        for part in parts:
            part.body, status = self._block(part.body, in_loop=in_loop)
            statuses.append(status)
        for name in ("orelse", "finalbody"):
            block, status = self._block(getattr(node, name), in_loop=in_loop)
            setattr(node, name, block)
            statuses.append(status)
        return Returns.NEVER if set(statuses) == {Returns.NEVER} else Returns.MAYBE

    def _return(self, node: ast.Return, in_loop: bool) -> list[ast.stmt]:
        value = node.value or ast.copy_location(ast.Constant(None), node)
        out = replace(
            "target = value\nflag = True", node, target=self._value, value=value, flag=self._flag
        )
        if in_loop:
            out.append(ast.copy_location(ast.Break(), node))
        return out


def _is_endless(node: ast.While | ast.For) -> bool:
    """Whether a loop can only be left by a return: `while True:` without a break."""
    return (
        isinstance(node, ast.While)
        and isinstance(node.test, ast.Constant)
        and bool(node.test.value)
        and not any(isinstance(jump, ast.Break) for part in node.body for jump in own_jumps(part))
    )


def _either(a: Returns, b: Returns) -> Returns:
    return a if a is b else Returns.MAYBE
