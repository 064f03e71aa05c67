"""Saved datasets in TensorFlow's form: each tensor of an element is a record of a TFRecord file.

Ragged and sparse tensors are variants there: messages with a name, that hold several tensors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src import nest
from weft._src.core import dtypes
from weft._src.core.aliases import SpecNest
from weft._src.core.specs import NoneTensorSpec, TensorSpec
from weft._src.core.tensor import EagerTensor
from weft._src.data.core.stage import UNKNOWN, Cursor, Run
from weft._src.data.core.structure import Values, eager_tensor
from weft._src.data.sources.storage import FileCursor, FileStage, check_fits
from weft._src.errors import DataLossError, InvalidArgumentError, ParseError, UnsupportedError
from weft._src.fileio.crc32c import masked_crc32c
from weft._src.fileio.paths import file_errors
from weft._src.fileio.records import RecordReader
from weft._src.fileio.structured_values import message_of, value_of
from weft._src.fileio.tensors import to_message
from weft._src.graph.tensor_proto import array_of, pieces_of
from weft._src.messages.structures import StructuredValue
from weft._src.messages.tensors import (
    SnapshotMetadataRecord,
    TensorProto,
    VariantTensorDataProto,
    shape_message,
)
from weft._src.messages.wire import varint
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.sparse.tensor import SparseTensorSpec

Array = np.ndarray[Any, Any]

METADATA, SPEC = "snapshot.metadata", "dataset_spec.pb"
_VERSION = 2  # of the form: TFRecord files
_RAGGED, _TENSOR = "RaggedTensorVariant", "tensorflow::Tensor"
_GZIP = b"\x1f\x8b"


# --- tensors, ragged and sparse tensors as records -----------------------------------------------


class ElementForm:
    """How elements of a type are written: one record for each leaf of their structure."""

    def __init__(self, spec: SpecNest) -> None:
        leaves = nest.flatten(spec)
        self._leaves = [leaf for leaf in leaves if not isinstance(leaf, NoneTensorSpec)]
        for leaf in self._leaves:
            if not isinstance(leaf, (TensorSpec, RaggedTensorSpec, SparseTensorSpec)):
                raise TypeError(f"Datasets whose elements hold {leaf!r} cannot be saved.")
        if not self._leaves:
            raise TypeError("Datasets whose elements hold no tensors cannot be saved.")
        self._sizes = [1 if isinstance(leaf, TensorSpec) else len(leaf._component_specs)
                       for leaf in self._leaves]  # fmt: skip
        self.specs: list[TensorSpec] = []
        for leaf in self._leaves:
            self.specs += [leaf] if isinstance(leaf, TensorSpec) else leaf._component_specs

    @property
    def numbers(self) -> list[int]:
        """The dtypes of the records, as numbers."""
        kinds = [x.dtype if isinstance(x, TensorSpec) else dtypes.variant for x in self._leaves]
        return [kind.as_datatype_enum for kind in kinds]

    def records(self, values: Values) -> list[bytes]:
        """An element as records."""
        out, at = [], 0
        arrays = [eager_tensor(value)._value for value in values]
        for leaf, size in zip(self._leaves, self._sizes, strict=True):
            parts = arrays[at : at + size]
            at += size
            if isinstance(leaf, TensorSpec):
                message = to_message(parts[0])
            elif isinstance(leaf, RaggedTensorSpec):
                message = _variants([(_RAGGED, [*parts[1:], parts[0]])], ())
            else:
                message = _variants([(_TENSOR, [part]) for part in parts], (3,))
            out.append(message.SerializeToString())
        return out

    def read(self, reader: RecordReader, path: str) -> Values | None:
        """The next element of a file; None at its end."""
        values: list[Any] = []
        for i, leaf in enumerate(self._leaves):
            record = reader.read()
            if record is None:
                if i == 0:
                    return None
                raise DataLossError(None, None, f"{path} ends within an element.")
            try:
                values += _parsed(leaf, TensorProto.FromString(record), path)
            except ParseError as error:
                raise DataLossError(None, None, f"{path} holds something else: {error}") from error
        return tuple(values)


def _variants(found: Sequence[tuple[str, list[Array]]], shape: tuple[int, ...]) -> TensorProto:
    """A tensor of variants: the lengths of all of them, then each."""
    written = [
        VariantTensorDataProto(
            type_name=name, tensors=[to_message(array) for array in arrays]
        ).SerializeToString()
        for name, arrays in found
    ]
    content = b"".join([*(varint(len(one)) for one in written), *written])
    number = dtypes.variant.as_datatype_enum
    return TensorProto(dtype=number, tensor_shape=shape_message(shape), tensor_content=content)


def _parsed(leaf: Any, message: TensorProto, path: str) -> list[Array]:
    if isinstance(leaf, TensorSpec):
        array = array_of(message)
        check_fits(array, leaf, path)
        return [array]
    if message.dtype != dtypes.variant.as_datatype_enum:
        raise ParseError(f"a tensor of dtype number {message.dtype} stands for {leaf!r}")
    if isinstance(leaf, RaggedTensorSpec):
        ((name, tensors),) = _held(message, 1)
        if name != _RAGGED or len(tensors) != leaf.ragged_rank + 1:
            raise ParseError(f"a variant {name!r} of {len(tensors)} tensors stands for {leaf!r}")
        parts = [tensors[-1], *tensors[:-1]]
    else:
        found = _held(message, 3)
        if any(name != _TENSOR or len(tensors) != 1 for name, tensors in found):
            raise ParseError(f"variants {[name for name, _ in found]} stand for {leaf!r}")
        parts = [tensors[0] for _, tensors in found]
    for array, spec in zip(parts, leaf._component_specs, strict=True):
        check_fits(array, spec, path)
    _check_parts(leaf, parts, path)
    return parts


def _held(message: TensorProto, count: int) -> list[tuple[str, list[Array]]]:
    """The names of variants, and the tensors in them."""
    found = [
        VariantTensorDataProto.FromString(one) for one in pieces_of(message.tensor_content, count)
    ]
    return [(one.type_name, [array_of(tensor) for tensor in one.tensors]) for one in found]


def _check_parts(leaf: Any, parts: list[Array], path: str) -> None:
    """InvalidArgumentError if splits or indices lead out of the values."""
    if isinstance(leaf, RaggedTensorSpec):
        if leaf.ragged_rank:
            flat_values, *splits = [EagerTensor(part) for part in parts]
            RaggedTensor.from_nested_row_splits(flat_values, splits, validate=True)
        return
    indices, values, shape = parts
    sizes_fit = indices.shape == (len(values), len(shape))
    if not sizes_fit or (indices < 0).any() or (indices >= shape).any():
        raise InvalidArgumentError(
            None,
            None,
            f"{path}: indices of a sparse tensor are outside of its shape.",
        )
    if not leaf.shape.is_compatible_with(shape.tolist()):
        raise InvalidArgumentError(
            None, None, f"{path} holds a sparse tensor of shape {shape.tolist()}, not {leaf.shape}."
        )


# --- folders -------------------------------------------------------------------------------------


class SavedStage(FileStage):
    """The elements in the files of a saved dataset."""

    __slots__ = ("form",)

    def __init__(self, paths: Sequence[str], form: ElementForm, count: int = UNKNOWN) -> None:
        kind = compression_of(paths[0]) if paths else ""
        super().__init__(paths, form.specs, kind, count)
        self.form = form

    def cursor(self, run: Run) -> Cursor:
        return SavedCursor(self)


class SavedCursor(FileCursor):
    """A walk through them."""

    def __init__(self, stage: SavedStage) -> None:
        super().__init__(stage.paths, stage.specs, stage.compression)
        self._form = stage.form

    def _element(self, reader: RecordReader, path: str) -> Values | None:
        return self._form.read(reader, path)


def compression_of(path: str) -> str:
    """How a file is compressed: its first record, or what comes instead, tells."""
    with file_errors("Dataset.load", path), open(path, "rb") as file:
        start = file.read(12)
    if not start or masked_crc32c(start[:8]) == int.from_bytes(start[8:], "little"):
        return ""
    return "GZIP" if start.startswith(_GZIP) else "SNAPPY"


def described(folder: str, given: SpecNest) -> tuple[SpecNest, str, int]:
    """The type of the elements in a folder, the folder with the files inside, and their number."""
    metadata = _metadata(folder)
    path = os.path.join(folder, SPEC)
    spec = given
    if given is None or os.path.exists(path):
        spec = _message(path, _element_spec)
    return spec, os.path.join(folder, metadata.run_id), max(metadata.num_elements, 0)


def _element_spec(data: bytes) -> SpecNest:
    spec: SpecNest = value_of(StructuredValue.FromString(data))
    try:
        ElementForm(spec)
    except TypeError as error:
        raise ParseError(str(error)) from error
    return spec


def run_of(folder: str) -> str:
    """The folder with the files."""
    return os.path.join(folder, _metadata(folder).run_id)


def _metadata(folder: str) -> Any:
    path = os.path.join(folder, METADATA)
    metadata: Any = _message(path, SnapshotMetadataRecord.FromString)
    if not re.fullmatch(r"\w+", metadata.run_id):  # nothing outside is read, or removed
        raise DataLossError(None, None, f"{path} names no folder: {metadata.run_id!r}.")
    if metadata.version != _VERSION:
        raise UnsupportedError(
            f"{path} is of version {metadata.version}, and only version {_VERSION} is read: save "
            "the dataset anew with Dataset.save, here or in TensorFlow."
        )
    return metadata


def _message(path: str, parse: Callable[[bytes], Any]) -> Any:
    with file_errors("Dataset.load", path), open(path, "rb") as file:
        data = file.read()
    try:
        return parse(data)
    except ParseError as error:
        raise DataLossError(
            None, None, f"{path} does not describe a saved dataset: {error}"
        ) from error


def describe(folder: str, run: str, spec: SpecNest, count: int, time: int) -> None:
    """Writes what `described` reads. What was there is replaced at once, by the second file."""
    metadata = SnapshotMetadataRecord(
        run_id=run,
        creation_timestamp=time,
        version=_VERSION,
        dtype=ElementForm(spec).numbers,
        num_elements=count,
        finalized=True,
    )
    for name, message in ((SPEC, message_of(spec)), (METADATA, metadata)):
        path = os.path.join(folder, name)
        with file_errors("Dataset.save", path):
            with open(f"{path}.unfinished", "wb") as file:
                file.write(message.SerializeToString())
            os.replace(f"{path}.unfinished", path)


def shards(run: str) -> list[list[str]]:
    """The files of each shard in the folder of a run."""
    with file_errors("Dataset.load", run):
        names = sorted(os.listdir(run)) if os.path.isdir(run) else []
        folders = [os.path.join(run, name) for name in names if name.endswith(".shard")]
        return [
            [os.path.join(shard, name) for name in sorted(os.listdir(shard))
             if name.endswith(".snapshot")]
            for shard in folders
        ]  # fmt: skip


def shard_file(run: str, number: int) -> str:
    """The file that the elements of a shard are written to."""
    return os.path.join(run, f"{number:08d}.shard", "00000000.snapshot")
