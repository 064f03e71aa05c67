"""Fourier transforms over the last axes of a tensor.

Inverse transforms divide by the number of elements ("backward", the rule), forward ones do
("forward"), or both by its root ("ortho"). The gradient of a transform is the other one with the
opposite rule, so no sizes are needed for it.
"""

from __future__ import annotations

import operator
from typing import Any

from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import COMPLEX, INDEX, complex64, complex128, float32, float64, int32
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, FixedDTypeError, ShapeError, UnsupportedError
from weft._src.ops import batching, composed_graph_forms, rules, static
from weft._src.ops.arrays import padding, ranges, selection, shape as shapes
from weft._src.ops.arrays.joining import stack
from weft._src.ops.contexts import VjpContext
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.indexing import blocks
from weft._src.ops.registry import NO_NATIVE, Op, args, define_op
from weft._src.ops.spectral import long_lines

Axes = tuple[int, ...]

OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_REAL = frozenset({float32, float64})

# --- complex transforms ------------------------------------------------------------------------


def _complex_infer(op: str) -> Any:
    def infer(x: TensorSpec, *, axes: Axes, norm: str) -> TensorSpec:
        rules.check_rank_at_least(op, x, len(axes), name="input")
        if x.dims is not None:
            rules.normalize_axes(op, axes, len(x.dims), name="axes")
        return x

    return infer


def _complex_kernel(inverse: bool) -> Any:
    def kernel(xp: ArrayNamespace, x: Array, *, axes: Axes, norm: str) -> Array:
        if not x.size:
            return xp.array(x)
        return long_lines.fftn(xp, x, axes, norm, inverse=inverse).astype(x.dtype, copy=False)

    return kernel


def _complex_pair(names: tuple[str, str], ops: tuple[str, str]) -> tuple[Op, Op]:
    """A transform and its inverse."""
    pair: list[Op] = []
    for i in range(2):

        def vjp(ctx: VjpContext, g: Tensor, other: int = 1 - i) -> tuple[Tensor]:
            norm = OPPOSITE[ctx.attrs["norm"]]
            return (pair[other](g, axes=ctx.attrs["axes"], norm=norm),)

        pair.append(
            define_op(
                names[i],
                args("input", COMPLEX),
                batch=batching.inexact(batching.leading),
                infer=_complex_infer(ops[i]),
                kernel=_complex_kernel(inverse=i == 1),
                native=NO_NATIVE,
                xla=Lowered("fft", inverse=i == 1),
                vjp=vjp,
                fresh=True,
                graphdef=composed_graph_forms.fourier,
            )
        )
    return pair[0], pair[1]


_LAST = {1: (-1,), 2: (-2, -1), 3: (-3, -2, -1)}
_OPS = {
    1: _complex_pair(("FFT", "IFFT"), ("fft", "ifft")),
    2: _complex_pair(("FFT2D", "IFFT2D"), ("fft2d", "ifft2d")),
    3: _complex_pair(("FFT3D", "IFFT3D"), ("fft3d", "ifft3d")),
}
fftnd_op, ifftnd_op = _complex_pair(("FFTND", "IFFTND"), ("fftnd", "ifftnd"))


def as_complex(op: str, value: TensorLike) -> Tensor:
    """A complex tensor; floating-point numbers become one."""
    x = convert_to_tensor(value)
    if x.dtype in COMPLEX:
        return x
    if x.dtype.is_floating and x.dtype is not float64:
        return casting.cast(x, complex64)
    if x.dtype is float64:
        return casting.cast(x, complex128)
    raise DTypeError(f"{op}: input must be complex (or floating-point), got {x.dtype.name}.")


def _transform(op: str, n: int, inverse: bool, value: TensorLike, name: str | None) -> Tensor:
    x = as_complex(op, value)
    return _OPS[n][inverse](x, axes=_LAST[n], norm="backward", name=name)


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform over the last axis.

    Args:
      input: a tensor of complex numbers, of rank 1 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 1.

    >>> tf.signal.fft(tf.constant([1.0, 0.0, 0.0, 0.0])).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("fft", 1, False, input, name)


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform over the last axis.

    Args:
      input: a tensor of complex numbers, of rank 1 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 1.

    >>> tf.signal.ifft(tf.constant([4.0, 0.0, 0.0, 0.0])).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("ifft", 1, True, input, name)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform over the last two axes.

    Args:
      input: a tensor of complex numbers, of rank 2 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 2.

    >>> tf.signal.fft2d(tf.ones([2, 2])).numpy().real
    array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("fft2d", 2, False, input, name)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform over the last two axes.

    Args:
      input: a tensor of complex numbers, of rank 2 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 2.

    >>> tf.signal.ifft2d(tf.ones([2, 2])).numpy().real
    array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("ifft2d", 2, True, input, name)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform over the last three axes.

    Args:
      input: a tensor of complex numbers, of rank 3 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 3.

    >>> tf.signal.fft3d(tf.ones([1, 2, 2])).numpy().real.ravel()
    array([4., 0., 0., 0.], dtype=float32)
    """
    return _transform("fft3d", 3, False, input, name)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform over the last three axes.

    Args:
      input: a tensor of complex numbers, of rank 3 or more; floats become complex.

    Returns:
      A tensor of the shape of `input`: complex128 for float64 and complex128, else complex64.

    Raises:
      DTypeError: if `input` is neither complex nor floating.
      ShapeError: if the rank is below 3.

    >>> tf.signal.ifft3d(tf.ones([1, 2, 2])).numpy().real.ravel()
    array([1., 0., 0., 0.], dtype=float32)
    """
    return _transform("ifft3d", 3, True, input, name)


# --- transforms of real signals ----------------------------------------------------------------


def _half(size: int) -> int:
    """How many frequencies of a real signal are kept; none of no signal."""
    return size // 2 + 1 if size else 0


def _rfft_infer(x: TensorSpec, *, axis: int, norm: str) -> TensorSpec:
    rules.check_rank_at_least("rfft", x, 1, name="input_tensor")
    out = x.with_dtype(complex128 if x.dtype is float64 else complex64)
    if x.dims is None:
        return out
    at = rules.normalize_axis("rfft", axis, len(x.dims))
    size: Any = x.dims[at]
    half = _half(size) if isinstance(size, int) else Dim()
    return out.with_dims(rules.replace(x.dims, at, half))


def _rfft_kernel(xp: ArrayNamespace, x: Array, *, axis: int, norm: str) -> Array:
    dtype = xp.result_type(x.dtype, xp.complex64)
    if not x.shape[axis]:
        return xp.zeros(x.shape, dtype)
    return long_lines.rfft(xp, x, axis, norm).astype(dtype, copy=False)


def _weights(count: Tensor, dtype: DTypeLike, axis: int) -> Tensor:
    """How often each frequency of a real signal occurs in the whole spectrum: once or twice."""
    k = ranges.range(arithmetic.minimum(count // 2 + 1, count))  # none of no signal
    once = comparison.logical_or(k == 0, k * 2 == count)
    out = casting.cast(selection.where(once, 1.0, 2.0), dtype)
    for _ in range(-axis - 1):
        out = shapes.expand_dims_op(out, axis=-1)
    return out


def _from_end(axis: int, x: Tensor) -> int:
    if axis < 0:
        return axis
    if x.spec.rank is None:
        raise UnsupportedError("rfft: the gradient over a positive axis needs a known rank.")
    return axis - x.spec.rank


def _rfft_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
    x, axis = ctx.inputs[0], _from_end(ctx.attrs["axis"], ctx.inputs[0])
    count = shapes.shape_op(x, out_type=int32)[axis]
    norm = OPPOSITE[ctx.attrs["norm"]]
    return (irfft_op(g / _weights(count, g.dtype, axis), count, axis=axis, norm=norm),)


rfft_op: Op = define_op(
    "RFFT",
    args("input", _REAL),
    infer=_rfft_infer,
    kernel=_rfft_kernel,
    native=NO_NATIVE,
    xla=Lowered("rfft"),
    vjp=_rfft_vjp,
    fresh=True,
    batch=batching.inexact(batching.leading),
    graphdef=composed_graph_forms.real_fourier,
)


def _irfft_infer(x: TensorSpec, length: TensorSpec, *, axis: int, norm: str) -> TensorSpec:
    rules.check_rank_at_least("irfft", x, 1, name="input_tensor")
    rules.check_rank("irfft", length, 0, name="fft_length")
    out = x.with_dtype(float64 if x.dtype is complex128 else float32)
    size = rules.known(length)
    if isinstance(size, int) and size < 0:
        raise ShapeError(f"irfft: fft_length must not be negative, got {size}.")
    if x.dims is None:
        return out
    at = rules.normalize_axis("irfft", axis, len(x.dims))
    return out.with_dims(rules.replace(x.dims, at, Dim() if size is None else size))


def _irfft_kernel(xp: ArrayNamespace, x: Array, length: Any, *, axis: int, norm: str) -> Array:
    dtype = xp.real(x).dtype
    if not length:
        return xp.zeros(rules.replace(x.shape, axis % x.ndim, 0), dtype)
    return long_lines.irfft(xp, x, operator.index(length), axis, norm).astype(dtype, copy=False)


def _irfft_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor, None]:
    x, count = ctx.inputs
    axis = _from_end(ctx.attrs["axis"], x)
    out = rfft_op(g, axis=axis, norm=OPPOSITE[ctx.attrs["norm"]])
    return out * _weights(casting.cast(count, int32), out.dtype, axis), None


irfft_op: Op = define_op(
    "IRFFT",
    args("input", COMPLEX) + args("fft_length", INDEX, is_shape=True),
    infer=_irfft_infer,
    kernel=_irfft_kernel,
    native=NO_NATIVE,
    xla=Lowered("irfft"),
    vjp=_irfft_vjp,
    fresh=True,
    graphdef=composed_graph_forms.inverse_real_fourier,
    batch=batching.inexact(batching.along_axis),
)


def resized(op: str, x: Tensor, lengths: list[Any], axes: Axes) -> Tensor:
    """The tensor cropped, or padded with zeros, at the end of some axes."""
    rank = x.spec.rank
    if rank is None:
        raise UnsupportedError(f"{op}: a length needs a tensor of known rank.")
    places = rules.normalize_axes(op, axes, rank, name="axes")
    dims = x.spec.dims or ()
    if all(isinstance(n, int) and dims[at] == n for at, n in zip(places, lengths, strict=True)):
        return x
    have = shapes.shape(x)
    wanted = [have[i] for i in range(rank)]
    for at, length in zip(places, lengths, strict=True):
        wanted[at] = length
    target = convert_to_tensor(wanted)
    kept = blocks.slice(x, [0] * rank, arithmetic.minimum(have, target))
    missing = arithmetic.maximum(target - have, 0)
    return padding.pad(kept, stack([missing * 0, missing], axis=1))


def lengths_of(op: str, fft_length: TensorLike, n: int) -> list[Any]:
    """One length (a number or a scalar tensor) for each axis."""
    if not isinstance(fft_length, Tensor):
        found = static.static_ints(op, fft_length, "fft_length")
        lengths: list[Any] = [found] if isinstance(found, int) else list(found or ())
    else:
        vector = casting.cast(shapes.reshape(fft_length, [-1]), int32)
        known = static.static_value(vector)
        size = (vector.spec.dims or (Dim(),))[0]
        if known is not None:
            lengths = known.tolist()
        else:
            lengths = [vector[i] for i in range(n if isinstance(size, Dim) else size)]
    if len(lengths) != n:
        raise ShapeError(f"{op}: fft_length must have {n} numbers, got {len(lengths)}.")
    for length in lengths:
        if isinstance(length, int) and length < 1:
            raise ShapeError(f"{op}: fft_length must be positive, got {lengths}.")
    return lengths


def real_input(op: str, value: TensorLike) -> Tensor:
    """A tensor of float32 or float64."""
    x = convert_to_tensor(value, dtype_hint=None if hasattr(value, "dtype") else float32)
    if x.dtype not in _REAL:
        raise FixedDTypeError(
            f"{op}: input_tensor must be float32 or float64, got {x.dtype.name}. Convert it with "
            "tf.cast(input_tensor, tf.float32)."
        )
    return x


def forward(
    op: str, value: TensorLike, fft_length: Any, axes: Axes, norm: str, name: Any
) -> Tensor:
    """The transform of real signals, cropped or padded to lengths before."""
    x = real_input(op, value)
    rules.check_rank_at_least(op, x.spec, len(axes), name="input_tensor")
    if fft_length is not None:
        x = resized(op, x, lengths_of(op, fft_length, len(axes)), axes)
    out = rfft_op(x, axis=axes[-1], norm=norm, name=name if len(axes) == 1 else None)
    return out if len(axes) == 1 else fftnd_op(out, axes=axes[:-1], norm=norm, name=name)


def inverse(
    op: str, value: TensorLike, fft_length: Any, axes: Axes, norm: str, name: Any
) -> Tensor:
    """The real signals of a spectrum, cropped or padded to lengths before."""
    x = as_complex(op, value)
    rules.check_rank_at_least(op, x.spec, len(axes), name="input_tensor")
    if fft_length is None:
        size = shapes.shape(x)[axes[-1]]
        length: Any = arithmetic.maximum(size - 1, 0) * 2
    else:
        lengths = lengths_of(op, fft_length, len(axes))
        length = lengths[-1]
        x = resized(op, x, [*lengths[:-1], length // 2 + 1], axes)
    if len(axes) > 1:
        x = ifftnd_op(x, axes=axes[:-1], norm=norm)
    count = convert_to_tensor(length, dtype_hint=int32)
    return irfft_op(x, count, axis=axes[-1], norm=norm, name=name)


def rfft(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of real signals along the last axis: frequencies from 0 up.

    Args:
      input_tensor: a float32 or float64 tensor, of rank 1 or more.
      fft_length: a length (or a list of it) that the last axis is cropped or padded to before; None
        means that it stays.

    Returns:
      A tensor of complex64, or complex128 for float64, whose last axis has size length // 2 + 1.

    Raises:
      DTypeError: if `input_tensor` is not float32 or float64.
      ShapeError: if the rank is below 1, or the lengths are not 1 positive number.
      InvalidArgumentError: if the last axis is empty.

    >>> tf.signal.rfft([1.0, 0.0, 0.0, 0.0]).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return forward("rfft", input_tensor, fft_length, _LAST[1], "backward", name)


def rfft2d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of real signals over the last two axes.

    Args:
      input_tensor: a float32 or float64 tensor, of rank 2 or more.
      fft_length: two lengths that the last axes are cropped or padded to before; None means that
        they stay.

    Returns:
      A tensor of complex64, or complex128 for float64, whose last axis has size length // 2 + 1.

    Raises:
      DTypeError: if `input_tensor` is not float32 or float64.
      ShapeError: if the rank is below 2, or the lengths are not 2 positive numbers.
      InvalidArgumentError: if the last axis is empty.

    >>> tf.signal.rfft2d(tf.ones([2, 4])).shape
    TensorShape([2, 3])
    """
    return forward("rfft2d", input_tensor, fft_length, _LAST[2], "backward", name)


def rfft3d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of real signals over the last three axes.

    Args:
      input_tensor: a float32 or float64 tensor, of rank 3 or more.
      fft_length: three lengths that the last axes are cropped or padded to before; None means that
        they stay.

    Returns:
      A tensor of complex64, or complex128 for float64, whose last axis has size length // 2 + 1.

    Raises:
      DTypeError: if `input_tensor` is not float32 or float64.
      ShapeError: if the rank is below 3, or the lengths are not 3 positive numbers.
      InvalidArgumentError: if the last axis is empty.

    >>> tf.signal.rfft3d(tf.ones([2, 3, 4])).shape
    TensorShape([2, 3, 3])
    """
    return forward("rfft3d", input_tensor, fft_length, _LAST[3], "backward", name)


def irfft(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The real signals of which `rfft` gives the spectrum; of even length unless one is given.

    Args:
      input_tensor: a spectrum, complex numbers of rank 1 or more; floats become complex.
      fft_length: the length of the signals (or a list of it); None means 2 * (size of the last axis
        - 1).

    Returns:
      A tensor of float32, or float64 for complex128, with these lengths.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ShapeError: if the rank is below 1, or the lengths are not 1 positive number.

    >>> tf.signal.irfft(tf.constant([1.0, 1.0, 1.0])).numpy()
    array([1., 0., 0., 0.], dtype=float32)
    """
    return inverse("irfft", input_tensor, fft_length, _LAST[1], "backward", name)


def irfft2d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The real signals of which `rfft2d` gives the spectrum.

    Args:
      input_tensor: a spectrum, complex numbers of rank 2 or more; floats become complex.
      fft_length: the two lengths of the signals; None means those of `input_tensor`, for the last
        axis 2 * (its size - 1).

    Returns:
      A tensor of float32, or float64 for complex128, with these lengths.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ShapeError: if the rank is below 2, or the lengths are not 2 positive numbers.

    >>> tf.signal.irfft2d(tf.ones([2, 3])).shape
    TensorShape([2, 4])
    """
    return inverse("irfft2d", input_tensor, fft_length, _LAST[2], "backward", name)


def irfft3d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The real signals of which `rfft3d` gives the spectrum.

    Args:
      input_tensor: a spectrum, complex numbers of rank 3 or more; floats become complex.
      fft_length: the three lengths of the signals; None means those of `input_tensor`, for the last
        axis 2 * (its size - 1).

    Returns:
      A tensor of float32, or float64 for complex128, with these lengths.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ShapeError: if the rank is below 3, or the lengths are not 3 positive numbers.

    >>> tf.signal.irfft3d(tf.ones([2, 3, 3])).shape
    TensorShape([2, 3, 4])
    """
    return inverse("irfft3d", input_tensor, fft_length, _LAST[3], "backward", name)
