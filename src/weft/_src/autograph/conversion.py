"""Which functions are converted, and converting them once."""

from __future__ import annotations

import ast
import functools
import inspect
import logging
import os
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Hashable
from typing import Any

from weft._src import nest
from weft._src.autograph import met
from weft._src.autograph.converters import pipeline
from weft._src.autograph.operators import runtime
from weft._src.autograph.operators.python_builtins import OVERLOADS
from weft._src.autograph.pyct.code_table import CodeTable
from weft._src.autograph.pyct.naming import scope_like
from weft._src.autograph.pyct.source import NoSourceError, function_node
from weft._src.core.frames import BLOCK, PACKAGE
from weft._src.graph import row_maps
from weft._src.ops.control import branch, functional, loop

_logger = logging.getLogger("weft")

# The converted code of functions, by their own code: closures of one definition share it.
_converted_code = CodeTable[types.CodeType]()
# Code that could not be converted, and why.
_refused = CodeTable[str]()
# Lambdas inside of converted code.
_converted_lambdas = CodeTable[bool]()

# Functions that the converters make of blocks (see converters.control_flow).
_BLOCK = re.compile(r"(then|otherwise|loop_(body|test)|extra_test|[gs]et_state)(_\d+)?")

# Functions of Weft that call functions of the user while tracing.
_HIGHER_ORDER = frozenset(
    {
        branch.case,
        branch.cond,
        branch.switch_case,
        functional.foldl,
        functional.foldr,
        functional.map_fn,
        functional.scan,
        row_maps.vectorized_map,
        loop.while_loop,
    }
)
_CALLED = (types.FunctionType, types.MethodType, functools.partial)

_LIBRARIES = tuple(
    os.path.join(os.path.abspath(path), "")
    for path in {sysconfig.get_path(k) for k in ("stdlib", "purelib", "platlib")}
    if path
)


def converted(function: Callable[..., Any]) -> Any:
    """What to call instead of a function: its converted form, or the function itself."""
    convert_itself = getattr(type(function), "__autograph_convert__", None)
    if convert_itself is not None:
        return convert_itself(function, converted)
    if isinstance(function, Hashable) and function in OVERLOADS:
        overload = OVERLOADS[function]
        return _with_converted_arguments(overload) if function in (map, filter) else overload
    if isinstance(function, types.FunctionType):
        if function in _HIGHER_ORDER:
            return _with_converted_arguments(function)
        return convert_function(function)
    if isinstance(function, types.MethodType):
        inner = function.__func__
        if isinstance(inner, types.FunctionType):
            made = convert_function(inner, function.__self__)
            return function if made is inner else types.MethodType(made, function.__self__)
        return function
    if isinstance(function, functools.partial):
        made = converted(function.func)
        if made is function.func:
            return function
        return functools.partial(made, *function.args, **function.keywords)
    if isinstance(function, type) or _is_library_object(function):
        return function
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, types.FunctionType):
        made = convert_function(call)
        return function if made is call else types.MethodType(made, function)
    return function


def _with_converted_arguments(function: Callable[..., Any]) -> Any:
    """A function of Weft that calls functions it is given: these are the user's."""

    def of_user(leaf: Any) -> Any:
        return converted(leaf) if isinstance(leaf, _CALLED) else leaf

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(
            *[
                nest.map_structure(of_user, value) if _holds_functions(value) else value
                for value in args
            ],
            **{
                k: nest.map_structure(of_user, v) if _holds_functions(v) else v
                for k, v in kwargs.items()
            },
        )

    return call


def _holds_functions(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_functions, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_functions, value))
    return isinstance(value, _CALLED)


def _is_library_object(function: Callable[..., Any]) -> bool:
    module = type(function).__module__  # a descriptor, of what some versions of Cython make
    return isinstance(module, str) and module.split(".")[0] in ("weft", "builtins", "numpy")


def convert_function(function: types.FunctionType, instance: Any = None) -> types.FunctionType:
    """The converted form of a function; the function itself where it is not to be converted."""
    if not is_converted(function) and not _is_library(function):
        met.note(function, instance)
    if not should_convert(function):
        return function
    code = function.__code__
    made = _converted_code.get(code)
    if made is None:
        try:
            made = _convert_code(function)
        except NoSourceError as e:
            _refused[code] = str(e)
            _logger.warning(
                "AutoGraph could not convert %s (%s): it runs as it is. Tensors cannot be used in "
                "its if, while and for statements.",
                function.__qualname__,
                e,
            )
            return function
        _converted_code[code] = made
    return _with_code(function, made)


def should_convert(function: types.FunctionType) -> bool:
    """User code is converted; Weft itself, the standard library and installed packages are not."""
    code = function.__code__
    if getattr(function, "__ag_do_not_convert__", None) is code or is_converted(function):
        return False
    if (
        code in _refused
        or code in _converted_lambdas
        or code.co_flags
        & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    ):
        return False
    return not _is_library(function)


def _is_library(function: types.FunctionType) -> bool:
    if is_library_file(function.__code__.co_filename):
        return True
    module = (function.__module__ or "").split(".")[0]
    return module in sys.stdlib_module_names and module != "__main__"


def is_library_file(file: str) -> bool:
    """Whether a file belongs to Weft, to Python or to an installed package."""
    return file.startswith((PACKAGE, *_LIBRARIES, "<frozen"))


def why_refused(code: types.CodeType) -> str | None:
    """Why the function of some code could not be converted, if it was tried."""
    return _refused.get(code)


def is_converted(function: Callable[..., Any]) -> bool:
    """Whether a function is the product of a conversion."""
    # Decorators copy the attributes of what they wrap: only the code tells whose mark it is.
    return getattr(function, "__ag_converted__", None) is function.__code__


def _convert_code(function: types.FunctionType) -> types.CodeType:
    tree = converted_tree(function)
    code = function.__code__
    free = [name for name in code.co_freevars if name != "ag__"]
    factory = ast.parse(f"def ag_factory(ag__, {', '.join(free)}):\n    pass").body[0]
    assert isinstance(factory, ast.FunctionDef)
    if isinstance(tree, ast.FunctionDef):
        # Under its own name the factory would own that name: what the function means by it is a
        # global, or one of `free`.
        tree.name = "ag__made"
        inner: list[ast.stmt] = [tree, ast.Return(ast.Name(tree.name, ast.Load()))]
    else:
        inner = [ast.Return(tree)]
    factory.body = inner
    scope = scope_like(code, [factory])
    module = ast.fix_missing_locations(ast.Module([scope], []))
    namespace: dict[str, Any] = {}
    exec(compile(module, code.co_filename, "exec"), namespace)
    made: types.FunctionType = namespace[scope.name].ag_factory(None, *[None] * len(free))
    polished = _polished(made.__code__, code.co_name, code.co_qualname)
    for inner_code in _lambdas(polished):
        _converted_lambdas[inner_code] = True
    return polished


def _lambdas(code: types.CodeType) -> list[types.CodeType]:
    """The lambdas inside: they hold expressions only, which have been converted."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [c for c in inner if c.co_name == "<lambda>"] + [f for c in inner for f in _lambdas(c)]


def _polished(code: types.CodeType, name: str, qualname: str) -> types.CodeType:
    """The code with the names that the user knows: blocks have that of the function around them."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if _BLOCK.fullmatch(constant.co_name):
                inner = (name, qualname.removesuffix(BLOCK) + BLOCK)
            else:
                inner = (constant.co_name, f"{qualname}.<locals>.{constant.co_name}")
            constant = _polished(constant, *inner)
        constants.append(constant)
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))


def converted_tree(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The syntax tree of the converted function, without decorators, defaults and annotations."""
    node = function_node(function)
    arguments = node.args
    # Their values are taken from the function itself.
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
        node.returns = None
    ast.fix_missing_locations(node)
    return pipeline.convert(node)


def _with_code(function: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    """A function with the converted code and everything else of the original."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells["ag__"] = types.CellType(runtime)
    closure = tuple([cells[name] for name in code.co_freevars])
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__doc__ = function.__doc__
    made.__module__ = function.__module__
    made.__qualname__ = function.__qualname__
    made.__ag_converted__ = code  # type: ignore[attr-defined]
    return made


def source_of_converted(function: Callable[..., Any]) -> str:
    """The converted code as text."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"to_code takes a Python function, got {function!r}.")
    try:
        return ast.unparse(converted_tree(function))
    except NoSourceError as e:
        raise ValueError(f"The code of {function.__qualname__} cannot be shown: {e}.") from None


runtime.install_converter(converted)
