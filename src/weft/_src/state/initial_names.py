"""What variables have of graphs of TensorFlow 1, where a value was given to them in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ShapeLike, TensorLike
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import OutOfRangeError
from weft._src.ops import rules
from weft._src.ops.host.requiring import require


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

    def set_shape(self, shape: ShapeLike) -> None:
        """Checks that the variable has a shape; what is known of it does not change.

        Args:
          shape: the shape, of which sizes may be unknown.

        Raises:
          ValueError: if the variable has another one.

        >>> tf.Variable([1.0, 2.0]).set_shape([None])
        """
        wanted, own = TensorShape(shape), self.value().shape
        if not wanted.is_compatible_with(own):
            raise ValueError(f"Variable.set_shape: the shape is {own}, not {wanted}.")

    def count_up_to(self, limit: int) -> Tensor:
        """Adds 1 to a variable that holds an integer, up to a limit.

        Args:
          limit: the value at which it is an error.

        Returns:
          The value before.

        Raises:
          OutOfRangeError: if the limit was reached before; in a graph InvalidArgumentError.
          ShapeError: if the variable does not hold one number.

        >>> v = tf.Variable(3)
        >>> v.count_up_to(5).numpy(), v.numpy()
        (np.int32(3), np.int32(4))
        """
        before = self.value()
        rules.check_rank("Variable.count_up_to", before.spec, 0, name="the variable")
        text = f"Variable.count_up_to: the limit {limit} was reached"
        if isinstance(before, EagerTensor) and before.numpy() >= limit:
            raise OutOfRangeError(None, None, f"{text}.")
        require(lambda x: x < limit, [before], text, ("value",))
        self.assign(before + 1)
        return before

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
