"""Functions that machine code calls: what LLVM asks for by itself is there, others are refused."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

import weft as tf
from weft._src.execution.native.machine import library, llvm, symbols

_CALLER = """
declare double @{name}(double)
define double @twice(double %x) {{
  %y = call double @{name}(double %x)
  %z = fadd double %y, %y
  ret double %z
}}
"""


def test_a_function_that_is_nowhere_is_refused() -> None:
    code = llvm.object_code(_CALLER.format(name="weft_nowhere"))
    assert "weft_nowhere" in list(symbols.undefined(code))
    with pytest.raises(OSError, match="functions that are not there: weft_nowhere"):
        llvm.MachineCode(code)


def test_functions_of_the_process_are_found() -> None:
    code = llvm.object_code(_CALLER.format(name="acosh"))
    made = llvm.MachineCode(code)
    twice = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(made.address("twice"))
    assert twice(2.0) == 2.0 * math.acosh(2.0)  # the C library's, which NumPy's need not be


def test_other_files_have_no_names() -> None:
    assert list(symbols.undefined(b"\xcf\xfa\xed\xfe and so on")) == []


def test_half_numbers_with_the_sign_of_a_double() -> None:
    """LLVM takes the sign straight from the double, by a function that has to be there."""
    x = np.array([[1.5, 1.75, 2.0], [3.0, 10.0, 1.0]], np.float16)
    through = tf.function(lambda x: tf.sinh(tf.acosh(x)), jit_compile=True)
    wide = np.arccosh(x.astype(np.float64)).astype(np.float16).astype(np.float64)
    np.testing.assert_allclose(through(x).numpy().astype(float), np.sinh(wide), rtol=2e-3)


def test_doubles_become_half_numbers_with_one_rounding() -> None:
    text = """
    declare half @__truncdfhf2(double)
    define i16 @bits(double %x) {
      %half = call half @__truncdfhf2(double %x)
      %bits = bitcast half %half to i16
      ret i16 %bits
    }
    """
    library.load(["__truncdfhf2"])
    made = llvm.MachineCode(llvm.plain_code(text))
    bits = ctypes.CFUNCTYPE(ctypes.c_uint16, ctypes.c_double)(made.address("bits"))
    rng = np.random.default_rng(7)
    tie = 1.0 + 2.0**-11  # between two half numbers; a float would lose what decides
    numbers = [0.0, -0.0, tie, tie + 2.0**-40, tie - 2.0**-40, -tie - 2.0**-40, 1e300, -1e300]
    numbers += [np.inf, -np.inf, 65519.999999, 65520.0, 6e-8, 2.9e-8, 3e-8, 1e-300]
    numbers += (rng.standard_normal(500) * 10.0 ** rng.integers(-9, 6, 500)).tolist()
    with np.errstate(over="ignore"):
        expected = np.array(numbers).astype(np.float16).view(np.uint16)
    assert [bits(x) for x in numbers] == expected.tolist()
    assert np.isnan(np.uint16(bits(np.nan)).view(np.float16))
