"""Circulant operators: products are convolutions, so that Fourier's transform makes them diagonal.

A block of depth 2 or 3 is circulant along two or three axes.
"""

from __future__ import annotations

from typing import Any, ClassVar

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.linear_operators.base import LinearOperator

_FORWARD = {1: tf.signal.fft, 2: tf.signal.fft2d, 3: tf.signal.fft3d}
_BACKWARD = {1: tf.signal.ifft, 2: tf.signal.ifft2d, 3: tf.signal.ifft3d}


class _Circulant(LinearOperator):
    """What all depths share."""

    block_depth = 1
    _parameter_ranks: ClassVar[dict[str, int]] = {"spectrum": 1}

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = tf.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = {
            "spectrum": spectrum, "input_output_dtype": input_output_dtype,
            "is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite, "is_square": is_square, "name": name,
        }  # fmt: skip
        kind = type(self).__name__
        if not is_square:
            raise ValueError(f"{kind}: circulant operators are square.")
        self._spectrum = tf.convert_to_tensor(spectrum)
        rank = self._spectrum.shape.rank
        if rank is not None and rank < self.block_depth:
            raise ValueError(f"{kind}: spectrum must have rank {self.block_depth} or more.")
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(f"{kind}: an operator with a real spectrum is self-adjoint.")
            is_self_adjoint = True
        super().__init__(
            input_output_dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True,
            name, parameters,
        )  # fmt: skip

    @property
    def spectrum(self) -> Any:
        """Its eigenvalues, along as many axes as blocks are deep."""
        return self._spectrum

    @property
    def block_shape(self) -> tf.TensorShape:
        """The sizes of the axes of a block."""
        return self._spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Any:
        """The sizes of the axes of a block when it runs.

        Returns:
          An int32 vector.
        """
        return tf.shape(self._spectrum)[-self.block_depth :]

    def _complex(self, x: tf.Tensor) -> Any:
        kinds = (self._spectrum.dtype, self.dtype)
        is_double = any(kind in (tf.float64, tf.complex128) for kind in kinds)
        return tf.cast(x, tf.complex128 if is_double else tf.complex64)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """What vectors are convolved with: the inverse transform of the spectrum.

        Returns:
          A tensor of the shape of the spectrum.
        """
        return self._out(_BACKWARD[self.block_depth](self._complex(self._spectrum)))

    def _out(self, x: tf.Tensor) -> Any:
        """A result in the dtype of the operator; a real one leaves what is imaginary."""
        return tf.cast(x if self.dtype.is_complex else tf.math.real(x), self.dtype)

    def _shape(self) -> tf.TensorShape:
        size = self.block_shape.num_elements()
        return self._spectrum.shape[: -self.block_depth].concatenate([size, size])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self._spectrum)
        size = tf.reduce_prod(shape[-self.block_depth :])
        return tf.concat([shape[: -self.block_depth], [size, size]], 0)

    def _in_spectrum(self, x: tf.Tensor, change: Any) -> Any:
        """Changes the transforms of the columns of x."""
        rows = tf.linalg.matrix_transpose(self._complex(x))
        blocks = tf.reshape(rows, tf.concat([tf.shape(rows)[:-1], self.block_shape_tensor()], 0))
        depth = self.block_depth
        changed = _BACKWARD[depth](change(_FORWARD[depth](blocks)))
        size = tf.reduce_prod(self.block_shape_tensor())
        flat = tf.reshape(changed, tf.concat([tf.shape(changed)[:-depth], [size]], 0))
        out = self._out(tf.linalg.matrix_transpose(flat))
        out.set_shape(tf.broadcast_static_shape(self.batch_shape, x.shape[:-2])
                      .concatenate(x.shape[-2:]))  # fmt: skip
        return out

    def _factors(self, adjoint: bool) -> Any:
        found = self._complex(self._spectrum)
        found = tf.math.conj(found) if adjoint else found
        return tf.expand_dims(found, -self.block_depth - 1)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_spectrum(x, lambda blocks: blocks * self._factors(adjoint))

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_spectrum(rhs, lambda blocks: blocks / self._factors(adjoint))

    def _flat(self) -> Any:
        shape = tf.shape(self._spectrum)
        return tf.reshape(self._spectrum, tf.concat([shape[: -self.block_depth], [-1]], 0))

    def _diag_part(self) -> Any:
        flat = self._complex(self._flat())
        mean = self._out(tf.reduce_mean(flat, -1))
        return mean[..., tf.newaxis] * tf.ones([self.domain_dimension_tensor()], self.dtype)

    def _trace(self) -> Any:
        return self._out(tf.reduce_sum(self._complex(self._flat()), -1))

    def _determinant(self) -> Any:
        return self._out(tf.reduce_prod(self._complex(self._flat()), -1))

    def _log_abs_determinant(self) -> Any:
        found = tf.reduce_sum(tf.math.log(tf.abs(self._flat())), -1)
        return tf.cast(found, self.dtype)

    def _eigvals(self) -> Any:
        return tf.cast(self._flat(), self.dtype)

    def _cond(self) -> Any:
        sizes = tf.abs(self._flat())
        return tf.cast(tf.reduce_max(sizes, -1) / tf.reduce_min(sizes, -1), self.dtype)

    def _assert_non_singular(self) -> Any:
        return tf.debugging.assert_positive(
            tf.abs(self._spectrum), message=f"{self.name} is singular: its spectrum has a 0"
        )

    def _assert_positive_definite(self) -> Any:
        return tf.debugging.assert_positive(
            tf.math.real(self._spectrum), message=f"{self.name} is not positive definite"
        )

    def _assert_self_adjoint(self) -> Any:
        imaginary = tf.math.imag(self._spectrum)
        return tf.debugging.assert_equal(
            imaginary, tf.zeros_like(imaginary), message=f"{self.name} is not self-adjoint"
        )

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Checks that products of real vectors are real: the spectrum has the symmetry for it.

        Returns:
          An op that raises InvalidArgumentError if it has not.
        """
        kernel = _BACKWARD[self.block_depth](self._complex(self._spectrum))
        size = tf.abs(tf.math.imag(kernel))
        limit = 1e-5 * (1 + tf.reduce_max(tf.abs(kernel)))
        return tf.debugging.assert_less(
            size,
            limit * tf.ones_like(size),
            message=f"The spectrum of {self.name} is not Hermitian",
        )

    def _like(self, spectrum: tf.Tensor) -> LinearOperator:
        return type(self)(
            spectrum, self.dtype, is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint, is_positive_definite=self.is_positive_definite,
        )  # fmt: skip

    def _linop_adjoint(self) -> LinearOperator:
        return self._like(tf.math.conj(self._spectrum))

    def _linop_inverse(self) -> LinearOperator:
        return self._like(1 / self._spectrum)


class LinearOperatorCirculant(_Circulant):
    """Matrices whose rows are the one above, turned by one place.

    >>> operator = tf.linalg.LinearOperatorCirculant([2.0, 1.0], tf.float32)
    >>> operator.to_dense().numpy()
    array([[1.5, 0.5],
           [0.5, 1.5]], dtype=float32)
    """


class LinearOperatorCirculant2D(_Circulant):
    """Circulant matrices of circulant blocks.

    >>> tf.linalg.LinearOperatorCirculant2D([[1.0, 2.0]], tf.float32).shape
    TensorShape([2, 2])
    """

    block_depth = 2
    _parameter_ranks: ClassVar[dict[str, int]] = {"spectrum": 2}


class LinearOperatorCirculant3D(_Circulant):
    """Circulant matrices of blocks that are circulant along two axes.

    >>> tf.linalg.LinearOperatorCirculant3D([[[1.0, 2.0]]], tf.float32).shape
    TensorShape([2, 2])
    """

    block_depth = 3
    _parameter_ranks: ClassVar[dict[str, int]] = {"spectrum": 3}
