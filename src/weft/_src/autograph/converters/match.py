"""`match` with plain values -> `if`/`elif`, so that a tensor can be matched against numbers.

Patterns that look into structures are left to Python; their bodies are converted all the same.
"""

from __future__ import annotations

import ast

from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.one_scope import OneScope
from weft._src.autograph.pyct.templates import replace


def lower_matches(function: ast.FunctionDef, namer: Namer) -> None:
    """Rewrites the function in place."""
    function.body = _Matches(namer).block(function.body)


class _Matches(OneScope):
    def __init__(self, namer: Namer) -> None:
        self._namer = namer

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not all(_is_plain(case.pattern) for case in node.cases):
            return node
        subject = self._namer.new("subject_")
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = _test(case.pattern, subject)
            if case.guard is not None:
                test = f"({test}) and guard_" if test != "True" else "guard_"
            chain = _binding(case.pattern, subject, case.body[0]) + replace(
                f"if {test}:\n    body_\nelse:\n    rest_",
                case.body[0],
                body_=case.body,
                rest_=chain or [ast.copy_location(ast.Pass(), case.body[0])],
                guard_=case.guard or ast.Constant(True),
            )
        return [*replace("subject = value", node, subject=subject, value=node.subject), *chain]


def _is_plain(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return all(_is_plain(p) for p in pattern.patterns)
    matches_all = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
    return matches_all or isinstance(pattern, (ast.MatchValue, ast.MatchSingleton))


def _binding(pattern: ast.pattern, subject: str, origin: ast.AST) -> list[ast.stmt]:
    """The assignment of a pattern that is a name."""
    if isinstance(pattern, ast.MatchAs) and pattern.name is not None:
        return replace("name = subject", origin, name=pattern.name, subject=subject)
    return []


def _test(pattern: ast.pattern, subject: str) -> str:
    if isinstance(pattern, ast.MatchOr):
        return " or ".join(f"({_test(p, subject)})" for p in pattern.patterns)
    if isinstance(pattern, ast.MatchValue):
        return f"{subject} == {ast.unparse(pattern.value)}"
    if isinstance(pattern, ast.MatchSingleton):
        return f"{subject} is {pattern.value!r}"
    return "True"
