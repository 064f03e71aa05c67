"""Graphs that cannot be compiled as a whole: native segments, and NumPy between them.

Nodes without a native form (strings, decompositions, printing, shapes that depend on data) stay
what they are. The others are gathered into as few segments as the order of data and effects
allows; each becomes one node that calls machine code. NumPy's plan runs the whole.

Every node gets a turn: even turns are machine code's, odd ones NumPy's (with several devices there
are more kinds), and no node comes before what it needs. For example

    a = sin(x)              turn 0, native
    b = exp(x)              turn 0, native             segment 0: a, b, d
    c = where(a > 0)        turn 1, NumPy              c
    d = sum(b) + 1          turn 0, native             segment 2: e
    e = gather(b, c) * 2    turn 2, native

since d needs nothing of c. Effects are followed like data: what reads a variable stays behind what
wrote it, and what may raise does not overtake a write that NumPy would have done before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import ANY
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.execution.native.front.lowering.graphs import Cell, Lowering
from weft._src.execution.native.loops.program import Program
from weft._src.execution.native.loops.values import NotCompilableError, Stored
from weft._src.execution.native.machine.builder import has_memory_type
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, with_nested
from weft._src.ops.registry import HOST_ONLY, NO_NATIVE, NOT_DIFFERENTIABLE, Op, define_op, each

LEAST_NODES = 2  # that compute something: less is not worth a segment

# Types of the variables among the inputs of a graph, by the id of the input.
Variables = dict[int, TensorSpec]
Compile = Callable[[Graph, list[TensorSpec | None]], Callable[..., Any]]


def _segment_kernel(
    xp: ArrayNamespace, *values: Any, segment: Callable[..., Any], name: str
) -> Any:
    return segment(*values)


segment_op: Op = define_op(
    "NativeSegment",
    each("*inputs", ANY),
    infer=lambda *specs, segment, name: (),
    kernel=_segment_kernel,
    native=NO_NATIVE,
    xla=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    host_io=True,
)


class Splitter:
    """Rewrites a graph into native segments and what is left."""

    def __init__(self, compile_segment: Compile, least_nodes: int = LEAST_NODES) -> None:
        self._compile = compile_segment
        self._least_nodes = least_nodes
        self._kinds = 2  # of turns: machine code's, and NumPy's, which are always the last
        self.segments = 0
        self.left_out: dict[Op, str] = {}  # why

    def split(self, graph: Graph, variables: Variables) -> Graph:
        """The graph with segments in place of the nodes that can be compiled."""
        native, checked = self._native_nodes(graph, variables)
        kinds = {id(n): self._kind_of(n) for n in graph.nodes if id(n) in native}
        levels = _levels(graph, kinds, checked, self._kinds)
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            if node.is_const:
                rewriter.copy(node)
        for level in sorted(set(levels.values())):
            nodes = [n for n in graph.nodes if levels.get(id(n)) == level]
            kind = level % self._kinds
            is_host = kind == self._kinds - 1
            if not is_host and self._segment(rewriter, graph, nodes, variables, kind):
                continue
            for node in nodes:
                rewriter.copy(self._with_split_bodies(node, variables))
        return rewriter.finish()

    def _kind_of(self, node: Node) -> int:
        """Whose turn a node that can be compiled has to wait for."""
        return 0

    def _compiled(
        self, kind: int, body: Graph, specs: list[TensorSpec | None]
    ) -> Callable[..., Any]:
        """The segment of a turn of some kind; NotCompilableError if it cannot be one."""
        return self._compile(body, specs)

    def _with_split_bodies(self, node: Node, variables: Variables) -> Node:
        def split_inside(body: Graph) -> Graph:
            outer = node.inputs[node.op.nested_offset :]
            inner = {
                id(x): variables[id(t)]
                for x, t in zip(body.all_inputs, outer, strict=True)
                if id(t) in variables
            }
            return self.split(body, inner)

        return with_nested(node, split_inside)

    # --- what can be compiled --------------------------------------------------------------------

    def _native_nodes(self, graph: Graph, variables: Variables) -> tuple[set[int], set[int]]:
        """Lowers every node on trial: those that can be compiled, and which of them may fail."""
        lowering = Lowering(Program())
        values: dict[int, Any] = {}
        for tensor in graph.all_inputs:
            values[id(tensor)] = _stand_in(lowering, tensor, variables.get(id(tensor)))
        native: set[int] = set()
        checked: set[int] = set()
        checks = lowering.program.checks
        for node in graph.body:
            before = len(checks)
            try:
                results = self._try(lowering, node, values)
                native.add(id(node))
                if len(checks) > before:
                    checked.add(id(node))
            except NotCompilableError as reason:
                self.left_out.setdefault(node.op, str(reason))
                lowering.has_written = False
                results = [_stand_in(lowering, out, None) for out in node.outputs]
            for tensor, value in zip(node.outputs, results, strict=True):
                values[id(tensor)] = value
        return native, checked

    def _try(self, lowering: Lowering, node: Node, values: dict[int, Any]) -> list[Any]:
        inputs = [values[id(x)] for x in node.inputs]
        unknown = next((t for t, x in zip(node.inputs, inputs, strict=True) if x is None), None)
        if unknown is not None:
            what = "strings" if unknown.dtype is dtypes.string else f"{unknown.dtype.name}"
            raise NotCompilableError(
                f"{node.op.name} takes {what} of shape {unknown.shape}, which NumPy has to handle",
                node,
            )
        if any(t.dtype is dtypes.variant for t in (*node.inputs, *node.outputs)):
            raise NotCompilableError("a stack that others use, too", node)
        return lowering.lower_node(node, inputs)

    # --- segments --------------------------------------------------------------------------------

    def _segment(
        self,
        rewriter: Rewriter,
        graph: Graph,
        nodes: list[Node],
        variables: Variables,
        kind: int,
    ) -> bool:
        if sum(1 for n in nodes if not n.op.identity) < self._least_nodes:
            return False
        body, inputs, outputs = _body(graph, nodes)
        specs = [variables.get(id(t)) for t in inputs]
        try:
            segment = self._compiled(kind, body, specs)
        except NotCompilableError as reason:
            self.left_out.setdefault(nodes[0].op, str(reason))
            return False
        made = rewriter.new.add_node(
            segment_op,
            tuple([rewriter[t] for t in inputs]),
            {"segment": segment, "name": body.name},
            [t.spec for t in outputs],
            body.name,
            nodes[0].location,
        )
        for old, new in zip(outputs, made.outputs, strict=True):
            rewriter[old] = new
        self.segments += 1
        return True


def _stand_in(lowering: Lowering, tensor: SymbolicTensor, variable: TensorSpec | None) -> Any:
    """A value in memory, for lowering on trial; None for what native code cannot hold."""
    spec = tensor.spec if variable is None else variable
    if not has_memory_type(spec.dtype) or not spec.is_static:
        return None
    stored = lowering.program.slot(Stored(spec.dtype, spec.dims, tensor.node.name))  # type: ignore[arg-type]
    return stored if variable is None else Cell(stored, tensor.node.name)


def _levels(graph: Graph, kinds: dict[int, int], checked: set[int], count: int) -> dict[int, int]:
    """The turn of each node; turns of all kinds follow each other, NumPy's are the last kind."""
    turns = _Turns(kinds, checked, count)
    for node in graph.body:
        if not node.is_const:
            turns.give(node)
    return turns.of


class _Turns:
    """Gives nodes their turns, in the order of the program."""

    def __init__(self, kinds: dict[int, int], checked: set[int], count: int) -> None:
        self.of: dict[int, int] = {}
        self._kinds, self._checked, self._count = kinds, checked, count
        self._made_by: dict[int, Node] = {}
        self._touched: dict[int, list[Node]] = {}  # resource -> nodes since and with the last write
        self._io: Node | None = None  # the last one that did something outside
        self._callback: Node | None = None
        self._guard: Node | None = None  # what says better what is wrong than a check behind it
        # Of the highest turns: NumPy's nodes may raise, and then what was written is what stands
        # above.
        self._host: Node | None = None
        self._write: Node | None = None

    def give(self, node: Node) -> None:
        """The first turn of a node's kind that nothing it has to wait for comes after."""
        host = self._count - 1
        kind = self._kinds.get(id(node), host)
        # What random streams give comes before everything else if nothing stands before it.
        turn = -1 if node.op.advances_stream else kind
        for other in [*self._data(node), *self._order(node, kind == host)]:
            at = self.of[id(other)]
            turn = max(turn, at + (kind - at) % self._count)
        self.of[id(node)] = turn
        self._note(node, kind == host, turn)

    def _data(self, node: Node) -> list[Node]:
        """What made the inputs of a node and wrote what it reads, or touched what it writes."""
        before = [self._made_by[id(x)] for x in node.inputs if id(x) in self._made_by]
        for tensor in node.effects.reads:
            before += [n for n in self._touched.get(id(tensor), []) if _writes(n, tensor)]
        for tensor in node.effects.writes:
            before += self._touched.get(id(tensor), [])
        return before

    def _order(self, node: Node, is_host: bool) -> list[Node]:
        """What else a node must not overtake."""
        effects = node.effects
        waits = [
            (self._host, effects.writes),
            (self._write, is_host),
            (self._guard, id(node) in self._checked),
            (self._callback, effects.reads),
            (self._io, effects.host_io),
        ]
        before = [other for other, applies in waits if applies and other is not None]
        if calls_back(node):
            before += [n for nodes in self._touched.values() for n in nodes]
        return before

    def _note(self, node: Node, is_host: bool, turn: int) -> None:
        """Remembers what later nodes may have to wait for."""
        effects = node.effects
        self._made_by.update({id(out): node for out in node.outputs})
        for tensor in effects.reads:
            self._touched.setdefault(id(tensor), []).append(node)
        for tensor in effects.writes:
            self._touched[id(tensor)] = [node]
        if effects.host_io:
            self._io = node
        if calls_back(node):
            self._callback = node
        if node.op.guards:
            self._guard = node
        if is_host and (self._host is None or turn > self.of[id(self._host)]):
            self._host = node
        if effects.writes and (self._write is None or turn > self.of[id(self._write)]):
            self._write = node


def calls_back(node: Node) -> bool:
    """Whether a node may run code that uses variables its effects do not name."""
    return node.effects.host_io and not node.op.self_contained


def _writes(node: Node, tensor: SymbolicTensor) -> bool:
    return any(t is tensor for t in node.effects.writes)


def _body(graph: Graph, nodes: list[Node]) -> tuple[Graph, list[SymbolicTensor], list[Any]]:
    """The nodes as a graph of their own, what it is given, and what others need of it.

    Constants are not given to it but copied, so that machine code knows their values.
    """
    given, outputs = _boundary(graph, nodes)
    body = Graph(f"segment_{nodes[0].name.replace('/', '_')}")
    inputs = [x for x in given if not x.node.is_const]
    known = {id(x): body.add_input(x.spec, x.node.name) for x in inputs}
    for node in [*[x.node for x in given if x.node.is_const], *nodes]:
        copy = body.add_copy(node, tuple([known[id(x)] for x in node.inputs]))
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            known[id(old)] = new
    body.outputs = [known[id(out)] for out in outputs]
    return body, inputs, outputs


def _boundary(graph: Graph, nodes: list[Node]) -> tuple[list[SymbolicTensor], list[SymbolicTensor]]:
    """What some nodes of a graph use of the others, and what the others use of them."""
    inside = {id(n) for n in nodes}
    made = {id(out) for n in nodes for out in n.outputs}
    inputs = {id(x): x for n in nodes for x in n.inputs if id(x) not in made}
    used = {id(x) for n in graph.nodes if id(n) not in inside for x in n.inputs}
    used |= {id(out) for out in graph.outputs}
    return list(inputs.values()), [out for n in nodes for out in n.outputs if id(out) in used]
