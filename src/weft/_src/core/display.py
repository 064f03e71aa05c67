"""How values show themselves in notebooks: `_repr_html_` of tensors, functions, datasets, ...

The pictures are drawn far above this layer, and loaded when the first one is wanted.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_module: list[str] = []


def displayed_by(module: str) -> None:
    """The module whose `html(value)` draws; it is imported when something is shown."""
    _module[:] = [module]


def html_of(value: Any) -> str | None:
    """What a notebook shows of a value; None leaves it to `repr`."""
    shown: str | None = import_module(_module[0]).html(value) if _module else None
    return shown
