"""`tf.linalg.LinearOperator`: what all kinds of operators have, computed from what each says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

import weft as tf
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.errors import UnsupportedError
from weft._src.linear_operators import batches
from weft._src.linear_operators.functions import FUNCTIONS
from weft._src.linear_operators.parts import part_of, slices_of
from weft._src.linear_operators.spec import LinearOperatorSpec, spec_of_operator


class LinearOperator(tf.Module, ABC):
    """A (batch of) matrices that need not be written out: base of those that follow.

    A subclass says its `_shape` and `_matmul`, and what it can do better than the dense matrix:
    `_solve`, `_to_dense`, `_diag_part`, `_determinant`, `_log_abs_determinant`, `_trace`,
    `_eigvals`, `_cond` and the `_assert_...` methods.

    The hints (`is_non_singular` and so on) are promises of the caller: None promises nothing.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> operator.matmul([[1.0], [1.0]]).numpy()
    array([[1.],
           [2.]], dtype=float32)
    """

    # The rank of the parameters that are tensors, without leading axes of a batch.
    _parameter_ranks: ClassVar[dict[str, int]] = {}

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite operator is never singular.")
        is_non_singular = is_non_singular or is_positive_definite or is_non_singular
        if (is_non_singular or is_self_adjoint) and is_square is False:
            raise ValueError("An operator that is non-singular or self-adjoint is square.")
        is_square = is_square or is_non_singular or is_self_adjoint or is_square
        super().__init__(name=name or type(self).__name__)
        self._dtype = None if dtype is None else tf.as_dtype(dtype)
        self._graph_parents = list(graph_parents or ())
        self._is_non_singular = None if is_non_singular is None else bool(is_non_singular)
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = None if is_square is None else bool(is_square)
        self._parameters = dict(parameters or {})

    # --- what it is --------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype of its elements."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made of, by the names of the arguments."""
        return dict(self._parameters)

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors it was said to depend on."""
        return list(self._graph_parents)

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it can be inverted."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is equal to its adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the real part of x^H A x is positive for every x but 0."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns, as far as that is known."""
        static = self._static_square()
        if static is False and self._is_square:
            raise ValueError(f"{self.name} is said to be square, and has shape {self.shape}.")
        return self._is_square if static is None else static

    def _static_square(self) -> bool | None:
        rows, columns = self.range_dimension, self.domain_dimension
        return None if rows is None or columns is None else rows == columns

    @abstractmethod
    def _shape(self) -> tf.TensorShape:
        """The static shape."""

    def _shape_tensor(self) -> Any:
        raise UnsupportedError(
            f"{type(self).__name__} has the shape {self.shape}, and no method _shape_tensor that "
            "would say the sizes which are not known. Define it."
        )

    @property
    def shape(self) -> tf.TensorShape:
        """The static shape: leading axes, rows, columns."""
        return self._shape()

    @property
    def batch_shape(self) -> tf.TensorShape:
        """The static shape of the leading axes."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes: two more than those of the batch."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns."""
        return None if self.shape.rank is None else self.shape[-1]

    @property
    def range_dimension(self) -> int | None:
        """The number of rows."""
        return None if self.shape.rank is None else self.shape[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> tf.Tensor:
        """The shape when it runs.

        Returns:
          An int32 vector.
        """
        if self.shape.is_fully_defined():
            return tf.convert_to_tensor(self.shape, tf.int32)
        return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> tf.Tensor:
        """The shape of the leading axes when it runs.

        Returns:
          An int32 vector.
        """
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> tf.Tensor:
        """The number of axes when it runs.

        Returns:
          An int32 scalar.
        """
        return tf.size(self.shape_tensor())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> tf.Tensor:
        """The number of columns when it runs.

        Returns:
          An int32 scalar.
        """
        return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> tf.Tensor:
        """The number of rows when it runs.

        Returns:
          An int32 scalar.
        """
        return self.shape_tensor()[-2]

    # --- what is promised --------------------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Checks that it can be inverted, by its condition number.

        Returns:
          An op that raises InvalidArgumentError if it cannot.
        """
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        limit = 0.01 / np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        return tf.debugging.assert_less(
            self.cond(), tf.cast(limit, self.dtype.real_dtype), message=f"{self.name} is singular"
        )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Checks that it is positive definite, by its Cholesky factor or its diagonal.

        Returns:
          An op that raises InvalidArgumentError if it is not.
        """
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        diagonal = tf.linalg.diag_part(tf.linalg.cholesky(self.to_dense()))
        return tf.debugging.assert_positive(
            tf.math.real(diagonal), message=f"{self.name} is not positive definite"
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Checks that it is equal to its adjoint.

        Returns:
          An op that raises InvalidArgumentError if it is not.
        """
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return tf.debugging.assert_equal(
            dense, tf.linalg.adjoint(dense), message=f"{self.name} is not self-adjoint"
        )

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _need_square(self, what: str) -> None:
        if self.is_square is False:
            raise UnsupportedError(
                f"{what}: {self.name} is not square, it is {self.shape}. Use tf.linalg.lstsq or "
                "tf.linalg.pinv of to_dense()."
            )

    # --- products and solutions --------------------------------------------------------------

    def matmul(
        self,
        x: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Any:
        """The product with matrices, or with another operator.

        Args:
          x: a tensor [..., columns, r] of this dtype, or an operator.
          adjoint: whether the adjoint of this operator is meant.
          adjoint_arg: whether the adjoint of `x` is meant.

        Returns:
          A tensor [..., rows, r]; for an operator the composition of both, as an operator.

        Raises:
          ValueError: if the sizes do not fit.
          TypeError: if `x` has another dtype.
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            self._check_sizes("matmul", left.domain_dimension, right.range_dimension)
            return left._linop_matmul(left, right)
        tensor = self._tensor("matmul", x, adjoint_arg)
        inner = self.range_dimension if adjoint else self.domain_dimension
        self._check_sizes("matmul", inner, tensor.shape[-2] if tensor.shape.rank else None)
        return self._matmul(tensor, adjoint=adjoint)

    def _tensor(self, op: str, x: TensorLike, adjoint: bool) -> Any:
        tensor = tf.convert_to_tensor(x, dtype_hint=self.dtype)
        if tensor.dtype != self.dtype:
            raise TypeError(
                f"{self.name}.{op}: the operator is of dtype {self.dtype.name}, and the argument "
                f"of {tensor.dtype.name}."
            )
        return tf.linalg.adjoint(tensor) if adjoint else tensor

    def _check_sizes(self, op: str, ours: int | None, theirs: int | None) -> None:
        if ours is not None and theirs is not None and ours != theirs:
            raise ValueError(f"{self.name}.{op}: the inner sizes {ours} and {theirs} differ.")

    @abstractmethod
    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """The product with matrices."""

    def _linop_matmul(self, left: LinearOperator, right: LinearOperator) -> LinearOperator:
        return tf.linalg.LinearOperatorComposition._of_two(left, right)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> tf.Tensor:
        """The product with vectors.

        Args:
          x: a tensor [..., columns] of this dtype.
          adjoint: whether the adjoint of this operator is meant.

        Returns:
          A tensor [..., rows].

        Raises:
          ValueError: if the sizes do not fit.
        """
        tensor = self._tensor("matvec", x, False)
        return self._matvec(tensor, adjoint=adjoint)

    def _matvec(self, x: tf.Tensor, adjoint: bool = False) -> Any:
        return tf.squeeze(self.matmul(x[..., tf.newaxis], adjoint=adjoint), -1)

    def solve(
        self,
        rhs: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Any:
        """The X for which the product with it is `rhs`.

        Args:
          rhs: a tensor [..., rows, r] of this dtype, or an operator.
          adjoint: whether the adjoint of this operator is meant.
          adjoint_arg: whether the adjoint of `rhs` is meant.

        Returns:
          A tensor [..., columns, r]; for an operator, an operator.

        Raises:
          UnsupportedError: if the operator is singular or not square.
          ValueError: if the sizes do not fit.
        """
        if self.is_non_singular is False:
            raise UnsupportedError(
                f"{self.name}.solve: the operator is singular. Use tf.linalg.lstsq of to_dense()."
            )
        self._need_square("solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            self._check_sizes("solve", left.range_dimension, right.range_dimension)
            return left._linop_solve(left, right)
        tensor = self._tensor("solve", rhs, adjoint_arg)
        self._check_sizes("solve", self.range_dimension, tensor.shape[-2] if tensor.shape else None)
        return self._solve(tensor, adjoint=adjoint)

    def _linop_solve(self, left: LinearOperator, right: LinearOperator) -> LinearOperator:
        inverse = left.inverse()
        return inverse._linop_matmul(inverse, right)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._can_use_cholesky():
            factor, right = batches.with_equal_batches(tf.linalg.cholesky(self.to_dense()), rhs)
            return tf.linalg.cholesky_solve(factor, right)
        return batches.solved(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> tf.Tensor:
        """The x for which the product with it is `rhs`, of vectors.

        Args:
          rhs: a tensor [..., rows] of this dtype.
          adjoint: whether the adjoint of this operator is meant.

        Returns:
          A tensor [..., columns].

        Raises:
          UnsupportedError: if the operator is singular or not square.
        """
        tensor = self._tensor("solvevec", rhs, False)
        return self._solvevec(tensor, adjoint=adjoint)

    def _solvevec(self, rhs: tf.Tensor, adjoint: bool = False) -> Any:
        return tf.squeeze(self.solve(rhs[..., tf.newaxis], adjoint=adjoint), -1)

    # --- other operators ---------------------------------------------------------------------

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator that is transposed and conjugated.

        Returns:
          An operator; this one, if it is self-adjoint.
        """
        return self if self.is_self_adjoint else self._linop_adjoint()

    @property
    def H(self) -> LinearOperator:  # noqa: N802 - the name it has everywhere
        """The adjoint."""
        return self.adjoint()

    def _linop_adjoint(self) -> LinearOperator:
        return tf.linalg.LinearOperatorAdjoint(
            self, is_non_singular=self.is_non_singular, is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite, is_square=self.is_square,
        )  # fmt: skip

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator whose product with this one is the identity.

        Returns:
          An operator.

        Raises:
          ValueError: if this one is singular or not square.
        """
        if self.is_square is False:
            raise ValueError(f"{self.name}.inverse: the operator is not square, but {self.shape}.")
        if self.is_non_singular is False:
            raise ValueError(f"{self.name}.inverse: the operator is singular.")
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        return tf.linalg.LinearOperatorInversion(
            self, is_non_singular=self.is_non_singular, is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite, is_square=self.is_square,
        )  # fmt: skip

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular L for which L L^H is this operator.

        Returns:
          An operator.

        Raises:
          ValueError: if this one is not said to be self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                f"{self.name}.cholesky: say is_self_adjoint=True and is_positive_definite=True if "
                "it is so."
            )
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        factor = tf.linalg.cholesky(self.to_dense())
        return tf.linalg.LinearOperatorLowerTriangular(
            factor, is_non_singular=True, is_self_adjoint=False, is_square=True
        )

    # --- numbers -----------------------------------------------------------------------------

    def to_dense(self, name: str = "to_dense") -> tf.Tensor:
        """The matrices written out.

        Returns:
          A tensor of the shape of the operator.
        """
        dense = self._to_dense()
        dense.set_shape(self.shape)
        return dense

    def _to_dense(self) -> Any:
        shape = self.shape_tensor()
        return self.matmul(tf.eye(shape[-1], batch_shape=shape[:-2], dtype=self.dtype))

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> tf.Tensor:
        """The matrices plus others.

        Args:
          x: a tensor that broadcasts with the operator.

        Returns:
          A tensor.
        """
        return self._add_to_tensor(self._tensor("add_to_tensor", x, False))

    def _add_to_tensor(self, x: tf.Tensor) -> Any:
        return self.to_dense() + x

    def diag_part(self, name: str = "diag_part") -> tf.Tensor:
        """The diagonals.

        Returns:
          A tensor [..., the smaller of rows and columns].
        """
        return self._diag_part()

    def _diag_part(self) -> Any:
        return tf.linalg.diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> tf.Tensor:
        """The sums of the diagonals.

        Returns:
          A tensor of the shape of the batch.
        """
        return self._trace()

    def _trace(self) -> Any:
        return tf.reduce_sum(self.diag_part(), -1)

    def determinant(self, name: str = "det") -> tf.Tensor:
        """The determinants.

        Returns:
          A tensor of the shape of the batch.

        Raises:
          UnsupportedError: if the operator is not square.
        """
        self._need_square("determinant")
        return self._determinant()

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return tf.exp(self.log_abs_determinant())
        return tf.linalg.det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> tf.Tensor:
        """The logarithms of the sizes of the determinants.

        Returns:
          A tensor of the shape of the batch.

        Raises:
          UnsupportedError: if the operator is not square.
        """
        self._need_square("log_abs_determinant")
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            diagonal = tf.linalg.diag_part(tf.linalg.cholesky(self.to_dense()))
            return 2 * tf.reduce_sum(tf.math.log(diagonal), -1)
        return tf.linalg.slogdet(self.to_dense())[1]

    def eigvals(self, name: str = "eigvals") -> tf.Tensor:
        """The eigenvalues, of a self-adjoint operator.

        Returns:
          A tensor [..., rows].

        Raises:
          UnsupportedError: if it is not said to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise UnsupportedError(
                f"{self.name}.eigvals: only of self-adjoint operators. Say is_self_adjoint=True if "
                "it is one, or use tf.linalg.eigvals of to_dense()."
            )
        return self._eigvals()

    def _eigvals(self) -> Any:
        return tf.linalg.eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> tf.Tensor:
        """The condition numbers: the largest singular value divided by the smallest.

        Returns:
          A tensor of the shape of the batch, infinite for singular ones.
        """
        return self._cond()

    def _cond(self) -> Any:
        if self.is_self_adjoint:
            values = tf.abs(self.eigvals())
        else:
            values = tf.linalg.svd(self.to_dense(), compute_uv=False)
        return tf.reduce_max(values, -1) / tf.reduce_min(values, -1)

    # --- parts of a batch --------------------------------------------------------------------

    def __getitem__(self, slices: Any) -> Self:
        """The operator of a part of the batch: slices of its leading axes."""
        items = slices_of(slices, len(self.batch_shape))
        parts = {
            name: part_of(value, items, self._parameter_ranks.get(name))
            for name, value in self._parameters.items()
        }
        return type(self)(**parts)

    # --- as a value of several tensors -------------------------------------------------------

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        # A class of the user may take other arguments than the parameters it names: such an
        # operator is an object like others.
        if not type(self).__init__.__module__.startswith("weft."):
            raise AttributeError(f"{type(self).__name__} is not made of its parameters alone.")
        return spec_of_operator(self)

    def _matrix_function(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a public function of matrices means for operators."""
        return FUNCTIONS[name](*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of shape {self.shape}, {self.dtype.name}>"
