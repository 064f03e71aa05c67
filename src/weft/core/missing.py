"""What `tf.some_name` says when Weft does not have that name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def missing_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """An AttributeError that names the nearest thing there is."""
    shown = f"{module.replace('weft', 'tf', 1)}.{name}"
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    public = [other for other in known if not other.startswith("_")]
    near = difflib.get_close_matches(name, public, n=1, cutoff=0.75)
    hint = f" The nearest name is {near[0]!r}." if near else ""
    return AttributeError(f"Weft does not have {shown} (yet).{hint}", name=name)
