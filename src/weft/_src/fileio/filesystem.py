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
        """The next n characters or bytes, all that are left for -1.

        Args:
          n: how many; -1 is all.

        Returns:
          A string, or bytes in a binary mode; empty at the end of the file.

        Raises:
          tf.errors.NotFoundError: if there is no such file.
          tf.errors.PermissionDeniedError: if it was not opened to read.
        """
        return self._call("read", n)

    def readline(self) -> Any:
        """The next line with its end, empty at the end of the file.

        Returns:
          A string, or bytes in a binary mode.

        Raises:
          tf.errors.NotFoundError: if there is no such file.
          tf.errors.PermissionDeniedError: if it was not opened to read.
        """
        return self._call("readline")

    def readlines(self) -> list[Any]:
        """All lines that are left.

        Returns:
          A list of strings, or of bytes in a binary mode, with the ends of the lines.

        Raises:
          tf.errors.NotFoundError: if there is no such file.
          tf.errors.PermissionDeniedError: if it was not opened to read.
        """
        lines: list[Any] = self._call("readlines")
        return lines

    def write(self, file_content: TensorLike) -> None:
        """Writes text (bytes in a binary mode).

        Args:
          file_content: a string, or bytes in a binary mode.

        Raises:
          tf.errors.PermissionDeniedError: if it was not opened to write.
          TypeError: if it is text in a binary mode, or the other way round.
        """
        self._call("write", file_content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Goes to a place in the file.

        Args:
          offset: how far, in bytes.
          whence: from where: 0 the beginning, 1 the place now, 2 the end.

        Raises:
          ValueError: if the place would be before the beginning.
        """
        self._call("seek", offset, whence)

    def tell(self) -> int:
        """The place in the file.

        Returns:
          The number of bytes before it.
        """
        place: int = self._call("tell")
        return place

    def seekable(self) -> bool:
        """Whether places can be gone to.

        Returns:
          True.
        """
        return True

    def size(self) -> int:
        """The number of bytes of the file.

        Returns:
          An int; what was written counts.

        Raises:
          tf.errors.NotFoundError: if there is no such file.
        """
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

    Args:
      path: a string, bytes or path object.

    Returns:
      A bool; True also for a link that leads nowhere.

    Raises:
      TypeError: if `path` is something else.

    >>> tf.io.gfile.exists("/surely/not/there")
    False
    """
    return os.path.lexists(path_text("gfile.exists", path))


def isdir(path: PathLike) -> bool:
    """Whether there is a folder of that name.

    Args:
      path: a string, bytes or path object.

    Returns:
      A bool.

    Raises:
      TypeError: if `path` is something else.

    >>> tf.io.gfile.isdir(".")
    True
    """
    return os.path.isdir(path_text("gfile.isdir", path))


def stat(path: PathLike) -> FileStatistics:
    """The size and time of change of a file.

    Args:
      path: the name of a file or folder.

    Returns:
      A `FileStatistics`, with `length` in bytes, `mtime_nsec` and `is_directory`.

    Raises:
      tf.errors.NotFoundError: if there is none of that name.
      TypeError: if `path` is no file name.

    >>> tf.io.gfile.stat(".").is_directory
    True
    """
    name = path_text("gfile.stat", path)
    with file_errors("gfile.stat", name):
        return FileStatistics(os.stat(name), os.path.isdir(name))


def listdir(path: PathLike) -> list[str]:
    """The names in a folder.

    Args:
      path: the name of a folder.

    Returns:
      A list of names without the folder's, in no order.

    Raises:
      tf.errors.NotFoundError: if there is no such folder.
      TypeError: if `path` is no file name.

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
    """The names that match a pattern, or any of a list of patterns, sorted for each pattern.

    Args:
      pattern: a glob pattern (`*`, `?`, `[...]`), or a list of them. Hidden files match too.

    Returns:
      A list of names of files and folders; one that matches several patterns comes several times.

    Raises:
      TypeError: if a pattern is no file name.

    >>> tf.io.gfile.glob("/surely/not/there/*")
    []
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    texts = [path_text("gfile.glob", item) for item in patterns]
    return [name for text in texts for name in sorted(_glob.glob(text, include_hidden=True))]


def mkdir(path: PathLike) -> None:
    """Makes a folder in one that is there.

    Args:
      path: the name of the folder; nothing happens if it is there.

    Raises:
      tf.errors.NotFoundError: if the folder that it shall be in is not there.
      tf.errors.AlreadyExistsError: if there is a file of that name.
      TypeError: if `path` is no file name.

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

    Args:
      path: the name of the folder.

    Raises:
      tf.errors.FailedPreconditionError: if one of the folders is a file.
      TypeError: if `path` is no file name.

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

    Args:
      path: the name of the file.

    Raises:
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.FailedPreconditionError: if it is a folder.
      TypeError: if `path` is no file name.

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

    Args:
      path: the name of the folder.

    Raises:
      tf.errors.NotFoundError: if there is no such folder.
      TypeError: if `path` is no file name.

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

    Args:
      src: the name of the file.
      dst: the name of the copy.
      overwrite: whether a file that has this name is replaced.

    Raises:
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.AlreadyExistsError: if `dst` is there, and must not be overwritten.
      TypeError: if an argument is no file name.

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

    Args:
      src: the name of the file or folder.
      dst: its new name.
      overwrite: whether a file that has this name is replaced.

    Raises:
      tf.errors.NotFoundError: if there is none of that name.
      tf.errors.AlreadyExistsError: if `dst` is there, and must not be overwritten.
      TypeError: if an argument is no file name.

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

    Args:
      path: the first part.
      *paths: the others; one that begins with "/" makes those before it fall away.

    Returns:
      A string.

    Raises:
      TypeError: if a part is no file name.

    >>> tf.io.gfile.join("folder", "file.txt")
    'folder/file.txt'
    """
    return os.path.join(path_text("gfile.join", path), *[path_text("gfile.join", p) for p in paths])


def walk(
    top: PathLike, topdown: bool = True, onerror: Callable[[OSError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below one: its name, the folders and the files in it.

    Args:
      top: the name of the folder.
      topdown: whether a folder comes before those that are in it.
      onerror: a function of the OSError when a folder cannot be read; None leaves it out.

    Returns:
      An iterator over triples of a name, a list of folder names and a list of file names; it is
      empty if there is no such folder.

    Raises:
      TypeError: if `top` is no file name.

    >>> import tempfile
    >>> [len(files) for _, _, files in tf.io.gfile.walk(tempfile.mkdtemp())]
    [0]
    """
    return os.walk(path_text("gfile.walk", top), topdown, onerror)


def get_registered_schemes() -> list[str]:
    """Kinds of file systems: only the local one.

    Returns:
      A list of prefixes of file names.

    >>> tf.io.gfile.get_registered_schemes()
    ['']
    """
    return [""]
