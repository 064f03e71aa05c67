"""What `tf.some_name` says when Weft does not have that name."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from importlib import import_module


def missing_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """An AttributeError that says whether TensorFlow has a name, and which is the nearest here."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    namespace = module.removeprefix("weft").removeprefix(".")
    shown = ".".join(filter(None, ("tf", namespace, name)))
    names = import_module("weft._src.public.tensorflow_names")
    theirs = names.NAMES.get(namespace)
    whether = "(yet)" if theirs is None or name in theirs.split() else "(nor does TensorFlow)"
    instead = names.INSTEAD.get(shown.removeprefix("tf."))
    if instead is not None:
        return AttributeError(f"Weft does not have {shown}. {instead}", name=name)
    if namespace in ("", "compat.v1"):
        if name in names.OF_TENSORFLOW_1:
            instead = names.OF_TENSORFLOW_1[name]
            return AttributeError(f"Weft does not have {shown}. {instead}", name=name)
        elsewhere = _same_name_elsewhere(name)
        if elsewhere:
            return AttributeError(f"Weft does not have {shown}, but it has {elsewhere}.", name=name)
    public = [other for other in known if not other.startswith("_")]
    near = difflib.get_close_matches(name, public, n=1, cutoff=0.75)
    hint = f" The nearest name is {near[0]!r}." if near else ""
    return AttributeError(f"Weft does not have {shown} {whether}.{hint}", name=name)


def _same_name_elsewhere(name: str) -> str | None:
    """Where TensorFlow 2 has put a function that TensorFlow 1 had at the top."""
    tf = sys.modules["weft"]
    if callable(vars(tf).get(name)):
        return f"tf.{name}"
    for namespace in ("math", "nn", "linalg", "random", "io", "strings", "debugging"):
        if callable(vars(getattr(tf, namespace)).get(name)):
            return f"tf.{namespace}.{name}"
    return None
