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
from weft.ops.linalg.tensor_diagonals import (
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
