"""Named tensors in one file, in the format safetensors, which many libraries read and write.

Files are mapped: a tensor is read when it is asked for, where it lies if its place allows that.
Files of Weft have checksums, as a text of their metadata, which others pass over.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from weft._src.core import progress
from weft._src.core.aliases import PathLike, TensorLike
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, from_numpy, string
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from weft._src.fileio.crc32c import crc32c
from weft._src.fileio.paths import file_errors, path_text
from weft._src.saving.bundle import as_array
from weft._src.saving.object_graph import at_one_moment
from weft._src.saving.safetensors_header import (
    BY_DTYPE,
    METADATA,
    Described,
    Stored,
    header_bytes,
    read_header,
)
from weft._src.saving.sorted_table import damaged
from weft._src.saving.writing import whole_file
from weft._src.state.variable import Variable

Array = np.ndarray[Any, Any]
SUFFIX = ".safetensors"
_CHECKSUMS = "weft.crc32c"  # of the metadata, and of the tensors in the order of their names


# --- reading ------------------------------------------------------------------------------------


class SafetensorsReader:
    """The tensors of a file, each read when it is asked for."""

    def __init__(self, path: str, verify: bool = True) -> None:
        self.prefix = path
        with file_errors("Reading tensors", path):
            try:
                with open(path, "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    self._data: Any = (
                        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
                    )
            except FileNotFoundError:
                raise NotFoundError(None, None, f"There is no file {path!r}.") from None
        header = read_header(self._data, path)
        self._tensors, self._data_at = header.tensors, header.data_at
        self.metadata = header.metadata
        listed = self.metadata.pop(_CHECKSUMS, None)
        self._checksums = None if listed is None or not verify else self._by_name(listed)

    @property
    def has_checksums(self) -> bool:
        """Whether damage would be noticed; files of others have none."""
        return self._checksums is not None

    def _by_name(self, listed: str) -> dict[str, int]:
        try:
            written, *checksums = [int(text, 16) for text in listed.split(" ")]
        except ValueError:
            raise damaged(self.prefix, f"its checksums are {listed[:80]!r}") from None
        found = _of_metadata(self.metadata)
        if found != written:
            raise self._other("the metadata", written, found)
        if len(checksums) != len(self._tensors):
            what = f"it has {len(checksums)} checksums for {len(self._tensors)} tensors"
            raise damaged(self.prefix, what)
        return dict(zip(sorted(self._tensors), checksums, strict=True))

    def _other(self, what: str, written: int, found: int) -> Exception:
        return damaged(
            self.prefix,
            f"the checksum of {what} is {found:#010x}, and {written:#010x} was written (if another "
            "program changed the file and kept Weft's checksums, load it with verify=False)",
        )

    def names(self) -> list[str]:
        """The names of all tensors, in their order."""
        return sorted(self._tensors)

    def __contains__(self, key: str) -> bool:
        return key in self._tensors

    def described(self, key: str) -> Described:
        """What the header says of a tensor."""
        found = self._tensors.get(key)
        if found is None:
            raise NotFoundError(None, None, f"There is no tensor {key!r} in {self.prefix}.")
        return found

    def dtype_and_shape(self, key: str) -> tuple[DType, tuple[int, ...]]:
        """The type of a tensor; UnsupportedError if Weft does not have its dtype."""
        kind, shape, *_ = self.described(key)
        if kind.dtype is None:
            raise UnsupportedError(
                f"The tensor {key!r} in {self.prefix} is stored as {kind.name}, a dtype that Weft "
                "does not have. Convert it with the library that wrote it, to BF16 for example."
            )
        return kind.dtype, shape

    def read(self, key: str) -> Array:
        """A tensor; DataLossError if its bytes are not those that were written."""
        dtype, shape = self.dtype_and_shape(key)
        described = self._tensors[key]
        data = memoryview(self._data)[
            self._data_at + described.begin : self._data_at + described.end
        ]
        if self._checksums is not None:
            found = _checksum(key, described, data)
            if found != self._checksums[key]:
                raise self._other(f"the tensor {key!r}", self._checksums[key], found)
        raw = np.frombuffer(data, np.uint8)
        if described.kind.bits == 4:
            raw = np.stack([raw & 15, raw >> 4], -1).reshape(-1)  # two numbers in a byte
        there = as_array(raw, dtype, shape, f"The tensor {key!r} in {self.prefix}")
        return there if there.flags.aligned else there.copy()

    def verify(self) -> None:
        """Reads everything that can be read; DataLossError at the first that is not as written."""
        for key, described in self._tensors.items():
            if described.kind.dtype is not None:
                self.read(key)


def _checksum(name: str, described: Described, data: Any) -> int:
    """Of the description, too: bytes under another name or of another shape are damage."""
    kind, shape, *_ = described
    return crc32c(data, crc32c(f"{name}\0{kind.name}\0{list(shape)}\0".encode()))


def _of_metadata(metadata: Mapping[str, str]) -> int:
    crc = 0
    for key, text in sorted(metadata.items()):
        crc = crc32c(f"{key}\0{text}\0".encode(), crc)
    return crc


# --- writing ------------------------------------------------------------------------------------


def stored_kind(what: str, name: str, array: Array) -> Stored:
    """How an array is stored; UnsupportedError if the format has no place for it."""
    dtype = string if array.dtype == object else from_numpy(array.dtype)
    kind = BY_DTYPE.get(dtype)
    if kind is not None:
        return kind
    if dtype is string:
        remedy = "Leave it out, or write a checkpoint, by a name without the ending .safetensors"
    elif dtype.is_complex:
        remedy = "Save tf.math.real and tf.math.imag of it, or cast it to complex64"
    elif dtype.is_quantized:
        remedy = "Save the integers: tf.bitcast(x, tf.int8) and the like"
    else:
        remedy = "Cast it to int8 or to another type that the format has"
    raise UnsupportedError(
        f"{what}: the tensor {name!r} is of dtype {dtype.name}, which safetensors files cannot "
        f"hold. {remedy}."
    )


def write_safetensors(
    what: str, path: str, arrays: Mapping[str, Array], metadata: Mapping[str, str]
) -> None:
    """Writes tensors into one file, instead of what was there."""
    kinds = {name: stored_kind(what, name, array) for name, array in arrays.items()}
    described: dict[str, Described] = {}
    pieces: list[Any] = []
    checksums: dict[str, int] = {}
    at = 0
    # The widest first: then each begins at a multiple of its own size.
    for name, kind in sorted(kinds.items(), key=lambda item: (-item[1].bits, item[0])):
        data = _bytes(what, name, arrays[name], kind)
        described[name] = Described(kind, arrays[name].shape, at, at + len(data))
        checksums[name] = _checksum(name, described[name], data)
        pieces.append(data)
        at += len(data)
    listed = [_of_metadata(metadata), *[checksums[name] for name in sorted(checksums)]]
    text = " ".join([f"{crc:08x}" for crc in listed])
    header = header_bytes(described, {**metadata, _CHECKSUMS: text})
    with whole_file(path, what) as file:
        file.write(header)
        for piece in progress.each(pieces, f"Saving {os.path.basename(path)}", len(pieces)):
            file.write(piece)


def _bytes(what: str, name: str, array: Array, kind: Stored) -> Any:
    raw: Array = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if kind.bits == 4:
        if raw.size % 2:
            raise InvalidArgumentError(
                None,
                None,
                f"{what}: the tensor {name!r} has {raw.size} numbers of four bits, and the format "
                "holds pairs of them. Add one.",
            )
        raw = raw[::2] & 15 | raw[1::2] << 4
    return raw.data


# --- public functions ---------------------------------------------------------------------------


class LoadedTensors(Mapping[str, Tensor]):
    """The tensors of a file by name, as `weft.load` gives them.

    `metadata` is the dict of texts that was saved beside them.
    """

    def __init__(self, reader: SafetensorsReader) -> None:
        self._reader = reader
        self._names = reader.names()
        self.metadata: dict[str, str] = dict(reader.metadata)

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._reader:
            raise KeyError(name)
        return EagerTensor(self._reader.read(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._reader

    def __repr__(self) -> str:
        return f"<{len(self)} tensors in {self._reader.prefix}>"


def save(
    path: PathLike,
    tensors: Mapping[str, TensorLike | Variable],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors into a safetensors file, which PyTorch, JAX and others read, too.

    The file is replaced in one step: who is killed meanwhile leaves the one before. It carries
    checksums, which `weft.load` verifies. Variables are all read at one moment.

    Args:
      path: the file; its name should end in `.safetensors`.
      tensors: a dict of tensors, variables or arrays. Not strings, complex128, nor integers of less
        than eight bits: the format does not have them.
      metadata: a dict of texts that are kept beside the tensors.

    Raises:
      tf.errors.UnsupportedError: for a dtype that the format does not have.
      tf.errors.OpError: if the file cannot be written; the one that was there stays.
      RuntimeError: if it is called while a function is traced.

    >>> weights = {"layer.kernel": tf.ones([2, 3]), "layer.bias": tf.zeros([3], tf.bfloat16)}
    >>> tf.save("weights.safetensors", weights, metadata={"epoch": "7"})
    >>> sorted(tf.load("weights.safetensors"))
    ['layer.bias', 'layer.kernel']
    """
    if state.graph is not None:
        raise RuntimeError("weft.save writes a file at once, and a function is being traced.")
    file = path_text("weft.save", path)
    if not isinstance(tensors, Mapping):
        raise TypeError(
            f"weft.save: tensors must be a dict from names to tensors, got "
            f"{type(tensors).__name__}. tf.train.Checkpoint(model=...).write('x.safetensors') "
            "names those of an object."
        )
    for name in tensors:
        if not isinstance(name, str) or name == METADATA:
            raise InvalidArgumentError(
                None, None, f"weft.save: {name!r} cannot be the name of a tensor."
            )
        _check_text("weft.save: the name of a tensor", name)
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"weft.save: metadata must be a dict of texts, got {metadata!r}.")
    texts = dict(metadata or {})
    for key, text in texts.items():
        if not isinstance(key, str) or not isinstance(text, str) or key == _CHECKSUMS:
            raise InvalidArgumentError(
                None, None, f"weft.save: metadata holds texts only, got {key!r}: {text!r}."
            )
        _check_text("weft.save: metadata", key + text)
    variables = [value for value in tensors.values() if isinstance(value, Variable)]
    arrays = at_one_moment(
        variables, lambda: {name: _array(name, value) for name, value in tensors.items()}
    )
    write_safetensors("weft.save", file, arrays, texts)


def _check_text(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(None, None, f"{what}: {text!r} is not Unicode.") from None


def _array(name: str, value: Any) -> Array:
    if isinstance(value, Variable):
        return value._handle._value.read()
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weft.save: {name!r} is no tensor: {error}") from error
    if not isinstance(tensor, EagerTensor):
        raise TypeError(f"weft.save: {name!r} is a {type(tensor).__name__}, not a tensor.")
    return tensor._value


def load(path: PathLike, verify: bool = True) -> LoadedTensors:
    """The tensors of a safetensors file.

    The file is mapped into memory, and a tensor is read when it is asked for. Saving over
    a file that is loaded is safe: it is replaced, not changed.

    Args:
      path: the file.
      verify: whether the checksums are verified that files of Weft have; those of others have none.

    Returns:
      A mapping from names to tensors, which has the texts beside them as `metadata`.

    Raises:
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.DataLossError: if it is damaged, or no safetensors file.
      tf.errors.UnsupportedError: for a tensor of a dtype that Weft does not have, when it is read.

    >>> tf.save("one.safetensors", {"x": [1.0, 2.0]}, metadata={"by": "hand"})
    >>> loaded = tf.load("one.safetensors")
    >>> loaded["x"].numpy(), loaded.metadata
    (array([1., 2.], dtype=float32), {'by': 'hand'})
    """
    return LoadedTensors(SafetensorsReader(path_text("weft.load", path), bool(verify)))
