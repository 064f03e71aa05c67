"""Runs Keras' own tests, which are part of its package, on Weft.

`python checks/keras_suite.py` runs all of them, `--fast` a fixed part that takes a minute, paths
below `keras/src` just these. Tests that are known to fail are listed in `keras_known_failures.txt`
with the reason; one that passes after all is an error, so the list gets shorter.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
# Other backends and packages that only they need.
LEFT_OUT = {
    "applications": "downloads pictures and weights",
    "backend/jax": "another backend",
    "backend/torch": "another backend",
    "backend/openvino": "another backend",
    "backend/numpy": "another backend",
    "callbacks/orbax_checkpoint_test.py": "orbax, a package for JAX",
    "callbacks/tensorboard_test.py": "reads its files with TensorFlow's own classes",
    "distribution": "several devices",
    "export/onnx_test.py": "ONNX",
    "export/openvino_test.py": "OpenVINO",
    "export/litert_test.py": "LiteRT",
    "export/litert_torch_test.py": "LiteRT",
    "export/torch_test.py": "torch",
    "quantizers/gptq_test.py": "large models",
    "trainers/data_adapters/grain_dataset_adapter_test.py": "grain",
    "trainers/data_adapters/torch_data_loader_adapter_test.py": "torch",
    "utils/dataset_utils_test.py": "torch",
    "utils/jax_layer_test.py": "jax",
    "utils/torch_utils_test.py": "torch",
    "utils/grain_utils_test.py": "grain",
    "wrappers/sklearn_test.py": "scikit-learn",
}
# A part of each kind that takes about a minute.
FAST = [
    "layers/core/dense_test.py",
    "layers/core/embedding_test.py",
    "layers/convolutional/conv_test.py",
    "layers/rnn/lstm_test.py",
    "layers/rnn/gru_test.py",
    "layers/rnn/bidirectional_test.py",
    "layers/normalization/batch_normalization_test.py",
    "layers/attention/multi_head_attention_test.py",
    "layers/preprocessing/string_lookup_test.py",
    "layers/preprocessing/text_vectorization_test.py",
    "optimizers/adam_test.py",
    "optimizers/sgd_test.py",
    "optimizers/loss_scale_optimizer_test.py",
    "losses",
    "metrics/accuracy_metrics_test.py",
    "metrics/confusion_metrics_test.py",
    "models/sequential_test.py",
    "models/functional_test.py",
    "models/model_test.py",
    "ops/core_test.py",
    "ops/math_test.py",
    "random/random_test.py",
    "saving/saving_lib_test.py",
    "trainers/trainer_test.py",
    "trainers/epoch_iterator_test.py",
]


def tests_of_keras() -> Path:
    """The folder with Keras' sources and tests."""
    found = find_spec("keras")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("Keras is not installed: pip install 'weft[keras]'.")
    return Path(found.submodule_search_locations[0]) / "src"


def main() -> int:
    """Runs pytest; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="below keras/src; all, if there are none")
    parser.add_argument("--fast", action="store_true", help="a part that takes a minute")
    parser.add_argument("--workers", type=int, default=2, help="processes that share the tests")
    options, rest = parser.parse_known_args()
    root = tests_of_keras()
    chosen = options.paths or (FAST if options.fast else ["."])
    left_out = [f"--ignore={root / path}" for path in LEFT_OUT]
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "pytest.ini"
        settings.write_text("[pytest]\n", encoding="utf-8")
        command = [
            *[sys.executable, "-m", "pytest", "-q", "--no-header", "--noconftest"],
            *["-c", str(settings), "--rootdir", str(root), "-p", "checks.keras_plugin"],
            # Rewritten assertions would be loaded past the hook that binds Keras.
            *["--assert=plain", "-p", "no:cacheprovider", "--tb=short", "-W", "ignore"],
            *(["-n", str(options.workers)] if options.workers > 1 else []),
            *[str(root / path) for path in chosen],
            *left_out,
            *rest,
        ]
        return subprocess.run(command, cwd=HERE.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
