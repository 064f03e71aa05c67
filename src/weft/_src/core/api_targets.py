"""Functions of users that stand in for public functions, for values of their own types.

A public function that nobody has a target for is left as it is, so dispatch costs nothing until it
is used. The first target replaces its `__code__` by a few lines that look at the arguments: the
function stays the same object, and so whoever imported it before, and functions of Weft that are
made of it, find the targets, too. The last target that leaves puts the code back.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union, get_args, get_origin

from weft._src.core.specs import TypeSpec
from weft._src.core.tensor import EagerTensor, SymbolicTensor, Tensor

Matcher = Callable[[Any], bool]
_lock = threading.RLock()
_EMPTY = inspect.Parameter.empty
# The parameter of the code below that holds the targets of a function.
_SLOT = "_weft_api_targets"


def is_dispatchable(value: Any) -> bool:
    """Whether a value may lead to a target: those of the user's types, not plain tensors.

    Args:
      value: anything.

    Returns:
      True for composite values, which have a `_type_spec`.
    """
    kind = type(value)
    return not issubclass(kind, (Tensor, TypeSpec)) and hasattr(kind, "_type_spec")


# Types that never lead to a target: what calls are about nearly always.
_ordinary = frozenset({EagerTensor, SymbolicTensor, int, float, bool, str, type(None)})


class _Check(NamedTuple):
    """What one parameter must be."""

    name: str
    position: int
    matches: Matcher


class _Target(NamedTuple):
    """A function of the user, and the signatures it is for."""

    function: Callable[..., Any]
    signatures: tuple[tuple[_Check, ...], ...]
    takes_name: bool
    registered: Callable[..., Any]  # what the user registered: calls go to it in the end


class ApiTargets:
    """All targets of one public function."""

    def __init__(self, api: types.FunctionType) -> None:
        self.api = api
        self.signature = inspect.signature(api)
        self.names = list(self.signature.parameters)
        self._defaults = {n: p.default for n, p in self.signature.parameters.items()}
        self._targets: tuple[_Target, ...] = ()
        self._original: types.FunctionType = api
        self._code = api.__code__

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the public function does now: the target that fits, or what it always did."""
        for value in args:
            if type(value) not in _ordinary and _holds_dispatchable(value):
                target = self.find(args, kwargs)
                break
        else:
            special = kwargs and any(map(_holds_dispatchable, kwargs.values()))
            target = self.find(args, kwargs) if special else None
        if target is None:
            return self._original(*args, **kwargs)
        return self.run(target, args, kwargs)

    def run(self, target: _Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a target; one without a parameter `name` does not get it."""
        if not target.takes_name:
            bound = self.signature.bind(*args, **kwargs)
            bound.arguments.pop("name", None)
            args, kwargs = bound.args, bound.kwargs
        return target.function(*args, **kwargs)

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Target | None:
        """The one target whose signature the arguments fit; ValueError if there are several."""
        found = [t for t in self._targets if self._fits(t, args, kwargs)]
        if len(found) > 1:
            raise ValueError(
                f"{self.api.__name__}: the arguments fit {len(found)} functions that were "
                f"registered for it: {', '.join([_name(t.registered) for t in found])}. Remove one "
                "with tf.experimental.unregister_dispatch_for."
            )
        return found[0] if found else None

    def _fits(self, target: _Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return any(self._fits_signature(checks, args, kwargs) for checks in target.signatures)

    def _fits_signature(
        self, checks: tuple[_Check, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        special = False
        for name, position, matches in checks:
            value = args[position] if position < len(args) else kwargs.get(name, _EMPTY)
            if value is _EMPTY:
                value = self._defaults[name]
            if value is _EMPTY or not matches(value):
                return False
            special = special or _holds_dispatchable(value)
        return special

    def add(self, function: Callable[..., Any], signatures: Sequence[Mapping[Any, Any]]) -> None:
        """Registers a target, and has the public function look for it."""
        checked = tuple([self._checks(signature) for signature in signatures])
        self._add(_Target(function, checked, self._check_parameters(function), function))

    def add_elementwise(self, handler: Callable[..., Any], kinds: Sequence[Matcher]) -> None:
        """Registers a handler of elementwise functions for the types of the first parameters."""
        operands = self.names[: len(kinds)]

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) == len(operands) and not kwargs:
                return handler(self.api, *args)
            given = self.signature.bind(*args, **kwargs).arguments
            rest = {name: value for name, value in given.items() if name not in operands}

            def api(*values: Any) -> Any:
                return self.api(**dict(zip(operands, values, strict=True)), **rest)

            return handler(api, *[given[name] for name in operands])

        checks = [
            _Check(name, i, matches)
            for i, (name, matches) in enumerate(zip(operands, kinds, strict=True))
        ]
        self._add(_Target(call, (tuple(checks),), True, handler))

    def _add(self, target: _Target) -> None:
        with _lock:
            if not self._targets:
                self._install()
            self._targets = (*self._targets, target)

    def remove(self, function: Callable[..., Any]) -> bool:
        """Takes a target out; whether it was there."""
        with _lock:
            left = tuple([t for t in self._targets if t.registered is not function])
            if len(left) == len(self._targets):
                return False
            self._targets = left
            if not left:
                self._uninstall()
            return True

    def _checks(self, signature: Mapping[Any, Any]) -> tuple[_Check, ...]:
        checks = []
        for key, annotation in signature.items():
            if isinstance(key, int) and 0 <= key < len(self.names):
                key = self.names[key]
            if key not in self.names:
                raise ValueError(
                    f"{self.api.__name__} has no parameter {key!r}; its signature is "
                    f"{self.signature}."
                )
            checks.append(_Check(key, self._position(key), matcher(annotation)))
        return tuple(checks)

    def _position(self, name: str) -> int:
        kind = self.signature.parameters[name].kind
        return 1 << 30 if kind is inspect.Parameter.KEYWORD_ONLY else self.names.index(name)

    def _check_parameters(self, function: Callable[..., Any]) -> bool:
        """Whether a target takes a name; ValueError if its parameters are not those of the API."""
        wanted = [(p.name, p.kind) for p in self.signature.parameters.values()]
        given = [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]
        without_name = [pair for pair in wanted if pair[0] != "name"]
        if given not in (wanted, without_name):
            raise ValueError(
                f"{_name(function)}{inspect.signature(function)} must have the parameters of "
                f"{self.api.__name__}, with or without `name`: ({', '.join(self.names)})."
            )
        return given == wanted

    def _install(self) -> None:
        api, code = self.api, self.api.__code__
        copy = types.FunctionType(
            code, api.__globals__, api.__name__, api.__defaults__, api.__closure__
        )
        copy.__kwdefaults__ = api.__kwdefaults__
        copy.__qualname__ = api.__qualname__
        self._original, self._code = copy, code
        api.__signature__ = self.signature  # type: ignore[attr-defined]
        # In this order: the old code does not mind the slot, the new one needs it.
        api.__kwdefaults__ = {**(api.__kwdefaults__ or {}), _SLOT: self}
        api.__code__ = _looking(code)

    def _uninstall(self) -> None:
        api = self.api
        api.__code__ = self._code
        api.__kwdefaults__ = self._original.__kwdefaults__
        del api.__signature__  # type: ignore[attr-defined]
        self._original = api


def _looking(code: types.CodeType) -> types.CodeType:
    """The code of a function that asks its targets, with the place and variables of another one."""
    # A function keeps its closure, so the new code must have the same free variables.
    named = ", ".join(code.co_freevars)
    text = (
        f"def outer({named}):\n"
        f"    def inner(*args, {_SLOT}, **kwargs):\n"
        f"        {'if False: ' + named if named else 'pass'}\n"
        f"        return {_SLOT}.call(args, kwargs)\n"
        f"    return inner\n"
    )
    made: dict[str, Any] = {}
    exec(text, made)
    new: types.CodeType = made["outer"](*code.co_freevars).__code__
    return new.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )


# --- what values must be ------------------------------------------------------------------------


def matcher(annotation: Any) -> Matcher:
    """What an annotation of a signature asks of a value: classes, unions and lists of them.

    Args:
      annotation: a class, None, `Union[...]` or `A | B`, `List[...]` or `list[...]`.

    Returns:
      A function that says whether a value fits.

    Raises:
      ValueError: for other annotations.
    """
    if annotation is None:
        return lambda value: value is None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        options = [matcher(option) for option in arguments]
        return lambda value: any(option(value) for option in options)
    if origin is list:
        item = matcher(arguments[0])
        return lambda value: isinstance(value, (list, tuple)) and all(map(item, value))
    if isinstance(annotation, type) and origin is None:
        return lambda value: isinstance(value, annotation)
    raise ValueError(
        f"Dispatch does not understand the annotation {annotation!r}. Use classes, Union[...] and "
        "List[...]."
    )


def _holds_dispatchable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(is_dispatchable, value))
    return is_dispatchable(value)


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


# --- the targets of all public functions --------------------------------------------------------

_all: dict[types.FunctionType, ApiTargets] = {}


def targets_of(api: Any) -> ApiTargets:
    """The targets of a public function, none at first.

    Args:
      api: a function of Weft.

    Returns:
      Its `ApiTargets`.

    Raises:
      ValueError: if it is something else.
    """
    if not isinstance(api, types.FunctionType) or not api.__module__.startswith("weft"):
        raise ValueError(
            f"{api!r} cannot have functions registered for it: only public functions of Weft can."
        )
    with _lock:
        if api not in _all:
            _all[api] = ApiTargets(api)
        return _all[api]


def remove_everywhere(function: Callable[..., Any]) -> bool:
    """Takes a target out of all public functions; whether it was in one."""
    with _lock:
        removed = [targets.remove(function) for targets in _all.values()]
        return True in removed


def dispatched(api: Any, *args: Any) -> Any:
    """The result of the target that fits the arguments of an operator, else NotImplemented.

    Args:
      api: the public function that the operator stands for.
      *args: the operands.

    Returns:
      What the target returns.
    """
    targets = _all.get(api)
    target = None if targets is None else targets.find(args, {})
    if targets is None or target is None:
        return NotImplemented
    return targets.run(target, args, {})
