"""Sums of products over shared axes: the one algorithm behind `einsum` and `tensordot`.

Axes have labels. A label that several operands carry is multiplied together, and summed over
unless the result carries it too. Two operands at a time become one matrix product, so that BLAS
does the work.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.tensor import Array
from weft._src.ops import rules

Label = Hashable
Labels = tuple[Label, ...]


def contract(
    xp: ArrayNamespace, arrays: Sequence[Array], inputs: Sequence[Labels], output: Labels
) -> Array:
    """The product of labelled arrays, summed over the labels that the output does not have."""
    dtype = arrays[0].dtype
    operands = [_prepared(xp, x, labels) for x, labels in zip(arrays, inputs)]
    for i, j in _order(xp, operands, output):
        y, x = operands.pop(max(i, j)), operands.pop(min(i, j))
        keep = set(output).union(*[labels for _, labels in operands])
        operands.append(_pair(xp, x, y, keep))
    out, found = _summed(xp, operands[0], set(output))
    return xp.transpose(out, [found.index(label) for label in output]).astype(dtype, copy=False)


def _prepared(xp: ArrayNamespace, x: Array, labels: Labels) -> tuple[Array, Labels]:
    """The array with every label once: of a repeated one only the diagonal counts."""
    unique = tuple(dict.fromkeys(labels))
    x = xp.widen(x)
    if len(unique) < len(labels):
        x = diagonal_view(xp, x, labels)
    return x, unique


def diagonal_view(xp: ArrayNamespace, x: Array, labels: Labels) -> Array:
    """A view of x with every label once, in the order of their first places."""
    unique = list(dict.fromkeys(labels))
    return xp.einsum(x, [unique.index(label) for label in labels], list(range(len(unique))))


def _order(
    xp: ArrayNamespace, operands: list[tuple[Array, Labels]], output: Labels
) -> list[tuple[int, int]]:
    """Which two operands to contract next, and so on: greedy by cost if there is a choice."""
    n = len(operands)
    if n <= 2:
        return [(0, 1)] * (n - 1)
    numbers: dict[Label, int] = {}
    interleaved: list[Any] = []
    for x, labels in operands:
        interleaved += [x, [numbers.setdefault(label, len(numbers)) for label in labels]]
    path = xp.einsum_path(*interleaved, [numbers[label] for label in output], optimize="greedy")
    steps: list[tuple[int, int]] = []
    for step in path[0][1:]:
        # A step that takes several at once is done two at a time; results go to the end.
        remaining = sorted(step)
        steps.append((remaining[0], remaining[1]))
        n -= 1
        for taken, i in enumerate(remaining[2:], 2):
            steps.append((i - taken, n - 1))
            n -= 1
    return steps


def _summed(
    xp: ArrayNamespace, operand: tuple[Array, Labels], keep: set[Label]
) -> tuple[Array, Labels]:
    x, labels = operand
    gone = tuple([i for i, label in enumerate(labels) if label not in keep])
    if not gone:
        return operand
    return xp.reduction(xp.add, x, gone, False), tuple([s for s in labels if s in keep])


def _pair(
    xp: ArrayNamespace, left: tuple[Array, Labels], right: tuple[Array, Labels], keep: set[Label]
) -> tuple[Array, Labels]:
    """Two operands as one: a (batched) matrix product, or an outer one if nothing is summed."""
    x, a = _summed(xp, left, keep | set(right[1]))
    y, b = _summed(xp, right, keep | set(left[1]))
    batch = [s for s in a if s in b and s in keep]
    inner = [s for s in a if s in b and s not in keep]
    free_a, free_b = [s for s in a if s not in b], [s for s in b if s not in a]
    x = xp.transpose(x, [a.index(s) for s in (*batch, *free_a, *inner)])
    y = xp.transpose(y, [b.index(s) for s in (*batch, *inner, *free_b)])
    n_batch, n_a, n_b = len(batch), len(free_a), len(free_b)
    sizes_a, sizes_b = x.shape[n_batch : n_batch + n_a], y.shape[y.ndim - n_b :]
    lead = x.shape[:n_batch]
    if inner:
        m, k, n = _size(sizes_a), _size(x.shape[n_batch + n_a :]), _size(sizes_b)
        out = xp.matmul(xp.reshape(x, (*lead, m, k)), xp.reshape(y, (*lead, k, n)))
    else:
        out = xp.multiply(
            xp.reshape(x, (*lead, *sizes_a, *[1] * n_b)),
            xp.reshape(y, (*lead, *[1] * n_a, *sizes_b)),
        )
    return xp.reshape(out, (*lead, *sizes_a, *sizes_b)), (*batch, *free_a, *free_b)


def _size(sizes: tuple[int, ...]) -> int:
    return rules.product(sizes)  # type: ignore[return-value]
