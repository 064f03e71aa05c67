"""`tf.linalg`: matrices."""

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

__all__ = [
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

_open_namespace(__name__)
