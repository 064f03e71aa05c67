"""Finds attention written as products and a softmax, and its gradient: they become single ops.

    s = q k'            also scaled, with something added, or masked: `steps`
    p = softmax(s)
    out = p v

becomes `out = FusedAttention(q, k, v)` if nobody else looks at the scores or at p. A graph that
also holds the gradient looks at p, too, but only like this:

    gv = p' g
    gp = g v'
    gs = (gp - sum(gp p)) p      and back through the steps
    gq = gs k
    gk = gs' q

which becomes `gq, gk, gv = FusedAttentionGrad(...)`. Whatever does not fit stays as it is: dropout
between softmax and product, gradients of what was added to scores, weights that are returned.
Products may be `matmul` or `einsum`, of tensors with axes in any order but for the last one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node, infer
from weft._src.graph.passes.dce import drop_dead_nodes
from weft._src.graph.passes.labelled import Labelled, Product, before_transposes, product_of
from weft._src.graph.passes.simplify import simplify
from weft._src.graph.rewrite import Rewriter, is_same, with_nested
from weft._src.ops.arrays.fill import fill_op
from weft._src.ops.arrays.selection import select_op
from weft._src.ops.arrays.shape import broadcast_to_op, transpose_op
from weft._src.ops.elementwise.arithmetic import add_op, mul_op, real_div_op, sub_op
from weft._src.ops.elementwise.comparison import logical_and_op
from weft._src.ops.nn.attention import TYPES, attention_gradient_op, attention_op
from weft._src.ops.nn.softmax import softmax_op
from weft._src.ops.reduce.sums import sum_op
from weft._src.ops.registry import Op

# Scores of one place in a batch from which single ops pay: machine code, and with NumPy.
LEAST_SCORES, LEAST_SCORES_NUMPY = 256, 128 * 128

Uses = dict[int, list[Node | None]]
Letters = dict[Hashable, str]


def fuse_attention(graph: Graph, least_scores: int = LEAST_SCORES) -> Graph:
    """The graph with attention as single ops; for graphs of which nobody takes gradients.

    Args:
      graph: an optimised one.
      least_scores: as many as there have to be for a place in the batch.
    """
    if not any(node.op is softmax_op for node in graph.nodes) and not _has_nested(graph):
        return graph
    uses = _uses(graph)
    actions: dict[int, list[Callable[[Rewriter], None]]] = defaultdict(list)
    for node in graph.nodes:
        found = _forward(node, uses) if node.op is softmax_op else None
        if found is not None and found.scores < least_scores:
            continue
        if found is not None and (found.only_forward or found.find_gradient()):
            found.plan(graph, actions)
    again = partial(fuse_attention, least_scores=least_scores)
    nodes = [with_nested(node, again) for node in graph.body]
    if not actions and is_same(graph, nodes):
        return graph
    rewriter = Rewriter(graph)
    for old, node in zip(graph.body, nodes, strict=True):
        rewriter.copy(node)
        for action in actions.get(id(old), ()):
            action(rewriter)
    made = rewriter.finish()
    return drop_dead_nodes(simplify(made)) if actions else made


def _has_nested(graph: Graph) -> bool:
    return any(True for node in graph.nodes for _ in node.nested)


def _uses(graph: Graph) -> Uses:
    """Who uses each tensor; None stands for whoever gets the results."""
    found: Uses = defaultdict(list)
    for node in graph.nodes:
        for x in node.inputs:
            found[id(x)].append(node)
    for out in graph.outputs:
        found[id(out)].append(None)
    return found


class Step(NamedTuple):
    """Something done to scores, and with what."""

    name: str
    others: tuple[SymbolicTensor, ...]


def _chain(x: SymbolicTensor, uses: Uses) -> tuple[Product, list[Step]] | None:
    """The product that scores come from, and the steps in between; nobody else may look at them."""
    node = x.node
    if len(uses[id(x)]) != 1:
        return None
    product = product_of(node)
    if product is not None:
        return product, []
    for source, step in _last_step(node):
        if source.spec.dims != x.spec.dims or source.dtype is not x.dtype:
            continue
        found = _chain(source, uses)
        if found is not None:
            return found[0], [*found[1], step]
    return None


def _last_step(node: Node) -> Iterator[tuple[SymbolicTensor, Step]]:
    """What a node may be a step of: the scores before, and the step."""
    if node.op in _COMMUTATIVE:
        x, y = node.inputs
        yield x, Step(_COMMUTATIVE[node.op], (y,))
        yield y, Step(_COMMUTATIVE[node.op], (x,))
    elif node.op in _ONE_SIDED:
        yield node.inputs[0], Step(_ONE_SIDED[node.op], (node.inputs[1],))
    elif node.op is select_op:
        mask, x, y = node.inputs
        yield x, Step("where", (mask, y))
        yield y, Step("where_not", (mask, x))


_COMMUTATIVE: dict[Op, str] = {mul_op: "multiply", add_op: "add"}
_ONE_SIDED: dict[Op, str] = {real_div_op: "divide", sub_op: "subtract"}
_LINEAR: dict[str, Op] = {"multiply": mul_op, "divide": real_div_op}


def _forward(softmax: Node, uses: Uses) -> _Match | None:
    """The attention around a softmax."""
    p = softmax.outputs[0]
    rank = p.spec.rank
    if p.dtype not in TYPES or not p.spec.is_static or rank is None or rank < 2:
        return None
    if softmax.attrs["axis"] % rank != rank - 1:
        return None
    chain = _chain(softmax.inputs[0], uses)
    if chain is None:
        return None
    product, steps = chain
    *batch, m, n = product.result
    q, k = (product.a, product.b) if m in product.a.labels else (product.b, product.a)
    inner = [label for label in q.labels if label not in product.result]
    letters: Letters = {label: str(i) for i, label in enumerate(batch)}
    letters.update({m: "m", n: "n", **dict.fromkeys(inner, "d")})
    if len(batch) > 9 or len(inner) != 1 or not set(batch) <= set(k.labels) & set(q.labels):
        return None
    if m in k.labels or n in q.labels or n not in k.labels:
        return None
    found = [x for node in uses[id(p)] if (x := _weighted(node, p)) is not None]
    if len(found) != 1:
        return None
    out, v, result = found[0]
    match = _Match(uses, softmax, out, steps, _lettered(q, letters), _lettered(k, letters), v)
    return match if match.settle_axes(result) else None


def _is_same(x: Labelled, y: Labelled) -> bool:
    return x.tensor is y.tensor and x.labels == y.labels


def _lettered(x: Labelled, letters: Letters) -> Labelled:
    return Labelled(x.tensor, tuple([letters[label] for label in x.labels]))


def _scores_letters(labels: tuple[Hashable, ...]) -> Letters:
    """Letters for the labels of something with the axes of scores."""
    *batch, m, n = labels
    return {**{label: str(i) for i, label in enumerate(batch)}, m: "m", n: "n"}


def _product_with(
    node: Node | None, scores: SymbolicTensor, sums: str, last: str
) -> tuple[Labelled, tuple[str, ...]] | None:
    """A product of something like scores, which sums over one of its axes, with something else.

    Returns:
      The other operand, whose further axis gets the letter `last`, and the letters of the result.
    """
    product = None if node is None else product_of(node)
    operands = None if product is None else product.other_than(scores)
    if product is None or operands is None:
        return None
    own, other = operands
    letters = _scores_letters(own.labels)
    further = [label for label in other.labels if label not in letters]
    if len(further) != 1:
        return None
    letters[further[0]] = last
    other, result = _lettered(other, letters), tuple([letters[s] for s in product.result])
    batch = set(letters.values()) - {"m", "n", last}
    kept = "m" if sums == "n" else "n"
    if set(other.labels) != batch | {sums, last} or set(result) != batch | {kept, last}:
        return None
    return other, result


def _weighted(
    node: Node | None, p: SymbolicTensor
) -> tuple[Node, Labelled, tuple[str, ...]] | None:
    """A node that is p v: itself, v, and the letters of its result."""
    found = _product_with(node, p, "n", "e")
    if node is None or found is None:
        return None
    return node, *found


class _Gradient(NamedTuple):
    """A node that the gradient of q, k or v comes from, and the letters of its axes."""

    node: Node
    letters: tuple[str, ...]


@dataclass
class _Match:
    """An attention that was found, and perhaps its gradient."""

    uses: Uses
    softmax: Node
    out: Node
    steps: list[Step]
    q: Labelled
    k: Labelled
    v: Labelled
    axes: tuple[str, ...] = ()
    inputs: tuple[SymbolicTensor, ...] = ()  # q, k and v as they lie
    turned: list[Node] = field(default_factory=list)  # transposes of the result that it includes
    g: Labelled | None = None
    first: Node | None = None  # of the gradient
    gradients: dict[str, _Gradient] = field(default_factory=dict)

    # --- forward -----------------------------------------------------------------------------

    def settle_axes(self, result: tuple[str, ...]) -> bool:
        """Takes q, k and v as they lie in memory, before their axes were exchanged.

        Returns:
          Whether their numbers lie one behind the other.
        """
        chosen = []
        for x, last in ((self.q, "d"), (self.k, "d"), (self.v, "e")):
            fitting = [y for y in before_transposes(x) if y.labels[-1] == last]
            if not fitting:
                return False
            chosen.append(fitting[-1])
        out = self._settled_result(result)
        if out[-1] != "e":
            return False
        letters = [*[x.labels for x in chosen], out]
        self.axes = tuple(["".join(map(str, own)) for own in letters])
        self.inputs = tuple([x.tensor for x in chosen])
        return True

    @property
    def scores(self) -> int:
        """How many there are for a place in the batch."""
        sizes = self.softmax.outputs[0].spec.dims or ()
        return math.prod([n for n in sizes[-2:] if isinstance(n, int)])

    def _settled_result(self, result: tuple[str, ...]) -> tuple[str, ...]:
        """The letters of the result, with its axes exchanged if everybody wants them so."""
        users = self.uses[id(self.out.outputs[0])]
        perms = {None if u is None or u.op is not transpose_op else u.attrs["perm"] for u in users}
        perm = perms.pop() if len(perms) == 1 else None
        if perm is None or result[perm[-1]] != "e":
            return result
        self.turned = [u for u in users if u is not None]
        return tuple([result[i] for i in perm])

    @property
    def only_forward(self) -> bool:
        """Whether p is used for the result alone."""
        return len(self.uses[id(self.softmax.outputs[0])]) == 1

    # --- the gradient ------------------------------------------------------------------------

    def find_gradient(self) -> bool:
        """Whether all other uses of p are the gradient, and nobody else looks inside of that."""
        p = self.softmax.outputs[0]
        scaled: list[Node] = []  # gp p, and gs
        for node in self.uses[id(p)]:
            if node is self.out:
                continue
            if node is not None and node.op is mul_op:
                scaled.append(node)
            elif not self._note(node, "v", _product_with(node, p, "m", "e")):
                return False
        gs = self._softmax_gradient(p, scaled)
        gs = None if gs is None else self._back(gs)
        if gs is None:
            return False
        for node in self.uses[id(gs)]:
            for name, sums, of in (("q", "n", self.k), ("k", "m", self.q)):
                found = _product_with(node, gs, sums, "d")
                if found is not None and _is_same(found[0], of):
                    self._note(node, name, found)
                    break
            else:
                return False
        return True

    def _note(
        self, node: Node | None, name: str, found: tuple[Labelled, tuple[str, ...]] | None
    ) -> bool:
        """Keeps a gradient that was found; whether it is one, and the first of its kind."""
        if node is None or found is None or name in self.gradients:
            return False
        if name == "v":
            if self.g is not None and not _is_same(self.g, found[0]):
                return False
            self.g = found[0]
        self.gradients[name] = _Gradient(node, found[1])
        return True

    def _softmax_gradient(self, p: SymbolicTensor, scaled: list[Node]) -> SymbolicTensor | None:
        """(gp - sum(gp p)) p, made by these two nodes; notes what g is."""
        if len(scaled) != 2:
            return None
        for inner, outer in (scaled, scaled[::-1]):
            gp, difference = _other(inner, p), _other(outer, p)
            total = _only(self.uses, inner.outputs[0], sum_op)
            if total is None or difference.node.op is not sub_op:
                continue
            axis, rank = total.attrs["axis"], p.spec.rank or 0
            along_last = axis is not None and [a % rank for a in axis] == [rank - 1]
            minuend, subtrahend = difference.node.inputs
            if not (along_last and total.attrs["keepdims"]):
                continue
            if minuend is not gp or subtrahend is not total.outputs[0]:
                continue
            if _only(self.uses, total.outputs[0], sub_op) is not difference.node:
                continue
            if _only(self.uses, difference, mul_op) is not outer:
                continue
            users = {id(node) for node in self.uses[id(gp)]}
            if users == {id(inner), id(difference.node)} and self._from_result(gp):
                return outer.outputs[0]
        return None

    def _from_result(self, gp: SymbolicTensor) -> bool:
        """Whether gp is g v'; it tells what g is."""
        product = product_of(gp.node)
        operands = None if product is None else product.other_than(self.v.tensor)
        if product is None or operands is None:
            return False
        own, other = operands
        letters = {**_scores_letters(product.result)}
        further = [label for label in other.labels if label not in letters]
        if len(further) != 1:
            return False
        letters[further[0]] = "e"
        if any(label not in letters for label in own.labels):
            return False
        g, v = _lettered(other, letters), _lettered(own, letters)
        if not _is_same(v, self.v) or "m" not in g.labels:
            return False
        if self.g is not None and not _is_same(self.g, g):
            return False
        self.g, self.first = g, gp.node
        return True

    def _back(self, g: SymbolicTensor) -> SymbolicTensor | None:
        """The gradient of the product that scores come from: g, carried back through the steps."""
        for step in reversed(self.steps):
            if step.name in ("add", "subtract"):
                continue
            users = self.uses[id(g)]
            node = users[0]
            if len(users) != 1 or node is None or not _leads_back(node, step, g):
                return None
            g = node.outputs[0]
        return g

    # --- what takes their place --------------------------------------------------------------

    def plan(self, graph: Graph, actions: dict[int, list[Callable[[Rewriter], None]]]) -> None:
        """Adds what is to be done behind some nodes when the graph is copied."""
        made: dict[str, Any] = {}
        order = {id(node): i for i, node in enumerate(graph.nodes)}

        def forward(rewriter: Rewriter) -> None:
            others = [
                _narrowed(rewriter, rewriter[x], self.out) for s in self.steps for x in s.others
            ]
            made["others"] = others
            inputs = [rewriter[x] for x in self.inputs]
            made["forward"] = self._add(rewriter, attention_op, [*inputs, *others], self.out)
            if not self.turned:
                rewriter[self.out.outputs[0]] = made["forward"].outputs[0]

        def turned(node: Node) -> Callable[[Rewriter], None]:
            def action(rewriter: Rewriter) -> None:
                rewriter[node.outputs[0]] = made["forward"].outputs[0]

            return action

        def backward(rewriter: Rewriter) -> None:
            assert self.g is not None
            assert self.first is not None
            inputs = [rewriter[x] for x in self.inputs]
            g = self._as_result(rewriter, self.g)
            given = [*inputs, *made["forward"].outputs, g, *made["others"]]
            node = self._add(rewriter, attention_gradient_op, given, self.first)
            made["backward"] = dict(zip("qkv", node.outputs, strict=True))

        def gradient(name: str, found: _Gradient) -> Callable[[Rewriter], None]:
            def action(rewriter: Rewriter) -> None:
                own = self.axes["qkv".index(name)]
                perm = tuple([own.index(letter) for letter in found.letters])
                out = _transposed(rewriter, made["backward"][name], perm, found.node)
                rewriter[found.node.outputs[0]] = out

            return action

        actions[id(self.out)].append(forward)
        for node in self.turned:
            actions[id(node)].append(turned(node))
        if not self.only_forward:
            assert self.first is not None
            nodes = [self.first, *[found.node for found in self.gradients.values()]]
            earliest = min(nodes, key=lambda node: order[id(node)])
            actions[id(earliest)].append(backward)
            for name, found in self.gradients.items():
                actions[id(found.node)].append(gradient(name, found))

    def _add(self, rewriter: Rewriter, op: Op, inputs: list[SymbolicTensor], like: Node) -> Node:
        attrs = {"axes": self.axes, "steps": tuple([step.name for step in self.steps])}
        specs = infer(op, tuple(inputs), attrs)
        return rewriter.new.add_node(op, tuple(inputs), attrs, specs, like.name, like.location)

    def _as_result(self, rewriter: Rewriter, g: Labelled) -> SymbolicTensor:
        """The gradient of the result, with axes in the order of the result."""
        wanted = tuple(self.axes[3])
        for x in before_transposes(g):
            if x.labels == wanted:
                return rewriter[x.tensor]
        perm = tuple([g.labels.index(letter) for letter in wanted])
        return _transposed(rewriter, rewriter[g.tensor], perm, self.out)


def _other(node: Node, x: SymbolicTensor) -> SymbolicTensor:
    """The input of a node that is not x."""
    first, second = node.inputs
    return second if first is x else first


def _only(uses: Uses, x: SymbolicTensor, op: Op) -> Node | None:
    """The one node that uses x, if it is of an op."""
    users = uses[id(x)]
    node = users[0] if len(users) == 1 else None
    return node if node is not None and node.op is op else None


def _leads_back(node: Node, step: Step, g: SymbolicTensor) -> bool:
    """Whether a node is the gradient of a step."""
    x = step.others[0]
    if step.name in ("where", "where_not"):
        mask, first, second = node.inputs if node.op is select_op else (None, None, None)
        kept, zero = (first, second) if step.name == "where" else (second, first)
        return mask is x and kept is g and zero is not None and _is_zero(zero)
    if node.op is not _LINEAR[step.name] or node.outputs[0].spec.dims != g.spec.dims:
        return False
    first, second = node.inputs
    return (first is g and second is x) or (step.name == "multiply" and first is x and second is g)


def _is_zero(x: SymbolicTensor) -> bool:
    return x.node.is_const and not np.any(x.node.attrs["value"])


def _transposed(
    rewriter: Rewriter, x: SymbolicTensor, perm: tuple[int, ...], like: Node
) -> SymbolicTensor:
    """x with its axes exchanged; x itself if they are not."""
    if perm == tuple(range(len(perm))):
        return x
    attrs = {"perm": perm}
    specs = infer(transpose_op, (x,), attrs)
    name = f"{like.name}/transpose"
    return rewriter.new.add_node(transpose_op, (x,), attrs, specs, name, like.location).outputs[0]


# --- what broadcasts to scores need not be as large ----------------------------------------------


def _narrowed(rewriter: Rewriter, x: SymbolicTensor, like: Node) -> SymbolicTensor:
    """Something smaller that broadcasts to the same: masks are often made as large as scores."""
    node = x.node
    if node.is_const:
        value = _without_repetition(node.attrs["value"])
        return x if value is node.attrs["value"] else rewriter.constant(like, value)
    if node.op is broadcast_to_op:
        return _narrowed(rewriter, node.inputs[0], like)
    if node.op is fill_op:
        return _narrowed(rewriter, node.inputs[1], like)
    if node.op is logical_and_op:
        parts = [_narrowed(rewriter, part, like) for part in node.inputs]
        left = [part for part in parts if not _is_true(part)]
        if len(left) < 2:
            return left[0] if left else parts[0]
        if any(a is not b for a, b in zip(parts, node.inputs, strict=True)):
            specs = infer(logical_and_op, tuple(parts), {})
            made = rewriter.new.add_node(
                logical_and_op, tuple(parts), {}, specs, node.name, node.location
            )
            return made.outputs[0]
    return x


def _is_true(x: SymbolicTensor) -> bool:
    return x.node.is_const and bool(np.all(x.node.attrs["value"]))


def _without_repetition(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Along axes on which all is the same, only once."""
    for axis in range(value.ndim):
        if value.shape[axis] > 1:
            first = value.take([0], axis)
            if np.array_equal(np.broadcast_to(first, value.shape), value):
                value = first
    return value
