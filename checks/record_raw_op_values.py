"""Writes down what TensorFlow gives for the calls in `tests/support/raw_calls.py`.

    PYTHON checks/record_raw_op_values.py

where PYTHON is an interpreter that has TensorFlow. The file is part of the tests.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


def _plain(value: np.ndarray[Any, Any]) -> list[Any]:
    """The dtype, the shape and the elements: floats with nine digits, texts as Latin-1."""
    if value.dtype.kind in "OS":
        items = [item.decode("latin1") for item in value.astype(object).ravel()]
        return ["object", list(value.shape), items]
    flat = value.ravel().tolist()
    if value.dtype.kind == "f":
        flat = [float(f"{number:.9g}") for number in flat]
    return [value.dtype.name, list(value.shape), flat]


def main() -> None:
    """Makes all calls and stores the results."""
    tf: Any = importlib.import_module("tensorflow")
    recorded: Any = importlib.import_module("support.raw_calls")
    values = {}
    for key, call in zip(recorded.KEYS, recorded.CALLS, strict=True):
        try:
            values[key] = [_plain(value) for value in recorded.made(tf, call)]
        except Exception as error:
            error.add_note(f"in {key}: {call.op}({call.arguments})")
            raise
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    recorded.FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(values)} calls, {recorded.FILE.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
