"""What variables have of graphs of TensorFlow 1, where a value was given to them in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import TensorLike
from weft._src.core.tensor import Tensor


class InitialNames:
    """Names around the first value of a variable."""

    if TYPE_CHECKING:

        def value(self) -> Tensor: ...
        def assign(self, value: TensorLike) -> Any: ...

    def initialized_value(self) -> Tensor:
        """The value now; a variable has one as soon as it can be used.

        Returns:
          A tensor of its dtype.
        """
        return self.value()

    @property
    def initializer(self) -> None:
        """What gives the variable its first value in a graph of TensorFlow 1; None here."""
        return None

    def load(self, value: TensorLike, session: Any = None) -> None:
        """Assigns a value.

        Args:
          value: the new value, of the shape and dtype of the variable.
          session: accepted for compatibility.

        Raises:
          ShapeError: if the value has another shape.

        >>> v = tf.Variable([1.0, 2.0])
        >>> v.load([3.0, 4.0])
        >>> v.numpy()
        array([3., 4.], dtype=float32)
        """
        self.assign(value)
