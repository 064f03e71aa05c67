"""Functions of matrices: exponential, logarithm, square root."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import INEXACT
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered, XlaRule
from weft._src.ops import batching, composed_graph_forms
from weft._src.ops.arrays import fill, joining
from weft._src.ops.contexts import VjpContext
from weft._src.ops.linalg import products, solvers
from weft._src.ops.registry import NO_NATIVE, NO_XLA, Absent, Op, args, define_op

_ROUNDING = 1e-9  # of a part that is really there, in double precision


def _one_by_one(function: Callable[..., Any]) -> Any:
    """A kernel that applies a function of SciPy to each matrix; NaN where it has no result."""

    def kernel(xp: ArrayNamespace, x: Array) -> Array:
        wide = xp.widen(x)
        out = xp.empty(wide.shape, wide.dtype)
        nothing = complex(math.nan, math.nan) if out.dtype.kind == "c" else math.nan
        for at in xp.ndindex(x.shape[:-2]) if x.size else ():
            found = function(xp.scipy_linalg, wide[at]) if xp.isfinite(wide[at]).all() else nothing
            out[at] = nothing if xp.iscomplexobj(found) and out.dtype.kind != "c" else found
        return out.astype(x.dtype, copy=False)

    return kernel


def _square_root(linalg: Any, x: Array) -> Any:
    root = linalg.sqrtm(x)
    # Of a real matrix the result is only complex if it has no real root, but for what rounding
    # leaves in older versions of SciPy.
    if root.dtype.kind == "c" and abs(root.imag).max() <= _ROUNDING * abs(root.real).max():
        return root.real
    return root


def _logarithm(linalg: Any, x: Array) -> Any:
    """In double precision; SciPy warns where the result is inexact, as results of floats may be."""
    if not np.linalg.slogdet(x)[0]:
        return math.nan * x  # singular: SciPy would put a small number for 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linalg.logm(x.astype(complex if x.dtype.kind == "c" else float))


def _define(name: str, op: str, function: Callable[..., Any], xla: XlaRule | Absent = NO_XLA) -> Op:
    def vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor]:
        """f([[a, e], [0, a]]) has the derivative of f at a in the direction e as upper right."""
        x = products.adjoint(ctx.inputs[0])
        top = joining.concat([x, g], -1)
        bottom = joining.concat([fill.zeros_like(x), x], -1)
        both = function_op(joining.concat([top, bottom], -2))
        _, right = joining.split(both, 2, -1)
        return (joining.split(right, 2, -2)[0],)

    function_op: Op = define_op(
        name,
        args("input", INEXACT),
        batch=batching.inexact(batching.leading),
        infer=lambda x: x.with_dims(solvers.square_dims(op, x)),
        kernel=_one_by_one(function),
        native=NO_NATIVE,
        xla=xla,
        vjp=vjp,
        fresh=True,
        graphdef=composed_graph_forms.matrix_function,
    )
    return function_op


expm_op = _define(
    "MatrixExponential", "expm", lambda linalg, x: linalg.expm(x), xla=Lowered("expm")
)
logm_op = _define("MatrixLogarithm", "logm", _logarithm)
sqrtm_op = _define("MatrixSquareRoot", "sqrtm", _square_root)


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of square matrices: the sum of x @ x @ ... / n! over n = 0, 1, ...

    Args:
      input: floating or complex matrices [..., n, n].

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ShapeError: if the matrices are not square.
      DTypeError: if `input` has another dtype.

    >>> tf.linalg.expm([[0.0, 2.0], [0.0, 0.0]]).numpy()
    array([[1., 2.],
           [0., 1.]], dtype=float32)
    """
    return expm_op(convert_to_tensor(input), name=name)


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithm of square matrices; NaN for a real matrix that has no real one.

    Args:
      input: floating or complex matrices [..., n, n].

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ShapeError: if the matrices are not square.
      DTypeError: if `input` has another dtype.

    >>> np.round(tf.linalg.logm([[1.0, 2.0], [0.0, 1.0]]).numpy(), 5) + 0.0
    array([[0., 2.],
           [0., 0.]], dtype=float32)
    """
    return logm_op(convert_to_tensor(input), name=name)


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square root of square matrices; NaN for a real one without a real root.

    Args:
      input: floating or complex matrices [..., n, n].

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ShapeError: if the matrices are not square.
      DTypeError: if `input` has another dtype.

    >>> tf.linalg.sqrtm([[4.0, 4.0], [0.0, 4.0]]).numpy()
    array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return sqrtm_op(convert_to_tensor(input), name=name)
