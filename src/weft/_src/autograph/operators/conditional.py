"""`if` statements and ternaries: a graph conditional if the condition is a tensor of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.autograph.operators import staging
from weft._src.autograph.operators.grown_list import GrownList, as_grown
from weft._src.autograph.operators.state import (
    as_tensor,
    can_be_tensor,
    dummy,
    flatten,
    is_internal,
    is_symbolic,
    poison,
)
from weft._src.autograph.operators.undefined import Undefined, is_undefined
from weft._src.core.context import building, state
from weft._src.core.conversions import how_to_agree
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import bool_
from weft._src.core.location import user_location
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.errors import DTypeError
from weft._src.graph.ir import Graph
from weft._src.ops.control.branch import if_op

Thunk = Callable[[], Any]


def if_stmt(
    condition: Any,
    then: Thunk,
    otherwise: Thunk,
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
    needed: Sequence[str],
    appended: Sequence[str] = (),
) -> None:
    """An `if` whose blocks change the variables in `names`; those in `needed` are used after it."""
    if not is_symbolic(condition):
        if condition:
            then()
        else:
            otherwise()
        return
    if appended:
        values = zip(names, get_state(), strict=True)
        set_state(tuple([as_grown(v) if name in appended else v for name, v in values]))
    _StagedIf(
        condition_tensor(condition), then, otherwise, get_state, set_state, names, needed
    ).run()


def condition_tensor(condition: Any) -> Tensor:
    """A scalar bool; ValueError naming what it is otherwise."""
    tensor = convert_to_tensor(condition)
    if tensor.dtype is not bool_:
        raise ValueError(
            f"A condition must be a scalar bool tensor, got {tensor.dtype.name} of shape "
            f"{tensor.shape}. Compare it with something, e.g. `x != 0`."
        )
    if tensor.shape.rank not in (None, 0):
        raise ValueError(
            f"A condition must be a scalar, got a bool tensor of shape {tensor.shape}. Use "
            "tf.reduce_any or tf.reduce_all."
        )
    return tensor


class _Branch:
    """One block traced into its own graph, and the state it left."""

    def __init__(self, owner: _StagedIf, block: Thunk, label: str) -> None:
        self.label = label
        self.graph: Graph = state.graph.nested(label, "cond")
        owner.set_state(owner.initial)
        with building(self.graph), staging.block() as frame:
            block()
            self.values = owner.get_state()
        self.diverged = frame.raised
        owner.set_state(owner.initial)


class _StagedIf:
    def __init__(
        self, condition: Tensor, then: Thunk, otherwise: Thunk,
        get_state: Any, set_state: Any, names: Sequence[str], needed: Sequence[str],
    ) -> None:  # fmt: skip
        self.condition = condition
        self.get_state, self.set_state, self.names = get_state, set_state, names
        self._needed = frozenset(needed)
        self.initial = get_state()
        self._blocks = (then, otherwise)

    def run(self) -> None:
        then = _Branch(self, self._blocks[0], "if branch")
        otherwise = _Branch(self, self._blocks[1], "else branch")
        results: list[Any] = list(self.initial)
        joined: list[tuple[int, Any]] = []  # state index, structure of tensors
        for i, name in enumerate(self.names):
            a, b = then.values[i], otherwise.values[i]
            if a is b or name not in self._needed:
                results[i] = a if a is b else self.initial[i]
                continue
            structure = self._join(name, then, otherwise, a, b)
            if isinstance(structure, Undefined) or not _Join.is_join(structure):
                results[i] = structure
            else:
                joined.append((i, structure))
        self._emit(then, otherwise, joined, results)
        self.set_state(tuple(results))

    def _join(self, name: str, then: _Branch, otherwise: _Branch, a: Any, b: Any) -> Any:
        """How a variable with different values in the branches goes on."""
        for value, branch, other, other_value in (
            (a, then, otherwise, b), (b, otherwise, then, a),
        ):  # fmt: skip
            if is_undefined(value):
                if is_internal(name) or branch.diverged:
                    if not any(can_be_tensor(leaf) for leaf in flatten(other_value)):
                        return other_value  # a Python value, such as None
                    return _Join(other_value, filled_in=branch)
                return poison(
                    name,
                    ValueError(
                        f"{name!r} must also be defined in the {branch.label}: it is defined in "
                        f"the {other.label} and used afterwards ({user_location()})."
                    ),
                )
        return _same_kind(name, a, b, then.label, otherwise.label)

    def _emit(
        self, then: _Branch, otherwise: _Branch, joined: list[tuple[int, Any]], results: list[Any]
    ) -> None:
        structures: list[tuple[int, Any, int]] = []
        for i, join in joined:
            try:
                a, b = join.tensors(then, otherwise, then.values[i], otherwise.values[i])
            except (TypeError, ValueError) as e:
                results[i] = poison(self.names[i], e)
                continue
            problem = _dtype_problem(self.names[i], a, b)
            if problem is not None:
                results[i] = poison(self.names[i], problem)
                continue
            then.graph.outputs += a
            otherwise.graph.outputs += b
            structures.append((i, join.structure, len(a)))
        union = {id(t): t for g in (then.graph, otherwise.graph) for t, _ in g.captures}
        for graph in (then.graph, otherwise.graph):
            graph.align_captures(list(union.values()))
        out = if_op(
            self.condition, *union.values(), branches=(then.graph, otherwise.graph), name="cond"
        )
        position = 0
        for i, structure, n in structures:
            other = otherwise.values[i]
            if isinstance(structure, GrownList) and isinstance(other, GrownList):
                structure = structure.widened(other)  # elements may come from both branches
            results[i] = nest.pack_sequence_as(
                structure, list(out[position : position + n]), expand_composites=True
            )
            position += n


class _Join:
    """A variable that becomes tensors: its structure, and a branch that has no value for it."""

    def __init__(self, structure: Any, filled_in: _Branch | None = None) -> None:
        self.structure = structure
        self._filled_in = filled_in

    @staticmethod
    def is_join(value: Any) -> bool:
        return isinstance(value, _Join)

    def tensors(
        self, then: _Branch, otherwise: _Branch, a: Any, b: Any
    ) -> tuple[list[Any], list[Any]]:
        """The values of both branches as tensors of their graphs."""
        if self._filled_in is not None:
            defined, values = (otherwise, b) if self._filled_in is then else (then, a)
            made = _outputs(defined, flatten(values), [None] * len(flatten(values)))
            with building(self._filled_in.graph):
                filler = [self._filled_in.graph.capture(dummy(t.spec)) for t in made]
            return (filler, made) if self._filled_in is then else (made, filler)
        flat_a, flat_b = flatten(a), flatten(b)
        hints = [_hint(x, y) for x, y in zip(flat_a, flat_b, strict=True)]
        return _outputs(then, flat_a, hints), _outputs(otherwise, flat_b, hints)


def _outputs(branch: _Branch, leaves: list[Any], hints: list[Any]) -> list[Any]:
    with building(branch.graph):
        return [
            branch.graph.capture(as_tensor(leaf, hint))
            for leaf, hint in zip(leaves, hints, strict=True)
        ]


def _hint(a: Any, b: Any) -> Any:
    """The dtype that a number takes because of what it is in the other branch."""
    for value in (a, b):
        if hasattr(value, "dtype") and not isinstance(value, (int, float)):
            dtype = getattr(value, "dtype", None)
            if dtype is not None and not isinstance(dtype, type):
                return dtype
    if isinstance(a, float) or isinstance(b, float):
        return "float32"
    return None


def _same_kind(name: str, a: Any, b: Any, label_a: str, label_b: str) -> Any:
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (TypeError, ValueError) as error:
        return poison(name, _mismatch(name, a, b, label_a, label_b, str(error)))
    for x, y in zip(flatten(a), flatten(b), strict=True):
        if x is None and y is None:
            continue
        if not can_be_tensor(x) or not can_be_tensor(y):
            if x is y or (type(x) is type(y) and x == y):
                continue
            return poison(name, _mismatch(name, a, b, label_a, label_b))
    leaves = flatten(a)
    if all(_equal_python(x, y) for x, y in zip(leaves, flatten(b), strict=True)):
        return a
    if any(leaf is None or not can_be_tensor(leaf) for leaf in leaves):
        return poison(name, _mismatch(name, a, b, label_a, label_b))
    return _Join(a)


def _equal_python(x: Any, y: Any) -> bool:
    """Whether two leaves are the same Python value, which needs no conditional."""
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return x is y
    return x is y or (type(x) is type(y) and isinstance(x, (bool, int, float, str)) and x == y)


def _mismatch(
    name: str, a: Any, b: Any, label_a: str, label_b: str, difference: str = ""
) -> Exception:
    what = "The return value" if is_internal(name) else repr(name)
    more = f" {difference}" if difference and _kind(a) == _kind(b) else ""
    return TypeError(
        f"{what} must be of the same kind in both branches of a tensor condition: it is {_kind(a)} "
        f"in the {label_a} and {_kind(b)} in the {label_b} ({user_location()}).{more}"
    )


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of dtype {value.dtype.name}"
    return "None" if value is None else f"a {type(value).__name__}"


def _dtype_problem(name: str, a: list[Any], b: list[Any]) -> Exception | None:
    for x, y in zip(a, b, strict=True):
        if x.dtype is not y.dtype:
            what, shown = ("the return value", "it") if is_internal(name) else (repr(name), name)
            return DTypeError(
                f"{what} has dtype {x.dtype.name} in the if branch{_made_at(x)} and {y.dtype.name} "
                f"in the else branch{_made_at(y)} of the tensor condition at {user_location()}. "
                f"{how_to_agree(shown, x.dtype, shown, y.dtype, _IN_BRANCHES)}"
            )
    return None


_IN_BRANCHES = (" in the if branch", " in the else branch")


def _made_at(value: Any) -> str:
    """The line that made a tensor, in brackets."""
    return f" ({value.node.location.short})" if isinstance(value, SymbolicTensor) else ""


def if_exp(condition: Any, then: Thunk, otherwise: Thunk) -> Any:
    """A ternary: `then() if condition else otherwise()`."""
    if not is_symbolic(condition):
        return then() if condition else otherwise()
    result: list[Any] = [Undefined("the value of a conditional expression")]

    def set_result(values: tuple[Any, ...]) -> None:
        result[0] = values[0]

    def store(thunk: Thunk) -> Thunk:
        return lambda: set_result((thunk(),))

    if_stmt(
        condition,
        store(then),
        store(otherwise),
        lambda: (result[0],),
        set_result,
        ("value",),
        ("value",),
    )
    if isinstance(result[0], Undefined):
        result[0]._fail()
    return result[0]
