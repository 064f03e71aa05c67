"""`tf.linalg`: matrices."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.ops.arrays.ranges import eye
from weft._src.ops.linalg.banded import banded_triangular_solve, eigh_tridiagonal
from weft._src.ops.linalg.diagonals import band_part, diag, diag_part, set_diag, trace
from weft._src.ops.linalg.einsum import einsum, tensordot
from weft._src.ops.linalg.factors import lu, lu_matrix_inverse, lu_reconstruct, lu_solve, qr
from weft._src.ops.linalg.least_squares import lstsq, matrix_rank, pinv
from weft._src.ops.linalg.matrix_functions import expm, logm, sqrtm
from weft._src.ops.linalg.norms import global_norm, l2_normalize, norm, normalize
from weft._src.ops.linalg.products import adjoint, cross, matmul, matrix_transpose, matvec
from weft._src.ops.linalg.solvers import (
    cholesky,
    cholesky_solve,
    det,
    inv,
    logdet,
    slogdet,
    solve,
    triangular_solve,
)
from weft._src.ops.linalg.spectrum import eig, eigh, eigvals, eigvalsh, svd
from weft._src.ops.linalg.tensor_diagonals import tensor_diag, tensor_diag_part
from weft._src.ops.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from weft._src.public.namespaces import open_namespace as _open_namespace

if _TYPE_CHECKING:
    from weft._src.linear_operators.base import (
        LinearOperator as LinearOperator,
    )
    from weft._src.linear_operators.blocks import (
        LinearOperatorBlockDiag as LinearOperatorBlockDiag,
        LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
    )
    from weft._src.linear_operators.circulant import (
        LinearOperatorCirculant as LinearOperatorCirculant,
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    )
    from weft._src.linear_operators.dense import (
        LinearOperatorFullMatrix as LinearOperatorFullMatrix,
        LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
    )
    from weft._src.linear_operators.derived import (
        LinearOperatorAdjoint as LinearOperatorAdjoint,
        LinearOperatorInversion as LinearOperatorInversion,
    )
    from weft._src.linear_operators.diagonal import (
        LinearOperatorDiag as LinearOperatorDiag,
        LinearOperatorIdentity as LinearOperatorIdentity,
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
        LinearOperatorZeros as LinearOperatorZeros,
    )
    from weft._src.linear_operators.low_rank import (
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    )
    from weft._src.linear_operators.products import (
        LinearOperatorComposition as LinearOperatorComposition,
        LinearOperatorKronecker as LinearOperatorKronecker,
    )
    from weft._src.linear_operators.structured import (
        LinearOperatorHouseholder as LinearOperatorHouseholder,
        LinearOperatorPermutation as LinearOperatorPermutation,
        LinearOperatorToeplitz as LinearOperatorToeplitz,
        LinearOperatorTridiag as LinearOperatorTridiag,
    )
    from weft.linalg import experimental as experimental

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorPermutation",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorTridiag",
    "LinearOperatorZeros",
    "adjoint",
    "band_part",
    "banded_triangular_solve",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvalsh",
    "einsum",
    "experimental",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]

# Classes that few programs use, and that are made of the rest of Weft.
_LAZY = {
    "experimental": "weft.linalg.experimental",
    "LinearOperator": "weft._src.linear_operators.base",
    "LinearOperatorAdjoint": "weft._src.linear_operators.derived",
    "LinearOperatorBlockDiag": "weft._src.linear_operators.blocks",
    "LinearOperatorBlockLowerTriangular": "weft._src.linear_operators.blocks",
    "LinearOperatorCirculant": "weft._src.linear_operators.circulant",
    "LinearOperatorCirculant2D": "weft._src.linear_operators.circulant",
    "LinearOperatorCirculant3D": "weft._src.linear_operators.circulant",
    "LinearOperatorComposition": "weft._src.linear_operators.products",
    "LinearOperatorDiag": "weft._src.linear_operators.diagonal",
    "LinearOperatorFullMatrix": "weft._src.linear_operators.dense",
    "LinearOperatorHouseholder": "weft._src.linear_operators.structured",
    "LinearOperatorIdentity": "weft._src.linear_operators.diagonal",
    "LinearOperatorInversion": "weft._src.linear_operators.derived",
    "LinearOperatorKronecker": "weft._src.linear_operators.products",
    "LinearOperatorLowRankUpdate": "weft._src.linear_operators.low_rank",
    "LinearOperatorLowerTriangular": "weft._src.linear_operators.dense",
    "LinearOperatorPermutation": "weft._src.linear_operators.structured",
    "LinearOperatorScaledIdentity": "weft._src.linear_operators.diagonal",
    "LinearOperatorToeplitz": "weft._src.linear_operators.structured",
    "LinearOperatorTridiag": "weft._src.linear_operators.structured",
    "LinearOperatorZeros": "weft._src.linear_operators.diagonal",
}
_open_namespace(__name__, lazy=_LAZY)
