"""The functions of `tf.autograph`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from weft._src.autograph.conversion import converted, source_of_converted

_logger = logging.getLogger("weft")


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source that AutoGraph makes of a function.

    Args:
      entity: a Python function or method, or a `tf.function`, of which the Python function is
        taken.
      recursive: accepted for compatibility; only this function is shown.
      experimental_optional_features: accepted for compatibility.

    Returns:
      The text, without decorators, annotations and the values of defaults.

    Raises:
      TypeError: if `entity` is no Python function.
      ValueError: if its source cannot be found.

    >>> def f(x):
    ...     return x and 1
    >>> print(tf.autograph.to_code(f))  # doctest: +SKIP
    def f(x):
        return ag__.and_(x, lambda: 1)
    """
    return source_of_converted(getattr(entity, "python_function", entity))


def to_graph(
    entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """The converted form of a function, to be called while tracing.

    Args:
      entity: a function, method, callable object or `tf.function`, of which the Python function is
        taken.
      recursive: accepted for compatibility; what the function calls is always converted.
      experimental_optional_features: accepted for compatibility.

    Returns:
      The converted function; `entity` itself if there is nothing to convert, as in a library.

    >>> converted = tf.autograph.to_graph(lambda x: x + 1)
    >>> converted(1)
    2
    """
    return converted(getattr(entity, "python_function", entity))


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much AutoGraph logs: 0 for warnings, more for details.

    Args:
      level: 0 or less for warnings, 1 or more for everything. It is that of the logger "weft".
      alsologtostdout: whether messages are printed to the standard output too.

    >>> tf.autograph.set_verbosity(0)
    """
    _logger.setLevel(logging.WARNING if level <= 0 else logging.DEBUG)
    if alsologtostdout:
        _logger.addHandler(logging.StreamHandler(sys.stdout))


def trace(*args: Any) -> None:
    """Prints while tracing, like Python's `print`.

    Args:
      *args: what is printed; of symbolic tensors this is their name, shape and dtype, not the
        value.

    >>> tf.autograph.trace("here")
    here
    """
    print(*args)  # noqa: T201 - that is what it is for
