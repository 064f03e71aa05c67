"""`tf.train.ExponentialMovingAverage`: averages of variables over time."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.context import init_scope
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float16, float32, float64
from weft._src.core.tensor import Tensor
from weft._src.ops.elementwise import arithmetic, casting
from weft._src.state.tracking import Trackable
from weft._src.state.variable import Variable


class ExponentialMovingAverage(Trackable):
    """Averages of variables, in which older values count less and less.

    >>> x = tf.Variable(1.0)
    >>> average = tf.train.ExponentialMovingAverage(decay=0.9)
    >>> average.apply([x])
    >>> _ = x.assign(2.0)
    >>> average.apply([x])
    >>> average.average(x).numpy()
    np.float32(1.1)
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[Any, tuple[Variable, Variable]] = {}  # with what they are of

    @property
    def name(self) -> str:
        """The name, which is part of the names of the averages."""
        return self._name

    def apply(self, var_list: Any = None) -> None:
        """Takes the values of variables into their averages.

        An average begins with the value that its variable has at the first call. (`zero_debias`
        is about averages of tensors, which there are not.)

        Args:
          var_list: variables of float16, float32 or float64; None means none.

        Raises:
          TypeError: if something is no such variable.
        """
        variables = list(var_list or ())
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(
                    f"ExponentialMovingAverage: var_list must hold variables, got {variable!r}."
                )
            if variable.dtype not in (float16, float32, float64):
                raise TypeError(
                    f"ExponentialMovingAverage: {variable.name} has dtype {variable.dtype.name}, "
                    "expected float16, float32 or float64."
                )
        for variable in variables:
            key = variable.ref()
            if key not in self._averages:
                with init_scope():
                    label = f"{_plain(variable)}/{self._name}"
                    made = Variable(variable.read_value(), trainable=False, name=label)
                self._averages[key] = made, variable
                self._track_trackable(made, f"{label}_{len(self._averages)}")
        decay = self._current_decay()
        for variable in variables:
            average, _ = self._averages[variable.ref()]
            rest = casting.cast(1 - decay, variable.dtype)
            average.assign_sub((average - variable) * rest)

    def _current_decay(self) -> Tensor:
        decay = convert_to_tensor(self._decay, dtype_hint=float32)
        if self._num_updates is None:
            return decay
        count = casting.cast(convert_to_tensor(self._num_updates), decay.dtype)
        return arithmetic.minimum(decay, (1 + count) / (10 + count))

    def average(self, var: Variable) -> Variable | None:
        """The average of a variable.

        Args:
          var: the variable.

        Returns:
          A variable, or None if there is no average of it.
        """
        found = self._averages.get(var.ref())
        return None if found is None else found[0]

    def average_name(self, var: Variable) -> str:
        """What the average of a variable is called.

        Args:
          var: the variable.

        Returns:
          The name of its average, which there need not be yet.
        """
        found = self._averages.get(var.ref())
        return f"{_plain(var)}/{self._name}" if found is None else _plain(found[0])

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Variable]:
        """Which values of a checkpoint go into which variables, so that averages replace them.

        Args:
          moving_avg_variables: the variables whose averages are meant; None means all that have
            one.

        Returns:
          A dict from names to variables.
        """
        chosen = moving_avg_variables
        if chosen is None:
            chosen = [variable for _, variable in self._averages.values()]
        return {self.average_name(variable): variable for variable in chosen}


def _plain(variable: Variable) -> str:
    """The name of a variable without the number of its output."""
    return variable.name.partition(":")[0]
