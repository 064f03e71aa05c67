"""What a loop saves for its gradient, and what the gradient computes once more instead.

Values that pointwise ops make of others need not be kept if the others are. Which to keep is a
minimum cut: between what is expensive (or comes from the iteration before) and what the gradient
reads, through everything that is cheap, at the place where the fewest bytes cross.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from weft._src.core.dtypes import variant
from weft._src.core.tensor import SymbolicTensor
from weft._src.graph.ir import PURE, Graph, Node

Test = Callable[[SymbolicTensor], bool]

# Keeping a value costs a push and a pop beside its bytes: about as much as computing 64 numbers.
_PER_VALUE = 256
_UNKNOWN_SIZE = 16
_ENDLESS = 1 << 60


def is_cheap(node: Node) -> bool:
    """Whether a node's results are computed again rather than kept, if its inputs are there."""
    return node.op.cheap and node.effects is PURE


def _cost(tensor: SymbolicTensor) -> int:
    if tensor.dtype is variant or tensor.spec.dims is None:
        return _PER_VALUE * _UNKNOWN_SIZE
    count = 1
    for size in tensor.spec.dims:
        count *= size if isinstance(size, int) else _UNKNOWN_SIZE
    return _PER_VALUE + count * max(tensor.dtype.size, 1)


def values_to_keep(
    graph: Graph, used: Iterable[SymbolicTensor], is_free: Test
) -> list[SymbolicTensor]:
    """The cheapest values out of which all used ones can be computed, with those that are free."""
    network = _Network()
    pending = [t for t in used if not is_free(t)]
    for tensor in pending:
        network.connect((id(tensor), 1), _SINK, _ENDLESS)
    seen: dict[int, SymbolicTensor] = {}
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen[id(tensor)] = tensor
        network.connect((id(tensor), 0), (id(tensor), 1), _cost(tensor))
        node = tensor.node
        inputs = [x for x in node.inputs if not is_free(x)]
        if not is_cheap(node):
            network.connect(_SOURCE, (id(tensor), 0), _ENDLESS)
            continue
        for x in inputs:
            network.connect((id(x), 1), (id(tensor), 0), _ENDLESS)
            pending.append(x)
    behind = network.cut_near_sink()
    kept = [t for t in seen.values() if (id(t), 1) in behind and (id(t), 0) not in behind]
    position = {id(t): i for i, t in enumerate(_in_order(graph))}
    return sorted(kept, key=lambda t: position[id(t)])


def expensive_behind(used: Iterable[SymbolicTensor], is_there: Test) -> list[SymbolicTensor]:
    """The values that are not there and too expensive to compute again, but needed for it."""
    found: dict[int, SymbolicTensor] = {}
    pending = [t for t in used if not is_there(t)]
    seen = set()
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if is_cheap(tensor.node):
            pending += [x for x in tensor.node.inputs if not is_there(x)]
        else:
            found[id(tensor)] = tensor
    return list(found.values())


def invariant_values(graph: Graph, inputs: Iterable[SymbolicTensor]) -> set[int]:
    """The ids of these inputs and of everything that is computed from them alone."""
    ids = {id(x) for x in inputs}
    for node in graph.body:
        if node.effects is PURE and all(id(x) in ids for x in node.inputs):
            ids.update([id(out) for out in node.outputs])
    return ids


def _in_order(graph: Graph) -> list[SymbolicTensor]:
    return [out for node in graph.nodes for out in node.outputs]


def with_recomputed(graph: Graph, forward: Graph, is_there: Test) -> Graph:
    """A backward graph that computes the values of the forward graph which it is not given."""
    missing = [t for t, _ in graph.captures if not is_there(t)]  # type: ignore[arg-type]
    if not missing:
        return graph
    again = _nodes_behind(forward, missing, is_there)  # type: ignore[arg-type]
    left_out = {id(t) for t in missing}
    return rebuilt(graph, forward, lambda t: id(t) in left_out, {}, again)


def rebuilt(
    graph: Graph,
    forward: Graph,
    is_left_out: Test,
    instead: dict[int, SymbolicTensor],
    again: Sequence[Node] = (),
) -> Graph:
    """A copy of a backward graph that captures other values of the forward graph.

    Some captures are left out; nodes whose ids are in `instead` are replaced by values of the
    forward graph, and nodes of the forward graph may be repeated.
    """
    new = Graph(graph.name, outer=forward)
    made: dict[int, SymbolicTensor] = {}
    for x in graph.inputs:
        made[id(x)] = new.add_input(x.spec, x.node.name)
        made[id(x)].spec = x.spec
    value: dict[int, SymbolicTensor] = {}
    for node in again:
        inputs = [value[id(x)] if id(x) in value else new.capture(x) for x in node.inputs]
        _copy(new, node, inputs, value)
    for outer, inner in [*graph.captures, *graph.copied_constants]:
        if id(outer) in value:
            made[id(inner)] = value[id(outer)]
        elif not is_left_out(outer):  # type: ignore[arg-type]
            made[id(inner)] = new.capture(outer)
    for node in graph.body:
        if node.outputs and id(node.outputs[0]) in made:
            continue
        if id(node) in instead:
            made[id(node.outputs[0])] = new.capture(instead[id(node)])
        else:
            _copy(new, node, [made[id(x)] for x in node.inputs], made)
    new.outputs = [made[id(t)] for t in graph.outputs]
    return new


def _nodes_behind(forward: Graph, missing: Sequence[SymbolicTensor], is_there: Test) -> list[Node]:
    """The nodes that have to run again, in order."""
    wanted = {id(t) for t in missing}
    found = []
    for node in reversed(forward.nodes):
        if any(id(out) in wanted for out in node.outputs):
            found.append(node)
            wanted.update([id(x) for x in node.inputs if not is_there(x)])
    return found[::-1]


def _copy(
    new: Graph, node: Node, inputs: Sequence[SymbolicTensor], made: dict[int, SymbolicTensor]
) -> None:
    copy = new.add_copy(node, tuple(inputs))
    for old, out in zip(node.outputs, copy.outputs, strict=True):
        made[id(old)] = out


# --- minimum cut ---------------------------------------------------------------------------------

_Vertex = tuple[int, int]
_SOURCE: _Vertex = (0, 0)
_SINK: _Vertex = (0, 1)


class _Network:
    """Capacities between vertices; flow is pushed along shortest paths until none is left."""

    def __init__(self) -> None:
        self._left: dict[_Vertex, dict[_Vertex, int]] = {_SOURCE: {}, _SINK: {}}

    def connect(self, a: _Vertex, b: _Vertex, capacity: int) -> None:
        self._left.setdefault(a, {})[b] = capacity
        self._left.setdefault(b, {}).setdefault(a, 0)

    def cut_near_sink(self) -> set[_Vertex]:
        """The vertices on the sink's side of the minimum cut that is nearest to it."""
        while (path := self._path()) is not None:
            pushed = min(self._left[a][b] for a, b in path)
            for a, b in path:
                self._left[a][b] -= pushed
                self._left[b][a] += pushed
        behind, pending = {_SINK}, [_SINK]
        while pending:
            b = pending.pop()
            for a in self._left[b]:
                if a not in behind and self._left[a][b] > 0:
                    behind.add(a)
                    pending.append(a)
        return behind

    def _path(self) -> list[tuple[_Vertex, _Vertex]] | None:
        came: dict[_Vertex, _Vertex] = {_SOURCE: _SOURCE}
        pending = deque([_SOURCE])
        while pending:
            a = pending.popleft()
            for b, capacity in self._left[a].items():
                if capacity > 0 and b not in came:
                    came[b] = a
                    pending.append(b)
            if _SINK in came:
                break
        else:
            return None
        path = []
        at = _SINK
        while at != _SOURCE:
            path.append((came[at], at))
            at = came[at]
        return path[::-1]
