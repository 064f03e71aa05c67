"""`tensorflow.python.util.deprecation`: decorators that warn of what will go, silent here.

They are about TensorFlow Probability's own plans, and about versions of TensorFlow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


def deprecated(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is."""
    return lambda function: function


deprecated_args = deprecated_arg_values = deprecated


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, **kwargs: Any) -> Any:
    """The function itself."""
    return func_or_class


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """There is nothing to silence."""
    yield
