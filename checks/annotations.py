"""Counts the parameters that say nothing of their type: those annotated `Any` or `object`.

`python checks/annotations.py` prints the share of each package; with `--public` only functions
without a leading underscore count. `self`, `cls`, `*args`, `**kwargs` and what operators and
descriptors are given by Python itself (`__eq__`, `__exit__`, `__getattr__`, ...) are left out.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1] / "src" / "weft"
VAGUE = {"Any", "object", "Any | None", "object | None", "None | Any"}


class Parameter(NamedTuple):
    """A parameter of a function, and where it stands."""

    file: Path
    line: int
    function: str
    name: str
    annotation: str | None

    @property
    def is_vague(self) -> bool:
        """Whether the annotation says nothing."""
        return self.annotation is None or self.annotation in VAGUE


def parameters(file: Path) -> Iterator[Parameter]:
    """The parameters of all functions of a file, nested ones and methods included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("__") and node.name not in ("__init__", "__call__", "__new__"):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for each in given:
            if each.arg not in ("self", "cls"):
                text = None if each.annotation is None else ast.unparse(each.annotation)
                yield Parameter(file, each.lineno, node.name, each.arg, text)


def package(file: Path) -> str:
    """The package a file counts for: the layer, or `public` for the namespaces."""
    parts = file.relative_to(ROOT).parts
    if parts[0] != "_src":
        return "public namespaces"
    return parts[1].removesuffix(".py")


def all_parameters(public_only: bool = False) -> list[Parameter]:
    """The parameters of all files of Weft."""
    found = [p for file in sorted(ROOT.rglob("*.py")) for p in parameters(file)]
    return [p for p in found if not (public_only and p.function.startswith("_"))]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--public", action="store_true", help="leave out private functions")
    parser.add_argument("--names", action="store_true", help="count the names of vague parameters")
    parser.add_argument("--list", metavar="PACKAGE", help="show the vague parameters of a package")
    options = parser.parse_args()
    found = all_parameters(options.public)
    if options.list:
        for p in found:
            if p.is_vague and package(p.file) == options.list:
                print(f"{p.file.relative_to(ROOT)}:{p.line}: {p.function}({p.name})")
        return
    if options.names:
        for name, count in Counter(p.name for p in found if p.is_vague).most_common(80):
            print(f"{name:30} {count}")
        return
    total, vague = Counter[str](), Counter[str]()
    for p in found:
        total[package(p.file)] += 1
        vague[package(p.file)] += p.is_vague
    for name in sorted(total):
        print(_line(name, vague[name], total[name]))
    print(_line("all", vague.total(), total.total()))


def _line(name: str, vague: int, total: int) -> str:
    return f"{name:20} {vague:6} of {total:6} {100 * vague / total:6.1f} %"


if __name__ == "__main__":
    main()
