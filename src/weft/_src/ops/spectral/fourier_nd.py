"""Fourier transforms over chosen axes."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import AxisLike, TensorLike
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError, UnsupportedError
from weft._src.ops import static
from weft._src.ops.registry import Op
from weft._src.ops.spectral import fourier

Axes = tuple[int, ...]


def _chosen_axes(op: str, x: Tensor, fft_length: Any, axes: Any) -> Axes:
    """The axes that are asked for; as many last ones as there are lengths; or all."""
    found = static.static_ints(op, axes, "axes")
    if found is None and fft_length is not None and not isinstance(fft_length, Tensor):
        given = static.static_ints(op, fft_length, "fft_length")
        found = tuple(range(-(1 if isinstance(given, int) else len(given or ())), 0))
    elif found is None:
        if x.spec.rank is None:
            raise UnsupportedError(f"{op}: without axes a tensor of known rank is needed.")
        found = tuple(range(-x.spec.rank, 0))
    along = (found,) if isinstance(found, int) else tuple(found)
    if not along:
        raise ShapeError(f"{op}: input_tensor must have, and axes must name, at least one axis.")
    return along


def _norm(op: str, norm: str) -> str:
    if norm is None:
        return "backward"
    if not isinstance(norm, str) or norm not in fourier.OPPOSITE:
        raise ValueError(
            f"{op}: norm must be None or one of {sorted(fourier.OPPOSITE)}, got {norm!r}."
        )
    return norm


def _chosen(
    op: str, which: Op, value: Any, fft_length: Any, axes: Any, norm: Any, name: Any
) -> Any:
    x = fourier.as_complex(op, value)
    along = _chosen_axes(op, x, fft_length, axes)
    if fft_length is not None:
        x = fourier.resized(op, x, fourier.lengths_of(op, fft_length, len(along)), along)
    found: Tensor = which(x, axes=along, norm=_norm(op, norm), name=name)
    return found


def fftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform over chosen axes, cropped or padded to lengths before.

    Args:
      input_tensor: a tensor of complex numbers, of rank 1 or more; floats become complex.
      fft_length: lengths that the axes are cropped or padded to before; None means that they stay.
      axes: an axis or a list of axes; None means as many last ones as there are lengths, or all.
      norm: where to divide by the number of elements: "backward" (which None means, too) in the
        inverse transform, "forward" in the other one, "ortho" by its root in both.

    Returns:
      A tensor of complex128 for float64 and complex128, else of complex64.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ValueError: if there is no such norm.
      ShapeError: if there are no such axes, or not as many positive lengths.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.fftnd(tf.ones([2, 3]), axes=[0]).numpy().real
    array([[2., 2., 2.],
           [0., 0., 0.]], dtype=float32)
    """
    return _chosen("fftnd", fourier.fftnd_op, input_tensor, fft_length, axes, norm, name)


def ifftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The inverse Fourier transform over chosen axes.

    Args:
      input_tensor: a tensor of complex numbers, of rank 1 or more; floats become complex.
      fft_length: lengths that the axes are cropped or padded to before; None means that they stay.
      axes: an axis or a list of axes; None means as many last ones as there are lengths, or all.
      norm: where to divide by the number of elements: "backward" (which None means, too) in the
        inverse transform, "forward" in the other one, "ortho" by its root in both.

    Returns:
      A tensor of complex128 for float64 and complex128, else of complex64.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ValueError: if there is no such norm.
      ShapeError: if there are no such axes, or not as many positive lengths.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.ifftnd(tf.ones([2, 3]), axes=[0]).numpy().real
    array([[1., 1., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    return _chosen("ifftnd", fourier.ifftnd_op, input_tensor, fft_length, axes, norm, name)


def rfftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real signals over chosen axes; the last of them is halved.

    Args:
      input_tensor: a tensor of floating numbers, of rank 1 or more; narrow ones become float32.
      fft_length: lengths that the axes are cropped or padded to before; None means that they stay.
      axes: an axis or a list of axes; None means as many last ones as there are lengths, or all.
      norm: where to divide by the number of elements: "backward" (which None means, too) in the
        inverse transform, "forward" in the other one, "ortho" by its root in both.

    Returns:
      A tensor of complex64, or complex128 for float64; the last of the axes has size length // 2 +
      1.

    Raises:
      DTypeError: if `input_tensor` is not floating.
      ValueError: if there is no such norm.
      ShapeError: if there are no such axes, or not as many positive lengths.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.rfftnd(tf.ones([4, 3]), axes=[1, 0]).shape
    TensorShape([3, 3])
    """
    x = fourier.real_input("rfftnd", input_tensor)
    along = _chosen_axes("rfftnd", x, fft_length, axes)
    return fourier.forward("rfftnd", x, fft_length, along, _norm("rfftnd", norm), name)


def irfftnd(
    input_tensor: TensorLike,
    fft_length: TensorLike | None = None,
    axes: AxisLike | None = None,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The real signals of which `rfftnd` gives the spectrum.

    Args:
      input_tensor: a spectrum, complex numbers of rank 1 or more; floats become complex.
      fft_length: the lengths of the signals; None means those of `input_tensor`, for the last of
        the axes 2 * (its size - 1).
      axes: an axis or a list of axes; None means as many last ones as there are lengths, or all.
      norm: where to divide by the number of elements: "backward" (which None means, too) in the
        inverse transform, "forward" in the other one, "ortho" by its root in both.

    Returns:
      A tensor of float32, or float64 for complex128.

    Raises:
      DTypeError: if `input_tensor` is neither complex nor floating.
      ValueError: if there is no such norm.
      ShapeError: if there are no such axes, or not as many positive lengths.
      UnsupportedError: if axes are needed, as the rank is unknown while tracing.

    >>> tf.signal.irfftnd(tf.ones([3, 3]), axes=[1, 0]).shape
    TensorShape([4, 3])
    """
    x = fourier.as_complex("irfftnd", input_tensor)
    along = _chosen_axes("irfftnd", x, fft_length, axes)
    return fourier.inverse("irfftnd", x, fft_length, along, _norm("irfftnd", norm), name)
