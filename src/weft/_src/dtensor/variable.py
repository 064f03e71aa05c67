"""`DVariable`: a variable whose parts several devices have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.cells import VariableCell, lend
from weft._src.core.context import state
from weft._src.core.placed import ON_MESH, MeshHandle, MeshTensor
from weft._src.core.tensor import EagerTensor
from weft._src.dtensor.layout import Layout, as_layout
from weft._src.dtensor.tensors import relayout
from weft._src.errors import InvalidArgumentError, UnsupportedError
from weft._src.ops.elementwise import casting
from weft._src.state.variable import Variable


class DVariable(Variable):
    """A variable that the devices of a mesh have together; its layout stays what it is.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> v = d.DVariable(d.call_with_layout(tf.zeros, d.Layout(["x"], mesh), [2]))
    >>> _ = v.assign_add([1.0, 2.0])
    >>> v.numpy(), v.layout.sharding_specs
    (array([1., 2.], dtype=float32), ['x'])
    """

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike],
        *args: Any,
        dtype: DTypeLike | None = None,
        layout: Layout | None = None,
        **kwargs: Any,
    ) -> None:
        if state.graph is not None:
            raise UnsupportedError(
                "DVariable: it cannot be made while a function is traced. Make it before."
            )
        value: Any = initial_value() if callable(initial_value) else initial_value
        if layout is not None:
            value = relayout(value, as_layout("DVariable", layout))
        if not isinstance(value, MeshTensor):
            raise InvalidArgumentError(
                None,
                None,
                "DVariable: the initial value must be a tensor that several devices have together, "
                f"or a layout must be given, got {value!r}. "
                "tf.experimental.dtensor.relayout makes one.",
            )
        if dtype is not None:
            value = casting.cast(value, dtype)
        super().__init__(value, *args, **kwargs)

    def _set_cell(self, value: EagerTensor | None) -> None:
        from weft._src.execution.xla import meshes

        assert isinstance(value, MeshTensor)
        cell = VariableCell(None, self._name)
        cell.variable = self
        cell.layout, cell.device = value.layout, ON_MESH
        # A copy: programs use the memory of variables for new values.
        lend(cell, meshes.copied(value.held))
        self._handle = MeshHandle(cell)

    @property
    def layout(self) -> Layout:
        """Which devices have which part."""
        found: Layout = self._handle._value.layout
        return found

    @property
    def save_as_bf16(self) -> bool:
        """Whether checkpoints hold it as bfloat16: never."""
        return False


def enable_save_as_bf16(variables: list[Any]) -> None:
    """Refuses: checkpoints keep the dtype of variables.

    Args:
      variables: accepted for compatibility.

    Raises:
      UnsupportedError: always.

    >>> tf.experimental.dtensor.enable_save_as_bf16([])
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: enable_save_as_bf16: ...
    """
    raise UnsupportedError(
        "enable_save_as_bf16: checkpoints keep the dtype of variables. Save a copy that tf.cast "
        "has made."
    )
