"""Public functions and methods take the arguments that TensorFlow's take, by name and by place."""

from __future__ import annotations

import gzip
import json

import weft as tf
from checks import record_signatures as recorded
from weft._src.public.tensorflow_names import NAMES

# What differs on purpose, or does not matter: arguments that only TensorFlow's own code passes,
# older names, defaults that mean the same.
KNOWN = {
    "DType": "missing type_enum, handle_data",
    "Graph.as_graph_def": "missing use_pybind11_proto",
    "RaggedTensorSpec": "missing flat_values_spec",
    "TensorArraySpec.is_compatible_with": "missing other",
    "Variable": "experimental_enable_variable_lifting: True, not None",
    "dtypes.DType": "missing type_enum, handle_data",
    "experimental.ExtensionTypeBatchEncoder.decode": "missing encoded_value",
    "experimental.ExtensionTypeBatchEncoder.encode": "missing spec",
    "experimental.RowPartition": "missing row_lengths, value_rowids, nrows, nvals, internal",
    "experimental.numpy.amax": "missing out",
    "experimental.numpy.amin": "missing out",
    "experimental.numpy.pad": "mode: required, not 'constant'",
    "experimental.numpy.sign": "missing out, where",
    "image.stateless_random_saturation": "seed: None, not required",
    "io.gfile.GFile.seek": "missing position; offset: None, not 0",
    "linalg.LinearOperatorIdentity.add_to_tensor": "missing mat",
    "linalg.LinearOperatorScaledIdentity.add_to_tensor": "missing mat",
    "linalg.LinearOperatorZeros.add_to_tensor": "missing mat",
    "nest.map_structure": "missing structure",
    "types.experimental.FunctionType": "missing __validate_parameters__",
    "types.experimental.TraceType.placeholder_value": "placeholder_context: required, not None",
}
ALIASES_OF = ("hasher_spec", "dilations")  # None, and what it means
VARIADIC = (2, 4)


def difference(theirs: list[recorded.Parameter], ours: list[recorded.Parameter]) -> str:
    """What a call for TensorFlow would meet here; "" if nothing."""
    named = [p for p in theirs if p[1] not in VARIADIC]
    own = {name: default for name, kind, default in ours if kind not in VARIADIC}
    takes_more = any(kind == 4 for _, kind, _ in ours)
    missing = [name for name, _, _ in named if name not in own and not takes_more]
    found = [f"missing {', '.join(missing)}"] if missing else []
    both = [name for name, _, _ in named if name in own]
    if [name for name in own if name in both] != both:
        found.append("another order")
    for name, _, default in named:
        mine = own.get(name, default)
        if mine != default and "..." not in (mine, default) and name not in ("name", *ALIASES_OF):
            found.append(f"{name}: {default}, not {mine}")
    return "; ".join(found)


def test_arguments_are_those_of_tensorflow() -> None:
    kept = json.loads(gzip.decompress(recorded.KEPT.read_bytes()))
    found, compared = {}, 0
    for path, function in recorded.functions_of(tf, NAMES):
        theirs, ours = kept.get(path), recorded.parameters_of(function)
        if theirs is None or ours is None:
            continue
        if len(theirs) <= 2 and any(kind in VARIADIC for _, kind, _ in theirs):
            continue  # it says nothing of what it takes
        compared += 1
        text = difference(theirs, ours)
        if text and KNOWN.get(path) != text:
            found[path] = text
    assert found == {}
    assert compared > 2000
