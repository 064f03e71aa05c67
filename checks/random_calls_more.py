"""Valid calls of public functions that `tests/robustness` has none of, for `random_calls.py`."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

F = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], np.float32)
I = np.array([[3, -1, 2], [0, 5, 4]], np.int32)
IMAGE = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
FILTER = np.ones((2, 2, 3, 2), np.float32)
ONES = [1, 1, 1, 1]
TEXT = np.array([b"YWI", b"", b"eHl6"], object)
BYTES = np.array([b"abcdefgh", b"12345678"], object)
SEED = np.array([1, 2], np.int32)
LENGTHS = np.array([3], np.int32)
AXES = np.array([1], np.int32)
DEFLATED = np.array([zlib.compress(b"some text")], object)

CALLS: dict[str, dict[str, Any]] = {
    "approx_top_k": {"input": F, "k": 2},
    "conv": {"input": IMAGE, "filter": FILTER, "strides": ONES, "padding": "SAME"},
    "conv2d_backprop_filter_v2": {
        "input": IMAGE, "filter": FILTER, "out_backprop": np.ones((2, 4, 5, 2), np.float32),
        "strides": ONES, "padding": "SAME",
    },
    "conv2d_backprop_input_v2": {
        "input": IMAGE, "filter": FILTER, "out_backprop": np.ones((2, 4, 5, 2), np.float32),
        "strides": ONES, "padding": "SAME",
    },
    "extract_volume_patches": {
        "input": IMAGE[None], "ksizes": [1, 1, 2, 2, 1], "strides": [1, 1, 1, 2, 1],
        "padding": "VALID",
    },
    "fftnd": {"input": F.astype(np.complex64), "fft_length": LENGTHS, "axes": AXES},
    "ifftnd": {"input": F.astype(np.complex64), "fft_length": LENGTHS, "axes": AXES},
    "irfftnd": {"input": F.astype(np.complex64), "fft_length": LENGTHS, "axes": AXES},
    "rfftnd": {"input": F, "fft_length": LENGTHS, "axes": AXES},
    "guarantee_const": {"input": F},
    "is_tensor": {"x": F},
    "io.decode_base64": {"input": TEXT},
    "io.encode_base64": {"input": TEXT},
    "io.decode_compressed": {"bytes": DEFLATED, "compression_type": "ZLIB"},
    "io.decode_csv": {
        "records": np.array([b"1,2.5,x", b",,"], object), "record_defaults": [[1], [2.0], ["y"]],
    },
    "io.decode_raw": {"input_bytes": BYTES, "out_type": "float32"},
    "io.serialize_tensor": {"tensor": F},
    "nn.experimental.stateless_dropout": {"x": F, "rate": 0.5, "seed": SEED},
    "ragged_fill_empty_rows": {
        "value_rowids": np.array([0, 0, 2], np.int64), "values": F[0],
        "nrows": np.array(4, np.int64), "default_value": np.float32(7),
    },
    "ragged_fill_empty_rows_grad": {
        "reverse_index_map": np.array([0, 2], np.int64), "grad_values": F[0],
    },
    "random.experimental.stateless_shuffle": {"value": F, "seed": SEED},
    "random.experimental.index_shuffle": {
        "index": np.array(3, np.int32), "seed": np.array([1, 2, 3], np.int32),
        "max_index": np.array(10, np.int32),
    },
    "random_index_shuffle": {
        "index": np.array(3, np.int32), "seed": np.array([1, 2, 3], np.uint32),
        "max_index": np.array(10, np.int32),
    },
}  # fmt: skip
