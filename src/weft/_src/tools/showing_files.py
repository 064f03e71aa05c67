"""`weft show` and `weft check`: what is in files that hold tensors or functions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weft._src.core import dtypes
from weft._src.errors import DataLossError, NotFoundError
from weft._src.fileio import structured_values
from weft._src.raw_ops import reaching_out
from weft._src.saved_model import loading, seals
from weft._src.saving.bundle import BundleReader
from weft._src.saving.files import is_safetensors
from weft._src.saving.safetensors import SafetensorsReader
from weft._src.saving.states import latest_checkpoint
from weft._src.tools.terminal import CommandError

_SAVED_MODEL = "saved_model.pb"


class NothingToShowError(CommandError):
    """A path that is neither a checkpoint nor a SavedModel."""


def shown(path: str) -> Iterator[str]:
    """The lines of `weft show`."""
    if os.path.exists(os.path.join(path, _SAVED_MODEL)):
        yield from _model(path)
        return
    found = _prefix(path)
    if is_safetensors(found):
        yield from _tensors(found)
        yield _checksums(found)
    else:
        yield from _checkpoint(found)


def _prefix(path: str) -> str:
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is not None:
            return found
        raise NothingToShowError(f"{path} has neither a SavedModel nor a checkpoint in it")
    if is_safetensors(path) and os.path.exists(path):
        return path
    prefix = path.removesuffix(".index")
    if not os.path.exists(f"{prefix}.index"):
        raise NothingToShowError(
            f"{path} is neither a checkpoint, nor a safetensors file, nor the folder of a model"
        )
    return prefix


def _tensors(path: str) -> Iterator[str]:
    reader = SafetensorsReader(path, verify=False)
    names = reader.names()
    yield f"safetensors {path}: {len(names)} tensors"
    for key, text in sorted(reader.metadata.items()):
        yield f"  {key} = {text!r}"
    longest = max([len(name) for name in names], default=0)
    for name in names:
        kind, shape, *_ = reader.described(name)
        lacking = "" if kind.dtype is not None else "  (a dtype that Weft does not have)"
        yield f"  {name:<{longest}}  {kind.name:<10} {list(shape)}{lacking}"


def _checksums(path: str) -> str:
    """What the checksums of a safetensors file say."""
    try:
        reader = SafetensorsReader(path)
        reader.verify()
    except DataLossError as error:
        return f"checksums: {error.message}"
    return "checksums: all as written" if reader.has_checksums else "not checksummed"


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
    if seals.is_sealed(Path(path, _SAVED_MODEL).read_bytes()):  # it was verified above
        writer, checksums = info.tensorflow_git_version, "checksum as written"
    else:
        writer, checksums = f"TensorFlow {info.tensorflow_version or '?'}", "not checksummed"
    yield f"SavedModel {path}: written by {writer}, {checksums}"
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
    shape = structured_values.shape_of(tensor.tensor_shape)
    return f"{dtypes.as_dtype(int(tensor.dtype)).name} {shape}"


def checked(path: str) -> Iterator[str]:
    """The lines of `weft check`: what a SavedModel or a safetensors file has that Weft has not."""
    if is_safetensors(path) and os.path.exists(path):
        yield from [line for line in _tensors(path) if not line.startswith("  ") or "(a dt" in line]
        found = _checksums(path)
        yield f"  {found}" if "damaged" in found else found
        return
    if not os.path.exists(os.path.join(path, _SAVED_MODEL)):
        raise NothingToShowError(
            f"{path} is neither the folder of a SavedModel nor a safetensors file"
        )
    loader = loading.Loader(path, loading.meta_graph(path), allow_io=False)
    count = loader.library.ops(loader._wanted())
    problems = {op: reaching_out.problem_of(op, False) for op in count}
    missing = {op: why for op, why in problems.items() if why is not None}
    yield f"ops: {len(count)} kinds, {sum(count.values())} nodes; {len(missing)} kinds cannot run"
    for op, why in sorted(missing.items()):
        yield f"  {op} ({count[op]} times): {why}"


def is_fine(path: str) -> bool:
    """Whether everything in a SavedModel can run, or everything in a file be read."""
    return not any(line.startswith("  ") for line in checked(path))
