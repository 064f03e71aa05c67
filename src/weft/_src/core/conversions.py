"""Advice on dtypes that do not fit: conversions that lose nothing, or what they would lose."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from weft._src.core.dtypes import (
    QUANTIZED,
    SMALL,
    DType,
    as_dtype,
    bool_,
    float32,
    float64,
    int32,
    int64,
    string,
)


def lossless(a: DType, b: DType) -> DType | None:
    """The dtype that holds all values of both, None if there is none."""
    if a is b:
        return a
    if any(d in SMALL or d in QUANTIZED or not _is_number(d) for d in (a, b)):
        return None
    try:
        wide = as_dtype(np.promote_types(a.numpy_dtype, b.numpy_dtype))
    except TypeError:
        return None
    # NumPy takes float64 for the sum of int64 and anything; that holds 53 bits.
    is_exact = all(_whole_numbers(wide) >= _whole_numbers(d) for d in (a, b) if d.is_integer)
    return wide if is_exact else None


def _is_number(dtype: DType) -> bool:
    return dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_bool


def _whole_numbers(dtype: DType) -> int:
    """Up to which whole number a dtype has all of them."""
    if dtype.is_integer:
        return int(np.iinfo(dtype.numpy_dtype).max)
    real = np.zeros(0, dtype.numpy_dtype).real.dtype
    return 2 ** (_mantissa(real) + 1)


def _mantissa(real: np.dtype) -> int:
    return {2: 10, 4: 23, 8: 52}[real.itemsize] if real.kind == "f" else 7  # bfloat16


def how_to_convert(name: str, found: DType, wanted: DType) -> str:
    """A sentence: how a tensor gets the dtype that is wanted, and what that would cost."""
    if found is string:
        return f"Read it as numbers with tf.strings.to_number({name}, tf.{wanted.name})."
    if wanted is string:
        return f"Write it as text with tf.strings.as_string({name})."
    cast = f"tf.cast({name}, tf.{wanted.name})"
    if lossless(found, wanted) is wanted:
        return f"Convert it with {cast}."
    if found in SMALL or found in QUANTIZED or wanted in SMALL or wanted in QUANTIZED:
        return f"Convert it with {cast}, which may round."
    if wanted is bool_:
        return f"Compare it instead, e.g. {name} != 0."
    if found.is_complex and not wanted.is_complex:
        return f"Take its real part with tf.math.real({name})."
    if found.is_integer and (wanted.is_floating or wanted.is_complex):
        most = _whole_numbers(wanted)
        return f"{cast} is exact up to {most:,}; tf.float64 up to {_whole_numbers(float64):,}."
    if found.is_floating and wanted.is_integer:
        return (
            f"A cast would cut fractions off: tf.cast(tf.round({name}), tf.{wanted.name}) rounds, "
            "if that is meant."
        )
    return (
        f"{wanted.name} does not hold all values of {found.name}: use {found.name} on the other "
        "side, if that can be."
    )


def how_to_agree(x: str, a: DType, y: str, b: DType, places: tuple[str, str] = ("", "")) -> str:
    """A sentence: how two tensors get one dtype without a loss.

    Args:
      x: how the user would write the first one.
      a: its dtype.
      y: how the user would write the second one.
      b: its dtype.
      places: where each would be converted, if that has to be said.
    """
    if string in (a, b):
        text, other = (x, y) if a is string else (y, x)
        return (
            f"Read {text} as numbers with tf.strings.to_number({text}), or write {other} as text "
            f"with tf.strings.as_string({other})."
        )
    wide = lossless(a, b)
    if wide is b:
        return f"Convert {x}{places[0]} with tf.cast({x}, tf.{b.name})."
    if wide is a:
        return f"Convert {y}{places[1]} with tf.cast({y}, tf.{a.name})."
    (whole, its, place), real = ((x, a, places[0]), b) if a.is_integer else ((y, b, places[1]), a)
    if its.is_integer and (real.is_floating or real.is_complex):
        more = "" if wide is None else f"; {wide.name} for both holds everything"
        return (
            f"Convert {whole}{place} with tf.cast({whole}, tf.{real.name}), which is exact up to "
            f"{_whole_numbers(real):,}{more}."
        )
    if wide is not None:
        return f"Both fit into {wide.name}: convert both with tf.cast(..., tf.{wide.name})."
    return "No dtype holds all values of both."


def how_to_be_one_of(name: str, found: DType, wanted: Collection[DType]) -> str:
    """A sentence: how a tensor gets one of several dtypes."""
    if (found in SMALL or found in QUANTIZED) and float32 in wanted:
        return (
            f"Numbers of dtype {found.name} are only stored, nothing is computed with them: "
            f"convert them with tf.cast({name}, tf.float32) first."
        )
    exact = [dtype for dtype in wanted if lossless(found, dtype) is dtype]
    if exact:
        return how_to_convert(name, found, min(exact, key=_preference))
    return how_to_convert(name, found, min(wanted, key=_preference))


def _preference(dtype: DType) -> tuple[int, str]:
    """The usual dtypes first."""
    usual = (float32, float64, int32, int64, bool_, string)
    return (usual.index(dtype) if dtype in usual else len(usual), dtype.name)
