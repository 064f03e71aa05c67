"""The order of the converters, and the result as a tree."""

from __future__ import annotations

import ast

from weft._src.autograph.converters import assignments, jumps, lists, returns, supers
from weft._src.autograph.converters.control_flow import ControlFlow
from weft._src.autograph.converters.expressions import Expressions
from weft._src.autograph.converters.match import lower_matches
from weft._src.autograph.pyct import liveness
from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.one_scope import OneScope
from weft._src.autograph.pyct.templates import replace


def convert(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """The converted form of a function or lambda."""
    if isinstance(node, ast.FunctionDef):
        _convert_statements(node, Namer(node))
    converted = Expressions().visit(node)
    ast.fix_missing_locations(converted)
    return converted


def _convert_statements(function: ast.FunctionDef, namer: Namer) -> None:
    """Everything that rewrites statements, inner functions first."""
    for inner in _inner_functions(function.body):
        if not is_generator(inner):
            _convert_statements(inner, namer)
            inner.decorator_list.append(_marker(inner))
    _hoist_declarations(function)
    supers.transform(function)
    lower_matches(function, namer)
    assignments.transform(function, namer)
    returns.transform(function, namer)
    jumps.transform(function, namer)
    lists.transform(function)
    liveness.annotate(function)
    outside = _declared(function)
    flow = ControlFlow(namer, outside)
    body = flow.block(function.body)
    parameters = {a.arg for a in _all_arguments(function.args)}
    first = function.body[0]
    introduced = [name for name in flow.introduced if name not in parameters]
    start: list[ast.stmt] = []
    for name in introduced:
        start += replace(f"{name} = ag__.Undefined({name!r})", first)
    function.body = _after_declarations(body, start)


class _TakeDeclarations(OneScope):
    """Takes `global` and `nonlocal` out of blocks: they hold for the whole function anyway."""

    def __init__(self) -> None:
        self.taken: list[ast.stmt] = []

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        self.taken.append(node)
        return ast.copy_location(ast.Pass(), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        self.taken.append(node)
        return ast.copy_location(ast.Pass(), node)


def _hoist_declarations(function: ast.FunctionDef) -> None:
    """Blocks become functions of their own, in which a declaration would be another one."""
    found = _TakeDeclarations()
    body = [found.visit(statement) for statement in function.body]
    if found.taken:
        function.body = _after_declarations(body, found.taken)


def _after_declarations(body: list[ast.stmt], start: list[ast.stmt]) -> list[ast.stmt]:
    """Docstring and global statements stay in front."""
    n = 0
    while n < len(body) and (
        isinstance(body[n], (ast.Global, ast.Nonlocal))
        or (n == 0 and isinstance(body[n], ast.Expr) and isinstance(body[n].value, ast.Constant))  # type: ignore[attr-defined]
    ):
        n += 1
    return [*body[:n], *start, *body[n:]]


def _marker(function: ast.FunctionDef) -> ast.expr:
    return ast.copy_location(
        ast.Attribute(ast.Name("ag__", ast.Load()), "mark_converted", ast.Load()), function
    )


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _declared(function: ast.FunctionDef) -> set[str]:
    return {
        name
        for node in _own(function.body)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }


def _own(statements: list[ast.stmt]) -> list[ast.AST]:
    out: list[ast.AST] = []
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        out.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return out


def _inner_functions(statements: list[ast.stmt]) -> list[ast.FunctionDef]:
    return [node for node in _own(statements) if isinstance(node, ast.FunctionDef)]


def is_generator(function: ast.FunctionDef) -> bool:
    """Whether a function yields; generators run as Python."""
    return any(
        isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in _own(function.body)
    )
