"""The code Weft makes of a function: converted, generated, native."""

from __future__ import annotations

from typing import Any

from weft._src.autograph.api import to_code
from weft._src.core.tensor import EagerTensor, SymbolicTensor
from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.native.machine import support
from weft._src.execution.runner import plan_of
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.polymorphic import PolymorphicFunction

STAGES = ("converted", "generated", "native")


def converted_code(function: PolymorphicFunction) -> str:
    """What AutoGraph makes of the Python function."""
    return to_code(function)


def generated_code(concrete: ConcreteFunction) -> str:
    """The NumPy code of a trace."""
    return plan_of(concrete.graph).source


def native_code(concrete: ConcreteFunction, inputs: list[Any] | None = None) -> str:
    """The LLVM code of a trace for some inputs; says why, where there is none."""
    plan = plan_of(concrete.graph)
    if plan.compiled:
        return str(plan.compiled[0].text)
    try:
        given = [_Kind.of(x) for x in concrete.graph.inputs] if inputs is None else inputs
        captured = [t._value for t in concrete.captured_inputs if isinstance(t, EagerTensor)]
        off = support.reason_off()
        if off is not None:
            raise NotCompilableError(f"the native tier is off: {off}")
        from weft._src.execution.native import driver

        made = driver.compile_graph(plan.graph, [*given, *captured], whole=False)
    except NotCompilableError as error:
        return f"; There is no native code: {error}."
    return str(made.text)


class _Kind:
    """The dtype and the shape of an input, which is all that compiling needs of it."""

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape = dtype, shape

    @classmethod
    def of(cls, tensor: SymbolicTensor) -> _Kind:
        shape = tensor.shape
        if not shape.is_fully_defined():
            raise NotCompilableError(
                f"it is made for known sizes, and the shape of {tensor.node.name!r} is "
                f"{shape}; give values (--arg 'tf.zeros([2, 3])')"
            )
        return cls(tensor.dtype.numpy_dtype, tuple([size for size in shape if size is not None]))
