"""From a function object to its syntax tree, with the line numbers of its file."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import types
from typing import Any

from weft._src.autograph.pyct.naming import scope_like


class NoSourceError(Exception):
    """The source of a function cannot be had, and why."""


def function_node(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The tree of a function's definition; line numbers are those of the file."""
    code = function.__code__
    try:
        lines = _lines_from(function)
        if function.__name__ == "<lambda>":
            return _lambda_node(function, lines)
        tree = _tree(code, lines)
    except (OSError, TypeError, IndexError) as e:
        raise NoSourceError(f"its source is not available ({e})") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return node
    raise NoSourceError("its definition was not found in the source")


def _lines_from(function: types.FunctionType) -> list[str]:
    """The lines of a file from that on where a function begins, with its decorators.

    `inspect.getsourcelines` looks at all modules there are for the one that a piece of code
    belongs to: 30 to 60 ms when it is first asked.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if len(lines) < code.co_firstlineno:
        raise OSError("could not get source code")
    return lines[code.co_firstlineno - 1 :]


def _tree(code: types.CodeType, lines: list[str]) -> ast.Module:
    """The tree of a function that begins with the first of the lines.

    Its lines are those with code, if the next one is outside of the function; else what
    `inspect.getblock` says, whose tokenizer takes 7 ms to begin.
    """
    length = _last_line(code) - code.co_firstlineno + 1
    following = (line for line in lines[length:] if line.strip() and line.strip()[0] != "#")
    if _indentation(next(following, "")) <= _indentation(lines[0]):
        with contextlib.suppress(NoSourceError):  # of a bracket that is closed further below
            return _parse(lines[:length], code.co_firstlineno)
    return _parse(inspect.getblock(lines), code.co_firstlineno)


def _last_line(code: types.CodeType) -> int:
    own = max([end for _, end, _, _ in code.co_positions() if end is not None], default=0)
    nested = [_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return max([code.co_firstlineno, own, *nested])


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parse(lines: list[str], first: int) -> ast.Module:
    """The tree of some lines of a file, with their numbers and columns there."""
    # Indented lines go under an `if`: to dedent them would change strings over several lines.
    indented = bool(lines) and lines[0][:1].isspace()
    try:
        tree = ast.parse(("if 1:\n" if indented else "") + "".join(lines))
    except SyntaxError as e:
        raise NoSourceError(f"its source does not parse on its own ({e})") from None
    ast.increment_lineno(tree, first - 2 if indented else first - 1)
    return tree


def _lambda_node(function: types.FunctionType, lines: list[str]) -> ast.Lambda:
    """Several lambdas may stand on one line: the one whose compiled code is the function's own."""
    code = function.__code__
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename, function.__globals__)))
    except SyntaxError:
        tree = _parse(inspect.getblock(lines), code.co_firstlineno)
    candidates = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno <= function.__code__.co_firstlineno <= (node.end_lineno or node.lineno)
        and _arguments(node) == _code_arguments(function.__code__)
    ]
    matching = [node for node in candidates if _same_code(node, function.__code__)]
    if not matching:
        raise NoSourceError("the lambda was not found in the source")
    return matching[0]


def _arguments(node: ast.Lambda) -> list[str]:
    a = node.args
    names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + [arg.arg for arg in (a.vararg, a.kwarg) if arg is not None]


def _code_arguments(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


def _same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    module = ast.Module([scope_like(code, [ast.Expr(node)])], [])
    compiled = compile(ast.fix_missing_locations(module), code.co_filename, "exec")
    found = _first_code(_first_code(compiled))
    if found.co_names != code.co_names or _plain(found.co_consts) != _plain(code.co_consts):
        # Free variables of the original are globals of the copy, so names may trade places.
        same_names = set(found.co_names) == set(code.co_names) | set(code.co_freevars)
        return (
            same_names
            and _plain(found.co_consts) == _plain(code.co_consts)
            and _places(found) & _places(code) != set()
        )
    return _places(found) & _places(code) != set()


def _first_code(code: types.CodeType) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _plain(constants: tuple[Any, ...]) -> list[str]:
    return [repr(c) for c in constants if not isinstance(c, types.CodeType)]


def _places(code: types.CodeType) -> set[Any]:
    """Where in the file its instructions come from: tells equal lambdas on one line apart."""
    return {
        p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[2] != p[3]
    }
