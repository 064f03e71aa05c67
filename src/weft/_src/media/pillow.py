"""Pillow, which reads and writes what needs a library: imported when it is used first."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

_OLDEST = 13  # from which on lines of a JPEG file cannot be longer than the image they go to


@functools.cache
def _image_module() -> ModuleType | str:
    """The module, or what is wrong with it."""
    try:
        import PIL
        from PIL import Image
    except ImportError:
        return "is not installed"
    version = PIL.__version__
    return Image if int(version.split(".")[0]) >= _OLDEST else f"{version} is too old"


def image_module(op: str, form: str) -> Any:
    """The module `PIL.Image`.

    Args:
      op: the name of the function, for errors.
      form: the format of the file.

    Raises:
      ModuleNotFoundError: if Pillow is not installed, or too old.
    """
    found = _image_module()
    if isinstance(found, str):
        raise ModuleNotFoundError(
            f"{op}: {form} files need Pillow {_OLDEST} or newer, which {found}. Install it with: "
            "pip install 'weft[image]'",
            name="PIL",
        )
    return found
