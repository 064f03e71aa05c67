"""Fourier and cosine transforms, and frames that overlap."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from weft._src.execution.native.loops.values import NotCompilableError
from weft._src.execution.xla import namespace as xp
from weft._src.execution.xla.lowering import Lowering, Value, known
from weft._src.execution.xla.rules import lowers
from weft._src.graph.ir import Node


@lowers("fft")
def _fft(lowering: Lowering, node: Node, x: Value, *, inverse: bool) -> Any:
    x = jnp.asarray(x)
    if not x.size:
        return x
    # XLA transforms three axes at most at once.
    transform = jnp.fft.ifft if inverse else jnp.fft.fft
    out = x
    for axis in node.attrs["axes"]:
        out = transform(out, axis=axis, norm=node.attrs["norm"])
    return out.astype(x.dtype)


@lowers("rfft")
def _rfft(lowering: Lowering, node: Node, x: Value) -> Any:
    out = jnp.fft.rfft(jnp.asarray(x), axis=node.attrs["axis"], norm=node.attrs["norm"])
    return out.astype(node.outputs[0].dtype.numpy_dtype)


@lowers("irfft")
def _irfft(lowering: Lowering, node: Node, x: Value, length: Value) -> Any:
    n = int(known(node, length))
    out = jnp.fft.irfft(jnp.asarray(x), n, axis=node.attrs["axis"], norm=node.attrs["norm"])
    return out.astype(node.outputs[0].dtype.numpy_dtype)


@lowers("dct")
def _dct(lowering: Lowering, node: Node, x: Value) -> Any:
    if not x.size:
        return jnp.asarray(x)
    if node.attrs["type"] != 2:
        raise NotCompilableError(f"a DCT of type {node.attrs['type']} stays with NumPy", node)
    return jax.scipy.fft.dct(jnp.asarray(x), 2, axis=-1, norm=node.attrs["norm"]).astype(x.dtype)


@lowers("overlap_and_add")
def _overlap_and_add(lowering: Lowering, node: Node, x: Value, step: Value) -> Any:
    *lead, frames, length = x.shape
    hop = int(known(node, step))
    wide = xp.widen(jnp.asarray(x))
    pieces = -(-length // hop)
    whole = jnp.pad(wide, [*[(0, 0)] * (len(lead) + 1), (0, pieces * hop - length)])
    whole = jnp.reshape(whole, (*lead, frames, pieces, hop))
    out = jnp.zeros((*lead, max(frames + pieces - 1, 0), hop), wide.dtype)
    for i in range(pieces if frames else 0):
        out = out.at[..., i : i + frames, :].add(whole[..., i, :])
    total = max((frames - 1) * hop + length, 0)
    return jnp.reshape(out, (*lead, out.shape[-2] * hop))[..., :total].astype(x.dtype)
