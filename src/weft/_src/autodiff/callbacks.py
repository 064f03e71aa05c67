"""The gradient of `tf.py_function` in graphs: a callback that calls the function under a tape.

So the function runs once more when its gradient is computed, on the same values. The callback is
one of the same kind, so gradients of gradients are callbacks too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.autodiff.sweep import VjpContext, takes_gradient
from weft._src.autodiff.tape import GradientTape
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.ops.host.callback import eager_py_func_op
from weft._src.ops.registry import register_vjp


class _Gradient:
    """From the inputs of a function and the gradients of some results to those of some inputs."""

    def __init__(
        self, func: Callable[..., Any], n_inputs: int, wanted: list[int], given: list[int]
    ) -> None:
        self._func, self._n_inputs = func, n_inputs
        self._wanted, self._given = wanted, given

    def __call__(self, *tensors: Tensor) -> list[Tensor]:
        inputs, gradients = tensors[: self._n_inputs], tensors[self._n_inputs :]
        sources = [inputs[i] for i in self._wanted]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            results = nest.flatten(self._func(*inputs))
            targets = [convert_to_tensor(results[i]) for i in self._given]
        found = tape.gradient(targets, sources, list(gradients), unconnected_gradients="zero")
        return [convert_to_tensor(g) for g in found]


def _callback_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor | None, ...]:
    given = [i for i, g in enumerate(gs) if g is not None]
    wanted = [i for i, x in enumerate(ctx.inputs) if ctx.wants(i) and takes_gradient(x)]
    made = eager_py_func_op(
        *ctx.inputs,
        *[gs[i] for i in given],
        func=_Gradient(ctx.attrs["func"], len(ctx.inputs), wanted, given),
        out=tuple([ctx.inputs[i].spec for i in wanted]),
        name="py_function_gradient",
    )
    found: list[Tensor | None] = [None] * len(ctx.inputs)
    for i, g in zip(wanted, made, strict=True):
        found[i] = g
    return tuple(found)


register_vjp(eager_py_func_op, _callback_vjp)
