"""The rules of the source tree: imports go down, nothing is imported to escape a cycle."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "weft"

# From the bottom up. A module may import its own layer and those before it.
LAYERS = [
    "errors",
    "config",
    "nest",
    "core",
    "ops",
    "graph",
    "autodiff",
    "execution",
    "state",
    "autograph",
    "function",
    "io",
    "data",
    "summary",
    "saving",
    "testing",
    "tools",
    "compat",
    "__init__",
]
# Modules of the public namespace (weft/math.py, weft/__main__.py, ...) stand with `__init__`.
TOP = LAYERS.index("__init__")
MAX_LINES = 600


@dataclass(frozen=True)
class Import:
    """One imported module, and where and how it is imported."""

    module: str
    line: int
    in_function: bool


def module_name(path: Path, package: Path = PACKAGE) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(source: str, module: str, is_package: bool, known: set[str]) -> list[Import]:
    """Lists what a module imports, with relative imports and submodules made absolute."""
    found = []
    for node, in_function in walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, in_function) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                keep = len(parents) - node.level + is_package
                base = ".".join([*parents[:keep], *([base] if base else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                name = full if full in known else base
                found.append(Import(name, node.lineno, in_function))
    return found


def walk(tree: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    for node in ast.iter_child_nodes(tree):
        yield node, in_function
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from walk(node, in_function or inside)


def rank(module: str) -> int:
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS else TOP


def is_weft(module: str) -> bool:
    return module.split(".")[0] == "weft"


def violations(source: str, module: str, is_package: bool, known: set[str]) -> list[str]:
    """Says which imports of a module break the rules."""
    broken = []
    for item in imports_of(source, module, is_package, known):
        root = item.module.split(".")[0]
        reason = None
        if root == "tensorflow":
            reason = "Weft does not depend on it"
        elif root in ("jax", "jaxlib") and not module.startswith("weft.execution.xla"):
            reason = "jax belongs to weft.execution.xla"
        elif is_weft(item.module) and rank(item.module) > rank(module):
            reason = "imports go downwards only; let the lower layer offer a hook"
        elif is_weft(item.module) and item.in_function:
            reason = "no local imports to escape a cycle; let the lower layer offer a hook"
        if reason is not None:
            broken.append(f"{module}, line {item.line}, imports {item.module}: {reason}")
    return broken


@pytest.mark.parametrize("module", MODULES)
def test_imports_follow_the_rules(module: str) -> None:
    path = MODULES[module]
    source = path.read_text(encoding="utf-8")
    broken = violations(source, module, path.name == "__init__.py", set(MODULES))
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("module", MODULES)
def test_files_stay_small(module: str) -> None:
    count = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert count <= MAX_LINES, f"{module} has {count} lines: past {MAX_LINES} it is two files"


KNOWN = {"weft", "weft.nest", "weft.core", "weft.core.tensor", "weft.ops", "weft.ops.math"}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("weft.core.tensor", "import weft"),
        ("weft.core.tensor", "from weft import ops"),
        ("weft.core.tensor", "from ..ops import math"),
        ("weft.core.tensor", "import weft.ops.math as m"),
        ("weft.core.tensor", "if True:\n    import weft.function"),
        ("weft.core", "from ..ops import math"),
        ("weft.ops.math", "def f():\n    from weft import nest"),
        ("weft.ops.math", "class A:\n    def f(self):\n        from . import nn"),
        ("weft.ops.math", "import tensorflow.nn"),
        ("weft.execution.native", "def f():\n    import jax"),
    ],
)
def test_a_broken_rule_is_found(module: str, source: str) -> None:
    assert len(violations(source, module, module == "weft.core", KNOWN)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("weft.core.tensor", "from weft import nest"),
        ("weft.core.tensor", "from . import dtypes"),
        ("weft.core", "from . import tensor"),
        ("weft.ops.math", "from ..core import tensor"),
        ("weft.ops.math", "def f():\n    import llvmlite"),
        ("weft.execution.xla.lower", "import jax.numpy"),
        ("weft", "from weft.compat import v1"),
        ("weft.math", "from weft.ops import math"),
    ],
)
def test_what_is_allowed_is_not_reported(module: str, source: str) -> None:
    assert violations(source, module, module in ("weft", "weft.core"), KNOWN) == []
