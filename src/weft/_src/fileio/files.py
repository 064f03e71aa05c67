"""Files as tensors: `read_file`, `write_file`, `matching_files`."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, PathLike, TensorLike
from weft._src.core.dtypes import STRING, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.fileio.paths import file_errors
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.strings.elements import as_array, string_tensor
from weft._src.state.variable import Variable

Array = np.ndarray[Any, Any]
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_PART = 1 << 24  # bytes of a file that does not say how long it is


def _one(op: str, name: str, x: TensorSpec) -> None:
    if x.rank not in (None, 0):
        raise ShapeError(f"{op}: {name} must be one string, got shape {x.shape}.")


def _text(x: Any) -> str:
    name: Any = as_array(x)[()]
    return os.fsdecode(name)


def _read_infer(filename: TensorSpec) -> TensorSpec:
    _one("read_file", "filename", filename)
    return filename


def _read_kernel(xp: ArrayNamespace, filename: Any) -> Array:
    path = _text(filename)
    with file_errors("read_file", path):
        return np.array(_contents(path), object)


def _contents(path: str) -> bytes:
    """All bytes of a file, in as few calls as can be: objects take as long as a small file."""
    file = os.open(path, _READING)
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size + 1)
        if len(data) == size > 0:  # one more was asked for
            return data
        parts = [data]
        while parts[-1]:
            parts.append(os.read(file, _PART))
        return b"".join(parts)
    finally:
        os.close(file)


read_file_op = define_op(
    "ReadFile",
    args("filename", STRING),
    infer=_read_infer,
    kernel=_read_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    fresh=True,
)


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The whole content of a file, as one string.

    Args:
      filename: the name, a string, path object or scalar tensor.
      name: the name of the node in a graph.

    Returns:
      A string scalar.

    Raises:
      tf.errors.NotFoundError: if there is no such file; other errors of the system have their own
        class.
      ShapeError: if `filename` is not one string.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """
    return read_file_op(string_tensor(_fspath(filename)), name=name)


def _write_infer(filename: TensorSpec, contents: TensorSpec) -> tuple[TensorSpec, ...]:
    _one("write_file", "filename", filename)
    _one("write_file", "contents", contents)
    return ()


def _write_kernel(xp: ArrayNamespace, filename: Any, contents: Any) -> tuple[Any, ...]:
    path = _text(filename)
    with file_errors("write_file", path):
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            data: Any = as_array(contents)[()]
            file.write(data)
    return ()


write_file_op = define_op(
    "WriteFile",
    args("filename", STRING) + args("contents", STRING),
    infer=_write_infer,
    kernel=_write_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> None:
    """Writes a string to a file, in folders that are made if they are not there.

    Args:
      filename: the name, a string, path object or scalar tensor. A file that is there is replaced.
      contents: the content, one string.
      name: the name of the node in a graph.

    Raises:
      tf.errors.OpError: of the class that fits, such as `NotFoundError` or `PermissionDeniedError`,
        if the file cannot be written.
      DTypeError: if an argument is no string.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "folder", "a.txt")
    >>> tf.io.write_file(path, "hello")
    >>> os.path.getsize(path)
    5
    """
    write_file_op(string_tensor(_fspath(filename)), string_tensor(contents), name=name)


def _fspath(value: Any) -> Any:
    return value.__fspath__() if hasattr(value, "__fspath__") else value


def matches(patterns: list[bytes]) -> list[bytes]:
    """The names of the files that match any of the patterns, sorted; folders are not files here."""
    found: set[str] = set()
    for pattern in patterns:
        found.update(glob.glob(os.fsdecode(pattern), include_hidden=True))
    return sorted([os.fsencode(path) for path in found if not os.path.isdir(path)])


def _matching_infer(pattern: TensorSpec) -> TensorSpec:
    if pattern.rank not in (None, 0, 1):
        raise ShapeError(
            f"matching_files: pattern must be a string or a vector of strings, got shape "
            f"{pattern.shape}."
        )
    return TensorSpec.of(string, (Dim(),))


matching_files_op = define_op(
    "MatchingFiles",
    args("pattern", STRING),
    infer=_matching_infer,
    kernel=lambda xp, pattern: np.array(matches(as_array(pattern).reshape(-1).tolist()), object),
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    fresh=True,
)


def matching_files(pattern: PathLike | Sequence[PathLike], name: str | None = None) -> Tensor:
    """The names of the files that match a pattern (or any of several), sorted.

    Args:
      pattern: a glob pattern (`*`, `?`, `[...]`), or a vector of them. Hidden files match too.
      name: the name of the node in a graph.

    Returns:
      A vector of strings, without folders; empty if nothing matches.

    Raises:
      ShapeError: if `pattern` has more than one axis.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for letter in "ab":
    ...     tf.io.write_file(os.path.join(folder, f"{letter}.txt"), letter)
    >>> names = tf.io.matching_files(os.path.join(folder, "*.txt")).numpy()
    >>> [os.path.basename(name) for name in names]
    [b'a.txt', b'b.txt']
    """
    return matching_files_op(string_tensor(_fspath(pattern)), name=name)


def match_filenames_once(
    pattern: PathLike | Sequence[PathLike], name: str | None = None
) -> Variable:
    """A variable with the names of the files that match a pattern now.

    Args:
      pattern: a glob pattern (`*`, `?`, `[...]`), or a vector of them.
      name: the name of the variable.

    Returns:
      A `tf.Variable` with a vector of strings, sorted, which is not trained.

    Raises:
      ShapeError: if `pattern` has more than one axis.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.match_filenames_once(path).shape
    TensorShape([1])
    """
    return Variable(matching_files(pattern), trainable=False, name=name)
