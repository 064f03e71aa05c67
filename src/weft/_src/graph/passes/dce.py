"""Drops what nobody uses, except effects: nodes, results of branches, variables of loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter, copied, is_same, with_nested
from weft._src.ops.control.loop import LOOP_NAMES


def drop_dead_nodes(graph: Graph) -> Graph:
    """The graph without nodes whose results are unused and which change nothing."""
    needed = {id(out) for out in graph.outputs}
    alive: dict[int, list[int]] = {}  # id of a node -> which of its outputs stay
    for node in reversed(graph.nodes):
        kept = [k for k, out in enumerate(node.outputs) if id(out) in needed]
        if not kept and not node.effects.must_run:
            continue
        if node.op.name in LOOP_NAMES:
            kept = _live_variables(node, kept)
            n = len(node.outputs)
            used: Iterable[SymbolicTensor] = [
                *[node.inputs[k] for k in kept],
                *node.inputs[n:],
            ]
        else:
            used = node.inputs
        alive[id(node)] = kept
        needed.update(map(id, used))
    parts = []
    for node in graph.body:
        if id(node) in alive:
            kept = alive[id(node)]
            narrow = None if len(kept) == len(node.outputs) else _NARROW.get(node.op.name)
            parts.append((node if narrow else with_nested(node, drop_dead_nodes), kept, narrow))
    if is_same(graph, [node for node, _, narrow in parts if not narrow]):
        return graph
    rewriter = Rewriter(graph)
    for node, kept, narrow in parts:
        if narrow:
            _add_narrowed(rewriter, node, kept, *narrow(node, kept))
        else:
            rewriter.copy(node)
    return rewriter.finish()


def _add_narrowed(
    rewriter: Rewriter,
    node: Node,
    kept: Sequence[int],
    inputs: Sequence[SymbolicTensor],
    attrs: dict[str, Any],
) -> None:
    made = rewriter.new.add_copy(
        node,
        tuple([rewriter[x] for x in inputs]),
        attrs=attrs,
        specs=[node.outputs[k].spec for k in kept],
    )
    for k, out in zip(kept, made.outputs, strict=True):
        rewriter[node.outputs[k]] = out


def _narrowed_branches(
    node: Node, kept: Sequence[int]
) -> tuple[Sequence[SymbolicTensor], dict[str, Any]]:
    """Branches that return only some of their results."""
    branches = []
    for branch in node.attrs["branches"]:
        rewriter = copied(branch)
        rewriter.new.outputs = [rewriter[branch.outputs[k]] for k in kept]
        branches.append(drop_dead_nodes(rewriter.new))
    return node.inputs, {**node.attrs, "branches": tuple(branches)}


def _narrowed_loop(
    node: Node, kept: Sequence[int]
) -> tuple[Sequence[SymbolicTensor], dict[str, Any]]:
    """A loop with only some of its variables."""
    n = len(node.outputs)
    stay = [*kept, *range(n, len(node.inputs))]
    graphs = {}
    for key in ("cond", "body"):
        graph: Graph = node.attrs[key]
        outputs = graph.outputs if key == "cond" else [graph.outputs[k] for k in kept]
        rewriter = copied(graph)
        new = rewriter.new
        new.outputs = [rewriter[out] for out in outputs]
        new = drop_dead_nodes(new)
        dead = {id(x.node) for i, x in enumerate(new.inputs) if i not in stay}
        new.inputs = [x for x in new.inputs if id(x.node) not in dead]
        new.nodes = [m for m in new.nodes if id(m) not in dead]
        graphs[key] = new
    return [node.inputs[i] for i in stay], {**node.attrs, **graphs}


def _live_variables(node: Node, kept: Sequence[int]) -> list[int]:
    """The loop variables that influence the kept ones, the condition or effects."""
    n = len(node.outputs)
    body: Graph = node.attrs["body"]
    position = {id(x): k for k, x in enumerate(body.all_inputs[:n])}
    cond: Graph = node.attrs["cond"]
    in_cond = {id(x): k for k, x in enumerate(cond.all_inputs[:n])}
    live = {*kept, *[in_cond[i] for i in _used(cond, cond.outputs) if i in in_cond]}
    while True:
        used = _used(body, [body.outputs[k] for k in live])
        more = live | {position[i] for i in used if i in position}
        if more == live:
            return sorted(live)
        live = more


def _used(graph: Graph, outputs: Sequence[SymbolicTensor]) -> set[int]:
    """The ids of what the outputs and the effects of a graph need."""
    needed = {id(out) for out in outputs}
    for node in reversed(graph.nodes):
        if node.effects.must_run or any(id(out) in needed for out in node.outputs):
            needed.update([id(x) for x in node.inputs])
    return needed


_NARROW = {
    "If": _narrowed_branches,
    "Case": _narrowed_branches,
    **dict.fromkeys(LOOP_NAMES, _narrowed_loop),
}
