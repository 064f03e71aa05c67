"""Graphs of Weft as functions of a GraphDef, written with TensorFlow's ops."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.dtypes import DType, int32, resource
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import SymbolicTensor
from weft._src.errors import UnsupportedError
from weft._src.graph.ir import Graph, Node
from weft._src.graph.origins import variable_behind
from weft._src.graph.tensor_proto import make_tensor_proto
from weft._src.messages.graphs import (
    ArgAttrs,
    ArgDef,
    AttrValue,
    DtypeAndShape,
    FunctionDef,
    ListValue,
    NameAttrList,
    NodeDef,
    OpDef,
)
from weft._src.messages.tensors import shape_message
from weft._src.ops.graph_forms import NoForm, sizes_of
from weft._src.raw_ops.signatures import Argument, Signature, signature_of


@dataclass(frozen=True, slots=True)
class Written:
    """A tensor of a function that is being written: what others call it, and its type."""

    text: str
    spec: TensorSpec

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        return self.spec.dtype


def attribute(kind: str, value: Any) -> AttrValue:
    """The value of an attribute of a kind, such as "list(int)"."""
    inner = re.fullmatch(r"list\((\w+)\)", kind)
    if inner is None:
        return AttrValue(**dict([_content(kind, value)]))
    parts: dict[str, list[Any]] = {}
    for item in value:
        name, content = _content(inner[1], item)
        parts.setdefault(name, []).append(content)
    return AttrValue(list=ListValue(**parts))


def _content(kind: str, value: Any) -> tuple[str, Any]:
    """The field that holds a value of a kind, and what it holds."""
    if kind == "type":
        return "type", tf.as_dtype(value).as_datatype_enum
    if kind == "shape":
        return "shape", shape_message(sizes_of(value))
    if kind == "tensor":
        return "tensor", make_tensor_proto(value)
    if kind == "func":
        return "func", NameAttrList(name=value)
    if kind == "string":
        return "s", value if isinstance(value, bytes) else str(value).encode()
    if kind == "bool":
        return "b", bool(value)
    return ("f", float(value)) if kind == "float" else ("i", int(value))


class Functions:
    """All functions that are written into one model; what has no form is noted, not raised."""

    def __init__(self) -> None:
        self.definitions: list[FunctionDef] = []
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set()
        self._missing: Counter[tuple[str, str]] = Counter()
        self._kept: list[Any] = []  # so that ids of graphs stay theirs

    def unique(self, name: str) -> str:
        """A name that no function has."""
        plain = re.sub(r"\W", "_", name) or "function"
        at = len(self._taken)
        while f"__inference_{plain}_{at}" in self._taken:
            at += 1
        made = f"__inference_{plain}_{at}"
        self._taken.add(made)
        return made

    def of(
        self, graph: Graph, form: str = "plain", inputs: Sequence[SymbolicTensor] | None = None
    ) -> str:
        """The name of the function that a graph becomes.

        `form` is that of the parts of loops; `inputs` are those of the graph in another order.
        """
        order = graph.inputs if inputs is None else inputs
        key = (id(graph), form, tuple([id(x) for x in order]))
        if key not in self._names:
            self._kept.append(graph)
            name = self._names[key] = self.unique(graph.name)
            body = _FORMS[form](self, graph)
            body.order = [*order, *[inner for _, inner in graph.captures]]
            self.definitions.append(body.definition(name))
        return self._names[key]

    def without_form(self, body: Body, node: Node, why: str) -> list[Written]:
        """Notes an op without a form."""
        self._missing[(node.op.name, why)] += 1
        return [Written("", out.spec) for out in node.outputs]

    def check(self, what: str) -> None:
        """UnsupportedError with all ops that cannot be written."""
        if self._missing:
            lines = [f"  {op} ({n} times): {why}" for (op, why), n in sorted(self._missing.items())]
            raise UnsupportedError(
                f"{what} cannot be saved with TensorFlow's ops, because of these of Weft:\n"
                + "\n".join(lines)
                + "\nSave its variables with tf.train.Checkpoint, or only functions without them."
            )


class Body:
    """One function while its nodes are written."""

    def __init__(self, functions: Functions, graph: Graph) -> None:
        self.functions, self.graph = functions, graph
        self.nodes: list[NodeDef] = []
        self.known: dict[int, Written] = {}
        self.order = graph.all_inputs
        self.arguments: list[tuple[str, SymbolicTensor | TensorSpec]] = []
        self._taken: set[str] = set()
        # By node: its outputs as `output:0`, and their numbers, by which plain graphs name them.
        self.places: dict[str, dict[str, int]] = {}
        self._node: Any = None
        self._controls: list[str] = []
        self._order = _Order()

    # --- what rules use ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the op that is being written."""
        return str(self._node.op.name)

    @property
    def outputs(self) -> list[TensorSpec]:
        """The types of its results."""
        return [out.spec for out in self._node.outputs]

    @property
    def is_pure(self) -> bool:
        """Whether it has no effects."""
        return bool(self._node.effects.none)

    def same_inputs_before(self) -> Written | None:
        """The result of a node before this one that reads a tensor out of the same inputs."""
        wanted = self._node.inputs
        for node in self.graph.body:
            if node is self._node:
                return None
            same = [a is b for a, b in zip(node.inputs, wanted, strict=False)]
            if len(same) == len(wanted) and all(same) and "dtype" in node.attrs:
                return self.known[id(node.outputs[0])]
        return None

    def made_from(self, op: str, place: int) -> Written | None:
        """What an input was made from by a node of some op; None if something else made it."""
        maker = self._node.inputs[place].node
        return self.known.get(id(maker.inputs[0])) if maker.op.name == op else None

    def constant(self, place: int) -> Any:
        """The array that an input is known to be; None if it is computed."""
        maker = self._node.inputs[place].node
        return np.asarray(maker.attrs["value"]) if maker.is_const else None

    def list_dtype(self) -> DType:
        """The dtype of the elements of the list that the op makes: what others do with it."""
        found = _element_dtype(self.graph, self._node.outputs[0], set())
        if found is None:
            raise NoForm("the dtype of the elements is not known")
        return found

    def function(self, graph: Graph) -> str:
        """The name of the function that a nested graph becomes."""
        return self.functions.of(graph)

    def loop_functions(self, cond: Graph, body: Graph, *, limited: bool) -> tuple[str, str]:
        """The names of the two functions of a loop."""
        form = "limited condition" if limited else "condition"
        return self.functions.of(cond, form), self.functions.of(body, "body")

    def const(self, value: Any, dtype: DType = int32) -> Written:
        """A constant."""
        array = np.asarray(value, None if dtype is tf.string else dtype.numpy_dtype)
        node = NodeDef(name=self._unique(f"{self._scope}Const"), op="Const")
        node.attr["dtype"].CopyFrom(attribute("type", dtype))
        node.attr["value"].CopyFrom(AttrValue(tensor=make_tensor_proto(array, dtype)))
        self.nodes.append(node)
        self.places[node.name] = {"output:0": 0}
        return Written(f"{node.name}:output:0", TensorSpec.of(dtype, array.shape))

    def add(self, op: str, *inputs: Any, **attrs: Any) -> Any:
        """Writes a node; its output, or a list of them (of lists, where one is a list)."""
        signature = signature_of(op)
        assert signature is not None, op
        kinds = {a.name: a.kind for a in signature.attributes}
        values = dict(attrs)
        texts: list[str] = []
        for argument, given in zip(signature.inputs, inputs, strict=True):
            many = list(given) if argument.many else [self._fitting(argument, kinds, given)]
            texts += [x.text for x in many]
            if argument.many:
                is_number = kinds[argument.many] == "int"
                values[argument.many] = len(many) if is_number else [x.dtype for x in many]
            if argument.type in kinds and many:
                values[argument.type] = many[0].dtype
        name = self._unique(f"{self._scope}{op}")
        node = NodeDef(name=name, op=op, input=[*texts, *[f"^{x}" for x in self._controls]])
        for attr in signature.attributes:
            if attr.name not in values:
                if not attr.has_default:
                    raise NoForm(f"TensorFlow's {op} needs the attribute {attr.name!r}")
                values[attr.name] = attr.default
            elif not (attr.has_default and _is_default(attr, values[attr.name])):
                node.attr[attr.name].CopyFrom(attribute(attr.kind, values[attr.name]))
        self.nodes.append(node)
        self._order.wrote(name)
        found = _results(name, signature, values)
        self.places[name] = {x.text.partition(":")[2]: i for i, x in enumerate(_flat(found))}
        return found

    def _fitting(self, argument: Argument, kinds: dict[str, str], given: Written) -> Written:
        if argument.type in kinds or given.dtype is tf.as_dtype(argument.type):
            return given
        return self.add("Cast", given, DstT=tf.as_dtype(argument.type))

    # --- writing ----------------------------------------------------------------------------------

    @property
    def _scope(self) -> str:
        return "" if self._node is None else f"{self._node.name}/"

    def _unique(self, name: str) -> str:
        plain = plain_name(name)
        made, at = plain, 0
        while made.lower() in self._taken:
            at += 1
            made = f"{plain}_{at}"
        self._taken.add(made.lower())
        return made

    def argument(self, name: str, tensor: SymbolicTensor | TensorSpec) -> Written:
        """One more argument."""
        plain = re.sub(r"\W", "_", name).lower()
        unique = self._unique(plain if re.match(r"[a-z]", plain) else f"x{plain}")
        self.arguments.append((unique, tensor))
        spec = tensor if isinstance(tensor, TensorSpec) else tensor.spec
        made = Written(unique, spec)
        if isinstance(tensor, SymbolicTensor):
            self.known[id(tensor)] = made
        return made

    def definition(self, name: str) -> FunctionDef:
        """The whole function."""
        for tensor in self.order:
            self.argument(tensor.node.name, tensor)
        self.write_nodes()
        return self.finished(name, [self.known[id(out)] for out in self.graph.outputs])

    def write_nodes(self) -> None:
        """Writes all nodes of the graph."""
        for node in self.graph.body:
            self._node = node
            self._order.begin(node)
            self._controls = self._order.needed
            first = len(self.nodes)
            try:
                made = self._written(node)
            except NoForm as problem:
                made = self.functions.without_form(self, node, str(problem))
            made = self.named(node, made, self.nodes[first:])
            self._order.end(node)
            for out, ref in zip(node.outputs, made, strict=True):
                self.known[id(out)] = Written(ref.text, out.spec)
        self._node, self._controls = None, []

    def named(self, node: Node, made: list[Written], written: list[NodeDef]) -> list[Written]:
        """The results, after the node that gives them has got the name of Weft's node."""
        old = {x.text.partition(":")[0] for x in made}
        new = plain_name(node.name)
        if len(old) != 1 or new.lower() in self._taken:
            return made
        (name,) = old
        if all(x.name != name for x in written):
            return made
        self._taken.add(new.lower())
        self.places[new] = self.places.pop(name)
        self._order.renamed(name, new)
        for one in written:
            one.name = new if one.name == name else one.name
            one.input[:] = [_renamed(text, name, new) for text in one.input]
        return [Written(_renamed(x.text, name, new), x.spec) for x in made]

    def _written(self, node: Node) -> list[Written]:
        inputs = [self.known[id(x)] for x in node.inputs]
        if node.is_const:
            return [self.const(node.attrs["value"], node.outputs[0].dtype)]
        if node.op.graphdef is not None:
            made = node.op.graphdef(self, *inputs, **node.attrs)
        else:
            made = self._as_it_is(node, inputs)
        flat = _flat(made)
        if len(flat) < len(node.outputs):
            raise NoForm("TensorFlow's op has other results")
        return flat[: len(node.outputs)]

    def foreign(self, node: Node, attrs: dict[str, AttrValue]) -> list[Written]:
        """A node of an op that TensorFlow does not have."""
        name = self._unique(f"{self._scope}{node.op.name}")
        texts = [self.known[id(x)].text for x in node.inputs]
        controls = [f"^{x}" for x in self._controls]
        made = NodeDef(name=name, op=node.op.name, input=[*texts, *controls], attr=attrs)
        self.nodes.append(made)
        self._order.wrote(name)
        self.places[name] = {f"output:{i}": i for i in range(len(node.outputs))}
        return [Written(f"{name}:output:{i}", out.spec) for i, out in enumerate(node.outputs)]

    def _as_it_is(self, node: Node, inputs: list[Written]) -> Any:
        signature = signature_of(node.op.name)
        if signature is None:
            raise NoForm("TensorFlow has no such op, and no form of it is known")
        stars = [argument.variadic for argument in node.op.args]
        if [bool(x.many) for x in signature.inputs] != stars:
            raise NoForm("TensorFlow's op takes other inputs")
        given: list[Any] = list(inputs)
        if stars and stars[-1]:
            given = [*inputs[: len(stars) - 1], inputs[len(stars) - 1 :]]
        names = {a.name for a in signature.attributes}
        attrs = {key: value for key, value in node.attrs.items() if value is not None}
        if unknown := sorted(set(attrs) - names):
            raise NoForm(f"TensorFlow's op has no attribute {', '.join(unknown)}")
        told = {x.type for x in signature.inputs} | {x.many for x in signature.inputs}
        for output, out in zip(signature.outputs, node.outputs, strict=False):
            if not output.many and output.type in names - told:
                attrs.setdefault(output.type, out.dtype)
        return self.add(node.op.name, *given, **attrs)

    def finished(
        self,
        name: str,
        results: Sequence[Written],
        outputs: Sequence[str] | None = None,
        lasting: Sequence[str] | None = None,
    ) -> FunctionDef:
        """The message, once all nodes are there; `lasting` are those that must run."""
        outputs = [f"output_{i}" for i in range(len(results))] if outputs is None else outputs
        last = self._order.lasting if lasting is None else list(lasting)
        signature = OpDef(
            name=name,
            input_arg=[_argument(name, tensor) for name, tensor in self.arguments],
            output_arg=[
                ArgDef(name=name, type=x.dtype.as_datatype_enum)
                for name, x in zip(outputs, results, strict=True)
            ],
            is_stateful=any(_is_stateful(node) for node in self.nodes),
            control_output=last,
        )
        made = FunctionDef(signature=signature, node_def=self.nodes)
        for output, x in zip(outputs, results, strict=True):
            made.ret[output] = x.text
        for node in last:
            made.control_ret[node] = node
        for i, (_, tensor) in enumerate(self.arguments):
            spec = tensor if isinstance(tensor, TensorSpec) else tensor.spec
            shape = attribute("list(shape)", [sizes_of(spec.dims)])
            made.arg_attr[i].CopyFrom(ArgAttrs(attr={"_output_shapes": shape}))
        return made


class _LoopCondition(Body):
    """A condition as TensorFlow's gradients of loops expect it: a counter and a limit in front."""

    limited = False

    def definition(self, name: str) -> FunctionDef:
        number = TensorSpec.of(int32, ())
        counter = self.argument("loop_counter", number)
        limit = self.argument("maximum_iterations", number)
        for tensor in self.order:
            self.argument(tensor.node.name, tensor)
        self.write_nodes()
        result = self.known[id(self.graph.outputs[0])]
        if self.limited:
            result = self.add("LogicalAnd", self.add("Less", counter, limit), result)
        return self.finished(name, [result])


class _LimitedCondition(_LoopCondition):
    limited = True


class _LoopBody(Body):
    """A body in that form: it counts, and passes on the limit and what it does not change."""

    def definition(self, name: str) -> FunctionDef:
        number = TensorSpec.of(int32, ())
        counter = self.argument("loop_counter", number)
        limit = self.argument("maximum_iterations", number)
        given = [self.argument(tensor.node.name, tensor) for tensor in self.order]
        self.write_nodes()
        results = [self.known[id(out)] for out in self.graph.outputs]
        following = self.add("AddV2", counter, self.const(1))
        return self.finished(name, [following, limit, *results, *given[len(results) :]])


_FORMS: dict[str, type[Body]] = {
    "plain": Body,
    "condition": _LoopCondition,
    "limited condition": _LimitedCondition,
    "body": _LoopBody,
}


class _Order:
    """Which nodes have to run before which: program order, as far as effects meet."""

    def __init__(self) -> None:
        self.needed: list[str] = []
        self._written: list[str] = []
        self._writers: dict[int, list[str]] = {}
        self._readers: dict[int, list[str]] = {}
        self._outside: list[str] = []
        self._must_run: dict[str, None] = {}

    def begin(self, node: Node) -> None:
        """What a node has to wait for."""
        found: dict[str, None] = {}
        written = {id(x) for x in node.effects.writes}
        for tensor in (*node.effects.reads, *node.effects.writes):
            found |= dict.fromkeys(self._writers.get(id(tensor), ()))
            if id(tensor) in written:
                found |= dict.fromkeys(self._readers.get(id(tensor), ()))
        if node.effects.host_io:
            found |= dict.fromkeys(self._outside)
        self.needed, self._written = list(found), []

    def wrote(self, name: str) -> None:
        """A node of TensorFlow's was written for it."""
        self._written.append(name)

    def renamed(self, old: str, new: str) -> None:
        """One of them has got another name."""
        self._written = [new if name == old else name for name in self._written]

    def end(self, node: Node) -> None:
        """All were."""
        for tensor in node.effects.reads:
            self._readers.setdefault(id(tensor), []).extend(self._written)
        for tensor in node.effects.writes:
            self._writers[id(tensor)] = list(self._written)
            self._readers[id(tensor)] = []
        if node.effects.host_io:
            self._outside = list(self._written)
        if node.effects.must_run:
            self._must_run |= dict.fromkeys(self._written)

    @property
    def lasting(self) -> list[str]:
        """What has to run even if nobody uses its results."""
        return list(self._must_run)


def _element_dtype(graph: Graph, handle: SymbolicTensor, seen: set[int]) -> DType | None:
    """The dtype of what is read from a list, or added to it; also where it is handed on."""
    if id(handle) in seen:
        return None
    seen.add(id(handle))
    for node in graph.body:
        places = [i for i, x in enumerate(node.inputs) if x is handle]
        if not places:
            continue
        said = node.attrs.get("dtype")
        if isinstance(said, DType):
            return said
        data = [x.dtype for x in node.inputs[1:] if x.dtype not in (tf.variant, int32, tf.int64)]
        if data:
            return data[0]
        first = node.op.nested_offset
        inner = [(g, g.all_inputs[i - first]) for _, g in node.nested for i in places if i >= first]
        following = [(graph, out) for out in node.outputs if out.dtype is tf.variant]
        for where, tensor in [*inner, *following]:
            found = _element_dtype(where, tensor, seen)
            if found is not None:
                return found
    return None


def plain_name(name: str) -> str:
    """A name that TensorFlow allows."""
    plain = re.sub(r"[^A-Za-z0-9_./-]", "_", name)
    return plain if re.match(r"[A-Za-z0-9.]", plain) else f"n{plain}"


def _renamed(text: str, old: str, new: str) -> str:
    """What an input says after a node got another name."""
    begin, colon, rest = text.partition(":")
    if begin in (old, f"^{old}"):
        begin = begin.replace(old, new, 1)
    return begin + colon + rest


def _flat(made: Any) -> list[Written]:
    if isinstance(made, Written):
        return [made]
    return [x for part in made for x in _flat(part)]


def _is_default(attr: Any, value: Any) -> bool:
    if attr.kind == "type":
        return tf.as_dtype(value) is tf.as_dtype(attr.default)
    if attr.kind == "string":
        return bool(_content("string", value) == _content("string", attr.default))
    if attr.kind.startswith("list"):
        return not value and not attr.default
    return attr.kind in ("int", "bool", "float") and value == attr.default


def _results(name: str, signature: Signature, values: dict[str, Any]) -> Any:
    made: list[Any] = []
    for output in signature.outputs:
        count = values[output.many] if output.many else 1
        types = list(count) if isinstance(count, (list, tuple)) else None
        if types is None:
            types = [values.get(output.type, output.type)] * int(count)
        refs = [
            Written(f"{name}:{output.name}:{i}", TensorSpec.of(tf.as_dtype(dtype), None))
            for i, dtype in enumerate(types)
        ]
        made.append(refs if output.many else refs[0])
    return made[0] if len(made) == 1 else made


def _argument(name: str, tensor: SymbolicTensor | TensorSpec) -> ArgDef:
    spec = tensor if isinstance(tensor, TensorSpec) else tensor.spec
    made = ArgDef(name=name, type=spec.dtype.as_datatype_enum)
    if spec.dtype is resource and isinstance(tensor, SymbolicTensor):
        variable = variable_behind(tensor)
        if variable is not None:
            shape = shape_message(sizes_of(variable.shape.dims_or_none))
            held = DtypeAndShape(dtype=variable.dtype.as_datatype_enum, shape=shape)
            made.handle_data.append(held)
    return made


def _is_stateful(node: NodeDef) -> bool:
    signature = signature_of(node.op)
    return signature is not None and signature.is_stateful
