"""Writes graphs as GraphDefs and lets TensorFlow import and run them, and write them again.

    python -m checks.graph_defs_in_tensorflow PYTHON [PYTHON ...]

takes the interpreters of environments with TensorFlow. The graphs are those of the models of
saved_models_in_tensorflow.py that need no variables or tables. TensorFlow's results must be those
of Weft, and so must be Weft's of the graph that TensorFlow writes after it has imported it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from checks import saved_models_in_tensorflow as models

_READER = Path(__file__).with_name("graph_defs_reader.py")
_STATEFUL = {"random", "looked_up", "inserted"}


def names() -> list[str]:
    """The cases."""
    return [name for name in models.CASES if name not in _STATEFUL]


def written(tf: Any, name: str, folder: Path) -> Any:
    """Writes one graph, half of them as text, with inputs and results beside it."""
    function, inputs, _ = models.CASES[name]
    specs = [
        tf.TensorSpec([None, *x.shape[1:]] if x.ndim else [], tf.constant(x).dtype, name=f"in_{i}")
        for i, x in enumerate(inputs)
    ]
    concrete = tf.function(function).get_concrete_function(*specs)
    tf.io.write_graph(concrete.graph, folder, f"{name}.pb", as_text=False)
    tf.io.write_graph(concrete.graph, folder, f"{name}.pbtxt")
    results = tf.nest.flatten(concrete(*[tf.constant(x) for x in inputs]))
    arrays = {f"in_{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"result_{i}": np.asarray(y.numpy()) for i, y in enumerate(results)}
    for key, array in list(arrays.items()):
        if array.dtype == object:
            arrays[key] = array.astype("S")
    (folder / f"{name}.names").write_text("\n".join([x.name for x in concrete.graph.outputs]))
    np.savez(folder / f"{name}.npz", **arrays)
    return concrete


def imported(tf: Any, name: str, data: bytes, outputs: list[str]) -> list[Any]:
    """What Weft gives for a serialized graph."""
    _, inputs, _ = models.CASES[name]
    given = {f"in_{i}": tf.constant(x) for i, x in enumerate(inputs)}
    return list(tf.import_graph_def(data, given, outputs, name=""))


def agrees(folder: Path, name: str, found: list[Any]) -> None:
    """AssertionError if results are others."""
    kept = np.load(folder / f"{name}.npz")
    for i, y in enumerate(found):
        wanted, got = kept[f"result_{i}"], np.asarray(y.numpy())
        if wanted.dtype.kind == "S":
            assert got.astype("S").tolist() == wanted.tolist(), (name, got, wanted)
        else:
            assert got.shape == wanted.shape, (name, got.shape, wanted.shape)
            assert np.allclose(got, wanted, 1e-4, 1e-5), (name, got, wanted)


def main() -> int:
    """The number of graphs that failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("interpreters", nargs="*")
    options = parser.parse_args()
    import weft as tf

    models.define(tf)
    failed = 0
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        outputs: dict[str, list[str]] = {}
        for name in names():
            concrete = written(tf, name, folder)
            outputs[name] = [x.name for x in concrete.graph.outputs]
        for interpreter in options.interpreters:
            failed += subprocess.run([interpreter, str(_READER), text], check=False).returncode
            for name in names():
                path = folder / f"{name}.back.pb"
                if path.exists():
                    found = imported(tf, name, path.read_bytes(), outputs[name])
                    agrees(folder, name, found)
                    path.unlink()
    return failed


if __name__ == "__main__":
    sys.exit(main())
