"""Methods of arrays that tensors have only with NumPy behaviour, and what to do without it."""

from __future__ import annotations

from typing import Any

NAMES = ("T", "astype", "clip", "data", "flatten", "max", "mean", "min", "ravel", "reshape", "size",
         "tolist", "transpose")  # fmt: skip


def refusal(name: str) -> AttributeError:
    """The error for a method of arrays that a tensor does not have."""
    return AttributeError(
        f"A tensor has no attribute {name!r}. Use the function of tf or tf.experimental.numpy, or "
        "give tensors the methods of arrays with "
        "tf.experimental.numpy.experimental_enable_numpy_behavior()."
    )


class ArrayName:
    """An attribute that says how to get it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise refusal(self._name)
