"""The definition of an op: everything Weft knows about it, in one place.

`define_op` takes the type rule, the kernel, the native rule and the gradient; what an op does not
have is said with a sentinel, so that nothing is missing by accident. Calling an op runs it at
once, or adds it to the graph that is being built (see `ops.dispatch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.dtypes import DType
from weft._src.core.tracebacks import hide_own_frames
from weft._src.ops.worth import worth_compiling_from


class Absent:
    """A sentinel that says an op has no rule of some kind, and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"<absent: {self.reason}>"


NOT_DIFFERENTIABLE = Absent("the result does not depend on the inputs in a differentiable way")
HOST_ONLY = Absent("runs Python or touches the host, so it is not compiled")
NO_NATIVE = Absent("runs as a NumPy call between native segments")
STRUCTURED = Absent("holds nested graphs, which the executors run themselves")
REGISTERED_LATER = Absent("the rule is registered by the autodiff layer")


class Arg(NamedTuple):
    """One input: its name, the dtypes it may have, and the group that shares one dtype."""

    name: str
    allowed: frozenset[DType]
    group: int
    variadic: bool = False
    is_shape: bool = False  # the type rule wants to see its value, as far as it is known


_groups = iter(range(1 << 62))


def args(names: str, allowed: Iterable[DType], *, is_shape: bool = False) -> tuple[Arg, ...]:
    """Inputs that share one dtype out of `allowed`; a name with a star takes any number."""
    group = next(_groups)
    allowed = frozenset(allowed)
    return tuple(
        Arg(name.lstrip("*"), allowed, group, name.startswith("*"), is_shape)
        for name in names.split()
    )


def each(names: str, allowed: Iterable[DType], *, is_shape: bool = False) -> tuple[Arg, ...]:
    """Inputs whose dtypes are independent of each other (a starred one: of its own items too)."""
    allowed = frozenset(allowed)
    return tuple(
        Arg(name.lstrip("*"), allowed, -1 if "*" in name else next(_groups), "*" in name, is_shape)
        for name in names.split()
    )


class Op:
    """One primitive operation. Immutable after its definition; compared by identity."""

    __slots__ = (
        "accepted",
        "args",
        "fresh",
        "has_resources",
        "host_io",
        "infer",
        "kernel",
        "name",
        "native",
        "nested_offset",
        "outputs",
        "reads",
        "shape_arithmetic",
        "trusts_kernel",
        "ufunc",
        "vjp",
        "worth_compiling_from",
        "writes",
    )

    name: str
    args: tuple[Arg, ...]
    infer: Callable[..., Any]
    kernel: Any
    native: Any
    vjp: Any
    outputs: int | None
    ufunc: np.ufunc | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    host_io: bool
    nested_offset: int
    fresh: bool
    has_resources: bool
    trusts_kernel: bool
    shape_arithmetic: bool
    worth_compiling_from: int  # elements of the first and the last input together
    accepted: set[tuple[Any, ...]]

    # Set by ops.dispatch, which needs this class.
    call: Callable[..., Any]

    def __call__(self, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        try:
            return Op.call(self, inputs, attrs, name)
        except Exception as error:
            hide_own_frames(error)
            raise

    def arg(self, index: int) -> Arg:
        """The declaration of the input at a position; the last one may be variadic."""
        return self.args[min(index, len(self.args) - 1)]

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return find_op, (self.name,)


# The attributes of an op that has none, where no new dictionary is wanted. Nobody changes it.
NO_ATTRS: dict[str, Any] = {}

_registry: dict[str, Op] = {}


def define_op(
    name: str,
    inputs: tuple[Arg, ...],
    *,
    infer: Callable[..., Any],
    kernel: Any,
    native: Any,
    vjp: Any,
    outputs: int | None = 1,
    ufunc: np.ufunc | None = None,
    reads: tuple[int, ...] = (),
    writes: tuple[int, ...] = (),
    host_io: bool = False,
    nested_offset: int = 0,
    fresh: bool = False,
    trusts_kernel: bool = False,
    shape_arithmetic: bool = False,
) -> Op:
    """Defines an op and enters it in the registry.

    infer: specs and attributes -> spec (a tuple of specs unless `outputs` is 1). Raises ShapeError.
    kernel: `kernel(xp, *arrays, **attrs)` -> array (a tuple unless `outputs` is 1).
    ufunc: a NumPy ufunc that computes the same as the kernel, so that results can go into buffers.
    native: a rule of `core.native_rules`.
    vjp: `vjp(ctx, *output_gradients)` -> one gradient (or None) per input, written with ops.
    outputs: their number; None if it depends on the attributes.
    reads, writes: positions of the resource inputs whose state it sees or changes.
    host_io: acts on the world outside; such nodes keep their order.
    nested_offset: the first input that goes to the nested graphs, for ops that hold some.
    fresh: the result never shares memory with an input.
    trusts_kernel: eager calls skip `infer`: the kernel itself refuses whatever `infer` would.
    shape_arithmetic: the kernel also works on object arrays of sizes (ints and Dims).
    """
    if name in _registry:
        raise ValueError(f"The op {name} is defined twice.")
    op = Op()
    op.name, op.args, op.infer, op.kernel, op.native, op.vjp = (
        name,
        inputs,
        infer,
        kernel,
        native,
        vjp,
    )
    op.outputs, op.ufunc, op.reads, op.writes = outputs, ufunc, reads, writes
    op.host_io, op.trusts_kernel, op.shape_arithmetic = host_io, trusts_kernel, shape_arithmetic
    op.fresh = fresh or ufunc is not None
    op.nested_offset = nested_offset
    op.has_resources = bool(reads or writes) or kernel is STRUCTURED
    op.worth_compiling_from = worth_compiling_from(op)
    op.accepted = set()
    _registry[name] = op
    return op


def register_vjp(op: Op, vjp: Callable[..., Any]) -> None:
    """Gives an op defined with REGISTERED_LATER its gradient."""
    if op.vjp is not REGISTERED_LATER:
        raise ValueError(f"The gradient of {op.name} is registered twice.")
    op.vjp = vjp


def find_op(name: str) -> Op:
    """The op of that name."""
    try:
        return _registry[name]
    except KeyError:
        raise KeyError(f"Weft has no op named {name!r}.") from None


def all_ops() -> list[Op]:
    """Every op, by name."""
    return [_registry[name] for name in sorted(_registry)]


def incomplete_ops() -> list[str]:
    """What is missing in the registry: empty once the whole package has been imported."""
    problems = []
    for op in all_ops():
        for slot in ("infer", "kernel", "native", "vjp"):
            rule = getattr(op, slot)
            if rule is None or rule is REGISTERED_LATER:
                problems.append(f"{op.name}: no {slot}")
    return problems
