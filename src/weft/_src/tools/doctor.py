"""`weft doctor`: versions, the processor, and which tiers work here."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.specs import TensorSpec
from weft._src.execution import reference
from weft._src.execution.native.machine import cache, support
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.function.decorator import function
from weft._src.graph.ir import Graph
from weft._src.ops.elementwise import unary
from weft._src.ops.reduce import sums

_NEEDED = ("numpy", "scipy", "ml_dtypes", "llvmlite")
WORKS = "works"
_OPTIONAL = ("tensorboard", "tqdm", "pillow", "keras", "jax")


def report() -> tuple[list[tuple[str, str]], bool]:
    """What there is, by name, and whether all is well."""
    tiers, well = _tiers()
    rows = [
        ("weft", sys.modules["weft"].__version__),  # above this layer, so not imported
        ("python", f"{platform.python_version()} ({sys.platform}, {platform.machine()})"),
        *[(name, _version(name)) for name in _NEEDED],
        ("cpu", f"{_processor()}, {os.cpu_count()} cores"),
        ("memory", _memory()),
        ("execution", f"{flags.execution} (WEFT_EXECUTION, or weft.config.execution)"),
        *tiers,
        ("kept code", cache.account()),  # after the tiers, which use it
        *[(f"({name})", _version(name)) for name in _OPTIONAL],
    ]
    return rows, well


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        llvm = import_module("llvmlite.binding")
    except (ImportError, OSError):  # the row of the native tier says what is wrong
        return "unknown"
    features = llvm.get_host_cpu_features()
    found = [name for name in ("avx512f", "avx2", "neon", "sse4.2") if features.get(name)]
    vectors = found[0] if found else "no vector instructions known"
    return f"{llvm.get_host_cpu_name()}, {vectors}"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{size / 2**30:.1f} GiB"


def _tiers() -> tuple[list[tuple[str, str]], bool]:
    """Runs one small graph on each tier and compares with NumPy."""
    traced = function(lambda x: sums.reduce_sum(unary.exp(x)), autograph=False)
    graph: Graph = traced.get_concrete_function(TensorSpec([5])).graph
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    runners: dict[str, Callable[[], Any]] = {
        "reference": lambda: reference.run(graph, [x]),
        "numpy": lambda: NumpyPlan(graph)(x),
        "native": lambda: _compile(graph, [x])(x),
    }
    off = {"native": support.reason_off()}
    rows = []
    for name, run in runners.items():
        reason = off.get(name)
        text = f"off: {reason}" if reason else _outcome(run, np.exp(x).sum())
        rows.append((f"tier {name}", text))
    return rows, all(text == WORKS for _, text in rows)


def _compile(graph: Graph, values: list[Any]) -> Any:
    from weft._src.execution.native import driver

    return driver.compile_graph(graph, values, whole=True)


def _outcome(run: Callable[[], Any], wanted: Any) -> str:
    try:
        return WORKS if np.allclose(run()[0], wanted) else "gives WRONG results"
    except Exception as error:  # noqa: BLE001 - whatever it is, the user wants to see it
        return f"FAILS: {type(error).__name__}: {error}"
