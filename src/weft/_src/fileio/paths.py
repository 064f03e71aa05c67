"""File names, and errors of the file system in the classes of `tf.errors`."""

from __future__ import annotations

import contextlib
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from weft._src.core.tensor import EagerTensor
from weft._src.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnknownError,
)

_CLASSES: dict[int, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError,
    errno.EINVAL: InvalidArgumentError,
    errno.ENAMETOOLONG: InvalidArgumentError,
}


@contextlib.contextmanager
def file_errors(what: str, path: str) -> Iterator[None]:
    """An OSError raised inside becomes the error of `tf.errors` that says the same."""
    try:
        yield
    except OSError as error:
        raise translated(error, what, path) from error
    except ValueError as error:  # a null byte in the name
        if "null byte" not in str(error):
            raise
        raise InvalidArgumentError(None, None, f"{what}: {path!r}: {error}.") from error


class Closing(ABC):
    """Something that `with` closes at its end."""

    @abstractmethod
    def close(self) -> None:
        """Ends the use of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def translated(error: OSError, what: str, path: str) -> OpError:
    """The error of `tf.errors` for one of the operating system."""
    kind = _CLASSES.get(error.errno or 0, UnknownError)
    return kind(None, None, f"{what}: {path}: {error.strerror or error}.")  # type: ignore[call-arg]


def path_text(what: str, value: Any) -> str:
    """A file name as text: a str, bytes, a path object, or a tensor of one string."""
    if isinstance(value, EagerTensor) and value.dtype.name == "string" and value.ndim == 0:
        value = value.numpy()
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise TypeError(
        f"{what}: a file name is expected, got {value!r} of type {type(value).__name__}."
    )
