"""Functions of SciPy that machine code calls: matrix products, and special functions."""

from __future__ import annotations

import ctypes
import functools
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from weft._src.core.blas import functions_of_numpy
from weft._src.execution import forking

_PREFIX = "weft_special_"
# Compiled here and not when the first function is: beside a caller that takes its time.
_PRODUCTS, _SPECIAL = re.compile(r"@weft_[sd]gemm\("), re.compile(rf"@({_PREFIX}\w+)\(")
BLAS_PRODUCTS = ("weft_sgemm", "weft_dgemm")
BLAS_THREADS = ("weft_blas_threads", "weft_set_blas_threads")  # to read and to set their number

# The names of native rules, and what SciPy calls the functions.
SPECIAL = {
    "digamma": "psi", "erfinv": "erfinv", "ndtri": "ndtri", "dawsn": "dawsn", "expint": "expi",
    "spence": "spence", "gammainc": "gammainc", "gammaincc": "gammaincc", "betainc": "betainc",
    **{f"bessel_{name}": name for name in (
        "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1",
    )},
}  # fmt: skip


@dataclass(frozen=True)
class Blas:
    """Matrix products, and perhaps how to set the number of their threads."""

    addresses: dict[str, int]
    integer: str  # the type of sizes

    @property
    def has_threads(self) -> bool:
        """Whether the number of threads can be set."""
        return BLAS_THREADS[0] in self.addresses


def symbol_of(rule: str) -> str:
    """What generated code calls a special function."""
    return _PREFIX + SPECIAL[rule]


@functools.cache
def blas() -> Blas:
    """The matrix products of NumPy's OpenBLAS, or of whatever SciPy has."""
    functions = functions_of_numpy(
        "sgemm_", "dgemm_", "openblas_get_num_threads", "openblas_set_num_threads"
    )
    if functions:
        addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
        return Blas(dict(zip((*BLAS_PRODUCTS, *BLAS_THREADS), addresses, strict=True)), "i64")
    found = _functions_of("scipy.linalg.cython_blas")  # 0.1 s
    products = [_pointer(found[name]) for name in ("sgemm", "dgemm")]
    return Blas(dict(zip(BLAS_PRODUCTS, products, strict=True)), "i32")


def functions_for(text: str) -> dict[str, int]:
    """The addresses of what a module calls."""
    products = blas().addresses if _PRODUCTS.search(text) else {}
    return products | _special_functions(text)


def _special_functions(text: str) -> dict[str, int]:
    wanted = set(_SPECIAL.findall(text))
    if not wanted:
        return {}
    functions = _functions_of("scipy.special.cython_special")  # 0.3 s
    return {name: _in_double(functions, name.removeprefix(_PREFIX)) for name in wanted}


def _functions_of(module: str) -> dict[str, Any]:
    with forking.lock:
        return dict(import_module(module).__pyx_capi__)


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
