"""What `tf.some_name` says when Weft does not have that name."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType


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
    way = f"The nearest name is {near[0]!r}." if near else _way_out(module, name)
    return AttributeError(f"Weft does not have {shown} {whether}. {way}", name=name)


def _way_out(module: str, name: str) -> str:
    """What to do about a name that is like no other in its namespace."""
    tf = sys.modules["weft"]
    for namespace, inner in vars(tf).items():
        if isinstance(inner, ModuleType) and inner.__name__ == f"weft.{namespace}":
            near = difflib.get_close_matches(name, dir(inner), n=1, cutoff=0.8)
            if near:
                return f"The nearest name elsewhere is tf.{namespace}.{near[0]}."
    shown = module.replace("weft", "tf", 1)
    return (
        f"dir({shown}) lists what there is; the rest can be made of other functions, or of NumPy's "
        "with tf.numpy_function."
    )


def _same_name_elsewhere(name: str) -> str | None:
    """Where TensorFlow 2 has put a function that TensorFlow 1 had at the top."""
    tf = sys.modules["weft"]
    if callable(vars(tf).get(name)):
        return f"tf.{name}"
    for namespace in ("math", "nn", "linalg", "random", "io", "strings", "debugging"):
        if callable(vars(getattr(tf, namespace)).get(name)):
            return f"tf.{namespace}.{name}"
    return None
