"""AutoGraph: converting and tracing a long function the first time, and again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import Peers, Row, best_time, microseconds

_BLOCK = """
    for i{k} in tf.range(3):
        if x > {k}:
            x = x - 1
        elif x < -{k}:
            x = x + 2
        else:
            while y < {k}:
                y = y + 1
                if y == 3:
                    break
        y = y + x
"""


def program() -> str:
    """About a hundred lines with ten nested constructs."""
    body = "".join(_BLOCK.format(k=k) for k in range(1, 11))
    return f"def long_function(x, y):{body}    return x + y\n"


def run(peers: Peers) -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "converted_program.py"
        path.write_text("import {} as tf\n\n\n" + program())
        return [_row(peers, path)]


def _row(peers: Peers, path: Path) -> Row:
    source = path.read_text()
    setup = f"""
import sys, importlib.util
path = {str(path)!r}
def load():
    spec = importlib.util.spec_from_file_location("converted_program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.long_function
"""
    statement = "tf.function(load())(tf.constant(5), tf.constant(1))"
    path.write_text(source.format("weft"))
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{setup}", namespace)
    # The module is loaded anew each time, so each function is converted for the first time.
    ours = best_time(lambda: exec(statement, namespace), seconds=2.0)
    path.write_text(source.format("tensorflow"))
    theirs = peers.time("tensorflow", f"import tensorflow as tf\n{setup}", statement)
    ratio = None if theirs is None else theirs / ours
    detail = f"{microseconds(ours)} (Weft)"
    if theirs is not None:
        detail = f"{microseconds(theirs)} against {detail}"
    return Row("tf.function / convert, trace and run 100 lines", ratio, ">= 5", detail)
