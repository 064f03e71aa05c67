"""Writes down what TensorFlow gives for the calls in `tests/support/image_calls.py`.

    PYTHON checks/record_image_values.py

where PYTHON is an interpreter that has TensorFlow. The file is compressed and part of the tests.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/support"))


def main() -> None:
    """Makes all calls and stores the results, floats as float32 in an order of their own."""
    tf: Any = importlib.import_module("tensorflow")
    recorded: Any = importlib.import_module("image_calls")
    values: dict[str, Any] = {}
    for key, call in zip(recorded.KEYS, recorded.CALLS, strict=True):
        for i, value in enumerate(recorded.made(tf, call)):
            values[f"{key} {i}"] = value
    joined, index = [], []
    for key, value in values.items():
        index.append(f"{key}|{value.dtype}|{','.join(map(str, value.shape))}")
        joined.append(value.ravel().astype(np.float32 if value.dtype.kind == "f" else np.int64))
    floats = np.concatenate([v for v in joined if v.dtype.kind == "f"])
    whole = np.concatenate([v for v in joined if v.dtype.kind != "f"])
    np.savez_compressed(recorded.FILE, index=np.array(index), floats=floats, whole=whole)
    print(f"{len(values)} results, {recorded.FILE.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
