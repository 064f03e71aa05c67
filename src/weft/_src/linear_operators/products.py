"""Operators from several: products one after the other, and Kronecker's."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.linear_operators import batches
from weft._src.linear_operators.base import LinearOperator
from weft._src.linear_operators.diagonal import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)


def check_operators(kind: str, operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    """A list of operators of one dtype."""
    found = list(operators)
    if not found:
        raise ValueError(f"{kind}: operators must not be empty.")
    for operator in found:
        if not isinstance(operator, LinearOperator):
            raise TypeError(f"{kind}: operators must be linear operators, got {operator!r}.")
        if operator.dtype != found[0].dtype:
            kinds = ", ".join([x.dtype.name for x in found])
            raise TypeError(f"{kind}: all operators must have one dtype, got {kinds}.")
    return found


def all_say(operators: Sequence[LinearOperator], hint: str) -> bool | None:
    """True if all operators have a hint, None otherwise."""
    return True if all(getattr(operator, hint) for operator in operators) else None


def settled(kind: str, hint: str, ours: bool | None, known: bool | None) -> bool | None:
    """A hint of the caller, or what follows from the operators."""
    if ours is False and known:
        raise ValueError(f"{kind}: {hint} is said to be False, and all operators are so.")
    return known if ours is None else ours


def settled_hints(
    kind: str, operators: Sequence[LinearOperator], **given: bool | None
) -> dict[str, bool | None]:
    """Several hints, by their names."""
    return {
        hint: settled(kind, hint, ours, all_say(operators, hint)) for hint, ours in given.items()
    }


def combined(function: Callable[[Any, Any], Any], items: Sequence[Any]) -> Any:
    """Items put together by a function of two."""
    return functools.reduce(function, items)


class LinearOperatorComposition(LinearOperator):
    """The product of operators: the last one is applied first.

    >>> twice = tf.linalg.LinearOperatorScaledIdentity(2, 2.0)
    >>> operator = tf.linalg.LinearOperatorComposition([twice, twice])
    >>> operator.matvec([1.0, 3.0]).numpy()
    array([ 4., 12.], dtype=float32)
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = {
            "operators": operators, "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint, "is_positive_definite": is_positive_definite,
            "is_square": is_square, "name": name,
        }  # fmt: skip
        kind = type(self).__name__
        self._operators = found = check_operators(kind, operators)
        for left, right in itertools.pairwise(found):
            columns, rows = left.domain_dimension, right.range_dimension
            if columns is not None and rows is not None and columns != rows:
                raise ValueError(f"{kind}: {left!r} cannot be applied to {right!r}.")
        known = all_say(found, "is_non_singular")
        super().__init__(
            found[0].dtype, None, settled(kind, "is_non_singular", is_non_singular, known),
            is_self_adjoint, is_positive_definite, is_square,
            name or "_o_".join([operator.name for operator in found]), parameters,
        )  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators, the one that is applied last first."""
        return list(self._operators)

    @classmethod
    def _of_two(cls, left: LinearOperator, right: LinearOperator) -> LinearOperator:
        """The product of two operators, in the simplest form that is known for it."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, LinearOperatorIdentity) and one.batch_shape.rank == 0:
                return other
            are_plain = one.batch_shape.rank == other.batch_shape.rank == 0
            are_square = one.is_square and other.is_square
            if isinstance(one, LinearOperatorZeros) and are_plain and are_square:
                return one
        kept = all_say([left, right], "is_non_singular")
        if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorDiag):
            positive = all_say([left, right], "is_positive_definite")
            return LinearOperatorDiag(
                left.diag * right.diag, is_non_singular=kept,
                is_positive_definite=None if left.dtype.is_complex else positive,
            )  # fmt: skip
        scaled = LinearOperatorScaledIdentity
        if isinstance(left, scaled) and isinstance(right, scaled):
            product = left.multiplier * right.multiplier
            return scaled(left.shape_tensor()[-1], product, is_non_singular=kept)
        return cls([left, right], is_square=all_say([left, right], "is_square"))

    def _shape(self) -> tf.TensorShape:
        batch = batches.broadcast_static([operator.batch_shape for operator in self._operators])
        ends = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return batch.concatenate(ends)

    def _shape_tensor(self) -> Any:
        batch = batches.broadcast_dynamic([x.batch_shape_tensor() for x in self._operators])
        rows = self._operators[0].range_dimension_tensor()
        return batches.concat_shape(batch, rows, self._operators[-1].domain_dimension_tensor())

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._determinant()
        return combined(tf.multiply, [operator.determinant() for operator in self._operators])

    def _log_abs_determinant(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._log_abs_determinant()
        return combined(tf.add, [x.log_abs_determinant() for x in self._operators])

    def _assert_non_singular(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._assert_non_singular()
        checks = [operator.assert_non_singular() for operator in self._operators]
        return tf.group(*[check for check in checks if check is not None])

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorComposition(
            [operator.adjoint() for operator in reversed(self._operators)],
            is_non_singular=self.is_non_singular, is_square=self.is_square,
        )  # fmt: skip

    def _linop_inverse(self) -> LinearOperator:
        if not all_say(self._operators, "is_square"):
            return super()._linop_inverse()
        inverses = [operator.inverse() for operator in reversed(self._operators)]
        return LinearOperatorComposition(inverses, is_non_singular=True, is_square=True)


class LinearOperatorKronecker(LinearOperator):
    """Kronecker's product of operators: every element of the first times the others.

    >>> one = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> tf.linalg.LinearOperatorKronecker([one, one]).diag_part().numpy()
    array([1., 2., 2., 4.], dtype=float32)
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
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
            is_positive_definite=is_positive_definite, is_square=is_square,
        )  # fmt: skip
        super().__init__(
            found[0].dtype, name=name or "_x_".join([operator.name for operator in found]),
            parameters=parameters, **hints,
        )  # fmt: skip

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return list(self._operators)

    def _shape(self) -> tf.TensorShape:
        batch = batches.broadcast_static([operator.batch_shape for operator in self._operators])
        rows = [operator.range_dimension for operator in self._operators]
        columns = [operator.domain_dimension for operator in self._operators]
        ends = [None if None in sizes else functools.reduce(int.__mul__, sizes)  # type: ignore[arg-type]
                for sizes in (rows, columns)]  # fmt: skip
        return batch.concatenate(ends)

    def _shape_tensor(self) -> Any:
        batch = batches.broadcast_dynamic([x.batch_shape_tensor() for x in self._operators])
        rows = combined(tf.multiply, [x.range_dimension_tensor() for x in self._operators])
        columns = combined(tf.multiply, [x.domain_dimension_tensor() for x in self._operators])
        return batches.concat_shape(batch, rows, columns)

    def _along_axes(self, x: tf.Tensor, apply: Callable[[LinearOperator, Any], Any]) -> Any:
        """Each factor, which is square, works on an axis of its own."""
        count, lead = tf.shape(x)[-1], tf.shape(x)[:-2]
        sizes = [operator.domain_dimension_tensor() for operator in self._operators]
        for number, operator in enumerate(self._operators):
            behind = combined(tf.multiply, [count, *sizes[number + 1 :]])
            # [..., what was done, this axis, what follows and the columns]
            x = tf.reshape(x, tf.concat([lead, [-1, sizes[number], behind]], 0))
            x = _per_batch(operator, apply, x)
            lead = tf.shape(x)[: tf.rank(x) - 3]
        return tf.reshape(x, tf.concat([lead, [-1, count]], 0))

    def _matmul(self, x: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if not all_say(self._operators, "is_square"):
            return tf.linalg.matmul(self.to_dense(), x, adjoint_a=adjoint)
        return self._along_axes(x, lambda operator, y: operator.matmul(y, adjoint=adjoint))

    def _solve(self, rhs: tf.Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._solve(rhs, adjoint)
        return self._along_axes(rhs, lambda operator, y: operator.solve(y, adjoint=adjoint))

    def _to_dense(self) -> Any:
        return combined(_kronecker, [operator.to_dense() for operator in self._operators])

    def _diag_part(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._diag_part()
        return combined(_outer, [operator.diag_part() for operator in self._operators])

    def _trace(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._trace()
        return combined(tf.multiply, [operator.trace() for operator in self._operators])

    def _powers(self) -> list[Any]:
        """How often the determinant of each factor counts: the size of all others."""
        total = self.domain_dimension_tensor()
        return [tf.cast(total // x.domain_dimension_tensor(), self.dtype) for x in self._operators]

    def _determinant(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._determinant()
        found = [operator.determinant() for operator in self._operators]
        return combined(
            tf.multiply, [x**power for x, power in zip(found, self._powers(), strict=True)]
        )

    def _log_abs_determinant(self) -> Any:
        if not all_say(self._operators, "is_square"):
            return super()._log_abs_determinant()
        found = [operator.log_abs_determinant() for operator in self._operators]
        return combined(tf.add, [x * p for x, p in zip(found, self._powers(), strict=True)])

    def _eigvals(self) -> Any:
        return combined(_outer, [operator.eigvals() for operator in self._operators])

    def _assert_non_singular(self) -> Any:
        if not all_say(self._operators, "is_square"):
            raise tf.errors.InvalidArgumentError(None, None, f"{self.name} is singular.")
        checks = [operator.assert_non_singular() for operator in self._operators]
        return tf.group(*[check for check in checks if check is not None])

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.adjoint() for operator in self._operators])

    def _linop_inverse(self) -> LinearOperator:
        if not all_say(self._operators, "is_square"):
            return super()._linop_inverse()
        return LinearOperatorKronecker([operator.inverse() for operator in self._operators])

    def _linop_cholesky(self) -> LinearOperator:
        if not all(operator._can_use_cholesky() for operator in self._operators):
            return super()._linop_cholesky()
        return LinearOperatorKronecker([operator.cholesky() for operator in self._operators])


def _per_batch(
    operator: LinearOperator, apply: Callable[[LinearOperator, Any], Any], x: tf.Tensor
) -> Any:
    """Applies an operator whose batch has an axis less than x: the one of what was done."""
    if operator.batch_shape.rank == 0:
        return apply(operator, x)
    # The axis of what was done goes to the columns, and back.
    lead = tf.rank(x) - 3
    front, done, size, behind = (
        tf.shape(x)[:lead], tf.shape(x)[-3], tf.shape(x)[-2], tf.shape(x)[-1],
    )  # fmt: skip
    axes = tf.concat([tf.range(lead), [lead + 1, lead, lead + 2]], 0)
    flat = tf.reshape(tf.transpose(x, axes), tf.concat([front, [size, done * behind]], 0))
    out = apply(operator, flat)
    front = tf.shape(out)[:-2]
    split = tf.reshape(out, tf.concat([front, [tf.shape(out)[-2], done, behind]], 0))
    lead = tf.size(front)
    return tf.transpose(split, tf.concat([tf.range(lead), [lead + 1, lead, lead + 2]], 0))


def _kronecker(a: tf.Tensor, b: tf.Tensor) -> Any:
    wide = a[..., :, tf.newaxis, :, tf.newaxis] * b[..., tf.newaxis, :, tf.newaxis, :]
    lead = tf.shape(wide)[:-4]
    rows, columns = tf.shape(a)[-2] * tf.shape(b)[-2], tf.shape(a)[-1] * tf.shape(b)[-1]
    return tf.reshape(wide, batches.concat_shape(lead, rows, columns))


def _outer(a: tf.Tensor, b: tf.Tensor) -> Any:
    wide = a[..., :, tf.newaxis] * b[..., tf.newaxis, :]
    return tf.reshape(wide, tf.concat([tf.shape(wide)[:-2], [-1]], 0))
