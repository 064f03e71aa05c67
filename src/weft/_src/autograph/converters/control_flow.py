"""`if`, `while` and `for` -> calls of operators with the blocks as functions.

    if c:                      def then():
        x = a                      nonlocal x
    else:              ->          x = a
        x = b                  def otherwise():
                                   nonlocal x
                                   x = b
                               def get_state(): return (x,)
                               def set_state(values):
                                   nonlocal x
                                   (x,) = values
                               ag__.if_stmt(c, then, otherwise, get_state, set_state, ...)

The state is what the blocks change: it is put back between tracing them. Only what is still needed
afterwards goes through the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from weft._src.autograph.pyct.naming import Namer
from weft._src.autograph.pyct.one_scope import OneScope
from weft._src.autograph.pyct.symbols import is_simple, root, writes
from weft._src.autograph.pyct.templates import expression, replace

_STATE = """
def get_state():
    return state_tuple
def set_state(values_):
    nonlocal state_names
    set_statements
"""

_IF = """
def then():
    nonlocal then_names
    then_body
def otherwise():
    nonlocal otherwise_names
    otherwise_body
state_functions
ag__.if_stmt(test, then, otherwise, get_state, set_state, names, needed, appended)
"""

_WHILE = """
def loop_test():
    nonlocal test_names
    return test
def loop_body():
    nonlocal body_names
    body
state_functions
ag__.while_stmt(
    loop_test, loop_body, get_state, set_state, names, needed, used_after, appended, options
)
"""

_FOR = """
def loop_body(item_):
    nonlocal body_names
    target = item_
    body
extra_test_function
state_functions
ag__.for_stmt(
    iterated, extra_test_or_none, loop_body, get_state, set_state,
    names, needed, used_after, appended, options,
)
"""


class ControlFlow(OneScope):
    """Rewrites the control flow of one function; `introduced` collects names it needs bound."""

    def __init__(self, namer: Namer, outside: set[str]) -> None:
        self._namer = namer
        self._outside = outside  # names declared global or nonlocal by the user
        self._globals: set[str] = set()
        self.introduced: dict[str, None] = {}

    def visit_Global(self, node: ast.Global) -> ast.Global:
        self._globals.update(node.names)
        return node

    # --- the three constructs ------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        state = self._state([*node.body, *node.orelse])
        needed = _needed(state, node.live_out)  # type: ignore[attr-defined]
        then_names, else_names = self._names(node.body), self._names(node.orelse)
        appended = _strings(_appended([*node.body, *node.orelse]))
        body, orelse = self.block(node.body), self.block(node.orelse)
        functions = self._fresh("then", "otherwise", "get_state", "set_state")
        return replace(
            _IF, node, **functions,
            test=self.visit(node.test),
            then_names=then_names, otherwise_names=else_names,
            then_body=self._with_globals(node.body, body),
            otherwise_body=self._with_globals(node.orelse, orelse),
            state_functions=self._state_functions(node, state, functions),
            names=_strings(state), needed=_strings(needed),
            appended=appended,
        )  # fmt: skip

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        options, body = _split_options(node.body)
        carried = self._carried(node, body)
        test_names, names = self._names([ast.Expr(node.test)]), self._names(body)
        appended = _strings(_appended(body))
        converted = self.block(body)
        functions = self._fresh("loop_test", "loop_body", "get_state", "set_state")
        return replace(
            _WHILE, node, **functions,
            test=self.visit(node.test), test_names=test_names,
            body_names=names, body=self._with_globals(body, converted),
            state_functions=self._state_functions(node, carried, functions),
            names=_strings(carried),
            needed=_strings(_needed(carried, node.live_head | node.live_out)),  # type: ignore[attr-defined]
            used_after=_strings(self._used_after(node, carried)),
            appended=appended,
            options=options,
        )  # fmt: skip

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        options, body = _split_options(node.body)
        assignment = ast.copy_location(ast.Assign([node.target], ast.Constant(None)), node)
        carried = self._carried(node, [assignment, *body])
        names = self._names([assignment, *body])
        appended = _strings(_appended(body))
        converted = self.block(body)
        functions = self._fresh("loop_body", "extra_test", "get_state", "set_state")
        extra = getattr(node, "extra_test", None)
        return replace(
            _FOR, node, **functions,
            iterated=self.visit(node.iter), target=node.target,
            body_names=names, body=self._with_globals(body, converted),
            extra_test_function=_extra_test(node, extra, functions["extra_test"]),
            extra_test_or_none=functions["extra_test"] if extra is not None else ast.Constant(None),
            state_functions=self._state_functions(node, carried, functions),
            names=_strings(carried),
            needed=_strings(_needed(carried, node.live_head | node.live_out)),  # type: ignore[attr-defined]
            used_after=_strings(self._used_after(node, carried)),
            appended=appended,
            options=options,
        )  # fmt: skip

    # --- what the blocks change ----------------------------------------------------------------

    def _state(self, statements: Iterable[ast.stmt]) -> list[str]:
        """The symbols that the statements write: plain names, and places seen through objects."""
        written = writes(*statements)
        names = {s for s in written if is_simple(s)}
        return [
            s
            for s in written
            if is_simple(s) or (root(s) not in names and not _index_written(s, names))
        ]

    def _carried(self, node: ast.AST, body: list[ast.stmt]) -> list[str]:
        test = getattr(node, "test", ast.Constant(None))
        return self._state([*body, ast.Expr(test)])

    def _used_after(self, node: Any, state: list[str]) -> list[str]:
        return [s for s in state if s in node.live_out]

    def _names(self, statements: Iterable[ast.stmt]) -> list[str]:
        """The plain names written, which the generated function has to declare."""
        names = [s for s in writes(*statements) if is_simple(s) and s not in self._globals]
        for name in names:
            if name not in self._outside:
                self.introduced.setdefault(name)
        return names

    def _with_globals(self, original: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
        """Names the user declared global stay so in the generated function."""
        written = [s for s in writes(*original) if s in self._globals]
        origin = original[0] if original else None
        out = list(body)
        if written and origin is not None:
            out = [ast.copy_location(ast.Global(written), origin), *out]
        return out or [ast.Pass(lineno=1, col_offset=0)]

    # --- assembling ------------------------------------------------------------------------------

    def _fresh(self, *bases: str) -> dict[str, str]:
        return {base: self._namer.new(base) for base in bases}

    def _state_functions(
        self, node: ast.stmt, state: list[str], functions: dict[str, str]
    ) -> list[ast.stmt]:
        loads = [
            ast.Name(s, ast.Load())
            if is_simple(s)
            else expression(f"ag__.load_or_undefined(lambda: {s}, {s!r})", node)
            for s in state
        ]
        stores: list[ast.stmt] = []
        for i, s in enumerate(state):
            if is_simple(s):
                stores += replace(f"{s} = values_[{i}]", node)
            else:
                stores += replace(
                    f"if not ag__.is_undefined(values_[{i}]):\n    {s} = values_[{i}]", node
                )
        simple = [s for s in state if is_simple(s) and s not in self._globals]
        global_names = [s for s in state if s in self._globals]
        if global_names:
            stores = [ast.Global(global_names, lineno=node.lineno, col_offset=0), *stores]
        return replace(
            _STATE, node,
            get_state=functions["get_state"], set_state=functions["set_state"],
            state_tuple=ast.Tuple(loads, ast.Load()), state_names=simple,
            set_statements=stores or [ast.Pass(lineno=node.lineno, col_offset=0)],
        )  # fmt: skip


def _index_written(symbol: str, names: set[str]) -> bool:
    """Whether the index in `d[i]` is itself changed: then it is not one place."""
    tree = ast.parse(symbol, mode="eval")
    indices = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    return any(isinstance(i, ast.Name) and i.id in names for i in indices)


def _extra_test(node: ast.For, test: ast.expr | None, name: str) -> list[ast.stmt]:
    """The function that says whether a `for` goes on, if a break may end it."""
    return [] if test is None else replace("def f():\n    return test", node, f=name, test=test)


def _needed(state: list[str], live: frozenset[str]) -> list[str]:
    """Those of the symbols whose values matter afterwards; places in objects always do."""
    roots = {root(s) for s in live}
    return [s for s in state if not is_simple(s) or s in live or s in roots]


def _appended(statements: list[ast.stmt]) -> list[str]:
    """The lists that the statements make longer or shorter (see converters.lists)."""
    calls = [
        node
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    ]
    return list(
        dict.fromkeys(
            ast.unparse(call.args[0])
            for call in calls
            if ast.unparse(call.func) in ("ag__.list_append", "ag__.list_extend", "ag__.list_pop")
        )
    )


def _strings(items: list[str]) -> ast.Tuple:
    return ast.Tuple([ast.Constant(item) for item in items], ast.Load())


def _split_options(body: list[ast.stmt]) -> tuple[ast.expr, list[ast.stmt]]:
    """A leading call of set_loop_options is about the loop, not part of it."""
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Call)
        and isinstance(first.value.func, ast.Attribute)
        and first.value.func.attr == "set_loop_options"
    ):
        call = expression("lambda: ag__.LoopOptions()", first)
        assert isinstance(call, ast.Lambda)
        assert isinstance(call.body, ast.Call)
        call.body.args, call.body.keywords = first.value.args, first.value.keywords
        return call, body[1:] or [ast.copy_location(ast.Pass(), first)]
    return ast.Constant(None), body
