"""`tf.linalg`: matrices."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.array.ranges import (
    eye as eye,
)
from weft.ops.linalg.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    trace as trace,
)
from weft.ops.linalg.einsum import (
    einsum as einsum,
    tensordot as tensordot,
)
from weft.ops.linalg.factors import (
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
    qr as qr,
)
from weft.ops.linalg.least_squares import (
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    pinv as pinv,
)
from weft.ops.linalg.matrix_functions import (
    expm as expm,
    logm as logm,
    sqrtm as sqrtm,
)
from weft.ops.linalg.norms import (
    global_norm as global_norm,
    l2_normalize as l2_normalize,
    norm as norm,
    normalize as normalize,
)
from weft.ops.linalg.products import (
    adjoint as adjoint,
    cross as cross,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
)
from weft.ops.linalg.solvers import (
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from weft.ops.linalg.spectrum import (
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    svd as svd,
)
from weft.ops.linalg.tensor_diagonals import (
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
)
from weft.ops.linalg.tridiagonal import (
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
