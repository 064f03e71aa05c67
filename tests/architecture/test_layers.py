"""The rules of the source tree: imports go down, nothing is imported to escape a cycle."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "weft"

# The packages of weft/_src from the bottom up. A module may import its own layer and those before
# it.
LAYERS = [
    "errors",
    "messages",
    "containers",
    "dataclass_values",
    "nest",
    "core",
    "ops",
    "graph",
    "autodiff",
    "execution",
    "state",
    "autograph",
    "function",
    "config",
    "fileio",
    "media",
    "data",
    "lookup",
    "distribute",
    "saving",
    "dtensor",
    "summary",
    "testing",
    "compat",
    "public",
    "namespaces",
    "linear_operators",
    "experimental",
    "raw_ops",
    "keras",
    "saved_model",
    "tools",
    "made of public functions",
]
# The public namespaces (weft/math.py, weft/__main__.py, ...) re-export all this. What is below them
# uses the implementation; raw ops and `tf.experimental.numpy` are made of public functions.
NAMESPACES = LAYERS.index("namespaces")
ABOVE = (
    *("weft.experimental", "weft.keras", "weft.raw_ops", "weft.saved_model", "weft.tools"),
    "weft.__main__",
)
# Imported where they are used: LLVM takes a tenth of a second to load and jax a second, a table of
# names is wanted for an error only, and raw ops name the file they are in.
LOADED_LATE = (
    "weft._src.execution.native",
    "weft._src.execution.xla",
    "weft._src.public.tensorflow_names",
    "weft._src.raw_ops",
)
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
    tree = ast.parse(source)
    if "._src" not in module:
        _leave_out_types(tree)
    for node, in_function in walk(tree):
        if isinstance(node, ast.Call) and (name := imported_by_name(node)) is not None:
            found.append(Import(name, node.lineno, True))
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


def _leave_out_types(tree: ast.Module) -> None:
    """Namespaces tell type checkers of names that are imported when they are used."""
    for node in tree.body:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "_TYPE_CHECKING":
            node.body = [ast.Pass()]


def imported_by_name(node: ast.Call) -> str | None:
    """What `import_module("weft...")` names, as far as it is written there."""
    function = node.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called not in ("import_module", "_import_module", "__import__") or not node.args:
        return None
    argument = node.args[0]
    parts = argument.values[:1] if isinstance(argument, ast.JoinedStr) else [argument]
    text = parts[0].value if parts and isinstance(parts[0], ast.Constant) else ""
    return text.rstrip(".") if isinstance(text, str) and text.startswith("weft") else None


def walk(tree: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    for node in ast.iter_child_nodes(tree):
        yield node, in_function
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from walk(node, in_function or inside)


def rank(module: str) -> int:
    if module.startswith(ABOVE):
        return len(LAYERS)
    parts = module.split(".")
    return LAYERS.index(parts[2]) if parts[1:2] == ["_src"] and len(parts) > 2 else NAMESPACES


def is_weft(module: str) -> bool:
    return module.split(".")[0] == "weft"


def loaded_late(module: str, imported: str) -> bool:
    """Whether a part that is slow to import is imported by one that is imported at once."""
    return imported.startswith(LOADED_LATE) and not module.startswith(LOADED_LATE[0])


def violations(source: str, module: str, is_package: bool, known: set[str]) -> list[str]:
    """Says which imports of a module break the rules."""
    broken = []
    own_rank = len(LAYERS) if module == "weft" else rank(module)  # it names all namespaces
    for item in imports_of(source, module, is_package, known):
        root = item.module.split(".")[0]
        reason = None
        if root == "tensorflow":
            reason = "Weft does not depend on it"
        elif root in ("jax", "jaxlib") and not module.startswith("weft._src.execution.xla"):
            reason = "jax belongs to weft._src.execution.xla"
        elif is_weft(item.module) and rank(item.module) > own_rank:
            reason = "imports go downwards only; let the lower layer offer a hook"
        elif is_weft(item.module) and item.in_function and not loaded_late(module, item.module):
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


KNOWN = {
    "weft",
    "weft._src.nest",
    "weft._src.core",
    "weft._src.core.tensor",
    "weft._src.ops",
    "weft._src.ops.elementwise",
}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("weft._src.core.tensor", "import weft"),
        ("weft._src.core.tensor", "from weft._src import ops"),
        ("weft._src.core.tensor", "from ..ops import elementwise"),
        ("weft._src.core.tensor", "import weft._src.ops.elementwise as m"),
        ("weft._src.core.tensor", "if True:\n    import weft._src.function"),
        ("weft._src.core", "from ..ops import elementwise"),
        ("weft._src.ops.elementwise", "def f():\n    from weft._src import nest"),
        ("weft._src.ops.elementwise", "class A:\n    def f(self):\n        from . import nn"),
        ("weft._src.ops.elementwise", "def f():\n    import_module('weft._src.graph.ir')"),
        ("weft._src.function.tracing", "importlib.import_module(f'weft._src.data.{name}')"),
        ("weft._src.ops.elementwise", "import tensorflow.nn"),
        ("weft._src.execution.native", "def f():\n    import jax"),
    ],
)
def test_a_broken_rule_is_found(module: str, source: str) -> None:
    assert len(violations(source, module, module == "weft._src.core", KNOWN)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("weft._src.core.tensor", "from weft._src import nest"),
        ("weft._src.core.tensor", "from . import dtypes"),
        ("weft._src.core", "from . import tensor"),
        ("weft._src.ops.elementwise", "from ..core import tensor"),
        ("weft._src.ops.elementwise", "def f():\n    import llvmlite"),
        (
            "weft._src.function.concrete",
            "def f():\n    import weft._src.execution.native.pace",
        ),
        ("weft._src.execution.xla.lower", "import jax.numpy"),
        ("weft", "from weft._src.compat import v1"),
        ("weft.math", "from weft._src.ops import elementwise"),
    ],
)
def test_what_is_allowed_is_not_reported(module: str, source: str) -> None:
    assert violations(source, module, module in ("weft", "weft._src.core"), KNOWN) == []
