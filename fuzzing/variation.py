"""Random variations of arrays: other dtypes, sizes and numbers than those a call is known with."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType

CLASSES: dict[str, tuple[DType, ...]] = {
    "float": (dtypes.float32, dtypes.float64),
    "narrow": (dtypes.float16, dtypes.bfloat16),
    "int": (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    "uint": (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64),
    "bool": (dtypes.bool_,),
    "complex": (dtypes.complex64, dtypes.complex128),
    "small": tuple(sorted(dtypes.SMALL, key=str)),
    "quantized": tuple(sorted(dtypes.QUANTIZED, key=str)),
    "string": (dtypes.string,),
}
SIZES = (0, 1, 2, 3, 4, 5, 7, 17, 33)
_WORDS = (b"", b"a", b"ab", b"1.5", b"-7", b"x\xff\x00y", "ä".encode(), b"word word")


def class_of(dtype: Any) -> str:
    """The class of a NumPy dtype."""
    found = dtypes.from_numpy(dtype)
    return next((name for name, members in CLASSES.items() if found in members), "other")


def is_floating(array: Any) -> bool:
    """Whether an array holds real floating-point numbers."""
    return dtypes.from_numpy(array.dtype).is_floating


def sorted_rows(array: Any) -> Any:
    """The rows in order, NaN last, where NumPy does not sort floats of other packages so."""
    if not array.ndim or not is_floating(array):
        return np.sort(array, axis=-1) if array.ndim else array
    return np.sort(dtypes.plain(array).astype(np.float64), axis=-1).astype(array.dtype)


def cast(array: Any, dtype: DType) -> Any:
    """The array with numbers of another dtype that are like its own."""
    to = dtype.numpy_dtype
    if array.dtype == to:
        return array
    if dtype is dtypes.string:
        return np.array([_WORDS[i % len(_WORDS)] for i in range(array.size)], object).reshape(
            array.shape
        )
    if array.dtype == object:
        array = np.arange(array.size).reshape(array.shape)
    if dtype.is_quantized:
        return np.array(cast(array, dtypes.stored_as(dtype))).view(to)
    wide = dtypes.plain(array).astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if dtype.is_complex:
        return wide.astype(to)
    wide = wide.real
    if dtype.is_bool:
        return wide > np.median(wide) if wide.size else wide > 0
    if dtype.is_integer:
        if is_floating(array):
            wide = np.round(wide * 3)
        low, high = max(dtype.min, -(2**53)), min(dtype.max, 2**53)
        return np.clip(np.nan_to_num(wide), low, high).astype(to)
    with np.errstate(all="ignore"):
        return wide.astype(to)


def redrawn(array: Any, rng: np.random.Generator) -> Any:
    """Other numbers of the same range, so that they mean the same to a function."""
    if array.dtype.names is not None:
        return redrawn(dtypes.plain(array), rng).view(array.dtype)
    if not array.size or array.dtype in (object, bool):
        return rng.permutation(array.reshape(-1)).reshape(array.shape) if array.size else array
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        return rng.integers(low, high, array.shape, endpoint=True, dtype=array.dtype)
    if array.dtype.kind == "c":
        with np.errstate(invalid="ignore"):  # infinite ones times 0
            return (array * rng.uniform(0.5, 1.5, array.shape)).astype(array.dtype)
    wide = array.astype(np.float64)
    wide = wide[np.isfinite(wide)]
    if not wide.size:
        return array
    return rng.uniform(wide.min(), wide.max(), array.shape).astype(array.dtype)


def with_specials(array: Any, rng: np.random.Generator, *, extremes: bool) -> Any:
    """Some of the numbers become those that functions get wrong.

    Without `extremes` no finite ones that cancel each other: sums of them depend on their order.
    """
    if array.dtype.names is not None:
        return with_specials(dtypes.plain(array), rng, extremes=extremes).view(array.dtype)
    found = dtypes.from_numpy(array.dtype)
    if found.is_integer:
        special: list[Any] = [found.min, found.max, 0, found.max - 1, 1]
    elif is_floating(array):
        limits = ml_dtypes.finfo(array.dtype)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, limits.tiny, 1.0]
        special += [limits.max, limits.min] if extremes else []
    else:
        return array
    out = array.copy().reshape(-1)
    for place in rng.choice(out.size, min(3, out.size), replace=False) if out.size else ():
        with np.errstate(all="ignore"):  # some small floats have no infinity
            out[place] = special[rng.integers(len(special))]
    return out.reshape(array.shape)


def resized(arrays: list[Any], rng: np.random.Generator) -> list[Any]:
    """Sizes become others, equal ones equal ones: shapes that went together still do."""
    sizes = {n for a in arrays for n in a.shape}
    change = {n: int(rng.choice(SIZES)) if rng.random() < 0.6 else n for n in sizes}
    change[1] = 1
    out = [tuple([change[n] for n in a.shape]) for a in arrays]
    return [fitted(a, shape) for a, shape in zip(arrays, out, strict=True)]


def fitted(array: Any, shape: tuple[int, ...]) -> Any:
    """The numbers of an array, again and again, in another shape."""
    if array.dtype == object and not array.size:
        return np.full(shape, b"", object)
    return np.resize(array, shape)
