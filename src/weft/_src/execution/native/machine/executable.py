"""A compiled graph that can be called with arrays and variable cells.

Hot path: a call is the call of one built-in function; Python code runs only when something is
unusual.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.cells import VariableCell
from weft._src.core.flags import flags
from weft._src.execution.native.front.translate import Translation
from weft._src.execution.native.machine import guarded, kept_memory
from weft._src.execution.native.machine.kept_stripes import KeptStripes, with_stripes
from weft._src.execution.native.machine.llvm import MachineCode, lock, plain_code
from weft._src.execution.native.machine.support import array_functions
from weft._src.execution.native.machine.trampoline import (
    CELL,
    CONTEXT,
    PLAIN,
    WRITTEN_CELL,
    call_text,
    context_entries,
    program_entries,
)

_api = ctypes.pythonapi
_METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_api.PyCFunction_NewEx.restype = ctypes.py_object
_api.PyCFunction_NewEx.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def _slot_offset(name: str) -> int:
    """Where a slot lies in a VariableCell, found by looking for what was stored in it."""
    cell = VariableCell(None)
    mark = object()
    setattr(cell, name, mark)
    words = (ctypes.c_void_p * (VariableCell.__basicsize__ // 8)).from_address(id(cell))
    (found,) = [8 * i for i, word in enumerate(words) if word == id(mark)]
    setattr(cell, name, None)
    return found


@functools.cache
def _fixed_context() -> dict[str, int]:
    libc = ctypes.CDLL(None)
    values = {
        "ndarray": id(np.ndarray),
        "true": id(True),
        "not_implemented": id(NotImplemented),
        "tuple_new": _address(_api.PyTuple_New),
        "array_new": array_functions()[94],  # PyArray_NewFromDescr
        "save_thread": _address(_api.PyEval_SaveThread),
        "restore_thread": _address(_api.PyEval_RestoreThread),
        "check_signals": _address(_api.PyErr_CheckSignals),
        "incref": _address(_api.Py_IncRef),
        "decref": _address(_api.Py_DecRef),
        "allocate": _address(libc.aligned_alloc),
        "free": _address(libc.free),
        "scratch": 0,
        "spare": 0,
        "cell_data": _slot_offset("data"),
        "cell_shared": _slot_offset("shared"),
    }
    return {name: value or 0 for name, value in values.items()}


_calling: list[MachineCode] = []


def calling_code() -> MachineCode:
    """The function that Python calls, which all executables share; made when it is first needed."""
    with lock:
        if not _calling:
            _calling.append(MachineCode(plain_code(call_text())))
        return _calling[0]


def _behind_memory_check(native: Callable[..., Any], outputs: Sequence[Any]) -> Callable[..., Any]:
    """The function, or one that asks for memory first, if its results are so large."""
    sizes = [math.prod(v.shape) * v.dtype.size for v in outputs]
    huge = [i for i, size in enumerate(sizes) if size > memory.limits.asked_above]
    if not huge:
        return native

    def call(*values: Any) -> Any:
        for i in huge:
            what = f"of shape {list(outputs[i].shape)} and dtype {outputs[i].dtype.name}"
            memory.check_array(sizes[i], what, output=i)
        return native(*values)

    return call


class Executable:
    """Callable with the values of a graph's inputs; None if NumPy has to do it."""

    def __init__(self, translation: Translation, code: MachineCode) -> None:
        self._code = code
        self._arrays = translation.constants
        self._cells = sorted(translation.cells)
        self._written = sorted(translation.written)
        self._inputs = [(s.dtype.numpy_dtype, s.shape) for _, s in translation.inputs]
        places = translation.program.memory
        inputs = [
            *[stored for _, stored in translation.inputs],
            *[stored for _, stored, _ in translation.stripes],
        ]
        # Everything the context points to has to live as long as the executable.
        self._sizes = [np.array([*v.shape, 0], np.intp) for v in (*inputs, *translation.outputs)]
        self._dtypes = [v.dtype.numpy_dtype for v in (*inputs, *translation.outputs)]
        described = [
            (places[id(v)].table_slot, id(t), len(v.shape), sizes.ctypes.data)
            for v, t, sizes in zip(
                (*inputs, *translation.outputs), self._dtypes, self._sizes, strict=True
            )
        ]
        kinds = [
            WRITTEN_CELL if i in translation.written else CELL if i in translation.cells else PLAIN
            for i in range(len(inputs))
        ]
        fixed = _fixed_context()
        if any(v.size * v.dtype.size >= kept_memory.LEAST for v in translation.outputs):
            fixed = fixed | {"array_new": kept_memory.array_new()}
        is_guarded = flags.guard_pages and guarded.can_hold(translation.outputs)
        if is_guarded:
            self._arrays = [guarded.guarded(array) for array in self._arrays]
            program = translation.program
            self._allocator = guarded.Allocator(program.scratch_bytes, program.guards)
            fixed = fixed | self._allocator.addresses()
        entries = context_entries(
            fixed,
            program_entries(translation, code.address("weft_main")),
            [(slot, kind, *rest) for kind, (slot, *rest) in zip(kinds, described)],
            [
                (places[id(v)].table_slot, array.ctypes.data)
                for v, array in zip(translation.constant_slots, self._arrays, strict=True)
            ],
            described[len(inputs) :],
        )
        self._context = struct.pack(f"{len(entries)}q", *entries)
        self._calling = calling_code()
        entry = self._calling.address("weft_call")
        self._method = _MethodDef(b"native", entry, _METH_FASTCALL, None)
        native = _api.PyCFunction_NewEx(ctypes.addressof(self._method), self._context, None)
        if is_guarded:
            native = guarded.calls(native)
        kept = [
            KeptStripes(position, *self._inputs[position], how)
            for position, _, how in translation.stripes
        ]
        self.call = with_stripes(_behind_memory_check(native, translation.outputs), kept)
        self._free = fixed["free"]

    def __call__(self, *values: Any) -> Any:
        out = self.call(*values)
        return self._once_more(values) if out is NotImplemented else out

    def _once_more(self, values: tuple[Any, ...]) -> Any:
        """After making arrays contiguous and variables unshared; None if that does not help."""
        usual = list(values)
        for i, (dtype, shape) in enumerate(self._inputs):
            if i not in self._cells:
                usual[i] = _normal(values[i], dtype, shape)
        for i in self._written:
            if values[i].shared:
                values[i].modify(_unchanged)
        out = self.call(*usual)
        return None if out is NotImplemented else out

    def fits(self, values: tuple[Any, ...]) -> bool:
        """Whether the values have the types this was compiled for."""
        return all(
            (v.data if i in self._cells else v) is not None
            and _type_of(v.data if i in self._cells else v) == kind
            for i, (v, kind) in enumerate(zip(values, self._inputs, strict=True))
        )

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """Gives the memory back that is kept between calls: scratch, and a chain of blocks."""
        context = getattr(self, "_context", None)
        if context is None or is_ending():  # when the process ends, modules are gone by then
            return
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._free)
        scratch, block = [
            struct.unpack_from("q", context, 8 * CONTEXT.index(name))[0]
            for name in ("scratch", "spare")
        ]
        free(scratch)
        while block:
            following = ctypes.c_void_p.from_address(block).value
            free(block)
            block = following


def _type_of(array: Any) -> tuple[Any, Any]:
    return array.dtype, array.shape


def _unchanged(data: Any) -> None:
    pass


def _normal(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """An array as native code expects it, if it is one of that type and shape."""
    array = np.asarray(value)
    if array.dtype != dtype or array.shape != shape:
        return value
    out = np.empty(shape, dtype)
    out[...] = array
    return out
