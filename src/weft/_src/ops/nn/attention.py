"""Attention as one op and its gradient as another, neither of which makes the matrix of all scores.

    out = softmax(changed(q k')) v        changed: scaled, with a bias, or masked, score by score

Users write products and a softmax; `graph/passes/attention.py` finds them in a graph and puts
these ops in their place. So nobody differentiates them: gradients were taken before.

Sizes have letters: m queries, n keys, q and k are d numbers long, v and the result e; digits are
the axes of a batch (and its heads), in the order in which the scores would have them. `axes` tells
where they lie in q, k, v and the result: ("0m1d", "0n1d", "0n1e", "0m1e") is how Keras has it, with
scores "01mn". A score is changed by `steps`, one after the other, with what they take from
`others`, which broadcast to the scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.aliases import ArrayNamespace
from weft._src.core.dtypes import ANY, DType, float32, float64
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Size
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.ops.registry import NO_XLA, Absent, args, define_op, each

Axes = tuple[str, str, str, str]

# The steps that change scores, and how many of `others` each takes.
STEPS = {
    "multiply": 1,
    "divide": 1,
    "add": 1,
    "subtract": 1,
    "where": 2,  # a mask, and what stands where it is false
    "where_not": 2,  # a mask, and what stands where it is true
}
TYPES: frozenset[DType] = frozenset({float32, float64})
_MADE_BY_A_PASS = Absent("is put into graphs when gradients have been taken")
_BLOCK = 1 << 18  # scores that are there at the same time
_FEWEST_ROWS = 64  # of a block, if there are as many


def batch_of(axes: Axes) -> str:
    """The letters of the axes of a batch, in the order of the scores."""
    return "".join(sorted(letter for letter in axes[0] if letter.isdigit()))


def sizes_of(axes: Axes, *dims: Sequence[Any]) -> dict[str, Any]:
    """The size of each letter, from the sizes of q, k and v."""
    found: dict[str, Any] = {}
    for letters, own in zip(axes, dims):
        found.update(zip(letters, own, strict=True))
    return found


def _arranged(x: Array, letters: str, batch: str) -> Array:
    """The array with its batch first, as a view."""
    last = [letter for letter in "mnde" if letter in letters]
    return x.transpose([letters.index(letter) for letter in (*batch, *last)])


class _Blocks:
    """The scores of some queries after the other, computed by NumPy."""

    def __init__(
        self, xp: ArrayNamespace, q: Array, k: Array, v: Array, others: Sequence[Array], axes: Axes,
        steps: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.xp, self.steps, self.axes, self.batch = xp, steps, axes, batch_of(axes)
        self.q, self.k, self.v = [self.arranged(x, i) for i, x in enumerate((q, k, v))]
        self.sizes = sizes_of(axes, q.shape, k.shape, v.shape)
        self.rows_shape = (*self.q.shape[:-1], 1)
        scores = (*self.q.shape[:-1], self.sizes["n"])
        self.others = [xp.broadcast_to(x, scores) for x in others]

    def arranged(self, x: Array, i: int) -> Array:
        """An array with the axes of q, k, v or the result, with its batch first."""
        return _arranged(x, self.axes[i], self.batch)

    def empty(self, i: int) -> Array:
        """An array with the axes of q, k, v or the result."""
        shape = tuple([self.sizes[letter] for letter in self.axes[i]])
        return self.xp.zeros(shape, self.q.dtype)

    def shared(self, work: Callable[[tuple[int, ...], slice], None]) -> None:
        """Calls work(where in the batch, which queries) for all blocks, on several threads.

        The blocks of one place in the batch come one after the other.
        """
        lead = self.q.shape[:-2]
        n, m = self.sizes["n"], self.sizes["m"]
        if not math.prod(self.rows_shape):
            return
        apart = 0
        while apart < len(lead) and math.prod(lead[apart:]) * n * min(m, _FEWEST_ROWS) > _BLOCK:
            apart += 1
        rows = max(1, _BLOCK // max(1, n * math.prod(lead[apart:])))
        places = list(itertools.product(*map(range, lead[:apart])))

        def one(number: int) -> None:
            for first in range(0, m, rows):
                work(places[number], slice(first, min(first + rows, m)))

        self.xp.shared(one, len(places))

    def scores(self, at: tuple[int, ...], rows: slice) -> Array:
        """The scores of a block, changed as `steps` say."""
        xp, others = self.xp, iter([x[at][..., rows, :] for x in self.others])
        s = xp.matmul(self.q[at][..., rows, :], self.k[at].swapaxes(-1, -2))
        for step in self.steps:
            x = next(others)
            if step == "where":
                s = xp.where(x, s, next(others))
            elif step == "where_not":
                s = xp.where(x, next(others), s)
            else:
                getattr(xp, step)(s, x, out=s)
        return s

    def back(self, g: Array, at: tuple[int, ...], rows: slice) -> Array:
        """From the gradient of changed scores to that of the scores, in its place."""
        taken = iter([x[at][..., rows, :] for x in self.others])
        operands = [[next(taken) for _ in range(STEPS[step])] for step in self.steps]
        for step, (x, *_) in reversed(list(zip(self.steps, operands, strict=True))):
            if step in ("multiply", "divide"):
                getattr(self.xp, step)(g, x, out=g)
            elif step in ("where", "where_not"):
                self.xp.copyto(g, 0, where=x if step == "where_not" else ~x)
        return g


def _forward_infer(
    q: TensorSpec, k: TensorSpec, v: TensorSpec, *others: TensorSpec, axes: Axes,
    steps: tuple[str, ...],
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:  # fmt: skip
    sizes: dict[str, Size] = sizes_of(axes, *[x.dims or () for x in (q, k, v)])
    row = q.with_dims((*[sizes[letter] for letter in batch_of(axes)], sizes["m"], 1))
    return q.with_dims(tuple([sizes[letter] for letter in axes[3]])), row, row


def _forward_kernel(
    xp: ArrayNamespace, q: Array, k: Array, v: Array, *others: Array, axes: Axes,
    steps: tuple[str, ...],
) -> tuple[Array, Array, Array]:  # fmt: skip
    blocks = _Blocks(xp, q, k, v, others, axes, steps)
    out = blocks.empty(3)
    target = blocks.arranged(out, 3)
    top, total = xp.zeros(blocks.rows_shape, q.dtype), xp.zeros(blocks.rows_shape, q.dtype)

    def work(at: tuple[int, ...], rows: slice) -> None:
        s = blocks.scores(at, rows)
        most = xp.max(s, axis=-1, keepdims=True, initial=-xp.inf)
        # Where all scores are -inf there is no softmax: the sum is 0, and what it divides NaN.
        most[most == -xp.inf] = 0
        xp.subtract(s, most, out=s)
        xp.exp(s, out=s)
        added = xp.sum(s, axis=-1, keepdims=True)
        top[at][..., rows, :], total[at][..., rows, :] = most, added
        product = xp.matmul(s, blocks.v[at])
        target[at][..., rows, :] = product / added if s.shape[-1] else product

    blocks.shared(work)
    return out, top, total


# Also gives the largest score of each query (0 if all are -inf), and the sum of the exponentials of
# scores less that: what the gradient needs to compute the weights again.
attention_op = define_op(
    "FusedAttention",
    args("q k v", TYPES) + each("*others", ANY),
    infer=_forward_infer,
    kernel=_forward_kernel,
    native=Special("attention"),
    xla=NO_XLA,
    vjp=_MADE_BY_A_PASS,
    outputs=3,
    fresh=True,
    slow_kernel=True,
)


def _backward_infer(
    q: TensorSpec, k: TensorSpec, v: TensorSpec, *others: TensorSpec, axes: Axes,
    steps: tuple[str, ...],
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:  # fmt: skip
    return q, k, v


def _backward_kernel(
    xp: ArrayNamespace, q: Array, k: Array, v: Array, out: Array, top: Array, total: Array,
    g: Array, *others: Array, axes: Axes, steps: tuple[str, ...],
) -> tuple[Array, Array, Array]:  # fmt: skip
    blocks = _Blocks(xp, q, k, v, others, axes, steps)
    gradients = [blocks.empty(i) for i in range(3)]
    gq, gk, gv = [blocks.arranged(x, i) for i, x in enumerate(gradients)]
    g, out = blocks.arranged(g, 3), blocks.arranged(out, 3)

    def work(at: tuple[int, ...], rows: slice) -> None:
        s = blocks.scores(at, rows)
        xp.subtract(s, top[at][..., rows, :], out=s)
        xp.exp(s, out=s)
        s /= total[at][..., rows, :]
        gs = g[at][..., rows, :]
        gv[at] += xp.matmul(s.swapaxes(-1, -2), gs)
        weighted = xp.matmul(gs, blocks.v[at].swapaxes(-1, -2))
        weighted -= xp.sum(gs * out[at][..., rows, :], axis=-1, keepdims=True)
        weighted *= s
        weighted = blocks.back(weighted, at, rows)
        gq[at][..., rows, :] = xp.matmul(weighted, blocks.k[at])
        gk[at] += xp.matmul(weighted.swapaxes(-1, -2), blocks.q[at][..., rows, :])

    blocks.shared(work)
    return gradients[0], gradients[1], gradients[2]


# From the gradient g of the result to those of q, k and v.
attention_gradient_op = define_op(
    "FusedAttentionGrad",
    args("q k v out top total g", TYPES) + each("*others", ANY),
    infer=_backward_infer,
    kernel=_backward_kernel,
    native=Special("attention_gradient"),
    xla=NO_XLA,
    vjp=_MADE_BY_A_PASS,
    outputs=3,
    fresh=True,
    slow_kernel=True,
)
