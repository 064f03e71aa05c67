"""Records what TensorFlow gives for calls of functions of many kinds.

    PYTHON_WITH_TENSORFLOW checks/record_name_values.py tests/ops/recorded_names.json

`tests/ops/test_recorded_names.py` makes the same calls with Weft. A call is an expression of `tf`,
`np` and the values below.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

VALUES: dict[str, Any] = {
    "X": np.sin(np.arange(70, dtype=np.float32)).reshape(2, 5, 7, 1) * 3,
    "Y": np.cos(np.arange(168, dtype=np.float32)).reshape(2, 4, 7, 3),
    "SIGNAL": np.cos(np.arange(45, dtype=np.float32)).reshape(3, 15),
    "BANDS": 2 + np.sin(np.arange(15, dtype=np.float32)).reshape(3, 5),
    "RIGHT": np.cos(np.arange(10, dtype=np.float32)).reshape(5, 2),
    "ALPHA": np.sin(np.arange(6, dtype=np.float32)),
    "BETA": np.cos(np.arange(5, dtype=np.float32)),
    "ROWS": np.sin(np.arange(24, dtype=np.float32) * 1.7).reshape(4, 6),
    "WEIGHTS": np.sin(np.arange(12, dtype=np.float32)).reshape(6, 2),
    "BIASES": np.cos(np.arange(6, dtype=np.float32)),
    "LABELS": np.array([[1, 2], [3, 3], [0, 5]], np.int64),
    "INPUTS": np.array([[1, 2], [3, 4], [-1, 0.5]], np.float32),
    "EXPECTED": np.array([[0.5, 0.1], [0.25, 0.2], [0.75, 0.9]], np.float32),
    "DRAWN": np.array([3, 0, 5, 2], np.int64),
    "COUNTS": np.array([0.1, 0.2, 0.3, 0.4], np.float32),
    "FILTER": np.cos(np.arange(36, dtype=np.float32)).reshape(2, 3, 3, 2),
}
_LOSS = (
    "WEIGHTS, BIASES, LABELS[:, :{0}], INPUTS, 4, 6, {0}, (DRAWN, EXPECTED[:, :{0}], COUNTS), {1}"
)


def calls() -> list[str]:
    """All calls."""
    out = [
        f"tf.signal.mdct(SIGNAL, {n}{more})"
        for n in (4, 8, 12)
        for more in (
            "",
            ", norm='ortho'",
            ", pad_end=True",
            ", window_fn=None",
            ", window_fn=tf.signal.kaiser_bessel_derived_window",
        )
    ]
    out += [
        f"tf.signal.inverse_mdct(ROWS{more})" for more in ("", ", norm='ortho'", ", window_fn=None")
    ]
    out += [
        f"tf.linalg.banded_triangular_solve(BANDS[:{k}], RIGHT, {lower}, {adjoint})"
        for k in (1, 2, 3)
        for lower in (True, False)
        for adjoint in (True, False)
    ]
    out += [
        f"tf.linalg.eigh_tridiagonal(ALPHA, BETA{more})"
        for more in (
            "",
            ", select='i', select_range=(1, 3)",
            ", select='v', select_range=(-1.0, 1.0)",
        )
    ]
    out += [
        f"tf.nn.isotonic_regression(ROWS, {falling}, {axis}){part}"
        for falling in (True, False)
        for axis in (0, -1)
        for part in ("[0]", "[1]")
    ]
    for loss in ("nce_loss", "sampled_softmax_loss"):
        out += [f"tf.nn.{loss}({_LOSS.format(n, hits)})" for n in (1, 2) for hits in (True, False)]
    out += [f"tf.nn.compute_accidental_hits(LABELS, DRAWN, 2)[{i}]" for i in range(3)]
    out.append("tf.random.all_candidate_sampler(LABELS, 2, 6, True)[1]")
    sampled = "LABELS, 2, 5, False, 6"
    out += [
        f"tf.random.{name}_candidate_sampler({sampled})[1]" for name in ("uniform", "log_uniform")
    ]
    out += [
        f"tf.random.fixed_unigram_candidate_sampler({sampled}, unigrams={unigrams}{more})[1]"
        for unigrams, more in (
            ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], ", distortion=0.5"),
            ([3.0, 2.0, 1.0, 4.0, 5.0], ", num_reserved_ids=1"),
        )
    ]
    out += [
        f"tf.nn.fractional_{kind}_pool(Y, [1.0, 2.0, 7.0, 1.0], False, {overlapping}, 1)[{i}]"
        for kind in ("max", "avg")
        for overlapping in (True, False)
        for i in range(3)
    ]
    back = "[1, 1, 1, 1]"
    out += [
        f"tf.nn.depthwise_conv2d_backprop_input([2, 4, 7, 3], FILTER, "
        f"tf.nn.depthwise_conv2d(Y, FILTER, {back}, '{p}'), {back}, '{p}')"
        for p in ("VALID", "SAME")
    ]
    out += [
        f"tf.nn.depthwise_conv2d_backprop_filter(Y, [2, 3, 3, 2], "
        f"tf.nn.depthwise_conv2d(Y, FILTER, {back}, '{p}'), {back}, '{p}')"
        for p in ("VALID", "SAME")
    ]
    wide = "tf.ones([2, 3, 2, 1])"
    out += [
        f"tf.nn.atrous_conv2d_transpose(X, {wide}, [2, 5, 7, 2], {rate}, 'SAME')" for rate in (1, 2)
    ]
    out.append(f"tf.nn.atrous_conv2d_transpose(X, {wide}, [2, 7, 11, 2], 2, 'VALID')")
    out += [
        f"tf.nn.with_space_to_batch(X, [2, 3], '{p}', "
        "lambda x, n, p: tf.nn.conv2d(x, tf.ones([2, 3, 1, 1]), 1, p), filter_shape=[2, 3])"
        for p in ("VALID", "SAME")
    ]
    return out


def main() -> None:
    """Writes the file that is named."""
    tf: Any = importlib.import_module("tensorflow")
    names = {key: tf.constant(value) for key, value in VALUES.items()}
    found = {}
    for call in calls():
        result = eval(call, {"tf": tf, "np": np, **names}).numpy()
        found[call] = [str(result.dtype), list(result.shape), result.ravel().tolist()]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file, separators=(",", ":"), indent=0)
    print(f"{len(found)} calls")


if __name__ == "__main__":
    main()
