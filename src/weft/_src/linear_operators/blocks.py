"""Operators made of blocks: along the diagonal, and of a lower triangle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator
from weft._src.linear_operators.products import (
    all_say,
    check_operators,
    combined,
    settled,
    settled_hints,
)


def _sum(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)


class _Blocks(LinearOperator):
    """What both share: arguments may be one tensor, or a list with a tensor for each block."""

    @abstractmethod
    def _diagonal(self) -> list[LinearOperator]:
        """The blocks of the diagonal."""

    def _shape(self) -> tf.TensorShape:
        diagonal = self._diagonal()
        batch = batches.broadcast_static([operator.batch_shape for operator in self._all()])
        rows = _sum([operator.range_dimension for operator in diagonal])
        return batch.concatenate([rows, _sum([x.domain_dimension for x in diagonal])])

    def _all(self) -> list[LinearOperator]:
        return self._diagonal()

    def _shape_tensor(self) -> Any:
        diagonal = self._diagonal()
        batch = batches.broadcast_dynamic([x.batch_shape_tensor() for x in self._all()])
        rows = tf.add_n([operator.range_dimension_tensor() for operator in diagonal])
        columns = tf.add_n([operator.domain_dimension_tensor() for operator in diagonal])
        return batches.concat_shape(batch, rows, columns)

    def _parts(self, x: tf.Tensor, adjoint: bool) -> list[Any]:
        """A tensor cut into a part for each block."""
        sizes = [
            operator.range_dimension_tensor() if adjoint else operator.domain_dimension_tensor()
            for operator in self._diagonal()
        ]
        return tf.split(x, sizes, axis=-2) if len(sizes) > 1 else [x]

    def _joined(self, parts: Sequence[Any]) -> Any:
        batch = batches.broadcast_dynamic([tf.shape(part)[:-2] for part in parts])
        static = batches.broadcast_static([part.shape[:-2] for part in parts])
        wide = []
        for part in parts:
            one = tf.broadcast_to(part, tf.concat([batch, tf.shape(part)[-2:]], 0))
            one.set_shape(static.concatenate(part.shape[-2:]))
            wide.append(one)
        return tf.concat(wide, axis=-2)

    def _blockwise(
        self, x: TensorLike, adjoint_arg: bool, run: Callable[[list[Any]], list[Any]], adjoint: bool
    ) -> Any:
        """Runs on a part for each block, and gives what it was given: a list, or one tensor."""
        if isinstance(x, (list, tuple)) and len(x) == len(self._diagonal()) and _are_blocks(x):
            return run([self._tensor("matmul", part, adjoint_arg) for part in x])
        tensor = self._tensor("matmul", x, adjoint_arg)
        return self._joined(run(self._parts(tensor, adjoint)))

    def matmul(
        self,
        x: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Any:
        """The product with matrices, or with another operator.

        Args:
          x: a tensor [..., columns, r], a list with a part of it for each block, or an operator.
          adjoint: whether the adjoint of this operator is meant.
          adjoint_arg: whether the adjoint of `x` is meant.

        Returns:
          A tensor [..., rows, r], a list of parts for a list, or an operator.

        Raises:
          ValueError: if the sizes do not fit.
        """
        if isinstance(x, (list, tuple)) and len(x) == len(self._diagonal()) and _are_blocks(x):
            return self._blockwise(x, adjoint_arg, lambda p: self._times(p, adjoint), adjoint)
        return super().matmul(x, adjoint, adjoint_arg, name)

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._blockwise(x, False, lambda parts: self._times(parts, adjoint), adjoint)

    def solve(
        self,
        rhs: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Any:
        """The X for which the product with it is `rhs`.

        Args:
          rhs: a tensor [..., rows, r], a list with a part of it for each block, or an operator.
          adjoint: whether the adjoint of this operator is meant.
          adjoint_arg: whether the adjoint of `rhs` is meant.

        Returns:
          A tensor [..., columns, r], a list of parts for a list, or an operator.

        Raises:
          UnsupportedError: if the operator is singular or not square.
        """
        if isinstance(rhs, (list, tuple)) and len(rhs) == len(self._diagonal()) and _are_blocks(
            rhs
        ):  # fmt: skip
            return self._blockwise(rhs, adjoint_arg, lambda p: self._solved(p, adjoint), adjoint)
        return super().solve(rhs, adjoint, adjoint_arg, name)

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._blockwise(rhs, False, lambda parts: self._solved(parts, adjoint), not adjoint)

    @abstractmethod
    def _times(self, parts: list[Any], adjoint: bool) -> list[Any]:
        """The product, block by block."""

    @abstractmethod
    def _solved(self, parts: list[Any], adjoint: bool) -> list[Any]:
        """The solution, block by block."""

    def _determinant(self) -> Any:
        return combined(tf.multiply, [operator.determinant() for operator in self._diagonal()])

    def _log_abs_determinant(self) -> Any:
        return combined(tf.add, [x.log_abs_determinant() for x in self._diagonal()])

    def _diag_part(self) -> Any:
        if not all_say(self._diagonal(), "is_square"):
            return super()._diag_part()
        parts = [operator.diag_part()[..., tf.newaxis] for operator in self._diagonal()]
        return tf.squeeze(self._joined(parts), -1)

    def _trace(self) -> Any:
        if not all_say(self._diagonal(), "is_square"):
            return super()._trace()
        return combined(tf.add, [operator.trace() for operator in self._diagonal()])

    def _assert_non_singular(self) -> Any:
        checks = [operator.assert_non_singular() for operator in self._diagonal()]
        return tf.group(*[check for check in checks if check is not None])


def _are_blocks(items: Sequence[Any]) -> bool:
    """Whether a list has a matrix for each block, rather than being one matrix written out."""
    return all(tf.is_tensor(item) or getattr(item, "ndim", 0) >= 2 for item in items)


class LinearOperatorBlockDiag(_Blocks):
    """Operators along the diagonal, and zeros beside them.

    >>> one, two = [tf.linalg.LinearOperatorScaledIdentity(1, x) for x in (1.0, 2.0)]
    >>> tf.linalg.LinearOperatorBlockDiag([one, two]).to_dense().numpy()
    array([[1., 0.],
           [0., 2.]], dtype=float32)
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = {
            "operators": operators, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        kind = type(self).__name__
        self._operators = found = check_operators(kind, operators)
        hints = settled_hints(
            kind, found, is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )  # fmt: skip
        super().__init__(
            found[0].dtype, is_square=is_square, parameters=parameters,
            name=name or "_ds_".join([operator.name for operator in found]), **hints,
        )  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        """The blocks."""
        return list(self._operators)

    def _diagonal(self) -> list[LinearOperator]:
        return self._operators

    def _times(self, parts: list[Any], adjoint: bool) -> list[Any]:
        pairs = zip(self._operators, parts, strict=True)
        return [operator.matmul(part, adjoint=adjoint) for operator, part in pairs]

    def _solved(self, parts: list[Any], adjoint: bool) -> list[Any]:
        pairs = zip(self._operators, parts, strict=True)
        return [operator.solve(part, adjoint=adjoint) for operator, part in pairs]

    def _eigvals(self) -> Any:
        parts = [operator.eigvals()[..., tf.newaxis] for operator in self._operators]
        return tf.squeeze(self._joined(parts), -1)

    def _linop_adjoint(self) -> LinearOperator:
        return self._like([operator.adjoint() for operator in self._operators])

    def _linop_inverse(self) -> LinearOperator:
        return self._like([operator.inverse() for operator in self._operators])

    def _linop_cholesky(self) -> LinearOperator:
        if not all(operator._can_use_cholesky() for operator in self._operators):
            return super()._linop_cholesky()
        return LinearOperatorBlockDiag([operator.cholesky() for operator in self._operators])

    def _like(self, operators: list[LinearOperator]) -> LinearOperator:
        return LinearOperatorBlockDiag(
            operators, is_non_singular=self.is_non_singular, is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite, is_square=self.is_square,
        )  # fmt: skip


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Rows of operators, each row one longer than that before; above them are zeros.

    >>> one = tf.linalg.LinearOperatorIdentity(1)
    >>> tf.linalg.LinearOperatorBlockLowerTriangular([[one], [one, one]]).to_dense().numpy()
    array([[1., 0.],
           [1., 1.]], dtype=float32)
    """

    def __init__(
        self,
        operators: Sequence[Sequence[LinearOperator]],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = {
            "operators": operators, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        kind = type(self).__name__
        self._operators = rows = [list(row) for row in operators]
        check_operators(kind, [operator for row in rows for operator in row])
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise ValueError(f"{kind}: row {i} must have {i + 1} operators, got {len(row)}.")
        diagonal = self._diagonal()
        if any(operator.is_square is False for operator in diagonal):
            raise ValueError(f"{kind}: the operators on the diagonal must be square.")
        known = all_say(diagonal, "is_non_singular")
        super().__init__(
            diagonal[0].dtype, None, settled(kind, "is_non_singular", is_non_singular, known),
            is_self_adjoint, is_positive_definite, True, name, parameters,
        )  # fmt: skip

    @property
    def operators(self) -> list[list[LinearOperator]]:
        """The rows of blocks."""
        return [list(row) for row in self._operators]

    def _diagonal(self) -> list[LinearOperator]:
        return [row[-1] for row in self._operators]

    def _all(self) -> list[LinearOperator]:
        return [operator for row in self._operators for operator in row]

    def _times(self, parts: list[Any], adjoint: bool) -> list[Any]:
        rows = self._operators
        if adjoint:
            count = len(rows)
            return [
                combined(
                    tf.add, [rows[i][j].matmul(parts[i], adjoint=True) for i in range(j, count)]
                )
                for j in range(count)
            ]
        return [
            combined(tf.add, [x.matmul(part) for x, part in zip(row, parts, strict=False)])
            for row in rows
        ]

    def _solved(self, parts: list[Any], adjoint: bool) -> list[Any]:
        """Forward through the rows, or backward through those of the adjoint."""
        rows, count = self._operators, len(self._operators)
        found: dict[int, Any] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            right = parts[i]
            for j, solution in found.items():
                block = rows[j][i] if adjoint else rows[i][j]
                right = right - block.matmul(solution, adjoint=adjoint)
            found[i] = rows[i][i].solve(right, adjoint=adjoint)
        return [found[i] for i in range(count)]

    def _eigvals(self) -> Any:
        parts = [operator.eigvals()[..., tf.newaxis] for operator in self._diagonal()]
        return tf.squeeze(self._joined(parts), -1)
