"""What the code of a function reads from outside of itself, and whether it acts on Python.

Read from the bytecode, once for each piece of code: sources may be missing, and a function has the
same bytecode however it was defined.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft._src.autograph.conversion import is_library_file
from weft._src.autograph.met import Collection
from weft._src.autograph.pyct.code_table import CodeTable

# Where a name is looked up.
GLOBAL, FREE, LOCAL = "global", "free", "local"

_MUTATING = frozenset(
    {
        *("append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove"),
        *("discard", "clear", "update", "setdefault", "sort", "reverse", "write", "writelines"),
        *("read", "readline", "send", "put", "close", "flush", "debug", "info", "warning"),
        *("error", "log", "exception", "critical", "step"),
    }
)
_PURE_BUILTINS = frozenset(
    {
        *("abs", "all", "any", "callable", "chr", "divmod", "format", "getattr", "hasattr", "hash"),
        *("isinstance", "issubclass", "len", "max", "min", "ord", "pow", "repr", "round"),
        *("sorted", "sum"),
    }
)
_PURE_MODULES = frozenset(
    {
        *("weft", "numpy", "math", "cmath", "functools", "itertools", "operator", "collections"),
        *("typing", "enum", "dataclasses"),
    }
)


@dataclass(frozen=True)
class Name:
    """A name that code reads, and an attribute of it (one level), or None."""

    place: str
    name: str
    attribute: str | None = None


@dataclass
class CodeFacts:
    """What is known of a piece of code, the functions inside of it included."""

    reads: dict[Name, int] = field(default_factory=dict)  # and the line
    stores: set[Name] = field(default_factory=set)
    stored_attributes: set[str] = field(default_factory=set)  # of whatever object
    acts: list[tuple[str, int]] = field(default_factory=list)  # that cannot be taken back; lines
    # Methods that may change something: what they are asked of (None: of a result), path, line.
    methods: list[tuple[Name | None, str, int]] = field(default_factory=list)

    def changes(self, name: Name) -> bool:
        """Whether the code itself sets what it reads."""
        return name in self.stores or name.attribute in self.stored_attributes


_facts = CodeTable[CodeFacts]()


def facts_of(code: types.CodeType) -> CodeFacts:
    """What is known of some code."""
    found = _facts.get(code)
    if found is None:
        found = CodeFacts()
        _collect(code, frozenset(code.co_cellvars), found)
        _facts[code] = found
    return found


class _Path(NamedTuple):
    """What the last instruction has loaded: a name, or an attribute of one, however deep."""

    root: Name | None  # None for a result
    text: str
    depth: int = 0
    is_new: bool = False  # a variable of the function itself, which it may change

    def attribute(self, name: str) -> _Path:
        return _Path(self.root, f"{self.text}.{name}", self.depth + 1, self.is_new)


_RESULT = _Path(None, "a result")


def _collect(code: types.CodeType, own: frozenset[str], facts: CodeFacts) -> None:
    """`own` are the names that the function around it has as variables of its own."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    before = _RESULT
    for instruction, line in _instructions(code):
        base, before = before, _loaded(instruction, before, own, parameters)
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            _note_attribute(facts, base, instruction.argval, line)
        elif before.root is not None:
            facts.reads.setdefault(before.root, line)
        _note_action(facts, instruction, own, line)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect(constant, own | frozenset(constant.co_cellvars), facts)


def _loaded(
    instruction: dis.Instruction, before: _Path, own: frozenset[str], parameters: tuple[str, ...]
) -> _Path:
    """What is on top after an instruction, as far as that is followed."""
    name, argument = instruction.opname, instruction.argval
    if name in ("LOAD_GLOBAL", "LOAD_NAME"):
        return _Path(Name(GLOBAL, argument), argument)
    if "DEREF" in name and name.startswith("LOAD"):
        return _Path(Name(LOCAL if argument in own else FREE, argument), argument)
    if "LOAD_FAST" in name:  # several may be one instruction
        last = argument[-1] if isinstance(argument, tuple) else argument
        is_new = last not in parameters
        return _Path(None if is_new else Name(LOCAL, last), last, is_new=is_new)
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return before.attribute(argument)
    return _RESULT


def _note_attribute(facts: CodeFacts, base: _Path, attribute: str, line: int) -> None:
    if base.root is not None and not base.depth:
        name = Name(base.root.place, base.root.name, attribute)
        facts.reads.setdefault(name, line)
    if attribute in _MUTATING and not (base.is_new and not base.depth):
        facts.methods.append((base.root, f"{base.text}.{attribute}", line))


def _note_action(
    facts: CodeFacts, instruction: dis.Instruction, own: frozenset[str], line: int
) -> None:
    name, argument = instruction.opname, instruction.argval
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        facts.acts.append((f"sets .{argument}", line))
        facts.stored_attributes.add(argument)
    elif name in ("STORE_SUBSCR", "DELETE_SUBSCR"):
        facts.acts.append(("sets an item", line))
    elif name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        facts.stores.add(Name(GLOBAL, argument))
        facts.acts.append((f"sets {argument}", line))
    elif name == "STORE_DEREF" and argument not in own:
        facts.stores.add(Name(FREE, argument))
        facts.acts.append((f"sets {argument}", line))
    elif name == "IMPORT_NAME":
        facts.acts.append((f"imports {argument}", line))


_PASSED_OVER = frozenset(
    {"CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL", "COPY_FREE_VARS", "COPY", "RESUME"}
)


def _instructions(code: types.CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        positions = instruction.positions
        line = (positions.lineno if positions is not None else None) or line
        if instruction.opname not in _PASSED_OVER:
            yield instruction, line


def resolved(function: types.FunctionType, name: Name) -> Any:
    """What a global or free name of a function stands for; KeyError if it is nothing yet."""
    if name.place == GLOBAL:
        found = function.__globals__
        return found[name.name] if name.name in found else builtins.__dict__[name.name]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    try:
        return cells[name.name].cell_contents
    except ValueError:
        raise KeyError(name.name) from None


def action_of(function: types.FunctionType, as_it_is: bool) -> tuple[str, int] | None:
    """Something that a function does to Python whenever it runs, and the line; None if nothing.

    Careful: what is not known to be harmless counts. Of a function that runs `as_it_is` nobody
    knows what the functions do that it calls.
    """
    facts = facts_of(function.__code__)
    if facts.acts:
        return facts.acts[0]
    for root, path, line in facts.methods:
        if root is None or not _is_pure_module(function, root):
            return f"calls {path}", line
    for name, line in facts.reads.items():
        if name.place == LOCAL:
            continue
        try:
            value = resolved(function, Name(name.place, name.name))
        except KeyError:
            continue
        why = _reach(value, name, as_it_is)
        if why is not None:
            return why, line
    return None


def _is_pure_module(function: types.FunctionType, name: Name) -> bool:
    """Whether a name stands for a module whose functions do nothing to Python."""
    if name.place == LOCAL:
        return False
    try:
        value = resolved(function, name)
    except KeyError:
        return False
    return isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _PURE_MODULES


def actions_of(run: Collection) -> Callable[[], str | None]:
    """Tells, when it is called, what the functions that a trace has run do to Python."""
    if run.traces:
        calls = f"it calls {run.traces[0].graph.name}, which has traces of its own"
        return lambda: calls
    unique = {id(m.function.__code__): m for m in run.functions}.values()
    met = [(weakref.ref(function), as_it_is) for function, _, as_it_is in unique]

    def first_action() -> str | None:
        for reference, as_it_is in met:
            function = reference()
            if function is None:
                return "it calls a function that is gone"
            found = action_of(function, as_it_is)
            if found is not None:
                return f"{function.__name__} {found[0]} in line {found[1]}"
        return None

    return first_action


def _reach(value: Any, name: Name, as_it_is: bool) -> str | None:
    """What may happen if code uses a value of the outside."""
    if isinstance(value, types.ModuleType):
        pure = value.__name__.split(".")[0] in _PURE_MODULES
        pure = pure and (value.__name__, name.attribute) != ("numpy", "random")
        if not pure and is_library_file(getattr(value, "__file__", None) or "<frozen"):
            return f"uses {name.name}"  # functions of the user's own modules have been met
    elif isinstance(value, types.BuiltinFunctionType):
        is_builtin = getattr(builtins, value.__name__, None) is value
        if not is_builtin or value.__name__ not in _PURE_BUILTINS:
            return f"calls {name.name}"
    elif isinstance(value, types.FunctionType):
        module = (value.__module__ or "").split(".")[0]
        known = module in _PURE_MODULES
        if not known and (as_it_is or module in sys.stdlib_module_names):
            return f"calls {name.name}"
    elif isinstance(value, type) and not hasattr(value, "__dataclass_fields__"):
        init = value.__dict__.get("__init__")  # it runs as it is
        if isinstance(init, types.FunctionType) and action_of(init, as_it_is=True) is not None:
            return f"makes a {name.name}"
    return None


def code_of(function: Callable[..., Any]) -> types.CodeType | None:
    """The code of a Python function, however it is wrapped."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if isinstance(function, types.MethodType):
        function = function.__func__
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, types.CodeType) else None
