"""The bytes of tensors: read as another dtype, and hashed."""

from __future__ import annotations

from typing import Any

from weft._src.core import dtypes, farmhash
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, NUMERIC, QUANTIZED, SMALL, SMALL_INTEGER, DType, uint8
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import batching, rules
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, STRINGS, define_op, each
from weft._src.ops.strings import packed

# --- bitcast -----------------------------------------------------------------------------------

_FEWER_BITS = SMALL_INTEGER | {dtypes.float4_e2m1fn}  # of their bytes some bits mean nothing
_WHOLE_BYTES = NUMERIC | QUANTIZED | (SMALL - _FEWER_BITS)


def _bitcast_infer(x: TensorSpec, *, type: DType) -> TensorSpec:
    if x.dims is None or type.size == x.dtype.size:
        return x.with_dtype(type)
    if type.size < x.dtype.size:
        return TensorSpec.of(type, (*x.dims, x.dtype.size // type.size))
    parts = type.size // x.dtype.size
    if not x.dims or (not isinstance(x.dims[-1], Dim) and x.dims[-1] != parts):
        raise ShapeError(
            f"bitcast: from {x.dtype.name} to {type.name} the last axis must have size {parts}, "
            f"got shape {x.shape}."
        )
    return TensorSpec.of(type, x.dims[:-1])


def _bitcast_kernel(xp: ArrayNamespace, x: Array, *, type: DType) -> Array:
    x, wanted = xp.ascontiguousarray(x).reshape(x.shape), type.numpy_dtype
    if wanted.itemsize == x.dtype.itemsize:
        return x.view(wanted)
    if wanted.itemsize < x.dtype.itemsize:
        return xp.reshape(x, (*x.shape, 1)).view(wanted)
    return xp.reshape(x.view(wanted), x.shape[:-1]) if x.size else xp.zeros(x.shape[:-1], wanted)


bitcast_op = define_op(
    "Bitcast",
    each("input", _WHOLE_BYTES),
    infer=_bitcast_infer,
    kernel=_bitcast_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    ragged="elementwise",
    batch=batching.pointwise,
)


def bitcast(input: TensorLike, type: Any, name: str | None = None) -> Tensor:
    """The same bytes read as another dtype; a last axis appears or goes if sizes differ.

    Args:
      input: a tensor of numbers, quantized ones and float8 too.
      type: the dtype of such numbers to read the bytes as.

    Returns:
      A tensor of dtype `type`: of the same shape if its elements are as large, with a last axis for
      the parts if they are smaller, and without the last axis if they are larger.

    Raises:
      DTypeError: if `input` or `type` is not numeric, or has less than eight bits.
      ShapeError: if the elements get larger and the last axis does not hold the bytes of just one.

    >>> tf.bitcast([1.0], tf.int32).numpy()
    array([1065353216], dtype=int32)
    >>> tf.bitcast([1.0], tf.uint8).numpy()
    array([[  0,   0, 128,  63]], dtype=uint8)
    """
    wanted = dtypes.as_dtype(type)
    if wanted not in _WHOLE_BYTES:
        raise DTypeError(f"bitcast: type must be numeric, of whole bytes, got {wanted.name}.")
    return bitcast_op(convert_to_tensor(input), type=wanted, name=name)


# --- fingerprint -------------------------------------------------------------------------------


def _fingerprint_infer(data: TensorSpec) -> TensorSpec:
    rules.check_rank_at_least("fingerprint", data, 1, name="data")
    return TensorSpec.of(uint8, (Dim() if data.dims is None else data.dims[0], 8))


def _fingerprint_kernel(xp: ArrayNamespace, data: Array) -> Array:
    rows = xp.ascontiguousarray(data)
    if data.dtype == object:
        hashes = packed.fingerprints(data).reshape(-1)
        if data.size == len(data):  # one string each: its own hash
            return xp.reshape(hashes.view(xp.uint8), (len(data), 8))
        rows = hashes
    width = rows.dtype.itemsize * (rows.size // len(data) if len(data) else 0)
    rows = xp.frombuffer(rows.tobytes(), xp.uint8).reshape(len(data), width)
    return xp.reshape(farmhash.fingerprint_rows(rows).view(xp.uint8), (len(data), 8))


fingerprint_op = define_op(
    "Fingerprint",
    each("data", DATA),
    infer=_fingerprint_infer,
    kernel=_fingerprint_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """The hash of each row, as 8 bytes; it is the same on every machine and in every version.

    Args:
      data: a tensor of rank 1 or more, of numbers, truth values or strings.
      method: "farmhash64", the only one there is.

    Returns:
      A uint8 tensor of shape [number of rows, 8].

    Raises:
      ValueError: if the method is another one.
      ShapeError: if `data` is a scalar.

    >>> tf.fingerprint(["a", "b"]).numpy()
    array([[227, 117, 223, 182, 101,  66,  69, 179],
           [ 22, 241, 200,  94,  33,  96, 178, 163]], dtype=uint8)
    """
    if method not in ("farmhash64", b"farmhash64"):
        raise ValueError(f"fingerprint: method must be 'farmhash64', got {method!r}.")
    return fingerprint_op(convert_to_tensor(data), name=name)
