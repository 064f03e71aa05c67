"""Who writes graphs as GraphDefs: a module above this layer, imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_modules: list[str] = []


def written_by(module: str) -> None:
    """Names the module whose function `as_graph_def` writes graphs."""
    _modules[:] = [module]


def writer() -> Any:
    """That module."""
    return import_module(_modules[0])
