"""The IR: a graph is a list of nodes in program order, each with inputs, attributes and outputs.

Nodes are added while tracing and never changed; passes build new graphs. Stateful nodes run in
program order: automatic control dependencies promise no more. Nested graphs (branches, loop bodies,
functions) are attribute values; what they use from outside is an input, a *capture*, at each level.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator
from typing import Any, NamedTuple, cast

from weft._src.core.composite import not_a_tensor
from weft._src.core.context import building, state
from weft._src.core.display import html_of
from weft._src.core.location import Location, traced_location, user_location
from weft._src.core.specs import TensorSpec, ValueSpec
from weft._src.core.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.errors import InaccessibleTensorError, OpError
from weft._src.graph import graphdef, printer
from weft._src.graph.captured import CapturedArgument
from weft._src.graph.names import NameTable, valid_name
from weft._src.graph.older_methods import OlderMethods
from weft._src.graph.origins import variable_behind
from weft._src.messages.graphs import GraphDef
from weft._src.ops import static
from weft._src.ops.arrays.source import const_op, placeholder_op
from weft._src.ops.control import functional
from weft._src.ops.dispatch import check_dtypes
from weft._src.ops.registry import Op


class Effects(NamedTuple):
    """What a node sees or changes: resources (tensors of its graph), and the outside world."""

    reads: tuple[SymbolicTensor, ...] = ()
    writes: tuple[SymbolicTensor, ...] = ()
    host_io: bool = False

    @property
    def must_run(self) -> bool:
        """Whether the node has to run even if nobody uses its outputs."""
        return bool(self.writes) or self.host_io

    @property
    def none(self) -> bool:
        """Whether the node is pure."""
        return not (self.reads or self.writes or self.host_io)


PURE = Effects()


class Node:
    """One operation of a graph; public as `tf.Operation`."""

    __slots__ = (
        "__weakref__", "attrs", "device", "effects", "graph", "inputs", "location", "name", "op",
        "outputs")  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        op: Op,
        inputs: tuple[SymbolicTensor, ...],
        attrs: dict[str, Any],
        specs: Iterable[TensorSpec],
        name: str,
        location: Location,
        device: str = "",
        effects: Effects | None = None,
    ) -> None:
        self.graph: Graph = graph
        self.op: Op = op
        self.inputs: tuple[SymbolicTensor, ...] = inputs
        self.attrs: dict[str, Any] = attrs
        self.name: str = name
        self.location: Location = location
        self.device: str = device  # that `tf.device` asks for; empty if nothing does
        self.outputs: tuple[SymbolicTensor, ...] = tuple(
            [SymbolicTensor(self, i, spec) for i, spec in enumerate(specs)]
        )
        self.effects: Effects = _effects(self) if effects is None else effects

    @property
    def type(self) -> str:
        """The name of the op, like `MatMul`."""
        return self.op.name

    @property
    def control_inputs(self) -> list[Node]:
        """Empty: program order is what orders effects."""
        return []

    def get_attr(self, name: str) -> Any:
        """The value of an attribute; ValueError if there is none of that name.

        Returns:
          The value. "dtype" is that of the first output if there is no such attribute.
        """
        if name == "dtype" and "dtype" not in self.attrs and self.outputs:
            return self.outputs[0].dtype
        try:
            return self.attrs[name]
        except KeyError:
            raise ValueError(f"The operation {self.name!r} has no attribute {name!r}.") from None

    def values(self) -> tuple[SymbolicTensor, ...]:
        """The outputs.

        Returns:
          A tuple of symbolic tensors.
        """
        return self.outputs

    @property
    def is_const(self) -> bool:
        """Whether it is a constant, which holds its value as an attribute."""
        return self.op is const_op

    @property
    def is_parameter(self) -> bool:
        """Whether it stands for an input or a capture of its graph."""
        return self.op is placeholder_op

    def replace(self, **fields: Any) -> Node:
        """The same node, outputs included, with some fields changed; in no list of nodes.

        Args:
          **fields: the new values, by the names of the fields, such as `inputs` and `attrs`.

        Returns:
          A new node; the old one stays as it is.
        """
        clone = object.__new__(Node)
        for slot in Node.__slots__:
            if slot != "__weakref__":
                setattr(clone, slot, fields[slot] if slot in fields else getattr(self, slot))
        return clone

    @property
    def nested(self) -> Iterator[tuple[str, Graph]]:
        """The graphs this node holds, with the name of each."""
        for key, value in self.attrs.items():
            if isinstance(value, Graph):
                yield key, value
            elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
                for i, graph in enumerate(value):
                    yield f"{key}[{i}]", graph

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.op.name}>"


def holds_graphs(attrs: dict[str, Any]) -> bool:
    """Whether a node with these attributes has nested graphs."""
    for value in attrs.values():
        head = value[0] if type(value) is tuple and value else value
        if isinstance(head, Graph):
            return True
    return False


def _effects(node: Node) -> Effects:
    op = node.op
    if not (op.reads or op.writes or op.host_io or holds_graphs(node.attrs)):
        return PURE  # most nodes
    reads, writes = [node.inputs[i] for i in op.reads], [node.inputs[i] for i in op.writes]
    host_io = op.host_io
    for _, graph in node.nested:
        inner = graph.effects
        outer = dict(zip(map(id, graph.all_inputs), node.inputs[op.nested_offset :], strict=True))
        reads += [outer[id(t)] for t in inner.reads]
        writes += [outer[id(t)] for t in inner.writes]
        host_io = host_io or inner.host_io
    if not (reads or writes or host_io):
        return PURE
    return Effects(_unique(reads), _unique(writes), host_io)


def _unique(tensors: Iterable[SymbolicTensor]) -> tuple[SymbolicTensor, ...]:
    return tuple({id(t): t for t in tensors}.values())


class Graph(OlderMethods):
    """Nodes in program order, with inputs and outputs. Public as `tf.Graph`."""

    def __init__(
        self, name: str = "graph", outer: Graph | None = None, *, is_function: bool = False
    ) -> None:
        self.name, self.outer = name, outer
        # A function outlives the graph it is traced in, so it captures eager tensors directly.
        self.is_function = is_function or outer is None
        self.is_built_by_hand = False  # it may get more inputs
        self.nodes: list[Node] = []
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        # What autodiff knows of it, once somebody asked: as a body, as a call, as part of a node.
        self.gradient: Any = None
        self.call_gradient: Any = None
        self.saving: Any = None
        self.plan: Any = None  # its executable form, once it ran
        self.jit_compile: bool | None = None  # True: it has to be machine code
        self.is_optimized = False  # by all passes, in their order
        # outer tensor -> the placeholder that stands for it here, in the order of first use.
        self._captures: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self._outer_of: dict[int, Tensor] = {}
        self._constants: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        # The ids of handles of variables that are arguments; see CapturedArgument.
        self.handles_of_arguments: Container[int] = ()
        self._known_effects: tuple[tuple[int, int, int], Effects] | None = None
        self._names = NameTable()
        self._prefix = ""

    # --- building ----------------------------------------------------------------------------

    def add_op(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None
    ) -> tuple[tuple[SymbolicTensor, ...], Any]:
        """Adds a node after checking its types; the inputs as of this graph, and the outputs.

        Args:
          op: the op.
          inputs: its inputs; tensors from outside are captured.
          attrs: its attributes, by name.
          name: the name of the node; None is that of the op.

        Returns:
          The inputs as tensors of this graph; the output, or a tuple of them.
        """
        here = tuple(
            [
                x if type(x) is SymbolicTensor and x.node.graph is self else self.capture(x)
                for x in inputs
            ]
        )
        try:
            specs = infer(op, here, attrs)
        except OpError as error:
            if error.location is None:
                error.location = user_location()
            raise
        node = self.add_node(op, here, attrs, specs, name or op.name, traced_location())
        return here, node.outputs[0] if op.outputs == 1 else node.outputs

    def add_node(
        self,
        op: Op,
        inputs: tuple[SymbolicTensor, ...],
        attrs: dict[str, Any],
        specs: Iterable[TensorSpec],
        name: str,
        location: Location,
        device: str = "",
    ) -> Node:
        """Adds a node whose types are known; nothing is checked.

        Args:
          op: the op.
          inputs: tensors of this graph.
          attrs: the attributes of the op, by name.
          specs: the specs of the outputs.
          name: the name of the node; a number goes behind it if it is taken.
          location: the line of the user's code that the node comes from.
          device: where it is to run, if no scope of a device says so; "" leaves it open.

        Returns:
          The node, the last one of the graph.
        """
        if state.graph is self:
            name = self._prefix + state.name_scope + name
            device = state.device or device
        node = Node(self, op, inputs, attrs, specs, self._names.unique(name), location, device)
        self.nodes.append(node)
        return node

    def add_copy(
        self,
        node: Node,
        inputs: tuple[SymbolicTensor, ...],
        *,
        attrs: dict[str, Any] | None = None,
        specs: Iterable[TensorSpec] | None = None,
        prefix: str = "",
        device: str = "",
    ) -> Node:
        """Adds a node like one of another graph, on inputs of this one.

        Args:
          node: the node to copy.
          inputs: tensors of this graph.
          attrs: other attributes; None keeps those of the node.
          specs: other specs of the outputs; None keeps those of the node.
          prefix: what goes in front of its name.
          device: another device; empty keeps that of the node.

        Returns:
          The new node.
        """
        if specs is None:
            specs = [out.spec for out in node.outputs]
        name, device = prefix + node.name, device or node.device
        if attrs is not None or node.effects is not PURE or state.graph is self:
            attrs = node.attrs if attrs is None else attrs
            return self.add_node(node.op, inputs, attrs, specs, name, node.location, device)
        # Most copies by far: nothing of it depends on where it is, and it is as pure as before.
        name = self._names.unique(name)
        made = Node(self, node.op, inputs, node.attrs, specs, name, node.location, device, PURE)
        self.nodes.append(made)
        return made

    def add_input(self, spec: TensorSpec, name: str) -> SymbolicTensor:
        """Adds a parameter.

        Args:
          spec: its dtype and shape; unknown sizes are not shared with any other tensor.
          name: the name of the node.

        Returns:
          The symbolic tensor, the last one of `inputs`.
        """
        tensor = self._placeholder(spec.with_fresh_dims(), name)
        self.inputs.append(tensor)
        return tensor

    def _placeholder(self, spec: TensorSpec, name: str) -> SymbolicTensor:
        attrs = {"dtype": spec.dtype, "shape": spec.dims}
        unique = self._names.unique(name)  # parameters are outside of any name scope
        node = Node(self, placeholder_op, (), attrs, (spec,), unique, user_location())
        self.nodes.append(node)
        return node.outputs[0]

    def capture(self, tensor: Any) -> SymbolicTensor:
        """The tensor that stands in this graph for one from outside.

        Args:
          tensor: an eager one, or one of this graph or around it, else InaccessibleTensorError.

        Returns:
          The tensor itself if it is of this graph, else its stand-in, always the same.
        """
        found = self._captures.get(id(tensor))
        if found is not None:
            return found[1]
        if isinstance(tensor, SymbolicTensor):
            if tensor.node.graph is self:
                return tensor
            if self.outer is None or not self._has_ancestor(tensor.node.graph):
                raise self._inaccessible(tensor)
        elif not isinstance(tensor, EagerTensor):
            raise not_a_tensor("A graph", tensor)
        if not self._captures_directly(tensor):
            return self.capture(self.outer.capture(tensor))  # type: ignore[union-attr]
        if isinstance(tensor, SymbolicTensor) and tensor.node.is_const:
            return self._copied_constant(tensor)
        if id(tensor) in self.handles_of_arguments:
            raise CapturedArgument(variable_behind(tensor))
        inner = self._placeholder(tensor.spec, _capture_name(tensor))
        self._captures[id(tensor)] = (tensor, inner)
        self._outer_of[id(inner)] = tensor
        return inner

    def _copied_constant(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Constants are not captured but repeated, where passes can see them."""
        found = self._constants.get(id(tensor))
        if found is None:
            node = tensor.node
            made = self.add_copy(node, (), specs=(tensor.spec,))
            found = self._constants[id(tensor)] = (tensor, made.outputs[0])
        return found[1]

    def _captures_directly(self, tensor: Tensor) -> bool:
        if isinstance(tensor, EagerTensor):
            return self.is_function
        return getattr(tensor, "node", None) in self.outer  # type: ignore[operator]

    def nested(self, name: str, scope: str = "") -> Graph:
        """A new graph inside this one: a branch or a loop body. Its nodes are named `scope/...`.

        Args:
          name: the name of the graph.
          scope: a name scope inside of the one that is open here; "" is none.

        Returns:
          An empty graph, which can capture tensors of this one.
        """
        graph = Graph(name, outer=self)
        here = self._prefix + (state.name_scope if state.graph is self else "")
        graph._prefix = f"{here}{scope}/" if scope else here
        return graph

    @property
    def scope(self) -> str:
        """The name scope of the place it is nested in, such as `net/while/`; empty at the top."""
        return self._prefix

    def align_captures(self, tensors: Iterable[Tensor]) -> None:
        """Captures exactly these tensors, in this order: sibling graphs take the same inputs.

        Args:
          tensors: eager tensors, or tensors of graphs around this one.
        """
        for tensor in tensors:
            self.capture(tensor)
        self._captures = {id(t): self._captures[id(t)] for t in tensors}

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and node.graph is self

    def _has_ancestor(self, graph: Graph) -> bool:
        outer = self.outer
        while outer is not None:
            if outer is graph:
                return True
            outer = outer.outer
        return False

    def _inaccessible(self, tensor: SymbolicTensor) -> InaccessibleTensorError:
        return InaccessibleTensorError(
            f"{tensor!r} belongs to the graph {tensor.node.graph.name!r} and was made at "
            f"{tensor.node.location}. It cannot be used in {self.name!r}: return it from the "
            "function that made it and pass it on as an argument."
        )

    def outer_of(self, inner: SymbolicTensor) -> Tensor | None:
        """What a capture stands for; None for any other tensor.

        Args:
          inner: a tensor of this graph.

        Returns:
          The tensor from outside, or None.
        """
        return self._outer_of.get(id(inner))

    # --- reading -----------------------------------------------------------------------------

    @property
    def captures(self) -> list[tuple[Tensor, SymbolicTensor]]:
        """(tensor outside, its stand-in here), in the order of first use."""
        return list(self._captures.values())

    @property
    def copied_constants(self) -> list[tuple[Tensor, SymbolicTensor]]:
        """(constant of a graph around this one, its copy here)."""
        return list(self._constants.values())

    @property
    def body(self) -> list[Node]:
        """The nodes that do something: all but the parameters."""
        return [node for node in self.nodes if node.op is not placeholder_op]

    @property
    def all_inputs(self) -> list[SymbolicTensor]:
        """The parameters and then the captures."""
        return [*self.inputs, *[inner for _, inner in self._captures.values()]]

    @property
    def effects(self) -> Effects:
        """What running the graph sees or changes among its inputs; what it makes is its own."""
        # Every call of a function asks for them; graphs only grow while they are built.
        size = (len(self.nodes), len(self.inputs), len(self._captures))
        if self._known_effects is None or self._known_effects[0] != size:
            self._known_effects = (size, self._summed_effects())
        return self._known_effects[1]

    def _summed_effects(self) -> Effects:
        stateful = [node.effects for node in self.nodes if node.effects is not PURE]
        if not stateful:
            return PURE
        inputs = {id(t) for t in self.all_inputs}
        return Effects(
            _unique(t for e in stateful for t in e.reads if id(t) in inputs),
            _unique(t for e in stateful for t in e.writes if id(t) in inputs),
            any(e.host_io for e in stateful),
        )

    def get_operations(self) -> list[Node]:
        """All operations in program order.

        Returns:
          A list of `tf.Operation`.
        """
        return list(self.nodes)

    def get_operation_by_name(self, name: str) -> Node:
        """The operation of that name; KeyError if there is none.

        Returns:
          A `tf.Operation`.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"The graph {self.name!r} has no operation {name!r}.")

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor of that name, such as `add:0`; KeyError if there is none.

        Returns:
          A symbolic tensor. ValueError if the name has another form.
        """
        op_name, _, index = name.partition(":")
        if not index.isdigit():
            raise ValueError(f"A tensor name looks like 'add:0', got {name!r}.")
        outputs = self.get_operation_by_name(op_name).outputs
        if int(index) >= len(outputs):
            raise KeyError(f"The operation {op_name!r} has {len(outputs)} outputs, not {name!r}.")
        return outputs[int(index)]

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A node name that is still free.

        Args:
          name: what is wanted, which may get a number behind it.
          mark_as_used: whether it is taken from now on.

        Returns:
          The name.
        """
        return self._names.unique(name) if mark_as_used else self._names.next(name)

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph as a GraphDef with TensorFlow's ops, which `tf.import_graph_def` takes.

        Args:
          from_version: accepted for compatibility.
          add_shapes: whether nodes say the shapes of their results, as `_output_shapes`.

        Returns:
          A GraphDef. What a function captures are placeholders, as its arguments are.
        """
        return cast(GraphDef, graphdef.writer().as_graph_def(self, add_shapes=add_shapes))

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Ops called inside the block are added to this graph.

        Returns:
          A context manager that gives this graph.
        """
        self.is_built_by_hand = True
        with building(self):
            yield self

    _repr_html_ = html_of

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.nodes)} nodes>"

    def __str__(self) -> str:
        return printer.graph_text(self)


def _capture_name(tensor: Tensor) -> str:
    """The placeholder of a capture is called like what it stands for, if that has a name."""
    if isinstance(tensor, SymbolicTensor):
        return str(tensor.node.name)
    return valid_name(getattr(getattr(tensor, "_value", None), "name", "captured"))


def infer(
    op: Op, inputs: tuple[SymbolicTensor, ...], attrs: dict[str, Any]
) -> tuple[TensorSpec, ...]:
    """The specs of an op's outputs, after checking the dtypes of its inputs."""
    specs = [x.spec for x in inputs]
    key = tuple([spec.dtype for spec in specs])
    if key not in op.accepted:
        check_dtypes(op, list(key), inputs)
        op.accepted.add(key)
    for i, x in enumerate(inputs):
        if op.arg(i).is_shape:
            specs[i] = ValueSpec.make(specs[i], static.known_value(x))
    out = op.infer(*specs, **attrs)
    return (out,) if op.outputs == 1 else tuple(out)


def replace_node(node: Node, inputs: tuple[SymbolicTensor, ...], attrs: dict[str, Any]) -> None:
    """Gives a node of an unfinished graph new inputs and attributes, and outputs behind its own."""
    node.inputs, node.attrs = inputs, attrs
    first = len(node.outputs)
    more = infer(node.op, inputs, attrs)[first:]
    made = [SymbolicTensor(node, first + i, spec) for i, spec in enumerate(more)]
    node.outputs = (*node.outputs, *made)
    node.effects = _effects(node)


functional.install(Graph)
