"""Files and folders, with errors in the classes of `tf.errors`: what `tf.io.gfile` offers."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src.core.aliases import PathLike, TensorLike
from weft._src.errors import AlreadyExistsError, NotFoundError, PermissionDeniedError
from weft._src.fileio.paths import Closing, file_errors, path_text

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile(Closing):
    r"""A file: text, or bytes with "b" in the mode.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one\ntwo\n")
    >>> with tf.io.gfile.GFile(path) as file:
    ...     file.readlines()
    ['one\n', 'two\n']
    """

    def __init__(self, name: str, mode: str = "r") -> None:
        self._name = path_text("GFile", name)
        if not isinstance(mode, str) or mode.replace("b", "") not in _MODES:
            raise ValueError(
                f"GFile: mode must be one of {', '.join(_MODES)} (and b), got {mode!r}."
            )
        self._mode = mode
        self._file: Any = None  # opened when it is used

    def _open(self) -> Any:
        if self._file is None:
            encoding = None if "b" in self._mode else "utf-8"
            with file_errors("GFile", self._name):
                self._file = open(  # noqa: SIM115 - closed by close()
                    self._name, self._mode, encoding=encoding, newline=None if encoding is None
                    else "",
                )  # fmt: skip
        return self._file

    def _call(self, method: str, *args: Any) -> Any:
        file = self._open()
        readable = "r" in self._mode or "+" in self._mode
        if method.startswith("read") and not readable:
            raise PermissionDeniedError(
                None, None, f"GFile: {self._name} was opened with mode {self._mode!r}, not to read."
            )
        if method == "write" and "r" in self._mode and "+" not in self._mode:
            raise PermissionDeniedError(
                None,
                None,
                f"GFile: {self._name} was opened with mode {self._mode!r}, not to write.",
            )
        with file_errors("GFile", self._name):
            return getattr(file, method)(*args)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._name

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    def read(self, n: int = -1) -> Any:
        """The next n characters or bytes, all that are left for -1."""
        return self._call("read", n)

    def readline(self) -> Any:
        """The next line with its end, empty at the end of the file."""
        return self._call("readline")

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        lines: list[Any] = self._call("readlines")
        return lines

    def write(self, file_content: TensorLike) -> None:
        """Writes text (bytes in a binary mode)."""
        self._call("write", file_content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Goes to a place in the file."""
        self._call("seek", offset, whence)

    def tell(self) -> int:
        """The place in the file."""
        place: int = self._call("tell")
        return place

    def seekable(self) -> bool:
        """Whether places can be gone to."""
        return True

    def size(self) -> int:
        """The number of bytes of the file."""
        self.flush()
        with file_errors("GFile", self._name):
            return os.path.getsize(self._name)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            self._call("flush")

    def close(self) -> None:
        """Closes the file; one opened to write is made even if nothing was written."""
        if self._file is None and "r" not in self._mode:
            self._open()
        if self._file is not None:
            with file_errors("GFile", self._name):
                self._file.close()
            self._file = None

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class FileStatistics:
    """What `stat` tells: `length` in bytes, `mtime_nsec`, `is_directory`."""

    def __init__(self, found: os.stat_result, is_directory: bool) -> None:
        self.length = found.st_size
        self.mtime_nsec = found.st_mtime_ns
        self.is_directory = is_directory

    def __repr__(self) -> str:
        return f"FileStatistics(length={self.length}, is_directory={self.is_directory})"


def exists(path: PathLike) -> bool:
    """Whether there is a file or folder of that name.

    >>> tf.io.gfile.exists("/surely/not/there")
    False
    """
    return os.path.lexists(path_text("gfile.exists", path))


def isdir(path: PathLike) -> bool:
    """Whether there is a folder of that name.

    >>> tf.io.gfile.isdir(".")
    True
    """
    return os.path.isdir(path_text("gfile.isdir", path))


def stat(path: PathLike) -> FileStatistics:
    """The size and time of change of a file.

    >>> tf.io.gfile.stat(".").is_directory
    True
    """
    name = path_text("gfile.stat", path)
    with file_errors("gfile.stat", name):
        return FileStatistics(os.stat(name), os.path.isdir(name))


def listdir(path: PathLike) -> list[str]:
    """The names in a folder.

    >>> import tempfile
    >>> tf.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    name = path_text("gfile.listdir", path)
    if not os.path.isdir(name):
        raise NotFoundError(None, None, f"gfile.listdir: there is no folder {name}.")
    with file_errors("gfile.listdir", name):
        return os.listdir(name)


def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """The names that match a pattern, or any of a list of patterns, sorted.

    >>> tf.io.gfile.glob("/surely/not/there/*")
    []
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    texts = [path_text("gfile.glob", item) for item in patterns]
    return [name for text in texts for name in sorted(_glob.glob(text, include_hidden=True))]


def mkdir(path: PathLike) -> None:
    """Makes a folder in one that is there.

    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "a")
    >>> tf.io.gfile.mkdir(folder)
    >>> tf.io.gfile.isdir(folder)
    True
    """
    name = path_text("gfile.mkdir", path)
    with file_errors("gfile.mkdir", name):
        os.makedirs(name, exist_ok=True) if os.path.isdir(name) else os.mkdir(name)


def makedirs(path: PathLike) -> None:
    """Makes a folder and those it is in; nothing happens if it is there.

    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "a", "b")
    >>> tf.io.gfile.makedirs(folder)
    >>> tf.io.gfile.isdir(folder)
    True
    """
    name = path_text("gfile.makedirs", path)
    with file_errors("gfile.makedirs", name):
        os.makedirs(name, exist_ok=True)


def remove(path: PathLike) -> None:
    """Removes a file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a")
    >>> tf.io.write_file(path, "x")
    >>> tf.io.gfile.remove(path)
    >>> tf.io.gfile.exists(path)
    False
    """
    name = path_text("gfile.remove", path)
    with file_errors("gfile.remove", name):
        os.remove(name)


def rmtree(path: PathLike) -> None:
    """Removes a folder and all that is in it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.gfile.rmtree(folder)
    >>> tf.io.gfile.exists(folder)
    False
    """
    name = path_text("gfile.rmtree", path)
    with file_errors("gfile.rmtree", name):
        shutil.rmtree(name)


def _check_free(what: str, dst: str, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(dst):
        raise AlreadyExistsError(
            None, None, f"{what}: {dst} is already there. Pass overwrite=True to replace it."
        )


def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copies a file.

    >>> import os, tempfile
    >>> a, b = (os.path.join(tempfile.mkdtemp(), name) for name in "ab")
    >>> tf.io.write_file(a, "x")
    >>> tf.io.gfile.copy(a, b)
    >>> tf.io.read_file(b).numpy()
    b'x'
    """
    source, target = path_text("gfile.copy", src), path_text("gfile.copy", dst)
    _check_free("gfile.copy", target, overwrite)
    with file_errors("gfile.copy", source):
        shutil.copyfile(source, target)


def rename(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Gives a file or folder another name.

    >>> import os, tempfile
    >>> a, b = (os.path.join(tempfile.mkdtemp(), name) for name in "ab")
    >>> tf.io.write_file(a, "x")
    >>> tf.io.gfile.rename(a, b)
    >>> tf.io.gfile.exists(a), tf.io.gfile.exists(b)
    (False, True)
    """
    source, target = path_text("gfile.rename", src), path_text("gfile.rename", dst)
    _check_free("gfile.rename", target, overwrite)
    with file_errors("gfile.rename", source):
        os.replace(source, target)


def join(path: PathLike, *paths: Any) -> str:
    """Parts of a name joined.

    >>> tf.io.gfile.join("folder", "file.txt")
    'folder/file.txt'
    """
    return os.path.join(path_text("gfile.join", path), *[path_text("gfile.join", p) for p in paths])


def walk(
    top: PathLike, topdown: bool = True, onerror: Callable[[OSError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below one: its name, the folders and the files in it.

    >>> import tempfile
    >>> [len(files) for _, _, files in tf.io.gfile.walk(tempfile.mkdtemp())]
    [0]
    """
    return os.walk(path_text("gfile.walk", top), topdown, onerror)


def get_registered_schemes() -> list[str]:
    """Kinds of file systems: only the local one.

    >>> tf.io.gfile.get_registered_schemes()
    ['']
    """
    return [""]
