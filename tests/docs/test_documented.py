"""Public functions say what they take, what they give and what they refuse.

`undocumented.txt` lists those that do not yet. A new function must not be added to it, and one that
is documented is taken off it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf

NOT_YET = Path(__file__).parent / "undocumented.txt"


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and method once, under the path it says it has."""
    seen: set[int] = set()
    names = [module.name for module in pkgutil.walk_packages(tf.__path__, "weft.")]
    for name in ["weft", *names]:
        if name.startswith(("weft._src", "weft.__main__", "weft.raw_ops")):
            continue
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) and value.__module__.startswith("weft"):
                found = [(f"{public}.{k}", v) for k, v in vars(value).items() if k[0] != "_"]
            else:
                found = [(public, value)]
            for path, function in found:
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


def not_yet() -> list[str]:
    return NOT_YET.read_text(encoding="utf-8").splitlines()


def test_new_functions_are_documented() -> None:
    known = set(not_yet())
    found = [
        f"{name}: {', '.join(missing)}"
        for name, function in public_functions()
        if name not in known and (missing := problems(function))
    ]
    assert found == [], "say it in the docstring, as in `tf.vectorized_map`"


def test_the_list_gets_shorter() -> None:
    found = dict(public_functions())
    done = [name for name in not_yet() if name not in found or not problems(found[name])]
    assert done == [], "take these off tests/docs/undocumented.txt"
    assert not_yet() == sorted(set(not_yet()))


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
