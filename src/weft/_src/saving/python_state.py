"""`tf.train.experimental.PythonState`: what a program keeps as text or bytes in a checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from weft._src.state.tracking import Trackable


class PythonState(Trackable, ABC):
    """An object of the user that saves itself as a string.

    >>> class Epoch(tf.train.experimental.PythonState):
    ...     number = 0
    ...
    ...     def serialize(self):
    ...         return str(self.number)
    ...
    ...     def deserialize(self, string_value):
    ...         self.number = int(string_value)
    >>> epoch = Epoch()
    >>> epoch.number = 7
    >>> path = tf.train.Checkpoint(epoch=epoch).write("python-state")
    >>> again = Epoch()
    >>> _ = tf.train.Checkpoint(epoch=again).read(path).assert_consumed()
    >>> again.number
    7
    """

    @abstractmethod
    def serialize(self) -> str | bytes:
        """What is saved.

        Returns:
          Text or bytes.
        """

    @abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Takes what was saved.

        Args:
          string_value: bytes.
        """

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"py_state": self.serialize()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors["py_state"].numpy())
