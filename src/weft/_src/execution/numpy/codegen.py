"""From a graph to the source of a Python function: one assignment per node.

cond and while become real branches and loops; called graphs are written out in place. Kernels and
constants are parameters of an enclosing function, so that the plan finds them as fast as locals.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from weft._src.core import blas, xp
from weft._src.core.dtypes import COMPLEX, REAL, float32, float64, resource, variant
from weft._src.core.memory import limits
from weft._src.core.tensor import SymbolicTensor
from weft._src.execution.numpy.liveness import Liveness
from weft._src.execution.numpy.pieces import in_pieces
from weft._src.graph.ir import Graph, Node
from weft._src.graph.passes.pieces import IN_PIECES
from weft._src.graph.printer import describe_node
from weft._src.ops.arrays.shape import reshape_op
from weft._src.ops.control.loop import LOOP_NAMES
from weft._src.ops.dispatch import as_value, checked_kernel, known_bytes
from weft._src.ops.linalg.products import matmul_op
from weft._src.ops.state.variables import read_op

_INDENT = "    "
_NO_NAME = re.compile(r"\W")
_MAX_DEPTH = 16  # Python allows 20 loops inside each other, and 100 levels of indentation
_WIDE = COMPLEX | {float32, float64}  # NumPy adds up narrower numbers in their own dtype


@dataclass
class GeneratedPlan:
    """The source of a plan, what it refers to, and which node each line came from."""

    code: str  # with empty lines where the source has comments
    bindings: dict[str, Any]
    node_of_line: dict[int, Node]
    names: dict[int, str] = field(repr=False)
    described: dict[int, tuple[int, Node]] = field(repr=False)  # what each comment is about

    @cached_property
    def source(self) -> str:
        """The code for people: a comment above each node. Most plans are never looked at."""
        lines = self.code.split("\n")
        for number, (depth, node) in self.described.items():
            lines[number - 1] = f"{_INDENT * depth}# {describe_node(node)}"
        return "\n".join(lines)


def generate(graph: Graph, compile_graph: Callable[[Graph], Any]) -> GeneratedPlan:
    """The source of a function `make_plan(kernels...)` that returns `plan(inputs...)`.

    `compile_graph` makes a function of a nested graph that lies too deep to be written in place.
    """
    writer = _Writer(compile_graph)
    parameters = [writer.define(x) for x in graph.all_inputs]
    writer.block(graph, 2)
    outputs = [writer.output(t) for t in graph.outputs]
    writer.line(2, f"return {_tuple(outputs)}")
    head = [
        f"def make_plan({', '.join(writer.bindings)}):",
        f"{_INDENT}def plan({', '.join(parameters)}):",
    ]
    code = "\n".join([*head, *writer.lines, f"{_INDENT}return plan", ""])
    shift = len(head)
    node_of_line = {number + shift: node for number, node in writer.node_of_line.items()}
    described = {number + shift: about for number, about in writer.described.items()}
    return GeneratedPlan(code, writer.bindings, node_of_line, writer.names, described)


class _Writer:
    """Collects lines; knows the Python name of each tensor."""

    def __init__(self, compile_graph: Callable[[Graph], Any]) -> None:
        self._compile_graph = compile_graph
        self.lines: list[str] = []
        self.node_of_line: dict[int, Node] = {}
        self.described: dict[int, tuple[int, Node]] = {}
        self.names: dict[int, str] = {}
        self.bindings: dict[str, Any] = {"xp": xp, "as_value": as_value}
        self._bound: dict[int, str] = {}
        # Each name, and the number behind the next one that wishes to be called so.
        self._taken = dict.fromkeys(("make_plan", "plan", "xp", "as_value", "range"), 1)
        self._locals: set[int] = set()
        self._structured = {
            "If": self._if, "Case": self._case, **dict.fromkeys(LOOP_NAMES, self._while)
        }  # fmt: skip
        self._scalars: dict[int, str] = {}

    # --- names -------------------------------------------------------------------------------

    def _free_name(self, wish: str) -> str:
        base = _NO_NAME.sub("_", wish)
        if not base[:1].isalpha():
            base = f"v{base}"
        if keyword.iskeyword(base):
            base += "_"
        name, n = base, self._taken.get(base, 0)
        while name in self._taken:
            name, n = f"{base}_{n}", n + 1
        self._taken[base] = n or 1
        self._taken.setdefault(name, 1)
        return name

    def define(self, tensor: SymbolicTensor) -> str:
        """A new Python variable for a tensor."""
        suffix = f"_{tensor.index}" if tensor.index else ""
        name = self._free_name(tensor.node.name + suffix)
        self.names[id(tensor)] = name
        return name

    def bind(self, value: Any, wish: str) -> str:
        """A name for an object that the code refers to."""
        name = self._bound.get(id(value))
        if name is None:
            name = self._bound[id(value)] = self._free_name(wish)
            self.bindings[name] = value
        return name

    def output(self, tensor: SymbolicTensor) -> str:
        """An output as an array: rank 0 may have become a NumPy scalar on the way."""
        name = self.names[id(tensor)]
        return name if tensor.spec.dims else f"as_value({name})"

    # --- lines -------------------------------------------------------------------------------

    def line(self, depth: int, text: str, node: Node | None = None) -> None:
        self.lines.append(_INDENT * depth + text)
        if node is not None:
            self.node_of_line[len(self.lines)] = node

    def block(self, graph: Graph, depth: int) -> None:
        """The nodes of a graph whose inputs already have names."""
        live = Liveness(graph)
        for i, node in enumerate(graph.nodes):
            if node.is_parameter:
                continue
            writes_into = node.op.ufunc is not None or node.op.takes_buffer
            buffer = live.reusable_buffer(i, node) if writes_into else None
            self._node(node, depth, buffer)
            self._forget(live.dying_at(i, node), depth)

    def _forget(self, tensors: list[SymbolicTensor], depth: int) -> None:
        """Frees memory as soon as it can be: only what this block itself made."""
        dead = [self.names[id(t)] for t in tensors if id(t) in self._locals]
        for t in tensors:
            self._locals.discard(id(t))
        if dead:
            self.line(depth, f"del {', '.join(dead)}")

    def _node(self, node: Node, depth: int, buffer: SymbolicTensor | None) -> None:
        name = node.op.name
        if node.is_const:
            self.names[id(node.outputs[0])] = self.bind(node.attrs["value"], node.name)
            return
        if node.op.identity:
            self._alias(node)
            return
        if name == "PartitionedCall":
            self._call(node, depth)
            return
        self.lines.append("")
        self.described[len(self.lines)] = (depth, node)
        structured = self._structured.get(name)
        if structured is not None:
            structured(node, depth)
            return
        targets = [self._define_local(out) for out in node.outputs]
        left = f"{', '.join(targets)}{',' if node.op.outputs is None and len(targets) == 1 else ''}"
        text = self._expression(node, buffer)
        self.line(depth, f"{left} = {text}" if targets else text, node)

    def _define_local(self, tensor: SymbolicTensor) -> str:
        self._locals.add(id(tensor))
        return self.define(tensor)

    def _alias(self, node: Node) -> None:
        # No new variable, so it must not be deleted when the alias still lives.
        for source, out in zip(node.inputs, node.outputs, strict=False):
            self.names[id(out)] = self.names[id(source)]
            self._locals.discard(id(source))

    def _expression(self, node: Node, buffer: SymbolicTensor | None) -> str:
        op = node.op
        inputs = [self.names[id(x)] for x in node.inputs]
        if op.infix is not None and _is_scalar_arithmetic(node):
            x, y = [self._scalar(t) for t in node.inputs]
            return f"{x} {op.infix} {y}"
        if _is_huge(node):
            return self._kernel_call(checked_kernel(op), f"checked_{op.name}", inputs, node)
        found = [x.dtype.numpy_dtype for x in node.inputs]
        if op.ufunc is not None and op.ufunc_except.isdisjoint(found):
            if buffer is not None:
                inputs.append(f"out={self.names[id(buffer)]}")
            return f"{self.bind(op.ufunc, f'np_{op.ufunc.__name__}')}({', '.join(inputs)})"
        special = self._direct(node, inputs)
        if special is not None:
            return special
        if op.trusts_kernel or not _has_unchecked_shapes(node):
            if buffer is not None and op.takes_buffer:
                inputs.append(f"out={self.names[id(buffer)]}")
            return self._kernel_call(op.kernel, f"k_{op.name}", inputs, node)
        return self._kernel_call(checked_kernel(op), f"checked_{op.name}", inputs, node)

    def _kernel_call(self, kernel: Any, name: str, inputs: list[str], node: Node) -> str:
        attrs = [f"{k}={self._literal(v, k)}" for k, v in node.attrs.items()]
        return f"{self.bind(kernel, name)}({', '.join(['xp', *inputs, *attrs])})"

    def _direct(self, node: Node, inputs: list[str]) -> str | None:
        """Kernels that are one call of NumPy once all is known: 0.4 us less than the kernel."""
        op = node.op
        if op is read_op:
            return f"{inputs[0]}.read()"
        specs = [t.spec for t in (*node.inputs, *node.outputs)]
        if op is reshape_op and specs[0].is_static and specs[2].is_static:
            return f"{inputs[0]}.reshape({specs[2].dims!r})"
        if op is matmul_op and specs[0].rank == 2 == specs[1].rank and specs[0].dtype in _WIDE:
            transposed = (node.attrs["transpose_a"], node.attrs["transpose_b"])
            x, y = [n + ".T" if t else n for n, t in zip(inputs, transposed, strict=True)]
            return f"{self.bind(blas.dot, 'np_dot')}({x}, {y})"
        return None

    def _scalar(self, tensor: SymbolicTensor) -> str:
        """A number for Python's operators, which are slow on arrays: constants are arrays."""
        if not tensor.node.is_const:
            return self.names[id(tensor)]
        value = tensor.node.attrs["value"]
        name = self._scalars.get(id(value))
        if name is None:
            number = value[()]
            name = self._scalars[id(value)] = self.bind(number, f"{tensor.node.name}_number")
        return name

    def _literal(self, value: Any, wish: str) -> str:
        return repr(value) if _is_literal(value) else self.bind(value, wish)

    # --- nested graphs -----------------------------------------------------------------------

    def _enter(self, graph: Graph, names: list[str]) -> None:
        for tensor, name in zip(graph.all_inputs, names, strict=True):
            self.names[id(tensor)] = name

    def _results(self, graph: Graph) -> list[str]:
        return [self.names[id(t)] for t in graph.outputs]

    def _call(self, node: Node, depth: int) -> None:
        body = node.attrs["body"]
        if IN_PIECES in node.attrs:
            self._in_pieces(node, depth)
            return
        self._enter(body, [self.names[id(x)] for x in node.inputs])
        self.block(body, depth)
        for out, name in zip(node.outputs, self._results(body), strict=True):
            self.names[id(out)] = name

    def _in_pieces(self, node: Node, depth: int) -> None:
        """Nodes that are computed for some elements at a time, by a plan of their own."""
        body = node.attrs["body"]
        results = [x.spec for x in node.outputs]
        dims = self.bind(results[0].dims, "shape")
        kinds = self.bind([spec.dtype.numpy_dtype for spec in results], "dtypes")
        given = [self.bind(self._compile_graph(body), body.name), dims, kinds]
        values = [self.names[id(x)] for x in node.inputs]
        targets = [self._define_local(out) for out in node.outputs]
        call = f"{self.bind(in_pieces, 'in_pieces')}({', '.join([*given, *values])})"
        self.line(depth, f"{', '.join(targets)}, = {call}", node)

    def _branch(self, graph: Graph, names: list[str], targets: list[str], depth: int) -> None:
        if depth > _MAX_DEPTH:
            function = self.bind(self._compile_graph(graph), graph.name)
            left = f"{', '.join(targets)}, = " if targets else ""
            self.line(depth, f"{left}{function}({', '.join(names)})")
            return
        self._enter(graph, names)
        start = len(self.lines)
        self.block(graph, depth)
        if targets:
            self.line(depth, f"{', '.join(targets)} = {', '.join(self._results(graph))}")
        if len(self.lines) == start:
            self.line(depth, "pass")

    def _if(self, node: Node, depth: int) -> None:
        condition, *names = [self.names[id(x)] for x in node.inputs]
        targets = [self._define_local(out) for out in node.outputs]
        then, otherwise = node.attrs["branches"]
        self.line(depth, f"if {condition}:", node)
        self._branch(then, names, targets, depth + 1)
        self.line(depth, "else:")
        self._branch(otherwise, names, targets, depth + 1)

    def _case(self, node: Node, depth: int) -> None:
        index, *names = [self.names[id(x)] for x in node.inputs]
        targets = [self._define_local(out) for out in node.outputs]
        branches = node.attrs["branches"]
        for i, branch in enumerate(branches):
            last = i == len(branches) - 1
            test = "if" if i == 0 else "elif"
            head = "if True:" if last and i == 0 else "else:" if last else f"{test} {index} == {i}:"
            self.line(depth, head, node)
            self._branch(branch, names, targets, depth + 1)

    def _while(self, node: Node, depth: int) -> None:
        loop = [self._define_local(out) for out in node.outputs]
        names = [self.names[id(x)] for x in node.inputs]
        if loop:
            self.line(depth, f"{', '.join(loop)} = {', '.join(names[: len(loop)])}")
        names = [*loop, *names[len(loop) :]]
        limit = node.attrs["maximum_iterations"]
        self.line(depth, "while True:" if limit is None else f"for _ in range({limit}):", node)
        condition, body = node.attrs["cond"], node.attrs["body"]
        self._enter(condition, names)
        self.block(condition, depth + 1)
        self.line(depth + 1, f"if not {self._results(condition)[0]}:", node)
        self.line(depth + 2, "break")
        self._branch(body, names, loop, depth + 1)


def _is_huge(node: Node) -> bool:
    """Whether a new result is so large that memory is asked for it before it is made."""
    return node.op.fresh and any(known_bytes(t.spec) > limits.asked_above for t in node.outputs)


def _has_unchecked_shapes(node: Node) -> bool:
    """Whether the type rule of a node may find something wrong that it could not while tracing.

    What holds state, and what runs outside of Weft, looks after itself.
    """
    op, inputs = node.op, node.inputs
    if op.host_io or any(x.dtype in (resource, variant) for x in inputs):
        return False
    return any(
        not x.spec.is_static or (op.arg(i).is_shape and not x.node.is_const)
        for i, x in enumerate(inputs)
    )


def _is_scalar_arithmetic(node: Node) -> bool:
    """Whether a node computes one number of numbers: an operator takes 0.1 us, a ufunc 0.6."""
    return all(t.spec.dims == () and t.dtype in REAL for t in node.inputs)


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _is_literal(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_literal(item) for item in value)
    return value is None or type(value) in (bool, int, str)
