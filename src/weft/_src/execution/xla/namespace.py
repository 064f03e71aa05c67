"""The array namespace of kernels that run on jax: jax.numpy, and what `core.xp` has besides.

Nothing here writes in place: a kernel that does so fails, and its op needs a rule. Which kernels
run here is written in their blocks, not found out: some would give wrong numbers without an error.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Array = Any

_NARROW = (jnp.float16, jnp.bfloat16)
_REDUCTIONS: dict[str, Any] = {
    "add": jnp.sum,
    "multiply": jnp.prod,
    "maximum": jnp.max,
    "minimum": jnp.min,
    "logical_and": jnp.all,
    "logical_or": jnp.any,
}
_PARTS = {"special": jax.scipy.special, "scipy_linalg": jax.scipy.linalg, "ufunc": np.ufunc}


def __getattr__(name: str) -> Any:
    part = _PARTS.get(name)
    return getattr(jnp, name) if part is None else part


def widen(x: Array) -> Array:
    """float16 and bfloat16 as float32, for sums and products; everything else as it is."""
    return x.astype(jnp.float32) if x.dtype in _NARROW else x


def matmul(x: Array, y: Array) -> Array:
    """Matrix product in the dtype of the inputs, accumulated in at least float32."""
    # By default accelerators may multiply float32 with fewer bits.
    return jnp.matmul(widen(x), widen(y), precision="highest").astype(x.dtype)


def reduction(ufunc: Any, x: Array, axis: Any, keepdims: bool) -> Array:
    """`ufunc.reduce` in the dtype of x; narrow floats add in float32."""
    reduce = _REDUCTIONS[ufunc.__name__]
    return reduce(widen(x), axis=axis, keepdims=keepdims).astype(x.dtype)


def take(x: Array, indices: Array, axis: int) -> Array:
    """`np.take`; what is out of range was checked before."""
    return jnp.take(x, indices, axis, mode="clip")


def truncated(x: Array, dtype: Any) -> Array:
    """Floats as integers, by the definition of `core.truncating`; XLA would take the nearest."""
    x = widen(x)
    wide = jnp.int32 if dtype.itemsize < 4 or dtype == np.int32 else jnp.int64
    smallest = jnp.iinfo(wide).min
    limit = -float(smallest)
    fits = (x >= -limit) & (x < limit)
    out = jnp.where(fits, jnp.where(fits, x, 0).astype(wide), smallest).astype(wide)
    if dtype == np.uint64:  # the upper half of its numbers
        high = (x >= limit) & (x < 2 * limit)
        upper = jnp.where(high, x - limit, 0).astype(jnp.int64) ^ smallest
        out = jnp.where(high, upper, out)
    return out.astype(dtype)


def choose(condition: Array, x: Array, y: Array) -> Array:
    """`np.where`."""
    return jnp.where(condition, x, y)
