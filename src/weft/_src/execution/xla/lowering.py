"""A graph, evaluated with jax's tracers: what jax records of it is the program.

The graph is specialised first, so all sizes are known. A value that is known here stays a NumPy
array, and a pure node of such values is computed by NumPy at once: arithmetic of shapes never
becomes part of the program. Variables are a dictionary of values that goes in and comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import namespace
from weft._src.execution.xla.rules import rule_of
from weft._src.execution.xla.stack_values import StackValue
from weft._src.graph.ir import Graph, Node
from weft._src.ops import static
from weft._src.ops.dispatch import known_bytes, run_kernel
from weft._src.ops.registry import Absent

TYPES = frozenset({
    dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
    dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.float16, dtypes.bfloat16, dtypes.float32,
    dtypes.float64, dtypes.complex64, dtypes.complex128,
})  # fmt: skip

# What a tensor is while lowering: an array of NumPy if it is known, else an array of jax that is
# being traced; a `StackValue` for a list, and a `Cell` for the handle of a variable.
Value = Any

_SMALL = 1 << 16  # bytes of a result that NumPy computes while lowering: it becomes a constant


class Cell:
    """A variable or random stream: where its value is among those that the program is given."""

    __slots__ = ("apart", "is_stream", "key", "name")

    def __init__(
        self, key: int, name: str, apart: str | None = None, *, is_stream: bool = False
    ) -> None:
        self.key = key
        self.name = name
        self.is_stream = is_stream
        # How the values of replicas become one, if each has its own; they lie along a first axis.
        self.apart = apart


class Lowering:
    """What is known while the nodes of a graph, or of one nested in it, are evaluated."""

    def __init__(self, state: dict[int, Any], scale: int = 1, replicas: int = 0) -> None:
        self.state = state  # the values of variables
        self.scale = scale  # of the guessed lengths of lists
        self.replicas = replicas  # how many there are, in the function of one of them
        # What traced integers lie between, by their ids; they are kept, so that ids stay theirs.
        self.bounds: dict[int, tuple[Value, int, int]] = {}
        self.bad: Any = None  # whether a check failed, a scalar; None without checks
        self.full: Any = None  # whether a list grew out of its memory
        # The values that variables had before, if these are what they have after a check failed.
        self.originals: dict[int, Any] = {}
        self._kept: dict[int, tuple[Any, Any, Any]] = {}  # what `store` saw to, for which bits
        self._replaced: dict[int, Any] = {}  # values of tensors from the next node on

    def nested(self) -> Lowering:
        """For a graph inside of this one: it sees the variables, and notes its own checks."""
        inner = Lowering(dict(self.state), self.scale, self.replicas)
        inner.bounds = self.bounds
        return inner

    # --- checks ------------------------------------------------------------------------------

    def check(self, bad: Value) -> None:
        """Notes that the results are worth nothing if `bad`; NumPy will tell what is wrong."""
        self.bad = _either(self.bad, bad)

    def bounded(self, value: Value, low: int, high: int) -> Value:
        """Notes what a traced integer lies between, so that it need not be checked."""
        self.bounds[id(value)] = (value, low, high)
        return value

    def is_inside(self, value: Value, size: int) -> bool:
        """Whether an index is known to be one of so many places."""
        found = self.bounds.get(id(value))
        return found is not None and found[1] >= 0 and found[2] < size

    def check_room(self, full: Value) -> None:
        """Notes that a list needs more memory than was guessed."""
        self.full = _either(self.full, full)

    def failed(self) -> Any:
        """Whether what was noted so far makes the results worthless; None if nothing was."""
        return self.bad if self.full is None else _either(self.bad, self.full)

    # --- variables ---------------------------------------------------------------------------

    def store(self, key: int, value: Value) -> Value:
        """Makes a value that of a variable, and gives what the variable has now.

        A check that has failed keeps the old value, already here: what comes later then uses the
        value that is stored. With a choice at the end of the program both would be needed, the old
        one longer than its memory is free: XLA would copy it, and compute the new one twice.
        """
        failed = self.failed()
        if failed is not None and key in self.originals:
            value = jnp.where(failed, self.originals[key], value)
            self._kept[key] = (value, self.bad, self.full)
        self.state[key] = value
        return value

    def kept(self, key: int) -> Value:
        """What a variable has after the program: its value from before, if something failed."""
        value, failed = self.state[key], self.failed()
        seen = self._kept.get(key)
        is_kept = seen is not None and all(
            x is y for x, y in zip(seen, (value, self.bad, self.full), strict=True)
        )
        return value if failed is None or is_kept else jnp.where(failed, self.originals[key], value)

    def replace(self, tensor: Tensor, value: Value) -> None:
        """Gives a tensor another value, for the nodes that follow."""
        self._replaced[id(tensor)] = value

    # --- nodes -------------------------------------------------------------------------------

    def run(self, graph: Graph, inputs: Sequence[Any]) -> list[Any]:
        """The values of the graph's outputs for those of all its inputs."""
        values = dict(zip(map(id, graph.all_inputs), inputs, strict=True))
        for node in graph.body:
            results = self.lower(node, [values[id(x)] for x in node.inputs])
            for tensor, value in zip(node.outputs, results, strict=True):
                values[id(tensor)] = value
            if self._replaced:
                values.update(self._replaced)
                self._replaced.clear()
        return [values[id(tensor)] for tensor in graph.outputs]

    def lower(self, node: Node, inputs: list[Value]) -> Sequence[Any]:
        """The values of a node's outputs."""
        if node.is_const:
            return (node.attrs["value"],)
        if node.op.measures is not None:
            return (_measured(node, inputs[0]),)
        if _is_known(node, inputs):
            out = run_kernel(node.op, inputs, node.attrs)
            return (out,) if node.op.outputs == 1 else out
        rule = rule_of(node.op)
        if rule is None:
            reason = node.op.xla.reason if isinstance(node.op.xla, Absent) else "has no rule"
            raise NotCompilableError(f"{node.op.name} {reason}", node)
        check_types(node)
        try:
            out = rule(self, node, *inputs)
        except NotCompilableError:
            raise
        except Exception as error:  # what jax raises for what a rule did not foresee
            text = f"{node.op.name} cannot be lowered: {type(error).__name__}: {error}"
            raise NotCompilableError(text.splitlines()[0], node) from error
        results = (out,) if node.op.outputs == 1 else tuple(out)
        _hold_to_types(node, results)
        return results

    def by_kernel(self, node: Node, *inputs: Value) -> Any:
        """The op's own kernel, on jax's arrays; inputs that are shapes have to be known."""
        arrays = []
        for i, value in enumerate(inputs):
            if node.op.arg(i).is_shape:
                arrays.append(known(node, value))
            else:
                arrays.append(jnp.asarray(value))
        return node.op.kernel(namespace, *arrays, **node.attrs)


def _either(before: Any, bit: Any) -> Any:
    if isinstance(bit, (bool, np.bool_, np.ndarray)) and not np.any(bit):
        return before
    bit = jnp.asarray(bit)
    return bit if before is None else before | bit


def _is_known(node: Node, inputs: list[Value]) -> bool:
    """Whether NumPy computes it now."""
    if not inputs or not all(isinstance(x, np.ndarray) for x in inputs):
        return False
    if not static.is_pure(node.op) or any(t.dtype is dtypes.variant for t in node.outputs):
        return False
    return sum(known_bytes(out.spec) for out in node.outputs) <= _SMALL


def _measured(node: Node, value: Value) -> Any:
    """A shape, size or rank; also of a value that is computed later."""
    found = node.op.measures(tuple(value.shape))  # type: ignore[misc]
    return np.asarray(found, node.outputs[0].dtype.numpy_dtype)


def known(node: Node, value: Value) -> Any:
    """A value that has to be known while lowering."""
    if not isinstance(value, np.ndarray):
        raise NotCompilableError(f"{node.op.name}: a shape or size depends on data", node)
    return value


def check_types(node: Node) -> None:
    """Refuses what XLA cannot hold, such as strings. Ops that guard take some for their errors."""
    if node.op.guards:
        return
    for tensor in (*node.inputs, *node.outputs):
        if tensor.dtype not in TYPES and tensor.dtype not in (dtypes.resource, dtypes.variant):
            raise NotCompilableError(f"{node.op.name} of {tensor.dtype.name} stays on the host")


def _hold_to_types(node: Node, results: Sequence[Any]) -> None:
    """The type rule and the lowering must agree: nobody would notice another dtype."""
    if len(results) != len(node.outputs):
        raise AssertionError(f"{node.op.name}: {len(results)} results of XLA's rule")
    for tensor, value in zip(node.outputs, results, strict=True):
        if isinstance(value, (StackValue, Cell)):
            continue
        dims = tensor.spec.dims
        same = dtype_of(value) is tensor.dtype and (
            dims is None
            or (
                len(dims) == len(value.shape)
                and all(n == d for n, d in zip(value.shape, dims) if isinstance(d, int))
            )
        )
        if not same:
            raise NotCompilableError(
                f"{node.op.name}: {tensor.spec} was inferred, and lowering gives {value.dtype} of "
                f"shape {value.shape}",
                node,
            )


def dtype_of(value: Value) -> DType:
    """The dtype of an array of jax or NumPy."""
    return dtypes.from_numpy(np.dtype(value.dtype))


def spec_of(value: Value) -> TensorSpec:
    """The type of an array of jax or NumPy."""
    return TensorSpec.of(dtype_of(value), tuple(value.shape))
