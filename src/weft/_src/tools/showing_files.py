"""`weft show` and `weft check`: what is in a checkpoint or a SavedModel, what is missing here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from weft._src.core import dtypes
from weft._src.errors import DataLossError, NotFoundError
from weft._src.raw_ops import reaching_out
from weft._src.saved_model import loading, structures
from weft._src.saving.bundle import BundleReader
from weft._src.saving.states import latest_checkpoint

_SAVED_MODEL = "saved_model.pb"


class NothingToShowError(Exception):
    """A path that is neither a checkpoint nor a SavedModel."""


def shown(path: str) -> Iterator[str]:
    """The lines of `weft show`."""
    if os.path.exists(os.path.join(path, _SAVED_MODEL)):
        yield from _model(path)
    else:
        yield from _checkpoint(_prefix(path))


def _prefix(path: str) -> str:
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is not None:
            return found
        raise NothingToShowError(f"{path} has neither a SavedModel nor a checkpoint in it")
    prefix = path.removesuffix(".index")
    if not os.path.exists(f"{prefix}.index"):
        raise NothingToShowError(f"{path} is neither a checkpoint nor the folder of a SavedModel")
    return prefix


def _checkpoint(prefix: str) -> Iterator[str]:
    reader = BundleReader(prefix)
    names = reader.names()
    yield f"checkpoint {prefix}: {len(names)} tensors in {reader.shards} data files"
    longest = max([len(name) for name in names], default=0)
    for name in names:
        dtype, shape = reader.dtype_and_shape(name)
        yield f"  {name:<{longest}}  {dtype.name:<10} {list(shape)}"
    try:
        reader.verify()
    except (DataLossError, NotFoundError) as error:
        yield f"checksums: {error.message}"
    else:
        yield "checksums: all as written"


def _model(path: str) -> Iterator[str]:
    graph = loading.meta_graph(path)
    info = graph.meta_info_def
    version = info.tensorflow_version or "?"
    yield f"SavedModel {path}: written by TensorFlow {version}, not checksummed"
    for name, signature in sorted(graph.signature_def.items()):
        if name.startswith("__"):
            continue
        yield f"  signature {name}"
        for title, tensors in (("takes", signature.inputs), ("gives", signature.outputs)):
            for key, tensor in sorted(tensors.items()):
                yield f"    {title} {key}: {_type(tensor)}"
    if os.path.exists(os.path.join(path, "variables", "variables.index")):
        yield from _checkpoint(os.path.join(path, "variables", "variables"))
    yield from checked(path)


def _type(tensor: Any) -> str:
    shape = structures.shape_of(tensor.tensor_shape)
    return f"{dtypes.as_dtype(int(tensor.dtype)).name} {shape}"


def checked(path: str) -> Iterator[str]:
    """The lines of `weft check`: the ops of a SavedModel, and which of them cannot run."""
    if not os.path.exists(os.path.join(path, _SAVED_MODEL)):
        raise NothingToShowError(f"{path} is not the folder of a SavedModel")
    loader = loading.Loader(path, loading.meta_graph(path), allow_io=False)
    count = loader.library.ops(loader._wanted())
    problems = {op: reaching_out.problem_of(op, False) for op in count}
    missing = {op: why for op, why in problems.items() if why is not None}
    yield f"ops: {len(count)} kinds, {sum(count.values())} nodes; {len(missing)} kinds cannot run"
    for op, why in sorted(missing.items()):
        yield f"  {op} ({count[op]} times): {why}"


def is_fine(path: str) -> bool:
    """Whether everything in a SavedModel can run."""
    return not any(line.startswith("  ") for line in checked(path))
