"""DLPack: arrays for other libraries, and arrays of theirs; NumPy does all but bfloat16.

A tensor is a value that nobody changes, and some libraries write into what they were told is
read-only. So what is exported is a copy, unless the other side asks for the memory itself.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from weft._src.core.dtypes import from_numpy

Array = np.ndarray[Any, Any]

DEVICE = (1, 0)  # the CPU, and its number
_UNSIGNED, _BFLOAT = 1, 4  # kinds of numbers
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_VERSION = (1, 0)


class _Layout(NamedTuple):
    """Where the structure in a capsule has its fields, in bytes."""

    device: int
    kind: int


# By the name of the capsule; one that has been used has another.
_LAYOUTS = {b"dltensor": _Layout(8, 20), b"dltensor_versioned": _Layout(40, 52)}


def exported(
    value: Array,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The capsule of an array, with the arguments of `__dlpack__`; BufferError if there is none."""
    if value.dtype.hasobject:
        raise BufferError(
            "DLPack: a tensor of strings cannot be exported, only numbers and truth values can."
        )
    if value.dtype.isbuiltin != 1 and value.dtype != _BFLOAT16:  # small or quantized numbers
        raise BufferError(
            f"DLPack: a tensor of dtype {from_numpy(value.dtype).name} cannot be exported. Convert "
            "it with tf.cast first."
        )
    if copy is False and (max_version is None or max_version < _VERSION):
        raise BufferError(
            "DLPack: without a copy a tensor is read-only, and this library speaks a version of "
            "the protocol that cannot say so. Leave copy=False out."
        )
    numbers = value.view(np.uint16) if value.dtype == _BFLOAT16 else value.view()
    numbers.flags.writeable = False
    capsule = numbers.__dlpack__(
        stream=stream, max_version=max_version, dl_device=dl_device, copy=copy is not False
    )
    if value.dtype == _BFLOAT16:
        _field(capsule, "kind").value = _BFLOAT
    return capsule


def imported(source: Any) -> Array:
    """The array in a capsule, or of an object that makes one; its memory is the other library's.

    ValueError for a capsule that is not of DLPack or has been used, and for memory of another
    device; TypeError for anything else.
    """
    capsule = source if type(source).__name__ == "PyCapsule" else _ask(source)
    if _name(capsule) not in _LAYOUTS:
        raise ValueError(
            f"the capsule must be named 'dltensor', got {_name(capsule).decode()!r}. A capsule can "
            "be used once only."
        )
    if _field(capsule, "device").value != DEVICE[0]:
        raise ValueError(
            "the array lies on another device. Pass the array itself instead of its capsule."
        )
    is_bfloat = _field(capsule, "kind").value == _BFLOAT
    if is_bfloat:
        _field(capsule, "kind").value = _UNSIGNED
    array = np.from_dlpack(_Holder(capsule))
    return array.view(_BFLOAT16) if is_bfloat else array


def _ask(source: Any) -> Any:
    """The capsule that another library makes of its array."""
    if isinstance(source, type) or not hasattr(source, "__dlpack__"):
        raise TypeError(
            f"a DLPack capsule, or an array of a library that has __dlpack__, is expected; got "
            f"{source!r}."
        )
    try:
        return source.__dlpack__(max_version=_VERSION)
    except TypeError:  # an old library, which knows no versions
        return source.__dlpack__()


class _Holder:
    """What NumPy wants: an object that hands out the capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return DEVICE


def _name(capsule: Any) -> bytes:
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name_of(capsule) or b""


def _field(capsule: Any, field: str) -> Any:
    """The type of the device, or the kind of numbers, as something that can be written, too."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = _name(capsule)
    kind = ctypes.c_int32 if field == "device" else ctypes.c_uint8
    return kind.from_address(pointer_of(capsule, name) + getattr(_LAYOUTS[name], field))
