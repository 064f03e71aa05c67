"""`einsum` and `tensordot`: products summed over axes that are named by letters or numbers.

Both are ops with a partner that computes the gradient of any one input. The gradient is again a
product of tensors, so each differentiates into the other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.dtypes import INDEX, NUMERIC
from weft._src.core.native_rules import Contraction
from weft._src.core.shapes import Dim, Dims, Size, format_dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import ShapeError
from weft._src.ops import batching, graph_forms, rules, static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise.operands import conj, operands
from weft._src.ops.linalg import products
from weft._src.ops.linalg.contraction import Labels, contract, diagonal_view
from weft._src.ops.reduce.sums import SHAPE_DTYPE
from weft._src.ops.registry import Op, args, define_op

# From the ranks of the inputs and the attributes to the labels of inputs and output.
LabelRule = Callable[..., tuple[tuple[Labels, ...], Labels]]


def _is_broadcast(label: Any) -> bool:
    return isinstance(label, tuple)  # the axes of an ellipsis are ("...", -1), ("...", -2), ...


def label_sizes(op: str, shapes_: Sequence[Dims], inputs: Sequence[Labels]) -> dict[Any, Size]:
    """The size of every label; ShapeError if inputs do not agree."""
    sizes: dict[Any, Size] = {}
    for i, (dims, labels) in enumerate(zip(shapes_, inputs)):
        for label, size in zip(labels, dims):
            if label not in sizes:
                sizes[label] = size
            elif _is_broadcast(label):
                sizes[label] = rules.broadcast_dims(op, (sizes[label],), (size,))[0]  # type: ignore[index]
            elif sizes[label] != size:
                what = f"the sizes of {label!r} (input {i} has shape {format_dims(dims)})"
                sizes[label] = rules.unify(op, sizes[label], size, what)
    return sizes


def squeezed(
    xp: ArrayNamespace, x: Array, labels: Labels, sizes: dict[Any, int]
) -> tuple[Array, Labels]:
    """An operand without the axes of size 1 that are broadcast against others."""
    gone = tuple(
        [i for i, s in enumerate(labels) if _is_broadcast(s) and x.shape[i] == 1 != sizes[s]]
    )
    if not gone:
        return x, labels
    return xp.squeeze(x, gone), tuple([s for i, s in enumerate(labels) if i not in gone])


def _define(name: str, label_rule: LabelRule, batch: Any = None, batch_gradient: Any = None) -> Op:
    """An op that contracts its inputs as `label_rule` says, and the op of its gradients."""

    def infer(*inputs: TensorSpec, **attrs: Any) -> TensorSpec:
        ranks = tuple([x.rank for x in inputs])
        labels, output = label_rule(ranks, **attrs)
        if labels is None or any(rank is None for rank in ranks):
            dims = None if output is None else tuple([Dim() for _ in output])
            return inputs[0].with_dims(dims)
        sizes = label_sizes(name, [x.dims for x in inputs], labels)  # type: ignore[misc]
        return inputs[0].with_dims(tuple([sizes[s] for s in output]))

    def kernel(xp: ArrayNamespace, *arrays: Array, **attrs: Any) -> Array:
        labels, output = label_rule(tuple([x.ndim for x in arrays]), **attrs)
        sizes: Any = label_sizes(name, [x.shape for x in arrays], labels)
        memory.check(name, [sizes[s] for s in output], arrays[0].dtype)
        parts = [squeezed(xp, x, s, sizes) for x, s in zip(arrays, labels)]
        return contract(xp, [x for x, _ in parts], [s for _, s in parts], output)

    def vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
        others = [conj(x) for x in ctx.inputs]
        return tuple(
            [
                _gradient(ctx.inputs[i], g, others, i, ctx.attrs) if ctx.wants(i) else None
                for i in range(len(others))
            ]
        )

    def _gradient(x: Tensor, g: Tensor, inputs: list[Tensor], i: int, attrs: Any) -> Tensor:
        shape = shapes.shape_op(x, out_type=SHAPE_DTYPE)
        return grad_op(shape, g, *inputs[:i], *inputs[i + 1 :], index=i, **attrs)

    def grad_infer(
        shape: TensorSpec, g: TensorSpec, *others: TensorSpec, index: int, **attrs: Any
    ) -> TensorSpec:
        return g.with_dims(rules.dims_from_value(name, shape))

    def grad_kernel(
        xp: ArrayNamespace, shape: Array, g: Array, *others: Array, index: int, **attrs: Any
    ) -> Array:
        wanted: tuple[int, ...] = tuple(shape.tolist())
        ranks = [x.ndim for x in others]
        ranks.insert(index, len(wanted))
        labels, output = label_rule(tuple(ranks), **attrs)
        mine = labels[index]
        arrays, carried = [g, *others], [output, *labels[:index], *labels[index + 1 :]]
        sizes: Any = label_sizes(name, [*[x.shape for x in arrays], wanted], [*carried, mine])
        parts = [squeezed(xp, x, s, sizes) for x, s in zip(arrays, carried)]
        present = {s for _, found in parts for s in found}
        unique = tuple(dict.fromkeys(mine))
        size_here = dict(zip(mine, wanted))
        # A label that only this input has was summed over, so its gradient is the same all
        # along; one that was broadcast is summed instead.
        found = tuple([s for s in unique if s in present and size_here[s] == sizes[s]])
        part = contract(xp, [x for x, _ in parts], [s for _, s in parts], found)
        part = part[tuple([slice(None) if s in found else None for s in unique])]
        part = xp.broadcast_to(part, [size_here[s] for s in unique])
        if len(unique) == len(mine):
            return part
        out = xp.zeros(wanted, xp.widen(part).dtype)
        diagonal_view(xp, out, mine)[...] = part
        return out.astype(g.dtype, copy=False)

    def grad_vjp(ctx: VjpContext, h: Tensor) -> tuple[Tensor | None, ...]:
        _, g, *others = ctx.inputs
        index = ctx.attrs["index"]
        attrs = {key: value for key, value in ctx.attrs.items() if key != "index"}
        inputs = [conj(x) for x in others]
        inputs.insert(index, h)
        gradients: list[Tensor | None] = [
            None,
            op(*inputs, **attrs) if ctx.wants(1) else None,
        ]
        positions = [i for i in range(len(inputs)) if i != index]
        for k, i in enumerate(positions):
            wanted = ctx.wants(k + 2)
            gradients.append(_gradient(others[k], conj(g), inputs, i, attrs) if wanted else None)
        return tuple(gradients)

    op = define_op(
        name,
        args("*inputs", NUMERIC),
        infer=infer,
        kernel=kernel,
        native=Contraction("contraction", labels_of=label_rule),
        xla=Lowered("contraction", labels_of=label_rule),
        batch=batch,
        vjp=vjp,
        trusts_kernel=True,
        graphdef=graph_forms.contraction,
    )
    grad_op = define_op(
        f"{name}Grad",
        args("shape", INDEX, is_shape=True) + args("*inputs", NUMERIC),
        infer=grad_infer,
        kernel=grad_kernel,
        native=Contraction("contraction_gradient", labels_of=label_rule),
        xla=Lowered("contraction_gradient", labels_of=label_rule),
        batch=batch_gradient,
        vjp=grad_vjp,
        graphdef=graph_forms.contraction_grad,
    )
    return op


# --- einsum ------------------------------------------------------------------------------------


@functools.lru_cache(1024)
def einsum_labels(ranks: tuple[int | None, ...], *, equation: str) -> tuple[Any, Any]:
    """The labels of the axes of the inputs and of the output."""
    left, right = equation.split("->")
    inputs: list[Labels] = []
    depth: int | None = 0
    for i, (term, rank) in enumerate(zip(left.split(","), ranks, strict=True)):
        named = len(term.replace("...", ""))
        if rank is None:
            depth = None if "..." in term else depth
            continue
        if rank < named or (rank > named and "..." not in term):
            raise ShapeError(
                f"einsum: input {i} has rank {rank}, but {term!r} in the equation {equation!r} "
                f"names {named} axes{' at least' if '...' in term else ''}."
            )
        if depth is not None:
            depth = max(depth, rank - named)
        inputs.append(_spell_out(term, rank - named))
    if depth and "..." not in right:
        raise ShapeError(
            f"einsum: the equation {equation!r} has no '...' in its output, but the '...' of the "
            f"inputs stands for {depth} axes. Add '...' to the output."
        )
    output = None if depth is None and "..." in right else _spell_out(right, depth or 0)
    return (None if None in ranks else tuple(inputs)), output


def _spell_out(term: str, depth: int) -> Labels:
    """One label per axis; the axes of an ellipsis are counted from their last one."""
    before, dots, after = term.partition("...")
    return (*before, *[("...", -i) for i in range(depth, 0, -1) if dots], *after)


einsum_op = _define("Einsum", einsum_labels, batching.einsum, batching.einsum_back)

_TERM = r"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(rf"{_TERM}(,{_TERM})*(->{_TERM})?")


@functools.lru_cache(1024)
def _complete(equation: str, n: int) -> str:
    """The equation without spaces and with its output written out; ValueError if it is wrong."""
    equation = equation.replace(" ", "")
    if not _EQUATION.fullmatch(equation):
        raise ValueError(
            f"einsum: cannot read the equation {equation!r}. It must look like 'ij,jk->ik', with "
            "one letter per axis and at most one '...' in each part."
        )
    left, arrow, right = equation.partition("->")
    if len(left.split(",")) != n:
        raise ValueError(
            f"einsum: the equation {equation!r} is for {len(left.split(','))} inputs, got {n}."
        )
    letters = left.replace(",", "").replace(".", "")
    if not arrow:
        once = [s for s in sorted(set(letters)) if letters.count(s) == 1]
        right = ("..." if "..." in left else "") + "".join(once)
    named = right.replace(".", "")
    for letter in named:
        if letter not in letters:
            raise ValueError(
                f"einsum: {letter!r} is in the output of {equation!r} but in no input."
            )
        if named.count(letter) > 1:
            raise ValueError(f"einsum: {letter!r} is twice in the output of {equation!r}.")
    return f"{left}->{right}"


def einsum(
    equation: str, *inputs: Any, optimize: Any = "greedy", name: str | None = None
) -> Tensor:
    """Products of tensors, summed over axes, as the equation names them.

    Args:
      equation: such as "ij,jk->ik": a letter for each axis of each input, and of the output; "..."
        stands for any number of axes, which broadcast. Without an arrow the output has the letters
        that occur once, in alphabetical order.
      *inputs: tensors of numbers, of one dtype; what is no tensor takes that of the first tensor.
      optimize: accepted for compatibility, ignored.

    Returns:
      A tensor of the dtype of the inputs, with the axes that the output names.

    Raises:
      ValueError: if the equation cannot be read, or is for another number of inputs.
      ShapeError: if a rank does not fit the equation, or sizes of the same letter differ.
      TypeError: if the equation is no string.

    >>> m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.einsum("ij,jk->ik", m, m).numpy()
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)
    >>> tf.einsum("ii", m).numpy()
    np.float32(5.0)
    """
    if not isinstance(equation, str):
        raise TypeError(f"einsum: equation must be a string like 'ij,jk->ik', got {equation!r}.")
    equation = _complete(equation, len(inputs))
    first = next((x for x in inputs if isinstance(x, Tensor)), None)
    first = convert_to_tensor(inputs[0]) if first is None else first
    tensors = [adopt(x, first.dtype) for x in inputs]
    return einsum_op(*tensors, equation=equation, name=name)


# --- tensordot ---------------------------------------------------------------------------------


@functools.lru_cache(1024)
def tensordot_labels(ranks: tuple[int | None, ...], *, axes: Any) -> tuple[Any, Any]:
    """The labels of the axes of both inputs and of the output."""
    a, b = ranks
    if a is None or b is None:
        return None, None
    if isinstance(axes, int):
        for name, rank in (("a", a), ("b", b)):
            if axes > rank:
                raise ShapeError(f"tensordot: axes is {axes}, but {name} has only rank {rank}.")
        axes = (tuple(range(a - axes, a)), tuple(range(axes)))
    axes_a = rules.normalize_axes("tensordot", axes[0], a, name="axes of a:")
    axes_b = rules.normalize_axes("tensordot", axes[1], b, name="axes of b:")
    shared = dict(zip(axes_b, [f"a{i}" for i in axes_a]))
    labels_a = tuple([f"a{i}" for i in range(a)])
    labels_b = tuple([shared.get(i, f"b{i}") for i in range(b)])
    output = [s for i, s in enumerate(labels_a) if i not in axes_a]
    output += [s for i, s in enumerate(labels_b) if i not in axes_b]
    return (labels_a, labels_b), tuple(output)


tensordot_op = _define("Tensordot", tensordot_labels)


def _tensordot_axes(axes: Any) -> Any:
    if isinstance(axes, (Tensor, np.ndarray)) and len(axes.shape) == 2:
        pairs = static.static_value(axes)
        axes = axes if pairs is None else pairs.tolist()
    if not isinstance(axes, (list, tuple)):
        found = static.static_ints("tensordot", axes, "axes")
        if isinstance(found, int):
            if found < 0:
                raise ValueError(f"tensordot: axes must not be negative, got {found}.")
            return found
        axes = found
    if axes is None or len(axes) != 2:
        raise ValueError(f"tensordot: axes must be a number or two lists of axes, got {axes!r}.")
    both = [static.static_ints("tensordot", part, "axes") for part in axes]
    axes_a, axes_b = [(part,) if isinstance(part, int) else tuple(part or ()) for part in both]
    if len(axes_a) != len(axes_b):
        raise ValueError(
            f"tensordot: axes must name as many axes of a as of b, got {axes_a} and {axes_b}."
        )
    return axes_a, axes_b


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """The product of two tensors summed over axes: the last of a and first of b, or those named.

    Args:
      a: a tensor of numbers.
      b: another one of the same dtype.
      axes: a number n, for the last n axes of `a` and the first n of `b`, or two lists of axes,
        which are paired in order.

    Returns:
      A tensor of the same dtype, with the other axes of `a`, then those of `b`.

    Raises:
      ValueError: if `axes` is neither a number of 0 or more nor two lists of one length.
      ShapeError: if there are no such axes, or their sizes differ.

    >>> tf.tensordot([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0], 1).numpy()
    array([12., 34.], dtype=float32)
    >>> tf.tensordot([[1, 2], [3, 4]], [[1, 2], [3, 4]], [[0, 1], [0, 1]]).numpy()
    np.int32(30)
    """
    a, b = operands(a, b)
    try:
        axes = _tensordot_axes(axes)
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead("tensordot", a, b, axes)
    if axes in (1, ((1,), (0,))) and a.spec.rank == b.spec.rank == 2:
        return products.matmul(a, b, name=name)
    return tensordot_op(a, b, axes=axes, name=name)
