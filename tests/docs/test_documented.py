"""Public functions say what they take, what they give and what they refuse."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft as tf


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and method once, under the path it says it has."""
    seen: set[int] = set()
    names = [module.name for module in pkgutil.walk_packages(tf.__path__, "weft.")]
    for name in ["weft", *names]:
        if name.startswith(("weft._src", "weft.__main__", "weft.raw_ops", "weft.keras")):
            continue
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) and value.__module__.startswith("weft"):
                found = [(f"{public}.{k}", v) for k, v in inspect.getmembers(value) if k[0] != "_"]
            else:
                found = [(public, value)]
            for path, member in found:
                function = getattr(member, "__func__", member)  # of class methods
                if not str(getattr(function, "__module__", "")).startswith("weft"):
                    continue
                if inspect.isfunction(function) and id(function) not in seen:
                    seen.add(id(function))
                    yield f"{name}.{path}", function


def problems(function: Callable[..., Any]) -> list[str]:
    """What the docstring of a function leaves out."""
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    named = [name for name in signature.parameters if name not in ("self", "cls", "name")]
    lines = re.findall(r"^ +\*{0,2}(\w+)\b.*:", text, re.MULTILINE)
    missing = [name for name in named if name not in lines]
    found = [f"the argument {name}" for name in missing]
    if named and "Args:" not in text:
        found = ["Args:"]
    if signature.return_annotation not in (None, "None") and "Returns:" not in text:
        found.append("Returns:")
    return found


def test_functions_are_documented() -> None:
    found = [
        f"{name}: {', '.join(missing)}"
        for name, function in public_functions()
        if (missing := problems(function))
    ]
    assert found == [], "say it in the docstring, as in `tf.vectorized_map`"


def _said(x: int, y: int = 0) -> int:
    """A sum.

    Args:
      x: the first number.

    Returns:
      The sum.
    """
    return x + y


@pytest.mark.parametrize(
    ("function", "missing"),
    [
        (_said, ["the argument y"]),
        (lambda x: x, ["Args:", "Returns:"]),
        (tf.vectorized_map, []),
    ],
)
def test_what_is_left_out_is_found(function: Any, missing: list[str]) -> None:
    assert problems(function) == missing
