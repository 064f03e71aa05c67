"""How raw ops are made: without attributes out of the registry, the others out of the table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import weft as tf
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import resource, variant
from weft._src.errors import UnsupportedError
from weft._src.ops.registry import STRUCTURED, Op, all_ops, find_op
from weft._src.raw_ops.signatures import signature_of
from weft._src.raw_ops.table import OWN, RENAMED, ROWS

_REQUIRED = inspect.Parameter.empty
# Attributes that say how TensorFlow does something, and not what.
_HOW = frozenset(
    """
    allowed_devices buffer_size_min cardinality_options config config_proto debug_name
    executor_type force_synchronous grad_a grad_b grad_x grad_y ignore_lookup_error is_files
    legacy_autotune metadata parallel_copy parallel_iterations preserve_cardinality
    replicate_on_split require_non_empty slack_period use_cudnn_on_gpu use_default_device
    use_inter_op_parallelism use_locking use_unbounded_threadpool
    """.split()  # noqa: SIM905
)
_ROW = re.compile(r"(\w+): (=?[\w.]+)\((.*)\)")


class _Argument(NamedTuple):
    """An argument of a raw op, and what Weft's function calls it."""

    name: str
    ours: str
    default: Any


class _Row(NamedTuple):
    """A raw op: its arguments and what does the work."""

    arguments: tuple[_Argument, ...]
    fixed: dict[str, Any]
    run: Callable[..., Any]
    only_default: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    result_types: frozenset[str] = frozenset()


def _rows() -> dict[str, tuple[str, str]]:
    """Function and arguments of each row, as they are written."""
    found = [_ROW.fullmatch(line) for line in ROWS.split("\n")]
    return {match[1]: (match[2], match[3]) for match in found if match is not None}


_WRITTEN = _rows()


def _parsed(function: str, arguments: str) -> _Row:
    parts: list[_Argument] = []
    fixed: dict[str, Any] = {}
    only_default: set[str] = set()
    ignored: set[str] = set()
    for text in arguments.split():
        names, _, default = text.partition("=")
        name, _, ours = names.partition(":")
        value = eval(default, {"tf": tf}) if default else _REQUIRED
        if name.startswith("!"):
            fixed[name[1:]] = value
        elif name[0] in "~-":
            (only_default if name[0] == "~" else ignored).add(name[1:])
            parts.append(_Argument(name[1:], name[1:], value))
        else:
            parts.append(_Argument(name, ours or name, value))
    run = _op_call(find_op(function[1:])) if function.startswith("=") else _lookup(function)
    return _Row(tuple(parts), fixed, run, frozenset(only_default), frozenset(ignored))


def _lookup(path: str) -> Callable[..., Any]:
    """A public function, or one that is there for raw ops only: `raw.file.function`."""
    value: Any = tf
    if path.startswith("raw."):
        _, file, path = path.split(".")
        value = import_module(f"weft._src.raw_ops.{file}")
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _op_call(op: Op) -> Callable[..., Any]:
    """An op that takes whatever becomes tensors, its inputs by name."""

    def call(name: str | None = None, **given: Any) -> Any:
        inputs: list[Any] = []
        items = {
            arg: items_of(f"raw_ops.{op.name}", given[arg.name], arg.name)
            if arg.variadic
            else [given[arg.name]]
            for arg in op.args
        }
        # Numbers take the dtype of the tensors they meet, also of those that come after them.
        dtype_of: dict[int, Any] = {}
        for arg, values in items.items():
            for item in values:
                if isinstance(item, (tf.Tensor, tf.Variable)):
                    dtype_of.setdefault(arg.group, item.dtype)
        for arg, values in items.items():
            del given[arg.name]
            for item in values:
                only = next(iter(arg.allowed)) if len(arg.allowed) == 1 else None
                tensor = convert_to_tensor(item, dtype_hint=only or dtype_of.get(arg.group))
                dtype_of.setdefault(arg.group, tensor.dtype)
                inputs.append(tensor)
        return op(*inputs, name=name, **given)

    return call


def _from_registry(op: Op) -> _Row:
    names = RENAMED[op.name].split() if op.name in RENAMED else [arg.name for arg in op.args]
    pairs = zip(names, op.args, strict=True)
    arguments = tuple([_Argument(name, arg.name, _REQUIRED) for name, arg in pairs])
    return _Row(arguments, {}, _op_call(op))


def _is_plain(op: Op) -> bool:
    """Whether an op is nothing but a function of tensors."""
    if op.name in OWN or op.name.startswith(("Stateless", "TensorList")):
        return False
    if op.kernel is STRUCTURED or op.host_io or op.has_resources or op.name.endswith("Dataset"):
        return False
    if any(arg.allowed <= {resource, variant} for arg in op.args) or not op.args:
        return False
    signature = inspect.signature(op.kernel if callable(op.kernel) else op.infer)
    buffers = ("out",) if op.takes_buffer else ()
    kinds = {p.kind for p in signature.parameters.values() if p.name not in buffers}
    return not kinds & {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}


def _completed(name: str, row: _Row) -> _Row:
    """With the attributes that TensorFlow has besides: at their defaults they change nothing.

    One that says which dtype the result has may also be what the result is anyway.
    """
    signature = signature_of(name)
    if signature is None:
        return row
    known = {argument.name: argument for argument in row.arguments}
    missing = {key: value for key, value in signature.defaults.items() if key not in known}
    types = {a.name for a in signature.attributes if a.kind == "type"} & missing.keys()
    for key, value in missing.items():
        known[key] = _Argument(key, key, None if key in types else value)
    order = {key: place for place, key in enumerate(signature.parameters)}
    return row._replace(
        arguments=tuple(sorted(known.values(), key=lambda a: order.get(a.name, len(order)))),
        only_default=row.only_default | (missing.keys() - types - _HOW),
        ignored=row.ignored | (missing.keys() & _HOW),
        result_types=frozenset(types),
    )


def names() -> list[str]:
    """All raw ops there are."""
    plain = [op.name for op in all_ops() if op.name not in _WRITTEN and _is_plain(op)]
    return sorted({*plain, *_WRITTEN})


def _make(name: str, row: _Row) -> Callable[..., Any]:
    ours = {argument.name: argument.ours for argument in row.arguments}
    required = {argument.name for argument in row.arguments if argument.default is _REQUIRED}
    defaults = {a.name: a.default for a in row.arguments if a.name not in required}
    defaults["name"] = None
    known = required | defaults.keys()

    def raw_op(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"tf.raw_ops.{name} takes keyword arguments only: {signature}.")
        if not required <= kwargs.keys() <= known:
            try:
                signature.bind(**kwargs)  # ten times as slow, and it knows what to say
            except TypeError as e:
                raise TypeError(f"tf.raw_ops.{name}{signature}: {e}.") from None
        given = {**defaults, **kwargs}
        for key in row.ignored:
            given.pop(key, None)
        for argument in row.arguments:
            if argument.name in row.only_default:
                value = given.pop(argument.name)
                if value != argument.default:
                    raise UnsupportedError(
                        f"tf.raw_ops.{name}: {argument.name} must be {argument.default!r}, got "
                        f"{value!r}."
                    )
        wanted = {key: given.pop(key) for key in row.result_types}
        node_name = given.pop("name")
        if node_name is not None:
            given["name"] = node_name
        out = row.run(**{ours.get(key, key): value for key, value in given.items()}, **row.fixed)
        for key, dtype in wanted.items():
            if dtype is not None and tf.as_dtype(dtype) is not out.dtype:
                raise UnsupportedError(
                    f"tf.raw_ops.{name}: {key} must be {out.dtype.name} for these inputs, got "
                    f"{tf.as_dtype(dtype).name}. Convert the result with tf.cast."
                )
        return out

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(a.name, keyword, default=a.default) for a in row.arguments]
    parameters.append(inspect.Parameter("name", keyword, default=None))
    signature = inspect.Signature(parameters)
    raw_op.__name__ = raw_op.__qualname__ = name
    raw_op.__signature__ = signature  # type: ignore[attr-defined]
    raw_op.__doc__ = f"The op {name} with TensorFlow's arguments, by keyword: {signature}."
    return raw_op


def make(name: str) -> Callable[..., Any] | None:
    """The raw op of that name; None if there is none."""
    if name in _WRITTEN:
        return _make(name, _completed(name, _parsed(*_WRITTEN[name])))
    try:
        op = find_op(name)
    except KeyError:
        return None
    return _make(name, _completed(name, _from_registry(op))) if _is_plain(op) else None
