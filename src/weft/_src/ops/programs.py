"""Functions made of many ops, which eager calls run as one program or by NumPy itself.

An eager op costs a few microseconds beside its work, and goes over its arrays alone. A function of
thirty ops that is called again and again is better made a graph, as `tf.function` would: the
execution layer does that (`install_program_runner`), unless somebody wants to see the ops
themselves, a tape for example. What NumPy does better in another way, on arrays that are there,
has a kernel (`with_kernel`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft._src.core.context import quiet_context, state
from weft._src.core.flags import flags
from weft._src.core.tensor import EagerTensor, Tensor

Program = Callable[..., Any]

# Set by the execution layer: how to run a function on eager tensors, of which some decide about
# sizes.
Runner = Callable[[Program, tuple[Any, ...], tuple[int, ...]], Any]
_runners: list[Runner] = []


def install_program_runner(run: Runner) -> None:
    """The execution layer says how functions of many ops are run."""
    _runners[:] = [run]


def with_kernel(kernel: Callable[..., Any]) -> Callable[[Program], Program]:
    """A function of tensors that is done by a kernel on arrays where nobody watches.

    The kernel gives the same arrays, or `NotImplemented` for what is left to the ops.
    """

    def decorate(function: Program) -> Program:
        @functools.wraps(function)
        def call(*tensors: Any) -> Any:
            if state.mode:
                return function(*tensors)
            for x in tensors:
                if type(x) is not EagerTensor:
                    return function(*tensors)
            found = quiet_context().run(kernel, *[x._value for x in tensors])
            if found is NotImplemented:
                return function(*tensors)
            if type(found) is tuple:
                return tuple([EagerTensor(value) for value in found])
            return EagerTensor(found)

        return call

    return decorate


def as_program(*, sizes: tuple[int, ...] = ()) -> Callable[[Program], Program]:
    """A function of tensors alone that gives a tensor or a tuple of several.

    It is written with ops that have no effects: a call that fails is made again, op by op, so that
    errors are the same.

    Args:
      sizes: which of the tensors are a few numbers that decide about sizes of others: a program is
        made for their values, as machine code has to know how large its results are.
    """

    def decorate(function: Program) -> Program:
        @functools.wraps(function)
        def call(*tensors: Tensor) -> Any:
            # With determinism asked for, the tier must not depend on what else was computed.
            if state.mode or flags.execution not in ("auto", "native") or flags.deterministic:
                return function(*tensors)
            for x in tensors:
                if type(x) is not EagerTensor:
                    return function(*tensors)
            return _runners[0](function, tensors, sizes)

        return call

    return decorate
