"""A checkpoint by its name: files of TensorFlow, or one file if the name ends in `.safetensors`."""

from __future__ import annotations

import contextlib
import os
from typing import TypeAlias

from weft._src.errors import NotFoundError
from weft._src.saving.bundle import BundleReader
from weft._src.saving.safetensors import SUFFIX, SafetensorsReader
from weft._src.saving.writing import data_files

Reader: TypeAlias = BundleReader | SafetensorsReader


def is_safetensors(path: str) -> bool:
    """Whether the name is that of a single file."""
    return path.endswith(SUFFIX)


def numbered(prefix: str, number: int) -> str:
    """The name of one of many; the ending stays at the end."""
    if is_safetensors(prefix):
        return f"{prefix.removesuffix(SUFFIX)}-{number}{SUFFIX}"
    return f"{prefix}-{number}"


def open_checkpoint(path: str) -> Reader:
    """A checkpoint; who gives the name of one of its files is told that of the checkpoint."""
    if is_safetensors(path):
        return SafetensorsReader(path)
    for ending in (".index", ".data-00000-of-00001"):
        if path.endswith(ending):
            raise NotFoundError(
                None,
                None,
                f"{path!r} is a file of a checkpoint, whose name is "
                f"{path.removesuffix(ending)!r}, without that ending.",
            )
    return BundleReader(path)


def is_there(path: str) -> bool:
    """Whether there is a checkpoint of this name."""
    return os.path.exists(path if is_safetensors(path) else f"{path}.index")


def delete(path: str) -> None:
    """The index first: half a checkpoint is none."""
    names = [path] if is_safetensors(path) else [f"{path}.index", *data_files(path)]
    for name in names:
        with contextlib.suppress(OSError):
            os.remove(name)
