"""The definition of an op: everything Weft knows about it, in one place.

`define_op` takes the type rule, the kernel, the native rule and the gradient; what an op does not
have is said with a sentinel, so that nothing is missing by accident. Calling an op runs it at
once, or adds it to the graph that is being built (see `ops.dispatch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.dtypes import STRING, UNUSUAL, DType
from weft._src.core.native_rules import IndexMap, NativeRule, Pointwise
from weft._src.core.tracebacks import hide_own_frames
from weft._src.core.xla_rules import KERNEL, XlaRule
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
FOLDED = Absent("is folded into a constant, or written out in place, before code is made")
STRUCTURED = Absent("holds nested graphs, which the executors run themselves")
NO_XLA = Absent("has no form in XLA, so NumPy runs it")
DATA_SHAPED = Absent("gives a result whose shape depends on data, so NumPy runs it")
STRINGS = Absent("is about strings, which XLA does not have")
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
    """One primitive operation: the fields of its definition (see `define_op`), and what follows.

    Compared by identity. After its definition only three fields change: `accepted`, `passed`, and a
    `vjp` that is REGISTERED_LATER, or NOT_DIFFERENTIABLE until a user registers one.
    """

    __slots__ = (
        "accepted",
        "advances_stream",
        "args",
        "batch",
        "cheap",
        "computes",
        "elementwise",
        "fresh",
        "graphdef",
        "guards",
        "has_resources",
        "host_io",
        "identity",
        "infer",
        "infix",
        "keeps_shape",
        "kernel",
        "linear",
        "measures",
        "multiplies",
        "name",
        "native",
        "nested_offset",
        "outputs",
        "passed",
        "ragged",
        "reads",
        "rows_vjp",
        "self_contained",
        "shape_arithmetic",
        "slow_kernel",
        "smooth",
        "takes_buffer",
        "trusts_kernel",
        "ufunc",
        "ufunc_except",
        "vjp",
        "worth_compiling_from",
        "writes",
        "xla",
        "zero_at_zero",
    )

    name: str
    args: tuple[Arg, ...]
    # The rules.
    infer: Callable[..., Any]
    kernel: Any
    native: Any
    xla: Any
    vjp: Any
    rows_vjp: Callable[..., Any] | None
    batch: Callable[..., Any] | None
    graphdef: Callable[..., Any] | None
    ragged: str | None
    smooth: str
    # Inputs, outputs and effects.
    outputs: int | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    host_io: bool
    self_contained: bool
    guards: bool
    advances_stream: bool
    keeps_shape: bool
    nested_offset: int
    fresh: bool
    # What it computes.
    ufunc: np.ufunc | None
    ufunc_except: frozenset[Any]
    takes_buffer: bool
    infix: str | None
    elementwise: bool
    identity: bool
    linear: tuple[int, ...]
    zero_at_zero: bool
    measures: Callable[[Any], Any] | None
    shape_arithmetic: bool
    computes: bool
    # What it costs.
    trusts_kernel: bool
    slow_kernel: bool
    cheap: bool
    multiplies: Callable[..., int] | None
    # What follows from these.
    has_resources: bool
    worth_compiling_from: int  # elements of the first and the last input together
    accepted: set[tuple[Any, ...]]  # dtypes of inputs that were checked already
    passed: set[tuple[Any, ...]] | None  # what passed the type rule; None if values decide, too

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

    def with_gradient(self, vjp: Callable[..., Any] | Absent) -> Op:
        """The same op with another gradient; it is not in the registry."""
        variant = Op()
        for slot in Op.__slots__:
            setattr(variant, slot, getattr(self, slot))
        variant.vjp, variant.rows_vjp = vjp, None
        return variant

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return find_op, (self.name,)


# The attributes of an op that has none, where no new dictionary is wanted. Nobody changes it.
NO_ATTRS: dict[str, Any] = {}

_registry: dict[str, Op] = {}


# A new field takes five lines: its slot and type above, its keyword, meaning and value here.
def define_op(
    name: str,
    inputs: tuple[Arg, ...],
    *,
    infer: Callable[..., Any],
    kernel: Callable[..., Any] | Absent,
    native: NativeRule | Absent,
    vjp: Callable[..., Any] | Absent,
    xla: XlaRule | Absent | None = None,
    rows_vjp: Callable[..., Any] | None = None,
    batch: Callable[..., Any] | None = None,
    graphdef: Callable[..., Any] | None = None,
    ragged: str | None = None,
    smooth: str = "",
    outputs: int | None = 1,
    reads: tuple[int, ...] = (),
    writes: tuple[int, ...] = (),
    host_io: bool = False,
    self_contained: bool = False,
    guards: bool = False,
    advances_stream: bool = False,
    keeps_shape: bool = False,
    nested_offset: int = 0,
    fresh: bool = False,
    ufunc: np.ufunc | None = None,
    ufunc_except: frozenset[Any] = UNUSUAL,
    takes_buffer: bool = False,
    infix: str | None = None,
    elementwise: bool = False,
    identity: bool = False,
    linear: tuple[int, ...] = (),
    zero_at_zero: bool = False,
    measures: Callable[[Any], Any] | None = None,
    shape_arithmetic: bool = False,
    computes: bool = True,
    trusts_kernel: bool = False,
    slow_kernel: bool = False,
    cheap: bool | None = None,
    multiplies: Callable[..., int] | None = None,
) -> Op:
    """Defines an op and enters it in the registry: all that is known of it stands here.

    The rules:

    infer: specs and attributes -> spec (a tuple of specs unless `outputs` is 1). Raises ShapeError.
    kernel: `kernel(xp, *arrays, **attrs)` -> array (a tuple unless `outputs` is 1).
    native: a rule of `core.native_rules`, which names the code that compiles it, or a sentinel.
    xla: KERNEL if the kernel runs on jax's arrays, a rule of `core.xla_rules`, or a sentinel.
        By default KERNEL for ops with a ufunc or a Pointwise rule, STRINGS where an input can only
        be a string, and HOST_ONLY and FOLDED as for `native`. All others say it.
    vjp: `vjp(ctx, *output_gradients)` -> one gradient (or None) per input, written with ops.
    rows_vjp: the same for a gradient that is `IndexedSlices`, if rows can pass through; None if it
        needs a tensor.
    batch: how the op runs on many examples at once; None if only `elementwise` tells.
    graphdef: how SavedModels write it with TensorFlow's ops, a rule of `ops.graph_forms`; None if
        TensorFlow has an op of that name with the same inputs and attributes, or no form is known.
    ragged: the name of its rule in `ops.ragged.rules`. Elementwise ops need none; others refuse.
    smooth: of an op without a gradient, what to write instead where one is wanted, as a sentence.

    Inputs, outputs and effects:

    outputs: their number; None if it depends on the attributes.
    reads, writes: positions of the resource inputs whose state it sees or changes.
    host_io: acts on the world outside; such nodes keep their order.
    self_contained: what it does there depends on nothing but its inputs; no variable is involved.
    guards: it is there to raise, with a text of its own. Such an op is self-contained.
    advances_stream: takes or sets the state of a random stream, which is quick, and done first.
    keeps_shape: the variables that it writes keep their shapes.
    nested_offset: the first input that goes to the nested graphs, for ops that hold some.
    fresh: the result never shares memory with an input.

    What it computes:

    ufunc: a NumPy ufunc that computes the same as the kernel, so that results can go into buffers.
    ufunc_except: NumPy's dtypes for which it has no such ufunc, or a slow one: the kernel runs.
    takes_buffer: the kernel of an elementwise op also takes `out`, an array for its result, which
        may be one of the inputs.
    infix: Python's operator for it, which is quicker on single numbers.
    elementwise: each element of the result depends on those of the (broadcast) inputs at the same
        place, and on nothing else. So are ops with a ufunc or a Pointwise rule, without saying it.
    identity: output i is input i.
    linear: positions of the inputs in which it is linear, all of them taken together, where its
        tangent is the op of the tangents. For the others it comes from the gradient rule.
    zero_at_zero: of sparse tensors it takes the elements that are there, as it is 0 at 0.
    measures: `measures(dims)` -> the result, if it depends on the sizes of the input only.
    shape_arithmetic: the kernel also works on object arrays of sizes (ints and Dims).
    computes: whether results are its own work, so that `enable_check_numerics` looks at them, and
        not what it was given or has read.

    What it costs:

    trusts_kernel: eager calls skip `infer`: the kernel itself refuses whatever `infer` would.
    slow_kernel: the kernel goes over its inputs several times, so compiling pays off sooner.
    cheap: the gradient of a loop computes it again rather than keep its results. By default so for
        Pointwise and IndexMap rules.
    multiplies: for products of matrices, `multiplies(specs, result, **attrs)` -> the number of
        multiplications, 0 if that is not known. Every tier leaves large ones to BLAS.
    """
    if name in _registry:
        raise ValueError(f"The op {name} is defined twice.")
    op = Op()
    op.name, op.args = name, inputs
    op.infer, op.kernel, op.native, op.vjp = infer, kernel, native, vjp
    op.rows_vjp, op.batch, op.graphdef, op.ragged = rows_vjp, batch, graphdef, ragged
    op.smooth = smooth
    op.outputs, op.reads, op.writes, op.host_io = outputs, reads, writes, host_io
    op.self_contained, op.guards = self_contained or guards, guards
    op.advances_stream, op.keeps_shape = advances_stream, keeps_shape
    op.nested_offset, op.fresh = nested_offset, fresh or ufunc is not None
    op.ufunc, op.ufunc_except, op.infix = ufunc, ufunc_except, infix
    op.takes_buffer = takes_buffer
    op.elementwise = elementwise or ufunc is not None or isinstance(native, Pointwise)
    op.identity, op.linear, op.zero_at_zero = identity, linear, zero_at_zero
    op.measures, op.shape_arithmetic, op.computes = measures, shape_arithmetic, computes
    op.trusts_kernel, op.slow_kernel = trusts_kernel, slow_kernel
    op.cheap = isinstance(native, (Pointwise, IndexMap)) if cheap is None else cheap
    op.multiplies = multiplies
    op.xla = _usual_xla(op) if xla is None else xla
    op.has_resources = bool(reads or writes) or kernel is STRUCTURED
    op.worth_compiling_from = worth_compiling_from(op)
    op.accepted = set()
    by_type = not op.has_resources and not any(arg.is_shape for arg in op.args)
    op.passed = set() if by_type and kernel is not STRUCTURED else None
    _registry[name] = op
    return op


def _usual_xla(op: Op) -> XlaRule | Absent | None:
    """What follows from the rest of the block; None if it has to be said."""
    if op.native is HOST_ONLY or op.native is FOLDED:
        return op.native
    if any(arg.allowed == STRING for arg in op.args):
        return STRINGS
    return KERNEL if op.ufunc is not None or isinstance(op.native, Pointwise) else None


def remove_op(op: Op) -> None:
    """Takes an op out of the registry, for tests that define some of their own."""
    del _registry[op.name]


def register_vjp(op: Op, vjp: Callable[..., Any]) -> None:
    """Gives an op defined with REGISTERED_LATER its gradient."""
    if op.vjp is not REGISTERED_LATER:
        raise ValueError(f"The gradient of {op.name} is registered twice.")
    op.vjp = vjp


def is_op(name: str) -> bool:
    """Whether there is an op of that name."""
    return name in _registry


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
        for slot in ("infer", "kernel", "native", "xla", "vjp"):
            rule = getattr(op, slot)
            if rule is None or rule is REGISTERED_LATER:
                problems.append(f"{op.name}: no {slot}")
    return problems
