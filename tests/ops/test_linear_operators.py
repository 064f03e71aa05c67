"""`tf.linalg.LinearOperator*`: all that they compute, against their matrices written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

RNG = np.random.default_rng(3)
la = tf.linalg


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def positive(*shape: int) -> Any:
    x = normal(*shape)
    return x @ np.swapaxes(x, -1, -2) + 3 * np.eye(shape[-1])


def full(*shape: int) -> Any:
    return la.LinearOperatorFullMatrix(normal(*shape) + 3 * np.eye(shape[-1]), is_non_singular=True)


def lower(*shape: int) -> Any:
    return la.LinearOperatorLowerTriangular(normal(*shape) + 3 * np.eye(shape[-1]))


def complex_spectrum(*shape: int) -> Any:
    return normal(*shape) + 1j * normal(*shape) + 4


OPERATORS: dict[str, Callable[[], Any]] = {
    "diag": lambda: la.LinearOperatorDiag(normal(3) + 4),
    "diag of a batch": lambda: la.LinearOperatorDiag(normal(2, 3) + 4),
    "complex diag": lambda: la.LinearOperatorDiag(complex_spectrum(3)),
    "identity": lambda: la.LinearOperatorIdentity(3, dtype=tf.float64),
    "identities": lambda: la.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled identity": lambda: la.LinearOperatorScaledIdentity(3, np.array(2.5)),
    "scaled identities": lambda: la.LinearOperatorScaledIdentity(3, np.array([2.5, -1.0])),
    "full": lambda: full(3, 3),
    "full of a batch": lambda: full(2, 3, 3),
    "positive": lambda: la.LinearOperatorFullMatrix(
        positive(2, 3, 3), is_self_adjoint=True, is_positive_definite=True
    ),
    "lower triangular": lambda: lower(2, 3, 3),
    "adjoint": lambda: la.LinearOperatorAdjoint(full(3, 3)),
    "inversion": lambda: la.LinearOperatorInversion(full(3, 3)),
    "composition": lambda: la.LinearOperatorComposition([full(3, 3), lower(2, 3, 3)]),
    "kronecker": lambda: la.LinearOperatorKronecker(
        [la.LinearOperatorFullMatrix(normal(2, 2) + 3 * np.eye(2), is_square=True),
         la.LinearOperatorFullMatrix(normal(3, 3) + 3 * np.eye(3), is_square=True)]
    ),
    "kronecker of batches": lambda: la.LinearOperatorKronecker(
        [la.LinearOperatorFullMatrix(normal(2, 2, 2) + 3 * np.eye(2), is_square=True),
         la.LinearOperatorDiag(normal(2, 3) + 4)]
    ),
    "block diag": lambda: la.LinearOperatorBlockDiag([full(2, 2), lower(4, 3, 3)]),
    "block lower triangular": lambda: la.LinearOperatorBlockLowerTriangular(
        [[full(2, 2)], [la.LinearOperatorFullMatrix(normal(3, 2)), full(4, 3, 3)]]
    ),
    "householder": lambda: la.LinearOperatorHouseholder(normal(2, 3)),
    "permutation": lambda: la.LinearOperatorPermutation([2, 0, 1], tf.float64),
    "permutations": lambda: la.LinearOperatorPermutation([[2, 0, 1], [0, 2, 1]], tf.float64),
    "toeplitz": lambda: la.LinearOperatorToeplitz(normal(2, 3) + [4, 0, 0], normal(3)),
    "tridiag": lambda: la.LinearOperatorTridiag(normal(2, 3, 4) + [[0], [4], [0]]),
    "low rank": lambda: la.LinearOperatorLowRankUpdate(
        la.LinearOperatorDiag(normal(4) + 5, is_positive_definite=True), normal(4, 2),
        normal(2) + 3,
    ),
    "low rank of two": lambda: la.LinearOperatorLowRankUpdate(
        full(2, 4, 4), normal(4, 1), v=normal(2, 4, 1)
    ),
    "circulant": lambda: la.LinearOperatorCirculant(complex_spectrum(2, 3), tf.complex128),
    "real circulant": lambda: la.LinearOperatorCirculant(np.array([3.0, 1.0, 1.0]), tf.float64),
    "circulant 2d": lambda: la.LinearOperatorCirculant2D(complex_spectrum(2, 3), tf.complex128),
    "circulant 3d": lambda: la.LinearOperatorCirculant3D(complex_spectrum(2, 1, 3), tf.complex128),
}  # fmt: skip


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-8, atol=1e-8)


def random_like(operator: Any, *shape: int) -> Any:
    x = normal(*shape)
    return x + 1j * normal(*shape) if operator.dtype.is_complex else x


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("how", ["eagerly", "traced"])
@pytest.mark.parametrize("name", OPERATORS)
def test_what_it_computes(name: str, how: str) -> None:
    operator = OPERATORS[name]()
    call: Any = (lambda f: f()) if how == "eagerly" else (lambda f: tf.function(f)())
    dense = call(operator.to_dense).numpy()
    assert dense.shape == tuple(operator.shape.as_list()) == tuple(operator.shape_tensor().numpy())
    n = dense.shape[-1]
    x, v = random_like(operator, n, 2), random_like(operator, n)
    close(call(lambda: operator.matmul(x)), dense @ x)
    close(call(lambda: operator.matmul(x, adjoint=True)), adjoint(dense) @ x)
    close(call(lambda: operator.matmul(adjoint(x), adjoint_arg=True)), dense @ x)
    close(call(lambda: operator.matvec(v)), dense @ v)
    close(call(lambda: operator.solve(x)), np.linalg.solve(dense, np.broadcast_to(
        x, (*dense.shape[:-2], n, 2))))  # fmt: skip
    close(call(lambda: operator.solve(x, adjoint=True)), np.linalg.inv(adjoint(dense)) @ x)
    close(call(lambda: operator.solvevec(v)), np.linalg.inv(dense) @ v)
    close(call(operator.determinant), np.linalg.det(dense))
    close(call(operator.log_abs_determinant), np.log(np.abs(np.linalg.det(dense))))
    close(call(operator.trace), np.trace(dense, axis1=-2, axis2=-1))
    close(call(operator.diag_part), np.diagonal(dense, axis1=-2, axis2=-1))
    close(call(lambda: operator.add_to_tensor(dense)), 2 * dense)
    close(call(lambda: operator.adjoint().to_dense()), adjoint(dense))
    close(call(lambda: operator.H.matmul(x)), adjoint(dense) @ x)
    close(call(lambda: operator.inverse().to_dense()), np.linalg.inv(dense))
    close(call(lambda: (operator @ operator).to_dense()), dense @ dense)
    close(call(lambda: operator.solve(operator).to_dense()),
          np.broadcast_to(np.eye(n), dense.shape))  # fmt: skip
    operator.assert_non_singular()
    if operator.is_self_adjoint:
        close(np.sort(call(operator.eigvals), -1), np.linalg.eigvalsh(dense))


@pytest.mark.parametrize("name", ["diag", "positive", "scaled identity", "identity"])
def test_cholesky(name: str) -> None:
    operator = OPERATORS[name]()
    if not operator._can_use_cholesky():
        with pytest.raises(ValueError, match="say is_self_adjoint=True"):
            operator.cholesky()
        return
    factor = operator.cholesky().to_dense().numpy()
    close(factor @ adjoint(factor), operator.to_dense())


def test_conditions() -> None:
    close(la.LinearOperatorDiag([1.0, -4.0]).cond(), 4.0)
    close(full(3, 3).cond().shape, ())
    close(la.LinearOperatorHouseholder([1.0, 2.0]).cond(), 1.0)


@pytest.mark.parametrize(
    "name",
    ["diag of a batch", "full of a batch", "composition", "kronecker of batches", "toeplitz",
     "low rank of two", "circulant", "block diag", "tridiag", "permutations"],
)  # fmt: skip
def test_parts_of_a_batch(name: str) -> None:
    operator = OPERATORS[name]()
    dense = operator.to_dense().numpy()
    close(operator[1].to_dense(), dense[1])
    close(operator[:1].to_dense(), dense[:1])
    close(operator[..., 1].to_dense(), dense[1])
    with pytest.raises(ValueError, match="takes as many slices or integers"):
        operator[0, 0]


def test_unknown_sizes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)] * 2)
    def run(diag: Any, x: Any) -> Any:
        operator = la.LinearOperatorDiag(diag)
        block = la.LinearOperatorBlockDiag(
            [operator, la.LinearOperatorIdentity(2, dtype=tf.float64)]
        )
        return operator.solve(x), operator.shape_tensor(), block.matmul(tf.concat([x, x[:2]], 0))

    diag, x = normal(2, 3) + 4, normal(3, 5)
    solution, shape, product = run(diag, x)
    close(solution, x / diag[..., None])
    assert shape.numpy().tolist() == [2, 3, 3]
    close(product[:, :3], diag[..., None] * x)


def test_gradients_reach_variables() -> None:
    diag = tf.Variable([1.0, 2.0])
    operator = la.LinearOperatorDiag(diag)
    assert operator.trainable_variables == (diag,)
    with tf.GradientTape() as tape:
        loss = operator.log_abs_determinant()
    close(tape.gradient(loss, diag), [1.0, 0.5])


def test_what_is_simplified() -> None:
    diag = la.LinearOperatorDiag([1.0, 2.0])
    assert isinstance(diag @ diag, la.LinearOperatorDiag)
    assert diag @ la.LinearOperatorIdentity(2) is diag
    assert isinstance(diag.inverse(), la.LinearOperatorDiag)
    assert diag.H is diag
    product = diag @ la.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(product, la.LinearOperatorComposition)
    assert isinstance(product.H, la.LinearOperatorComposition)


def test_an_operator_of_ones_own() -> None:
    class Double(la.LinearOperator):
        def __init__(self, size: int) -> None:
            super().__init__(tf.float32, is_square=True, name="double")
            self._n = size

        def _shape(self) -> tf.TensorShape:
            return tf.TensorShape([self._n, self._n])

        def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
            return 2 * x

    operator = Double(3)
    close(operator.to_dense(), 2 * np.eye(3))
    close(operator.determinant(), 8)
    close(operator.solvevec([2.0, 4.0, 6.0]), [1, 2, 3])
    assert repr(operator) == "<Double 'double' of shape (3, 3), float32>"


def test_an_operator_must_say_its_shape_and_product() -> None:
    class Nothing(la.LinearOperator):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing(tf.float32)  # type: ignore[abstract]


def test_zeros() -> None:
    operator = la.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False)
    close(operator.matmul(tf.ones([3, 4])), np.zeros((2, 4)))
    close(operator.H.to_dense(), np.zeros((3, 2)))
    with pytest.raises(tf.errors.UnsupportedError, match="singular. Use tf.linalg.lstsq"):
        operator.solve(tf.ones([2, 1]))


def test_blocks_of_lists() -> None:
    operator = la.LinearOperatorBlockDiag(
        [la.LinearOperatorDiag([2.0]), la.LinearOperatorDiag([1.0, 4.0])]
    )
    first, second = operator.matmul([tf.ones([1, 2]), tf.ones([2, 2])])
    close(first, [[2, 2]])
    close(second, [[1, 1], [4, 4]])
    parts = operator.solve([tf.ones([1, 2]), tf.ones([2, 2])])
    close(parts[1], [[1, 1], [0.25, 0.25]])


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: la.LinearOperatorDiag(3.0), ValueError, "rank 1 or more"),
        (lambda: la.LinearOperatorDiag([1.0], is_square=False), ValueError, "is square"),
        (lambda: la.LinearOperatorFullMatrix([1.0]), ValueError, "rank 2 or more"),
        (
            lambda: la.LinearOperatorFullMatrix(
                [[1.0]], is_positive_definite=True, is_non_singular=False
            ),
            ValueError,
            "never singular",
        ),
        (lambda: la.LinearOperatorDiag([1.0, 2.0]).matmul([[1.0]]), ValueError, "sizes 2 and 1"),
        (
            lambda: la.LinearOperatorDiag([1.0]).matmul(tf.ones([1, 1], tf.float64)),
            TypeError,
            "of dtype float32, and the argument of float64",
        ),
        (lambda: la.LinearOperatorPermutation([0, 0]), ValueError, "no permutation"),
        (lambda: la.LinearOperatorComposition([]), ValueError, "must not be empty"),
        (lambda: la.LinearOperatorComposition([3]), TypeError, "must be linear operators"),
        (
            lambda: la.LinearOperatorFullMatrix([[1.0, 2.0]]).determinant(),
            tf.errors.UnsupportedError,
            "is not square, it is .* Use tf.linalg.lstsq",
        ),
        (
            lambda: la.LinearOperatorFullMatrix([[1.0]]).eigvals(),
            tf.errors.UnsupportedError,
            "self-adjoint operators. Say is_self_adjoint=True",
        ),
        (lambda: la.LinearOperatorIdentity(-1), ValueError, "must not be negative"),
        (lambda: la.LinearOperatorIdentity(1.5), TypeError, "must be an integer"),
        (
            lambda: la.LinearOperatorDiag([1.0, 0.0]).assert_non_singular(),
            tf.errors.InvalidArgumentError,
            "is singular",
        ),
        (
            lambda: la.LinearOperatorDiag([-1.0]).assert_positive_definite(),
            tf.errors.InvalidArgumentError,
            "not positive definite",
        ),
        (
            lambda: la.LinearOperatorBlockLowerTriangular([[full(2, 2)], [full(2, 2)]]),
            ValueError,
            "row 1 must have 2 operators",
        ),
        (lambda: la.LinearOperatorTridiag([[1.0]], "wide"), ValueError, "diagonals_format"),
    ],
)
def test_wrong_use(wrong: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()


@pytest.mark.parametrize("how", ["eagerly", "traced"])
def test_conjugate_gradients(how: str) -> None:
    matrix = positive(2, 5, 5)
    operator = la.LinearOperatorFullMatrix(matrix, is_self_adjoint=True, is_positive_definite=True)
    rhs = normal(2, 5)
    near = la.LinearOperatorDiag(1 / np.diagonal(matrix, axis1=-2, axis2=-1))
    for preconditioner in (None, near):

        def solve(rhs: Any, preconditioner: Any = preconditioner) -> Any:
            return la.experimental.conjugate_gradient(
                operator, rhs, preconditioner, tol=1e-10, max_iter=50
            )

        found = (tf.function(solve) if how == "traced" else solve)(tf.constant(rhs))
        np.testing.assert_allclose(found.x, np.linalg.solve(matrix, rhs[..., None])[..., 0], 1e-6)
        assert 0 < found.i.numpy() <= 50
    with pytest.raises(ValueError, match="self-adjoint and positive definite"):
        la.experimental.conjugate_gradient(la.LinearOperatorDiag([1.0]), [1.0])


# --- operators as values of several tensors ------------------------------------------------------


def operators() -> dict[str, tf.linalg.LinearOperator]:
    full = tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]])
    diag = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    return {
        "full": full,
        "diag": diag,
        "tril": tf.linalg.LinearOperatorLowerTriangular([[1.0, 7.0], [2.0, 3.0]]),
        "identity": tf.linalg.LinearOperatorIdentity(2, batch_shape=[3]),
        "scaled": tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0),
        "zeros": tf.linalg.LinearOperatorZeros(2),
        "composition": tf.linalg.LinearOperatorComposition([full, diag]),
        "inversion": tf.linalg.LinearOperatorInversion(full),
        "adjoint": tf.linalg.LinearOperatorAdjoint(full),
        "kronecker": tf.linalg.LinearOperatorKronecker([full, diag]),
        "blocks": tf.linalg.LinearOperatorBlockDiag([full, diag]),
        "lower_blocks": tf.linalg.LinearOperatorBlockLowerTriangular([[full], [diag, diag]]),
        "circulant": tf.linalg.LinearOperatorCirculant([3.0, 1.0], input_output_dtype=tf.float32),
        "householder": tf.linalg.LinearOperatorHouseholder([1.0, 2.0]),
        "permutation": tf.linalg.LinearOperatorPermutation([1, 0], dtype=tf.float32),
        "toeplitz": tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 4.0]),
        "tridiag": tf.linalg.LinearOperatorTridiag(
            [[1.0, 1.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 1.0]], diagonals_format="sequence"
        ),
        "low_rank": tf.linalg.LinearOperatorLowRankUpdate(diag, [[1.0], [1.0]]),
    }


@pytest.mark.parametrize("kind", operators())
def test_operators_are_arguments_and_results_of_functions(kind: str) -> None:
    operator = operators()[kind]
    traces = []

    @tf.function
    def same(operator: tf.linalg.LinearOperator) -> tf.linalg.LinearOperator:
        traces.append(operator)
        return operator

    result = same(operator)
    assert type(result) is type(operator)
    np.testing.assert_array_equal(result.to_dense(), operator.to_dense())
    same(operators()[kind])
    assert len(traces) == 1
    parts = tf.nest.flatten(operator, expand_composites=True)
    again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
    np.testing.assert_array_equal(again.to_dense(), operator.to_dense())


def test_operators_in_loops_branches_and_tapes() -> None:
    @tf.function
    def doubled(operator: tf.linalg.LinearOperator, n: tf.Tensor) -> tf.linalg.LinearOperator:
        for _ in tf.range(n):
            operator = tf.linalg.LinearOperatorDiag(operator.diag * 2.0)
        if n > 5:
            operator = tf.linalg.LinearOperatorDiag(-operator.diag)
        return operator

    result = doubled(tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.constant(3))
    np.testing.assert_array_equal(result.diag, [8.0, 16.0])
    operator = tf.linalg.LinearOperatorDiag([3.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = operator.determinant()
    np.testing.assert_array_equal(tape.gradient(y, operator).diag, [2.0, 3.0])


def test_an_operator_of_variables_is_read_when_it_runs() -> None:
    v = tf.Variable([1.0, 2.0])
    operator = tf.linalg.LinearOperatorDiag(v)
    determinant = tf.function(lambda operator: operator.determinant())
    assert determinant(operator).numpy() == 2.0
    v.assign([3.0, 4.0])
    assert determinant(operator).numpy() == 12.0


def test_functions_of_matrices_take_operators() -> None:
    operator = tf.linalg.LinearOperatorDiag([2.0, 4.0], is_positive_definite=True)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    dense = operator.to_dense()
    assert tf.linalg.det(operator).numpy() == 8.0
    assert tf.linalg.trace(operator).numpy() == 6.0
    np.testing.assert_allclose(tf.linalg.logdet(operator), np.log(8.0), rtol=1e-6)
    np.testing.assert_array_equal(tf.linalg.diag_part(operator), [2.0, 4.0])
    np.testing.assert_allclose(tf.linalg.solve(operator, x), tf.linalg.solve(dense, x))
    np.testing.assert_allclose(tf.linalg.matmul(operator, x), dense @ x)
    np.testing.assert_allclose(tf.linalg.matmul(x, operator), x @ dense)
    np.testing.assert_allclose(
        tf.linalg.matmul(x, operator, adjoint_a=True), tf.transpose(x) @ dense
    )
    for made in (
        tf.linalg.inv(operator),
        tf.linalg.adjoint(operator),
        tf.linalg.cholesky(operator),
    ):
        assert isinstance(made, tf.linalg.LinearOperatorDiag)
    assert isinstance(tf.linalg.matmul(operator, operator), tf.linalg.LinearOperatorDiag)
    # No hint says that it has a Cholesky factor: its determinant needs none.
    plain = tf.linalg.LinearOperatorFullMatrix([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_allclose(tf.linalg.logdet(plain), np.log(4.0), rtol=1e-6)
    with pytest.raises(ValueError, match="adjoint only"):
        tf.linalg.matmul(operator, x, transpose_a=True)
    with pytest.raises(ValueError, match="to_dense"):
        tf.reduce_sum(operator)


def test_an_operator_of_a_users_class_is_an_object() -> None:
    class Scaling(tf.linalg.LinearOperator):
        def __init__(self, factor: float) -> None:
            self.factor = factor
            super().__init__(tf.float32)

        def _shape(self) -> tf.TensorShape:
            return tf.TensorShape([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):  # type: ignore[no-untyped-def]
            return x * self.factor

    product = tf.function(lambda operator: operator.matvec(tf.ones([2])))
    np.testing.assert_array_equal(product(Scaling(3.0)), [3.0, 3.0])
