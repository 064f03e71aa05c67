"""Pillow, which reads and writes what needs a library: imported when it is used first."""

from __future__ import annotations

import ctypes
import functools
from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

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


class _ArrowArray(ctypes.Structure):
    """The first fields of Arrow's C data interface: where an image that is exported lies."""


_ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_ArrowArray))),
]
_pointer_in: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Exported:
    """Memory of an image as NumPy takes it; the image lives as long as this."""

    def __init__(self, capsule: Any, address: int, shape: tuple[int, ...]) -> None:
        self._capsule = capsule
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": shape, "data": (address, True),
        }  # fmt: skip


def stored_pixels(image: Any) -> Array:
    """The pixels of an image with three channels, not to be written into.

    [height, width, 4] as Pillow stores them, where the fourth byte means nothing; but if rows lie
    here and there, as those of large images do, a copy of the three channels.
    """
    width, height = image.size
    try:
        _, capsule = image.__arrow_c_array__()
    except ValueError:
        return np.asarray(image)
    pixels = _ArrowArray.from_address(_pointer_in(capsule, b"arrow_array"))
    numbers = pixels.children[0].contents
    assert pixels.offset == numbers.offset == 0, "an image within another"
    assert numbers.length == 4 * height * width, "an image of another size"
    return np.asarray(_Exported(capsule, numbers.buffers[1], (height, width, 4)))
