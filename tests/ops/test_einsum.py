"""`einsum` and `tensordot`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from support.op_cases import Case, Sample, c64, check_case, f32, i32
from weft._src.graph.tracing import trace


def _einsum(equation: str, *inputs: Sample, **options: object) -> Case:
    return Case(
        lambda *xs: tf.einsum(equation, *xs),
        inputs,
        {},
        lambda *xs: np.einsum(equation, *xs),
        label=f"{equation} {[s.shape for s in inputs]} {np.dtype(inputs[0].dtype).name}",
        **options,
    )


def _tensordot(a: Sample, b: Sample, axes: object) -> Case:
    return Case(tf.tensordot, [a, b], {"axes": axes}, lambda x, y: np.tensordot(x, y, axes))


CASES = [
    _einsum("ij,jk->ik", f32(2, 3), f32(3, 4)),
    _einsum("ij,jk", f32(2, 3), f32(3, 4)),
    _einsum("ba", f32(2, 3)),
    _einsum("i j -> j i", f32(2, 3)),
    _einsum("ii->i", f32(3, 3)),
    _einsum("ii", f32(3, 3)),
    _einsum("ij->", f32(2, 3)),
    _einsum("->", f32()),
    _einsum("i,j->ij", f32(2), f32(3)),
    _einsum("bij,bjk->bik", c64(2, 3, 4), c64(2, 4, 5)),
    _einsum("iij,j->i", f32(2, 2, 3), f32(3)),
    _einsum("ijj,jk->ki", f32(2, 3, 3), f32(3, 4)),
    _einsum("ij,kl->i", f32(2, 3), f32(4, 5)),
    _einsum("bi,bi->b", f32(2, 3), f32(2, 3)),
    _einsum("abcd,bedf->aecf", f32(2, 3, 4, 5), f32(3, 2, 5, 3), second=False),
    _einsum("ij,jk,kl->il", f32(2, 3), f32(3, 4), f32(4, 5)),
    _einsum("ab,ac,ad,ae->a", f32(2, 3), f32(2, 4), f32(2, 5), f32(2, 1), second=False),
    _einsum("...ij,...jk->...ik", f32(6, 1, 2, 3), f32(4, 3, 5), second=False),
    _einsum("ab...,b->a...", f32(2, 3, 4, 5), f32(3)),
    _einsum("i...->...", f32(2, 3, 4)),
    _einsum("...,...->...", f32(2, 1, 3), f32(4, 1)),
    _einsum("ij,jk->ik", i32(2, 3), i32(3, 4)),
    _einsum("ij,jk->ik", f32(2, 0), f32(0, 4)),
    _tensordot(f32(2, 3), f32(3, 4), 1),
    _tensordot(f32(2, 3), f32(4, 5), 0),
    _tensordot(f32(2, 3, 4), f32(4, 3, 5), [[1, 2], [1, 0]]),
    _tensordot(f32(2, 3, 4), f32(4, 3, 5), [[-2, 2], [1, 0]]),
    _tensordot(f32(4), f32(4), 1),
    _tensordot(i32(2, 3), i32(3, 2), [1, 0]),
    _tensordot(c64(2, 3), c64(3, 2), [[1, 0], [0, 1]]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_cases(case: Case) -> None:
    check_case(case)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_add_in_float32(dtype: type) -> None:
    x = tf.constant(np.full(4096, 1.0, dtype))
    out = tf.einsum("i,i->", x, x)
    assert out.dtype == dtype
    assert float(out) == 4096
    check_case(
        Case(lambda a: tf.einsum("ii->i", a), [Sample((3, 3), dtype)], grad=False, label="diagonal")
    )


def test_labels_keep_what_is_known_of_sizes() -> None:
    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([3, 4])]
    graph = trace(lambda a, b: tf.einsum("ij,jk->ki", a, b), specs)
    assert graph.outputs[0].shape.as_list() == [4, None]


def test_lists_take_the_dtype_of_the_tensor() -> None:
    out = tf.einsum("i,i->", [1, 2], tf.constant([0.5, 1.0]))
    assert out.dtype is tf.float32
    assert float(out) == 2.5


@pytest.mark.parametrize(
    ("equation", "shapes", "text"),
    [
        ("i1->i", [(2, 3)], "einsum: cannot read the equation 'i1->i'"),
        ("ij..->ij", [(2, 3)], "cannot read the equation"),
        ("ij,jk->ik", [(2, 3)], "is for 2 inputs, got 1"),
        ("ij->k", [(2, 3)], "'k' is in the output of 'ij->k' but in no input"),
        ("i->ii", [(2,)], "'i' is twice in the output of 'i->ii'"),
        ("ijk->ik", [(2, 3)], "input 0 has rank 2, but 'ijk' .* names 3 axes"),
        ("i...->i", [(2, 3)], "has no '...' in its output"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "the sizes of 'j' .* must be equal, got 3 and 4"),
        ("...i,...i->...", [(2, 5), (3, 5)], "cannot be broadcast together"),
    ],
)
def test_errors(equation: str, shapes: list[tuple[int, ...]], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tf.einsum(equation, *[tf.ones(s) for s in shapes])


def test_tensordot_errors() -> None:
    a, b = tf.ones([2, 3]), tf.ones([4, 2])
    with pytest.raises(ValueError, match="tensordot: axes is 3, but a has only rank 2"):
        tf.tensordot(a, b, 3)
    with pytest.raises(ValueError, match="axes must not be negative, got -1"):
        tf.tensordot(a, b, -1)
    with pytest.raises(ValueError, match="the inner sizes 3 and 4 differ"):
        tf.tensordot(a, b, 1)
    with pytest.raises(ValueError, match=r"the sizes of 'a1' .* must be equal, got 3 and 4"):
        tf.tensordot(a, tf.ones([4]), 1)
    with pytest.raises(ValueError, match="as many axes of a as of b"):
        tf.tensordot(a, b, [[0], [0, 1]])
    with pytest.raises(ValueError, match="out of range"):
        tf.tensordot(a, b, [[5], [0]])
    with pytest.raises(TypeError, match=r"Tensordot: a has dtype float32, but b has"):
        tf.tensordot(a, tf.ones([3], tf.float64), 1)


@pytest.mark.parametrize("make", [np.array, tf.constant])
def test_tensordot_with_axes_in_a_tensor(make: Any) -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(4, 3)
    axes = make([[1, 2], [1, 0]])
    wanted = np.tensordot(a, b, [[1, 2], [1, 0]])
    np.testing.assert_array_equal(tf.tensordot(a, b, axes), wanted)
    traced = tf.function(lambda a, b: tf.tensordot(a, b, axes))
    np.testing.assert_array_equal(traced(a, b), wanted)
    np.testing.assert_array_equal(tf.function(tf.tensordot)(a, b, tf.constant(axes)), wanted)
