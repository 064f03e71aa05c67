"""Names of `weft` that are imported when they are used: a tenth of the time of `import weft`.

By name, the module that has it.
"""

from __future__ import annotations

_NAMESPACES = (
    "audio", "data", "distribute", "experimental", "graph_util", "io", "lookup", "profiler",
    "queue", "raw_ops", "saved_model", "summary", "sysconfig", "test", "tools", "train", "xla",
)  # fmt: skip
LATER: dict[str, str] = {name: f"weft.{name}" for name in _NAMESPACES}
# Keras has to be installed: `from weft import *` works without it.
LATER |= dict.fromkeys(("keras", "initializers", "losses", "metrics", "optimizers"), "weft.keras")
LATER |= {
    "install_as_tensorflow": "weft._src.keras.alias",
    "export": "weft._src.saving.exporting",
    "progress": "weft._src.data.core.telling",
    "load": "weft._src.saving.safetensors",
    "save": "weft._src.saving.safetensors",
    "DeviceSpec": "weft._src.config.device_names",
    "OptionalSpec": "weft._src.data.core.optional",
    "nondifferentiable_batch_function": "weft._src.function.batch_function",
    "import_graph_def": "weft._src.saved_model.graph_imports",
}
_AT_THE_TOP = (
    "approx_top_k", "check_pinned", "conv", "conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2", "extract_volume_patches", "fftnd", "guarantee_const", "ifftnd",
    "irfftnd", "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad", "random_index_shuffle",
    "rfftnd",
)  # fmt: skip
LATER |= dict.fromkeys(_AT_THE_TOP, "weft._src.raw_ops.at_the_top")
