"""Writes docs/reference.md: every public name with its status, and every op of the registry.

The share of TensorFlow's names that are there is written into README.md, too.

python docs/generate_reference.py          # writes the page
python docs/generate_reference.py --check  # says whether it is up to date
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.native_rules import NativeRule
from weft._src.ops.registry import FOLDED, Absent, Op, all_ops
from weft._src.public.tensorflow_names import NAMES

PAGE = Path(__file__).parent / "reference.md"
README = Path(__file__).parent.parent / "README.md"

# Of other machines than one, or of other packages: not counted.
NOT_COUNTED = (
    "distribute", "dtensor", "experimental.dtensor", "experimental.tensorrt", "feature_column",
    "keras", "lite", "mlir", "tpu",
)  # fmt: skip

INTRODUCTION = """\
# Reference

Every public name with its status, written by `docs/generate_reference.py` (`make reference`) from
the package itself, from the registry of ops, and from the list of TensorFlow 2.21's public names.

A name in a table is there; its docstring has an example (`help(tf.name)`). Names that TensorFlow
has and Weft has not are listed under each table; using one is an AttributeError that says so. Names
that only Weft has are marked with a star. `tf.raw_ops` has the ops of the last table that are
TensorFlow's; `tf.compat.v1` has what is of use for building graphs by hand.
"""


def is_counted(path: str) -> bool:
    """Whether a name, or what is in a namespace, makes sense on one machine."""
    return not any(path == name or path.startswith(f"{name}.") for name in NOT_COUNTED)


def counts() -> dict[str, tuple[int, int]]:
    """Of each namespace that is counted: how many of TensorFlow's names are there, of how many."""
    out = {}
    for namespace in filter(is_counted, sorted(NAMES)):
        module = lookup(namespace)
        names = [n for n in NAMES[namespace].split() if is_counted(f"{namespace}.{n}".lstrip("."))]
        out[namespace] = sum(hasattr(module, name) for name in names), len(names)
    return out


def share() -> str:
    """How many of TensorFlow's names are there, in words."""
    there, of = [sum(numbers) for numbers in zip(*counts().values(), strict=True)]
    return f"{there:,} of {of:,} public names of TensorFlow 2.21 ({100 * there / of:.1f} %)"


def coverage() -> list[str]:
    """The table of namespaces."""
    excluded = ", ".join(f"`tf.{name}`" for name in NOT_COUNTED)
    lines = [
        "## Coverage",
        "",
        f"{share()} are there. Not counted: {excluded}, `tf.compat` and `tf.raw_ops`.",
        "",
        "| namespace | there | of |",
        "|---|---|---|",
    ]
    for namespace, (there, of) in counts().items():
        lines.append(f"| `{f'tf.{namespace}' if namespace else 'tf'}` | {there} | {of} |")
    return [*lines, ""]


def readme() -> str:
    """README.md with the share as it is now."""
    text = README.read_text(encoding="utf-8")
    return re.sub(r"\*\*[\d,]+ of [\d,]+ public names[^*]*\*\*", f"**{share()}**", text)


def lookup(namespace: str) -> Any:
    """The module of a namespace; None if Weft does not have it."""
    value: Any = tf
    for part in filter(None, namespace.split(".")):
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def description(value: Any) -> str:
    """What a name is, in one line."""
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, tf.DType) or (isinstance(value, type) and issubclass(value, np.generic)):
        return "dtype"
    if inspect.isroutine(value) or inspect.isclass(value):
        text = (inspect.getdoc(value) or "").partition("\n")[0].strip()
        return text.replace("|", "\\|")
    return f"`{value!r}`"


def only_in_weft(module: ModuleType, theirs: set[str]) -> list[str]:
    """Functions and classes of a public module that TensorFlow does not have."""
    return [
        name
        for name in sorted(dir(module))
        if (value := getattr(module, name)) is not None
        and not name.startswith("_")
        and name not in theirs
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__.startswith("weft")
        and inspect.getdoc(value)
        and getattr(value, "__name__", "") in (name, value.__name__)
    ]


def section(namespace: str) -> list[str]:
    """One namespace: a table of what is there, and a list of what is not."""
    theirs = set(NAMES[namespace].split())
    title = f"tf.{namespace}" if namespace else "tf"
    module = lookup(namespace)
    if module is None:
        return []
    there = {name: "" for name in theirs if hasattr(module, name)}
    there |= dict.fromkeys(only_in_weft(module, theirs), " *")
    if not there:
        return []
    lines = [f"## {title}", "", "| name | |", "|---|---|"]
    lines += [
        f"| `{name}`{there[name]} | {description(getattr(module, name))} |"
        for name in sorted(there)
    ]
    missing = sorted(theirs - set(there))
    if missing:
        lines += ["", f"Not there: {', '.join(f'`{name}`' for name in missing)}."]
    return [*lines, ""]


def ops() -> list[str]:
    """The table of the registry."""
    lines = ["## Ops", "", "| op | inputs | gradient | machine code |", "|---|---|---|---|"]
    for op in all_ops():
        if op.infer.__module__.startswith("weft._src.execution"):
            continue  # made by a tier while compiling, and known only once that is loaded
        inputs = ", ".join(arg.name + ("..." if arg.variadic else "") for arg in op.args)
        gradient = "no" if isinstance(op.vjp, Absent) else "yes"
        lines.append(f"| `{op.name}` | {inputs} | {gradient} | {machine_code(op)} |")
    return lines


def machine_code(op: Op) -> str:
    """The loop form of an op; "folded" for what is gone before code is made."""
    if isinstance(op.native, NativeRule):
        return type(op.native).__name__.lower()
    return "folded" if op.native is FOLDED else "no"


def page() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    lines += coverage()
    absent = [name for name in sorted(NAMES) if lookup(name) is None]
    for namespace in sorted(NAMES):
        lines += section(namespace)
    lines += ["## Namespaces that are not there", "", ", ".join(f"`tf.{n}`" for n in absent), ""]
    return "\n".join([*lines, *ops(), ""])


def main() -> None:
    """Writes the page, or checks it."""
    if "--check" in sys.argv:
        current = PAGE.read_text(encoding="utf-8") == page()
        current = current and README.read_text(encoding="utf-8") == readme()
        sys.exit(0 if current else "docs/reference.md is not up to date: run `make reference`.")
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(), encoding="utf-8")


if __name__ == "__main__":
    main()
