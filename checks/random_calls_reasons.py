"""Why single calls of `random_calls.py` differ: told by what TensorFlow says, or one by one."""

from __future__ import annotations

from typing import Any

NO_KERNEL = "TensorFlow has no kernel for such a dtype"
NAN = "what becomes of NaN, infinities and overflow"
EMPTY = "TensorFlow refuses an empty batch, or fails for it"
ONEDNN = "oneDNN, with which TensorFlow is built, fails with a class of its own"
STRICT = "Weft checks what TensorFlow passes over"
ADOPTED = "numbers take the dtype of the tensor beside them, which TensorFlow makes float32"

# By function, or its beginning, and what differs ("" is anything): the reason.
REASONS: dict[tuple[str, str], str] = {
    ("eig", "only TensorFlow fails"): NO_KERNEL,
    ("experimental.numpy.around", ""): "TensorFlow needs its NumPy behaviour for it",
    ("experimental.numpy.amax", ""): "of no elements there is no largest one, as in NumPy",
    ("experimental.numpy.amin", ""): "of no elements there is no smallest one, as in NumPy",
    ("experimental.numpy.max", ""): "of no elements there is no largest one, as in NumPy",
    ("experimental.numpy.min", ""): "of no elements there is no smallest one, as in NumPy",
    ("experimental.numpy.ptp", ""): "of no elements there is no largest one, as in NumPy",
    ("experimental.numpy.angle", ""): "the dtype of the argument, as in NumPy",
    ("experimental.numpy.pad", ""): "ValueError, as in NumPy",
    ("experimental.numpy.diag_indices", ""): "int64, as in NumPy",
    ("experimental.numpy.kron", ""): "TensorFlow cannot broadcast so many axes",
    ("experimental.numpy.take_along_axis", ""): "arrays of other ranks are refused, as in NumPy",
    ("histogram_fixed_width_bins", ""): STRICT,
    ("image.non_max_suppression_padded", "only TensorFlow fails"): "TensorFlow mixes dtypes in it, "
    "and fails without boxes",
    ("image.non_max_suppression_with_scores", "only TensorFlow fails"): NO_KERNEL,
    ("image.sobel_edges", "only TensorFlow fails"): EMPTY,
    ("linalg.cholesky", "value"): "TensorFlow leaves beside NaN what was in memory",
    ("linalg.cross", "class of error"): "TensorFlow finds it too late for a class of its shapes",
    ("linalg.eigh", "only Weft fails"): STRICT,
    ("linalg.eigh_tridiagonal", "only TensorFlow fails"): "TensorFlow mixes up the axes of batches",
    ("linalg.eigh_tridiagonal", "only Weft fails"): STRICT,
    ("linalg.expm", "value"): "Weft has more digits",
    ("math.polyval", ""): ADOPTED,
    ("nn.atrous_conv2d", "only TensorFlow fails"): EMPTY,
    ("nn.atrous_conv2d_transpose", "only Weft fails"): STRICT,
    ("nn.conv1d_transpose", "only Weft fails"): STRICT,
    ("nn.conv2d_transpose", "only Weft fails"): STRICT,
    ("nn.conv3d_transpose", "only Weft fails"): STRICT,
    ("nn.conv_transpose", "only Weft fails"): STRICT,
    ("nn.ctc_beam_search_decoder", "value"): "Weft has more digits",
    ("nn.ctc_beam_search_decoder", "shape"): NAN,
    ("nn.ctc_loss", "only TensorFlow fails"): NO_KERNEL,
    ("nn.ctc_loss", "only Weft fails"): STRICT,
    ("nn.depthwise_conv2d_backprop", "only Weft fails"): STRICT,
    ("nn.fractional_", "only TensorFlow fails"): EMPTY,
    ("nn.max_pool_with_argmax", "only TensorFlow fails"): EMPTY,
    ("nn.normalize_moments", ""): ADOPTED,
    ("nn.safe_embedding_lookup_sparse", ""): "TensorFlow only takes tables that are matrices",
    ("parallel_stack", ""): "TensorFlow has it in graphs only",
    ("ragged.row_splits_to_segment_ids", ""): "splits that are not sorted mean nothing",
    ("ragged.segment_ids_to_row_splits", ""): STRICT,
    ("random_index_shuffle", ""): "Weft draws a permutation of its own",
    ("signal.", "only TensorFlow fails"): EMPTY,
    ("conv2d_backprop", "class of error"): NO_KERNEL,
}
SPECIAL_VALUES = 7  # the number of the calls with these


def reason(key: str, what: str, wanted: Any) -> str:
    """Why a call differs; "" if nobody has said."""
    name, _, number = key.partition("#")
    text = wanted[2] if wanted[0] == "error" else ""
    if "Could not find device" in text or "in the list of allowed values" in text:
        return NO_KERNEL
    if wanted[0] == "error" and wanted[1][0] == "AbortedError":
        return ONEDNN
    for (start, kind), why in REASONS.items():
        if name.startswith(start) and kind in ("", what):
            return why
    return NAN if int(number) == SPECIAL_VALUES and what == "value" else ""
