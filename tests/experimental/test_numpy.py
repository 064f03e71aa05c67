"""tf.experimental.numpy against NumPy: values, shapes and dtypes, eagerly and in functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

tnp = tf.experimental.numpy

I = np.array([[3, -1, 2], [0, 5, 4]])
F = np.array([[0.5, -0.25, 0.75], [0.1, 0.2, -0.9]])
F32 = F.astype(np.float32)
I8 = np.array([[1, 2, 3], [4, 5, 6]], np.int8)
B = np.array([[True, False, True], [False, False, True]])
C = np.array([1 + 2j, -0.5j])
V = np.array([3, 1, 2])
X3 = np.arange(24).reshape(2, 3, 4)
HOLES = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, 4.0]])

# A call on the arrays, written with `np`: it must mean the same for both libraries.
CASES: list[Any] = [
    *[
        (lambda np, x, f=f: getattr(np, f)(x), [x])
        for f in "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp exp2 expm1 "
        "deg2rad rad2deg floor ceil isnan isinf isfinite absolute sign square negative "
        "logical_not cbrt".split()
        for x in (F, F32)
    ],
    *[
        (lambda np, x, f=f: getattr(np, f)(x), [np.abs(F) + 1])
        for f in "sqrt log log2 log10 log1p arccosh reciprocal".split()
    ],
    *[
        (lambda np, x, y, f=f: getattr(np, f)(x, y), [x, y])
        for f in "add subtract multiply true_divide maximum minimum equal not_equal greater "
        "greater_equal less less_equal logical_and logical_or logical_xor hypot arctan2 "
        "logaddexp".split()
        for x, y in ((I, F), (I8, F32), (F32, I), (I, 2), (F32, 1.5), (2.5, I))
        if f != "logaddexp" or np.ndim(y)
    ],
    *[
        (lambda np, x, y, f=f: getattr(np, f)(x, y), [x, y])
        for f in ("floor_divide", "remainder", "power", "bitwise_and", "bitwise_or", "bitwise_xor")
        for x, y in ((np.abs(I), 3), (np.abs(I), I8))
    ],
    *[
        (lambda np, x, f=f, axis=axis: getattr(np, f)(x, axis=axis), [x])
        for f in "sum prod mean var std max min all any ptp argmax argmin cumsum cumprod".split()
        for x in (I, F, F32, I8)
        for axis in (None, 0, 1, -1)
    ],
    *[(lambda np, x, f=f: getattr(np, f)(x, 1), [F]) for f in ("sort", "argsort")],
    *[
        (lambda np, x, f=f: getattr(np, f)(x, axis=0, keepdims=True), [I])
        for f in "sum mean max all".split()
    ],
    *[(lambda np, x, k=k: np.tril(x, k) + np.triu(x, k), [I]) for k in (-1, 0, 2)],
    (lambda np, x: np.add(x, x), [B]),
    (lambda np, x: np.multiply(x, x), [B]),
    (lambda np, x: np.sum(x), [B]),
    (lambda np, x: np.count_nonzero(x, axis=1), [I]),
    (lambda np, x: np.around(x, 1), [F]),
    (lambda np, x: np.around(x), [I]),
    (lambda np, x: np.clip(x, 0, 1.5), [I]),
    (lambda np, x: np.clip(x, None, 2), [I]),
    (lambda np, x: np.average(x, axis=1, weights=[1, 2, 3]), [I]),
    (lambda np, x: np.isclose(x, x + 1e-9), [F]),
    (lambda np, x: np.allclose(x, x + 1), [F]),
    (lambda np, x: np.real(x) + np.imag(x) + np.angle(x), [C]),
    (lambda np, x: np.conj(x), [C]),
    (lambda np, x, y: np.matmul(x, np.transpose(y)), [I, F]),
    (lambda np, x, y: np.matmul(x, y), [I, V]),
    (lambda np, x, y: np.matmul(y, np.transpose(x)), [I, V]),
    (lambda np, x: np.matmul(x, x), [V]),
    (lambda np, x, y: np.dot(x, y), [I, V]),
    (lambda np, x, y: np.outer(x, y), [V, F]),
    (lambda np, x, y: np.inner(x, y), [I, F]),
    (lambda np, x, y: np.tensordot(x, y, 2), [I, F]),
    (lambda np, x: np.einsum("ij,kj->ik", x, x), [I]),
    (lambda np: np.array([1, 2.5]), []),
    (lambda np: np.add(np.zeros((2, 3)), np.ones(3, dtype=np.int32)), []),
    (lambda np: np.full((2, 2), 7), []),
    (lambda np, x: np.full_like(x, 7), [F32]),
    (lambda np, x: np.ones_like(x) + np.zeros_like(x), [I8]),
    (lambda np: np.eye(2, 3, 1), []),
    (lambda np: np.identity(2), []),
    (lambda np: np.arange(5), []),
    (lambda np: np.arange(1, 4, 0.5), []),
    (lambda np: np.linspace(1, 2, 5), []),
    (lambda np: np.linspace(1, 2, 5, endpoint=False), []),
    (lambda np: np.logspace(0, 2, 3), []),
    (lambda np, x: np.meshgrid(x, x)[1], [V]),
    (lambda np, x: np.diag(x, 1), [V]),
    (lambda np, x: np.diag(x[:, :2]), [I]),
    (lambda np, x: np.ravel(x), [I]),
    (lambda np, x: np.reshape(x, (3, -1)), [I]),
    (lambda np, x: np.swapaxes(x, 0, 1), [I]),
    (lambda np, x: np.moveaxis(x[None], 0, -1), [I]),
    (lambda np, x: np.squeeze(np.expand_dims(x, 1)), [I]),
    (lambda np, x: np.broadcast_to(x, (2, 3)), [V]),
    (lambda np, x: np.flip(x), [I]),
    (lambda np, x: np.flip(x, 1), [I]),
    (lambda np, x: np.roll(x, 1), [I]),
    (lambda np, x: np.roll(x, 1, 1), [I]),
    (lambda np, x, y: np.concatenate([x, y]), [I, F]),
    (lambda np, x, y: np.concatenate([x, y], axis=None), [I, F32]),
    (lambda np, x, y: np.stack([x, y], 1), [I, F]),
    (lambda np, x: np.vstack([x, x]), [V]),
    (lambda np, x: np.hstack([x, x]), [I]),
    (lambda np, x: np.split(x, 3, axis=1)[1], [I]),
    (lambda np, x: np.split(x, [1, 2], axis=1)[2], [I]),
    (lambda np, x: np.tile(x, (2, 1, 2)), [I]),
    (lambda np, x: np.repeat(x, 2, axis=1), [I]),
    (lambda np, x: np.take(x, [5, 0], mode="clip"), [V]),
    (lambda np, x: np.take(x, [4, -1], axis=1, mode="wrap"), [I]),
    (lambda np, x: np.take_along_axis(x, np.argsort(x, 0), 0), [I]),
    (lambda np, x, y: np.where(x > 1, x, y), [I, F]),
    (lambda np, x: np.where(x)[1], [I]),
    (lambda np, x: np.nonzero(x)[0], [I]),
    (lambda np, x: np.pad(x, ((1, 0), (0, 2)), "constant", constant_values=9), [I]),
    (lambda np, x: np.pad(x, 1, "reflect"), [I]),
    (lambda np, x: np.diff(x), [I]),
    (lambda np, x: np.diff(x, 1, 0), [I]),
    (lambda np, x: np.append(x, x, 0), [I]),
    (lambda np: np.atleast_2d(5), []),
    *[(lambda np, x, n=n: np.atleast_3d(x[n]), [X3]) for n in ((0, 0, 0), (0, 0), 0, ...)],
    (lambda np, x: np.dstack([x, x]), [I]),
    (lambda np, x: np.dstack([x, x]), [V]),
    (lambda np, x: np.hsplit(x, 3)[1], [I]),
    (lambda np, x: np.hsplit(x, [1])[1], [V]),
    (lambda np, x: np.vsplit(x, 2)[1], [I]),
    (lambda np, x: np.dsplit(x, 2)[1], [X3]),
    (lambda np, x, y: np.broadcast_arrays(x, y, 1.5)[2], [I, V]),
    (lambda np, x, y: np.broadcast_arrays(x[:, :1], y)[0], [I, V]),
    *[(lambda np, x, k=k: np.diagonal(x, k), [I]) for k in (-3, -1, 0, 1, 2, 5)],
    *[(lambda np, x, a=a: np.diagonal(x, 1, *a), [X3]) for a in ((0, 1), (2, 0), (-1, 1))],
    *[(lambda np, x, a=a: np.trace(x, 0, *a), [X3]) for a in ((0, 1), (1, 2))],
    (lambda np, x: np.trace(x, 1), [I8]),
    (lambda np, x: np.trace(x, dtype=np.float32), [I]),
    *[(lambda np, k=k: np.tri(3, 4, k), []) for k in (-1, 0, 2)],
    (lambda np: np.tri(2, dtype=np.int32), []),
    (lambda np, x: np.diagflat(x, -1), [I]),
    (lambda np: np.diag_indices(3, 4)[2], []),
    (lambda np, x: np.vander(x), [V]),
    (lambda np, x: np.vander(x, 2, increasing=True), [F[0]]),
    (lambda np, x: np.triu(np.tril(x, 1)), [np.full((3, 4), np.inf)]),
    *[(lambda np, x, y, f=f: getattr(np, f)(x, y), [x, y])
      for f in ("gcd", "lcm") for x, y in ((I, V), (I, 6), (I8, I), (I * 0, V))],
    (lambda np, x: np.stack(np.divmod(x, 3)), [I]),
    (lambda np, x: np.divmod(x, 0.25)[1], [F]),
    (lambda np, x, y: np.logaddexp2(x, y), [I, F]),
    (lambda np, x, y: np.logaddexp2(x, y), [F, F]),
    (lambda np, x: np.fabs(x), [I]),
    (lambda np, x: np.sinc(x), [np.array([0.0, 0.5, 1.0, -2.25])]),
    (lambda np, x: np.polyval([2, 0, -1, 3], x), [I]),
    (lambda np, x: np.polyval(x, 0.5), [F[0]]),
    (lambda np, x, y: np.vdot(x, y), [C, C[::-1] * 3]),
    (lambda np, x, y: np.vdot(x, y), [I, F]),
    (lambda np, x, y: np.kron(x, y), [I, F]),
    (lambda np, x, y: np.kron(x, y), [V, X3]),
    (lambda np, x, y: np.cross(x, y), [I, F]),
    (lambda np, x, y: np.cross(x, y), [V, I]),
    (lambda np, x: np.cross(x, x[:, ::-1], axisa=0, axisb=0, axisc=0), [I.T]),
    (lambda np, x: np.iscomplex(x), [C]),
    (lambda np, x: np.isreal(x), [C]),
    (lambda np, x: np.isreal(x), [I]),
    (lambda np, x: np.isneginf(x) | np.isposinf(x), [np.array([np.inf, -np.inf, np.nan, 0])]),
    (lambda np, x: np.isneginf(x), [np.array([np.inf, -np.inf, np.nan, 0])]),
    *[(lambda np, x: np.signbit(x), [x]) for x in (F, F32, I, I8, np.array([0.0, -0.0]))],
    *[(lambda np, x, f=f, axis=axis: getattr(np, f)(x, axis=axis), [x])
      for f in ("nansum", "nanprod", "nanmean") for x in (I, I8, HOLES) for axis in (None, 0, -1)],
    (lambda np, x: np.nansum(x, axis=0, keepdims=True), [HOLES]),
    (lambda np, x: np.nansum(x, dtype=np.float32), [HOLES]),
    (lambda np, x: np.zeros_like(np.empty_like(x)), [I8]),
    (lambda np, x: np.copy(x), [I]),
    (lambda np: np.geomspace(1, 1000, 4), []),
    (lambda np: np.geomspace(-2, -32, 5), []),
    (lambda np: np.geomspace(1, 256, 8, endpoint=False), []),
    (lambda np, x: np.flipud(x), [I]),
    (lambda np, x: np.fliplr(x), [I]),
    *[(lambda np, x, k=k: np.rot90(x, k), [I]) for k in range(-1, 5)],
    (lambda np, x: np.rot90(x, 1, (2, 0)), [X3]),
    (lambda np, x, y: np.select([x > 2, x < 1], [x, y], 9), [I, F]),
    (lambda np, x: np.compress([True, False, True], x, axis=1), [I]),
    (lambda np, x: np.compress([0, 1, 1], x), [I]),
    (lambda np: np.ix_([1, 0], [2, 0, 1])[1], []),
    (lambda np: np.ix_([True, False, True], [2, 0])[0], []),
    (lambda np, x: np.atleast_1d(x), [I]),
    (lambda np, x: np.array_equal(x, x), [I]),
    (lambda np, x: np.reshape(x, (4, -1), order="F"), [X3]),
    (lambda np: np.arange(7, -2), []),
    *[(lambda np, x, k=k: np.diag(x, k), [I]) for k in (-3, -1, 0, 2, 5)],
    (lambda np, x: np.concatenate(np.split(x, [3, 1, -1], axis=-1), axis=-1), [X3]),
    (lambda np, x: np.split(x, [5])[1], [I]),
    (lambda np, x, n=V[0]: np.split(x, n, 1)[2], [V[None]]),
    (lambda np: np.arange(0.5, 3.0, -1.0), []),
    (lambda np: np.geomspace(-1.0, -8.0, 4), []),
    (lambda np, x: np.take_along_axis(x, np.asarray([[-1, 0], [-3, 2]]), 1), [I]),
    (lambda np, x: np.take_along_axis(x, np.asarray([-1, 0]), None), [I]),
    (lambda np, x, w: np.average(x, 1, w), [F32, np.arange(1.0, 4.0)]),
    (lambda np, x, w: np.average(x, 1, w), [I, np.arange(1, 4)]),
    (lambda np, x: np.max(x, axis=0), [B]),
    (lambda np, x: np.min(x, axis=0, keepdims=True), [B]),
    (lambda np, x: np.maximum(x, x[:, :1]), [B]),
    (lambda np, x: np.minimum(x, x[:, :1]), [B]),
    (lambda np, x: np.outer(x, x), [B]),
    *[
        (lambda np, x, f=f: getattr(np, f)(x, x[:1]), [B])
        for f in "greater greater_equal less less_equal".split()
    ],
    (lambda np, x: np.floor_divide(x, [True, True, True]), [B]),
    *[
        (lambda np, x, f=f: getattr(np, f)(x), [np.array([1j, np.nan, complex(2, np.inf)])])
        for f in "isnan isinf isfinite".split()
    ],
    (lambda np, x: np.diff(x), [B]),
    (lambda np, x: np.isclose(x, x + 1e-9j), [F + 1j]),
]  # fmt: skip


def test_a_geometric_sequence_does_not_cross_zero() -> None:
    assert np.isnan(tnp.geomspace(0.5, -1.0, 4).numpy()[1:-1]).all()


@pytest.mark.parametrize("number", range(len(CASES)))
def test_like_numpy(number: int) -> None:
    call, arguments = CASES[number]
    with np.errstate(divide="ignore"):
        expected = np.asarray(call(np, *arguments))
    tensors = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in arguments]
    eager = call(tnp, *tensors)
    traced = tf.function(lambda: call(tnp, *tensors))()
    for found in (eager, traced):
        value = found.numpy()
        wanted = expected
        if wanted.dtype == np.float16:  # NumPy's floats of int8; Weft's are float64
            wanted = np.asarray(call(np, *[np.asarray(a, np.float64) for a in arguments]))
            assert np.asarray(value).dtype == np.float64
        else:
            assert np.asarray(value).dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def test_dtypes() -> None:
    assert tnp.asarray(3).dtype is tf.int64
    assert tnp.asarray([1.5]).dtype is tf.float64
    assert tnp.asarray(tf.constant(1.5)).dtype is tf.float32
    assert tnp.array([tf.constant(1), 2.5]).dtype is tf.float64
    assert tnp.sum(I8).dtype is tf.int64
    assert tnp.sum(I8, dtype=tnp.float32).dtype is tf.float32
    assert tnp.result_type(tf.uint64, tf.int64) is tf.float64
    assert tnp.shape(I) == (2, 3)
    assert (tnp.ndim(I), tnp.size(I)) == (2, 6)


def test_fix_cuts_towards_zero() -> None:  # NumPy is about to drop the name
    np.testing.assert_array_equal(tnp.fix(3 * F), np.trunc(3 * F))


def test_gradients() -> None:
    x = tnp.array([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(tnp.add(tnp.square(x), 3))
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_wrong_use() -> None:
    with pytest.raises(
        AttributeError, match=r"tf\.experimental\.numpy\.concatenat .*'concatenate'"
    ):
        _ = tnp.concatenat
    with pytest.raises(ValueError, match="order must be 'C' or 'F', got 'K'"):
        tnp.reshape(I, (6,), order="K")
    with pytest.raises(ValueError, match="mode must be"):
        tnp.pad(I, 1, "edge")
    with pytest.raises(ValueError, match="out is not supported"):
        tnp.mean(I, out=I)
    with pytest.raises(TypeError, match="does not take a RaggedTensor"):
        tnp.sin(tf.ragged.constant([[1.0], []]))


def test_dtypes_are_those_of_numpy() -> None:
    assert tnp.float32 is np.float32
    assert isinstance(tnp.float32(1), np.float32)
    assert tnp.int32(2.7) == 2
    assert tnp.float16([1, 2]).dtype == np.float16
    assert tnp.zeros([2], tnp.bool_).dtype is tf.bool
    assert tnp.array(["a"], tnp.string_).dtype is tf.string
    assert tf.cast(1, tnp.complex64).dtype is tf.complex64


def test_predicates() -> None:
    assert tnp.isscalar(3)
    assert tnp.isscalar(tf.constant(3))
    assert not tnp.isscalar([3])
    assert tnp.iscomplexobj(C)
    assert tnp.isrealobj(I)
    assert tnp.issubdtype(tnp.float32, tnp.inexact)
    assert not tnp.issubdtype(np.int8, tnp.inexact)
    assert tnp.issubdtype(float, tf.float64)
    assert tnp.finfo(tf.float32).max == np.finfo(np.float32).max
    assert tnp.iinfo(int).max == 2**63 - 1


def test_random_arrays() -> None:
    r = tnp.random
    r.seed(3)
    first = r.rand(2, 3)
    r.seed(3)
    np.testing.assert_array_equal(first, r.rand(2, 3))
    assert (first.dtype, first.shape) == (tf.float64, (2, 3))
    assert r.rand().shape == r.random().shape == r.randint(5).shape == ()
    spread = r.uniform([0.0, 10.0], [[1.0], [20.0]])
    assert spread.shape == (2, 2)
    assert bool(tnp.all(r.uniform(5, 6, size=100) >= 5))
    whole = r.randint(3, 7, size=[200])
    assert (whole.dtype, int(tnp.min(whole)), int(tnp.max(whole))) == (tf.int64, 3, 6)
    assert r.randint(3, size=4, dtype=np.int8).dtype is tf.int8
    assert abs(float(tnp.mean(r.randn(2000)))) < 0.2
    assert r.standard_normal([2]).dtype is tf.float64
    counts = r.poisson([1.0, 50.0], size=(400, 2))
    assert counts.dtype is tf.int64
    np.testing.assert_allclose(tnp.mean(counts, axis=0), [1, 50], rtol=0.2)


def test_unknown_sizes() -> None:
    spec = [tf.TensorSpec([None, None], tf.float64)]
    for f in (
        tnp.tril, tnp.triu, tnp.diagonal, tnp.trace, lambda x: tnp.kron(x, x), tnp.nanmean,
        lambda x: tnp.tile(x, (2, 1, 3)), lambda x: tnp.atleast_2d(x[0]), tnp.atleast_3d,
        lambda x: tnp.split(x, [1], axis=1)[1], lambda x: tnp.hsplit(x, [2])[0],
    ):  # fmt: skip
        traced = tf.function(f, input_signature=spec)
        np.testing.assert_allclose(traced(F), f(F))
    whole = [tf.TensorSpec([None], tf.int64)]
    traced = tf.function(lambda x: (tnp.gcd(x, 6), tnp.vander(x)), input_signature=whole)
    np.testing.assert_array_equal(traced(V)[0], np.gcd(V, 6))
    np.testing.assert_array_equal(traced(V)[1], np.vander(V))


def test_gradients_of_compositions() -> None:
    def gradient(f: Any, x: Any) -> Any:
        x = tnp.array(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tnp.sum(f(x))
        return tape.gradient(y, x)

    np.testing.assert_allclose(gradient(tnp.sinc, [0.0, 0.5]), [0.0, -4 / np.pi], rtol=1e-6)
    np.testing.assert_allclose(gradient(tnp.nansum, [1.0, np.nan]), [1.0, 0.0])
    np.testing.assert_allclose(gradient(tnp.trace, np.ones((2, 3))), np.eye(2, 3))
    np.testing.assert_allclose(gradient(lambda x: tnp.polyval([1.0, 2.0, 3.0], x), 5.0), 12.0)


WRONG = [
    (lambda: tnp.hsplit(5, 1), "hsplit: ary must have at least 1"),
    (lambda: tnp.vsplit(V, 1), "vsplit: ary must have at least 2"),
    (lambda: tnp.diagonal(V), "diagonal: a must have at least two axes"),
    (lambda: tnp.diagonal(I, 0, 1, 1), "must differ"),
    (lambda: tnp.diagonal(I, 0, 0, 2), "axis 2 is out of range"),
    (lambda: tnp.tril(V), "at least two axes"),
    (lambda: tnp.gcd(F, 2), "take integers, got float64"),
    (lambda: tnp.vander(I), "vander: x must be a vector"),
    (lambda: tnp.cross(X3, X3), "2 or 3 elements"),
    (lambda: tnp.polyval(I, 1), "polyval: p must be a vector"),
    (lambda: tnp.select([], []), "equally long"),
    (lambda: tnp.compress(B, V), "condition must be a vector"),
    (lambda: tnp.ix_(I), "vectors"),
    (lambda: tnp.vsplit(I, "1"), "indices_or_sections must be an integer or a list"),
    (lambda: tnp.broadcast_arrays(V, subok=True), "arrays only"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments(number: int) -> None:
    call, text = WRONG[number]
    with pytest.raises((ValueError, TypeError), match=text):
        call()


def test_numbers_between_bounds_end_with_the_bound() -> None:
    for start, stop in ((1, 256), (0.1, 0.7), (-3.0, -7.0)):
        for function in (tnp.geomspace, tnp.linspace):
            numbers = function(start, stop, 8).numpy()
            assert (numbers[0], numbers[-1]) == (start, stop)
    narrow = [tf.constant(x, tf.float32) for x in (1.0, 1000.0)]
    np.testing.assert_allclose(tnp.geomspace(*narrow, 4).numpy(), [1.0, 10.0, 100.0, 1000.0])
    assert tnp.geomspace(*narrow, 4).dtype is tf.float64
    assert tnp.geomspace(1, 256, 9, dtype=int).numpy()[-1] == 256
    pairs = tnp.geomspace([1.0, 2.0], [8.0, 4.0], 3, axis=-1).numpy()
    np.testing.assert_allclose(pairs, np.geomspace([1.0, 2.0], [8.0, 4.0], 3, axis=-1))
    assert tnp.linspace(0, -1.9, 4, dtype=int).numpy().tolist() == [0, -1, -2, -2]
    with pytest.raises(ValueError, match="geomspace: .* a bound is 0"):
        tnp.geomspace(0, 1, 3)


def test_a_variance_as_an_integer_is_computed_in_floats() -> None:
    assert tnp.var([0, 0, 5], dtype=int).numpy() == 5
    assert tnp.var([1, 2, 4], dtype=int).dtype is tf.int64
    assert tnp.var([1.5, 2.5, 4.0], dtype=np.float32).dtype is tf.float32
    assert tnp.var([1, 2, 4], dtype=np.complex64).dtype is tf.complex64


def test_powers_in_floats_have_all_digits() -> None:
    positive = np.abs(F32)
    for x in (positive, I8, positive.astype(np.float16), positive.astype(np.complex64)):
        assert tnp.float_power(x, x[:1]).dtype == np.float_power(x, x[:1]).dtype


def test_truth_values_are_sorted() -> None:
    np.testing.assert_array_equal(tnp.sort(B).numpy(), np.sort(B))
    np.testing.assert_array_equal(tnp.sort(B, axis=None).numpy(), np.sort(B, axis=None))
    assert tnp.argsort([True, False, True]).numpy().tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tnp.amax([]), ValueError, r"max: there are no elements in an array of shape"),
        (lambda: tnp.amin(np.zeros((0, 3)), axis=0), ValueError, "min: there are no elements"),
        (lambda: tnp.ptp([]), ValueError, "there are no elements"),
        (lambda: tnp.average([1, 2], weights=[1, -1]), ZeroDivisionError, "weights sum to 0"),
        (
            lambda: tnp.average(I, axis=1, weights=[1.0, -2.0, 1.0]),
            ZeroDivisionError,
            "weights sum to 0",
        ),
        (lambda: tnp.random.poisson(-1), ValueError, "random.poisson: lam must be 0 or more"),
        (lambda: tnp.random.poisson([1.0, np.nan]), ValueError, "lam must be 0 or more"),
        (lambda: tnp.fabs(C), TypeError, "fabs: x has dtype complex128, expected one of"),
        (lambda: tnp.rot90(I, axes=(0, -2)), ValueError, "rot90: axes must be two different ones"),
        (lambda: tnp.rot90(I, 0, axes=(1,)), ValueError, "rot90: axes must be two different ones"),
        (lambda: tnp.rot90(I, axes=1), TypeError, "rot90: axes must be a sequence of two, got 1"),
        (lambda: tnp.pad(V, [1, 2, 3]), ValueError, "pad: pad_width must be a number, a pair, or"),
        (lambda: tnp.pad(V, [[1], [2, 3]]), ValueError, "Cannot convert .* rows have different"),
        (lambda: tnp.pad(V, 1.5), TypeError, "pad: pad_width must be integers, got 1.5"),
        (lambda: tnp.asarray([[1], [2, 3]]), ValueError, "its rows have different lengths"),
        (lambda: tnp.add([[1], [2, 3]], 1), ValueError, "its rows have different lengths"),
        (lambda: tnp.finfo(int), ValueError, "finfo: dtype must be floating or complex, got int64"),
        (lambda: tnp.iinfo(bool), ValueError, "iinfo: int_type must be an integer dtype, got bool"),
    ],
)
def test_what_numpy_refuses(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_extrema_over_other_axes_of_nothing() -> None:
    assert tnp.amax(np.zeros((0, 3)), axis=1).shape == (0,)
    assert tnp.finfo(tf.bfloat16).bits == 16
