"""`tensorflow.compat.v1` with scopes of variables, which do nothing here.

TensorFlow Probability opens them around loops to say on which device variables are kept at hand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import weft


class _Scope:
    caching_device = None

    def set_caching_device(self, caching_device: Any) -> None:
        """There is one device."""


def get_variable_scope() -> _Scope:
    """The scope one is in."""
    return _Scope()


@contextlib.contextmanager
def variable_scope(scope: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """A scope that changes nothing."""
    yield scope


def __getattr__(name: str) -> Any:
    return getattr(weft.compat.v1, name)
