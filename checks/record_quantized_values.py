"""Writes down what TensorFlow gives for the calls in `tests/support/quantized_calls.py`.

    PYTHON checks/record_quantized_values.py

where PYTHON is an interpreter that has TensorFlow. Its own kernels are asked, not those of oneDNN,
which round differently. The file is compressed and part of the tests.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/support"))
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


def main() -> None:
    """Makes all calls and stores the results: their dtypes and shapes, and all bytes."""
    tf: Any = importlib.import_module("tensorflow")
    recorded: Any = importlib.import_module("quantized_calls")
    index, content = [], []
    for key, call in zip(recorded.KEYS, recorded.CALLS, strict=True):
        for i, (dtype, value) in enumerate(recorded.made(tf, call)):
            sizes = ",".join(map(str, value.shape))
            index.append(f"{key}|{i}|{dtype}|{value.dtype}|{sizes}")
            content.append(np.frombuffer(value.tobytes(), np.uint8))
    joined = np.concatenate(content)
    np.savez_compressed(recorded.FILE, index=np.array(index), content=joined)
    print(f"{len(index)} results, {recorded.FILE.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
