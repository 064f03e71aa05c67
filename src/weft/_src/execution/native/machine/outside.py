"""Functions of SciPy that machine code calls: matrix products, and special functions."""

from __future__ import annotations

import ctypes
import re
from importlib import import_module
from typing import Any

_PREFIX = "weft_special_"

# The names of native rules, and what SciPy calls the functions.
SPECIAL = {
    "digamma": "psi", "erfinv": "erfinv", "ndtri": "ndtri", "dawsn": "dawsn", "expint": "expi",
    "spence": "spence", "gammainc": "gammainc", "gammaincc": "gammaincc", "betainc": "betainc",
    **{f"bessel_{name}": name for name in (
        "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1",
    )},
}  # fmt: skip


def symbol_of(rule: str) -> str:
    """What generated code calls a special function."""
    return _PREFIX + SPECIAL[rule]


def blas() -> dict[str, int]:
    """The addresses of the matrix products."""
    found = import_module("scipy.linalg.cython_blas").__pyx_capi__  # 20 ms
    return {f"weft_{name}": _pointer(found[name]) for name in ("sgemm", "dgemm")}


def special_functions(text: str) -> dict[str, int]:
    """The addresses of the special functions that a module calls."""
    wanted = set(re.findall(rf"@({_PREFIX}\w+)\(", text))
    if not wanted:
        return {}
    functions = import_module("scipy.special.cython_special").__pyx_capi__  # 0.3 s
    return {name: _in_double(functions, name.removeprefix(_PREFIX)) for name in wanted}


def _in_double(functions: dict[str, Any], name: str) -> int:
    """Some functions are there for several types."""
    for form in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):
        if form in functions and _signature(functions[form]).startswith(b"double (double"):
            return _pointer(functions[form])
    raise RuntimeError(f"SciPy has no {name} of float64 that can be called from machine code.")


def _signature(capsule: Any) -> bytes:
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return bytes(name_of(capsule))


def _pointer(capsule: Any) -> int:
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer_of(capsule, _signature(capsule)))
