"""Branches: cond, case, switch_case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import TensorLike
from weft._src.core.context import building
from weft._src.core.conversions import how_to_agree
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import ANY, BOOL, int32, int64
from weft._src.core.native_rules import Special
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import rules
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.control.nested import NestedTrace, pack_like, share_captures
from weft._src.ops.elementwise import comparison
from weft._src.ops.elementwise.casting import cast
from weft._src.ops.host.asserting import Assert
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.registry import REGISTERED_LATER, STRUCTURED, args, define_op, each
from weft._src.ops.static import static_int


def _join(first: TensorSpec, *others: TensorSpec) -> TensorSpec:
    """The type that holds the results of all branches."""
    shape = first.shape
    for other in others:
        shape = shape.most_specific_compatible_shape(other.shape)
    return TensorSpec.of(first.dtype, TensorShape(shape).dims_or_none)


def _branches_infer(
    selector: TensorSpec, *captured: TensorSpec, branches: Sequence[Any]
) -> tuple[TensorSpec, ...]:
    rules.check_rank("cond", selector, 0, name="pred")
    specs = [[out.spec for out in branch.outputs] for branch in branches]
    return tuple([_join(*column) for column in zip(*specs, strict=True)])


if_op = define_op(
    "If",
    args("cond", BOOL) + each("*input", ANY),
    infer=_branches_infer,
    kernel=STRUCTURED,
    native=Special("if"),
    xla=Lowered("if"),
    vjp=REGISTERED_LATER,
    outputs=None,
    nested_offset=1,
    graphdef=forms.if_form,
)

case_op = define_op(
    "Case",
    args("branch_index", frozenset({int32})) + each("*input", ANY),
    infer=_branches_infer,
    kernel=STRUCTURED,
    native=Special("case"),
    xla=Lowered("case"),
    vjp=REGISTERED_LATER,
    outputs=None,
    nested_offset=1,
    graphdef=forms.case_form,
)


def _trace_branches(
    op: Any,
    selector: Tensor,
    functions: Sequence[Callable[[], Any]],
    names: Sequence[str],
    name: str,
) -> Any:
    traces: list[NestedTrace] = []
    for fn, branch_name in zip(functions, names, strict=True):
        dtypes = [spec.dtype for spec in traces[0].specs] if traces else None
        traces.append(NestedTrace(fn, branch_name, dtypes=dtypes, scope=name))
    _agree_on_indices(traces)
    first = traces[0]
    for trace, branch_name in zip(traces[1:], names[1:], strict=True):
        _check_same(first, trace, names[0], branch_name, name)
    captured = share_captures(traces)
    graphs = tuple([trace.graph for trace in traces])
    out = op(selector, *captured, branches=graphs, name=name)
    return pack_like(first.result, out)


def _agree_on_indices(traces: Sequence[NestedTrace]) -> None:
    """Gives `tf.IndexedSlices` int64 indices if branches have different ones, as TensorFlow does.

    What else differs is left to `_check_same`.
    """
    flat = [nest.flatten(trace.result) for trace in traces]
    if len({len(leaves) for leaves in flat}) > 1:
        return
    differ = [
        i
        for i, column in enumerate(zip(*flat, strict=True))
        if all(isinstance(x, IndexedSlices) for x in column)
        and len({x.indices.dtype for x in column}) > 1
    ]
    if not differ:
        return
    for trace, leaves in zip(traces, flat, strict=True):
        with building(trace.graph):
            for i in differ:
                x = leaves[i]
                leaves[i] = IndexedSlices(x.values, cast(x.indices, int64), x.dense_shape)
            trace.returns(nest.pack_sequence_as(trace.result, leaves))


def _check_same(
    first: NestedTrace, other: NestedTrace, first_name: str, other_name: str, op: str
) -> None:
    try:
        nest.assert_same_structure(first.result, other.result, expand_composites=True)
    except (TypeError, ValueError) as e:
        raise TypeError(
            f"{op}: {first_name} and {other_name} must return the same structure. {e}"
        ) from None
    a = [leaf is None for leaf in nest.flatten(first.result, expand_composites=True)]
    b = [leaf is None for leaf in nest.flatten(other.result, expand_composites=True)]
    if a != b:
        raise TypeError(
            f"{op}: {first_name} and {other_name} must return tensors in the same places; one "
            "returns None where the other returns a tensor."
        )
    for i, (x, y) in enumerate(zip(first.specs, other.specs, strict=True)):
        if x.dtype is not y.dtype:
            raise DTypeError(
                f"{op}: result {i} has dtype {x.dtype.name} in {first_name} and {y.dtype.name} in "
                f"{other_name}. "
                f"{how_to_agree('it', x.dtype, 'it', y.dtype, _places(first_name, other_name))}"
            )


def _places(first: str, second: str) -> tuple[str, str]:
    return f" in {first}", f" in {second}"


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of `true_fn` if `pred` holds, else of `false_fn`; only that one runs.

    While tracing both functions are traced, and their results must be alike.

    Args:
      pred: a scalar, a bool or a bool tensor.
      true_fn: a function without arguments.
      false_fn: another one.

    Returns:
      What the function returns; while tracing its structure with tensors in the place of numbers.

    Raises:
      TypeError: if one is no function, or they return different structures.
      DTypeError: if they return tensors of different dtypes.
      ValueError: if `pred` is no scalar.

    >>> tf.cond(tf.constant(3) > 2, lambda: "yes", lambda: "no")
    'yes'
    """
    for argument, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(fn):
            raise TypeError(f"cond: {argument} must be callable, got {fn!r}.")
    assert true_fn is not None
    assert false_fn is not None
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    pred = convert_to_tensor(pred)
    if isinstance(pred, EagerTensor):
        if pred._value.ndim:
            raise ValueError(f"cond: pred must be a scalar, got shape {pred.shape}.")
        return true_fn() if pred else false_fn()
    return _trace_branches(
        if_op, pred, (true_fn, false_fn), ("true_fn", "false_fn"), name or "cond"
    )


def switch_case(
    branch_index: TensorLike, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """The result of the function with the given number; the default (or the last) for others.

    While tracing all functions are traced, and their results must be alike.

    Args:
      branch_index: the number, an int32 scalar.
      branch_fns: functions without arguments: a list, a list of pairs (number, function), or a
        dict.
      default: the function for other numbers; None means that of the highest number.

    Returns:
      What the function returns; while tracing its structure with tensors in the place of numbers.

    Raises:
      TypeError: if something else than a function is given, or they return different structures.
      ValueError: if there are no functions, or a number is named twice.
      DTypeError: if `branch_index` is not int32, or the functions return different dtypes.
      ShapeError: if `branch_index` is no scalar.

    >>> tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20])
    20
    """
    functions, default = _numbered(branch_fns, default)
    index = convert_to_tensor(branch_index, dtype_hint=int32)
    if index.dtype is not int32:
        raise DTypeError(f"switch_case: branch_index must be int32, got {index.dtype.name}.")
    if index.spec.rank not in (None, 0):
        raise ShapeError(f"switch_case: branch_index must be a scalar, got shape {index.shape}.")
    if isinstance(index, EagerTensor):
        return functions.get(int(index), default)()
    count = max(functions) + 1
    table = [functions.get(i, default) for i in range(count)] + [default]
    names = [f"branch {i}" for i in range(count)] + ["default"]
    inside = (index >= 0) & (index < count)
    chosen = cond(inside, lambda: index, lambda: count)
    return _trace_branches(case_op, chosen, table, names, name)


def _numbered(branch_fns: Any, default: Any) -> tuple[dict[int, Callable[[], Any]], Any]:
    items = items_of(
        "switch_case",
        branch_fns.items() if isinstance(branch_fns, dict) else branch_fns,
        "branch_fns",
    )
    if not (default is None or callable(default)):
        raise TypeError(f"switch_case: default must be callable, got {default!r}.")
    if not items:
        raise ValueError("switch_case: branch_fns must not be empty.")
    if not isinstance(items[0], (tuple, list)):
        items = list(enumerate(items))
    functions = {static_int("switch_case", key, "the number of a branch"): fn for key, fn in items}
    if len(functions) != len(items):
        raise ValueError("switch_case: branch_fns names an index twice.")
    for key, fn in functions.items():
        if not callable(fn):
            raise TypeError(f"switch_case: branch {key} must be callable, got {fn!r}.")
    return functions, default if default is not None else functions[max(functions)]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds; of the default if none does.

    Args:
      pred_fn_pairs: a list of pairs (scalar bool, function without arguments), or a dict of them.
      default: the function that is called if no condition holds; None means that one has to hold.
      exclusive: whether it is an error if several conditions hold.
      strict: accepted for compatibility, ignored.

    Returns:
      What the function returns; while tracing its structure with tensors in the place of numbers.

    Raises:
      TypeError: if what is given are no pairs, or the functions return different structures.
      ValueError: if there are neither conditions nor a default.
      InvalidArgumentError: if no condition holds and there is no default, or several hold that must
        not.

    >>> x = tf.constant(5)
    >>> tf.case([(x < 3, lambda: 1), (x < 9, lambda: 2)], default=lambda: 3)
    2
    """
    pairs = items_of(
        "case",
        pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs,
        "pred_fn_pairs",
    )
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"case: expected pairs (condition, function), got {pair!r}.")
    if not pairs and default is None:
        raise ValueError("case: neither conditions nor a default were given.")
    predicates = [convert_to_tensor(pred) for pred, _ in pairs]
    if exclusive:
        _check_exclusive(predicates)
    result = default
    if result is None:
        result = _checked(predicates[-1], pairs[-1][1])
        predicates = predicates[:-1]
    for predicate, (_, fn) in reversed(list(zip(predicates, pairs, strict=False))):
        result = _either(predicate, fn, result, name)
    return result()


def _either(
    predicate: Tensor, fn: Callable[..., Any], otherwise: Any, name: str
) -> Callable[[], Any]:
    return lambda: cond(predicate, fn, otherwise, name=name)


def _checked(predicate: Tensor, fn: Callable[[], Any]) -> Callable[[], Any]:
    """Without a default one of the conditions has to hold: the last, if none did before."""

    def run() -> Any:
        Assert(predicate, ["case: none of the conditions holds, and there is no default."])
        return fn()

    return run


def _check_exclusive(predicates: Sequence[Tensor]) -> None:
    for i, later in enumerate(predicates):
        for k, earlier in enumerate(predicates[:i]):
            text = f"case: exclusive=True, but the conditions {[k, i]} hold together."
            Assert(comparison.logical_not(comparison.logical_and(earlier, later)), [text])
