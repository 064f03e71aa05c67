# ruff: noqa: PERF401 - the constructs are what is tested
"""Lists that grew in a graph loop: lists of tensors to every function that takes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from support.both_ways import agree, same

Elements = Callable[[Any], Any]
UNKNOWN = tf.TensorSpec([None, None], tf.float32)


def _row(i: Any) -> Any:
    return tf.constant([1.5, -2.0, 0.25]) + tf.cast(i, tf.float32)


def _table(i: Any) -> Any:
    return tf.constant([[1.5, -2.0, 0.25], [4.0, 5.5, -6.0]]) * tf.cast(i + 1, tf.float32)


def _of_growing_length(i: Any) -> Any:
    return tf.range(i + 1)


def _of_growing_width(i: Any) -> Any:
    return tf.ones([2, i + 1]) * tf.cast(i + 1, tf.float32)


def _grown(element: Elements, use: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(n: Any) -> Any:
        grown = []
        for i in tf.range(n):
            grown.append(element(i))
        return use(grown)

    return f


# What makes one thing of a list: eagerly that of a Python list, in a graph that of a grown one.
USES: list[tuple[str, Elements, Callable[[Any], Any]]] = [
    ("concat", _row, lambda l: tf.concat(l, 0)),
    ("concat of tables, axis 0", _table, lambda l: tf.concat(l, 0)),
    ("concat of tables, axis 1", _table, lambda l: tf.concat(l, 1)),
    ("concat of tables, axis -2", _table, lambda l: tf.concat(l, -2)),
    ("concat of different lengths", _of_growing_length, lambda l: tf.concat(l, 0)),
    ("concat of different widths", _of_growing_width, lambda l: tf.concat(l, 1)),
    ("concat of different widths, axis -1", _of_growing_width, lambda l: tf.concat(l, axis=-1)),
    ("stack", _table, lambda l: tf.stack(l)),
    ("stack, axis 1", _table, lambda l: tf.stack(l, axis=1)),
    ("stack, axis 2", _table, lambda l: tf.stack(l, axis=2)),
    ("stack, axis -1", _row, lambda l: tf.stack(l, axis=-1)),
    ("stack, axis -2", _row, lambda l: tf.stack(l, axis=-2)),
    ("add_n", _table, lambda l: tf.add_n(l)),
    ("add_n of whole numbers", lambda i: i * 3, lambda l: tf.math.add_n(l)),
    ("accumulate_n", _row, lambda l: tf.math.accumulate_n(l, shape=[3])),
    ("numpy.concatenate", _table, lambda l: tf.experimental.numpy.concatenate(l, 1)),
    ("numpy.stack", _row, lambda l: tf.experimental.numpy.stack(l, 1)),
    ("raw_ops.ConcatV2", _row, lambda l: tf.raw_ops.ConcatV2(values=l, axis=0)),
    ("raw_ops.Pack", _row, lambda l: tf.raw_ops.Pack(values=l, axis=1)),
    ("raw_ops.AddN", _row, lambda l: tf.raw_ops.AddN(inputs=l)),
    ("sum", _row, lambda l: sum(l)),
    ("len", _row, lambda l: len(l) * 10),
    ("one element", _row, lambda l: (l[0], l[-1], l[1])),
    ("a slice", _row, lambda l: l[1:]),
    ("a copy", _row, lambda l: l.copy()),
    ("one more element", _row, lambda l: tf.stack([*l, l[0]] if type(l) is list else l + [l[0]])),
    ("reduce_sum", _table, lambda l: tf.reduce_sum(l, axis=1)),
    ("embedding_lookup", _table, lambda l: tf.nn.embedding_lookup(l, [1, 3])),
    ("the list itself", _table, lambda l: {"list": l}),
    ("a call", _row, lambda l: tf.function(lambda given: tf.concat(given, 0))(l)),
]
SAME_SHAPE = [row for row in USES if row[1] in (_row, _table) and row[0] != "embedding_lookup"]


@pytest.mark.parametrize(("element", "use"), [u[1:] for u in USES], ids=[u[0] for u in USES])
def test_a_grown_list_is_a_list_of_tensors(element: Elements, use: Callable[[Any], Any]) -> None:
    agree(_grown(element, use), tf.constant(2))
    agree(_grown(element, use), tf.constant(5))


@pytest.mark.parametrize("how", ["numpy", "native"])
@pytest.mark.parametrize(
    ("element", "use"), [u[1:] for u in SAME_SHAPE], ids=[u[0] for u in SAME_SHAPE]
)
def test_on_every_tier(
    element: Elements, use: Callable[[Any], Any], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "execution", how)
    f = _grown(element, use)
    same(f(tf.constant(3)), tf.function(f)(tf.constant(3)))


def test_functions_of_grown_lists_are_compiled_as_a_whole() -> None:
    def f(x: Any) -> Any:
        rows = []
        for i in tf.range(4):
            rows.append(x * tf.cast(i + 1, tf.float32))
        return tf.concat(rows, 0), tf.concat(rows, 1), tf.stack(rows, 1), tf.add_n(rows)

    x = tf.constant([[1.5, -2.0, 0.25], [4.0, 5.5, -6.0]])
    same(f(x), tf.function(f, jit_compile=True)(x))


_GRADIENTS = {
    "concat, axis 0": lambda l: tf.concat(l, 0),
    "concat, axis 1": lambda l: tf.concat(l, 1),
    "stack, axis 2": lambda l: tf.stack(l, axis=2),
    "add_n": lambda l: tf.add_n(l),
}


@pytest.mark.parametrize("spec", [None, UNKNOWN], ids=["known sizes", "unknown sizes"])
@pytest.mark.parametrize("use", _GRADIENTS.values(), ids=_GRADIENTS.keys())
def test_gradients(use: Callable[[Any], Any], spec: Any) -> None:
    weights = tf.constant(np.arange(1.0, 60.0, dtype=np.float32))

    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = []
            for i in tf.range(n):
                rows.append(tf.sin(x) * tf.cast(i + 1, tf.float32))
            flat = tf.reshape(use(rows), [-1])
            y = tf.reduce_sum(flat * weights[: tf.size(flat)])
        return y, tape.gradient(y, x)

    x = tf.constant([[0.5, -2.0, 0.25], [1.0, 1.5, -3.0]])
    signature = None if spec is None else [spec, tf.TensorSpec([], tf.int32)]
    same(f(x, tf.constant(3)), tf.function(f, input_signature=signature)(x, tf.constant(3)))


def test_gradients_of_elements_that_differ_in_the_joined_axis() -> None:
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = []
            for i in tf.range(n):
                parts.append(tf.sin(x[:, : i + 1]) * tf.cast(i + 1, tf.float32))
            joined = tf.concat(parts, 1)
            steps = tf.cast(tf.range(tf.shape(joined)[1]), tf.float32)
            y = tf.reduce_sum(joined * steps)
        return joined, tape.gradient(y, x)

    x = tf.constant([[0.5, -2.0, 0.25], [1.0, 1.5, -3.0]])
    agree(f, x, tf.constant(3))


def test_strings_are_joined() -> None:
    f = tf.function(
        _grown(lambda i: tf.strings.as_string([i, 2 * i]), lambda l: tf.strings.join(l, "-"))
    )
    assert f(tf.constant(3)).numpy().tolist() == [b"0-1-2", b"0-2-4"]
    assert f(tf.constant(0)).numpy().tolist() == [b"", b""]


def test_inside_of_branches_and_loops() -> None:
    def f(x: Any, n: Any) -> Any:
        rows = []
        for i in tf.range(n):
            rows.append(x * tf.cast(i, tf.float32))
        if n > 2:
            y = tf.concat(rows, 0)
        else:
            y = tf.concat([tf.add_n(rows), x], 0)
        total = tf.constant(0.0)
        for _ in tf.range(2):
            total += tf.reduce_sum(tf.stack(rows, axis=1)) + tf.reduce_sum(tf.concat(rows, 0))
        return y, total

    x = tf.constant([1.0, 2.5, -3.0])
    for n in (1, 2, 4):
        agree(f, x, tf.constant(n))


def test_a_list_without_elements_knows_their_type() -> None:
    f = tf.function(
        _grown(_table, lambda l: (tf.concat(l, 1), tf.stack(l, 1), tf.add_n(l), sum(l), len(l)))
    )
    joined, stacked, total, also_total, length = f(tf.constant(0))
    assert joined.shape == (2, 0)
    assert stacked.shape == (2, 0, 3)
    np.testing.assert_array_equal(total, np.zeros((2, 3)))
    np.testing.assert_array_equal(also_total, np.zeros((2, 3)))
    assert int(length) == 0


def test_a_list_without_elements_of_unknown_shape() -> None:
    f = tf.function(_grown(_of_growing_length, lambda l: tf.stack(l)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="list cannot be stacked: no element"):
        f(tf.constant(0))
    g = tf.function(_grown(_of_growing_width, lambda l: tf.concat(l, 1)))
    assert g(tf.constant(0)).shape == (2, 0)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda l: tf.tuple(l),
    "identity_n": lambda l: tf.identity_n(l),
    "shape_n": lambda l: tf.shape_n(l),
    "dynamic_stitch": lambda l: tf.dynamic_stitch([[0], [1]], l),
    "global_norm": lambda l: tf.linalg.global_norm(l),
    "clip_by_global_norm": lambda l: tf.clip_by_global_norm(l, 1.0),
    "ragged.stack": lambda l: tf.ragged.stack(l),
    "sparse.concat": lambda l: tf.sparse.concat(0, l),
    "strings.format": lambda l: tf.strings.format("{}", l),
    "map_fn": lambda l: tf.map_fn(lambda x: x, l),
    "foldl": lambda l: tf.foldl(lambda a, x: a + x, l),
    "scan": lambda l: tf.scan(lambda a, x: a + x, l),
    "vectorized_map": lambda l: tf.vectorized_map(lambda x: x, l),
    "print": lambda l: tf.print(l),
    "Assert": lambda l: tf.Assert(True, l),
    "py_function": lambda l: tf.py_function(lambda *x: x[0], l, tf.float32),
    "nest.flatten": lambda l: tf.nest.flatten({"key": l}),
    "nest.map_structure": lambda l: tf.nest.map_structure(lambda x: x * 2.0, l),
    "nest.pack_sequence_as": lambda l: tf.nest.pack_sequence_as(l, [1.0]),
    "vstack": lambda l: tf.experimental.numpy.vstack(l),
    "Python has": lambda l: tf.meshgrid(*l),
    "Python": lambda l: [x * 2.0 for x in l],
    "`in`": lambda l: 1.0 in l,
    "`==`": lambda l: l == [],
    "`+`": lambda l: l + l,
    "`*`": lambda l: l * 2,
    "list.index": lambda l: l.index(1.0),
    "list.count": lambda l: l.count(1.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_to_know_the_length_refuses_by_name(name: str) -> None:
    f = tf.function(_grown(_row, REFUSED[name]))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        f(tf.constant(2))
    text = str(caught.value)
    assert f"{name.removesuffix(' has')} has to know how many elements a list has" in text
    assert "tf.stack(l), tf.concat(l, axis) or tf.add_n(l)" in text


def test_whether_a_list_is_empty() -> None:
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"Write `len\(l\) > 0`"):
        tf.function(_grown(_row, lambda l: 1 if l else 2))(tf.constant(2))
    agree(_grown(_row, lambda l: 1 if len(l) > 0 else 2), tf.constant(0))
    agree(_grown(_row, lambda l: 1 if len(l) > 0 else 2), tf.constant(2))


def test_scalars_are_not_joined() -> None:
    with pytest.raises(tf.errors.ShapeError, match=r"scalars cannot be joined .* Use tf.stack"):
        tf.function(_grown(lambda i: i, lambda l: tf.concat(l, 0)))(tf.constant(2))
    with pytest.raises(tf.errors.ShapeError, match="at least one tensor is needed"):
        tf.stack([], axis=1)


def test_elements_that_differ_elsewhere_are_not_joined() -> None:
    f = tf.function(_grown(_of_growing_width, lambda l: tf.concat(l, 0)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2, 1\).*\(2, 2\)"):
        f(tf.constant(3))


def test_calls_are_traced_for_the_shape_of_the_elements() -> None:
    @tf.function
    def shape_of(elements: Any) -> Any:
        joined = tf.stack(elements)
        return tf.constant([size or -1 for size in joined.shape]), tf.shape(joined)

    @tf.function
    def f(x: Any, n: Any) -> Any:
        elements = []
        for _ in tf.range(n):
            elements.append(x)
        return shape_of(elements)

    for shape in ([2], [4, 5], [3]):
        static, actual = f(tf.ones(shape), tf.constant(6))
        assert static.numpy().tolist() == [-1, *shape]
        assert actual.numpy().tolist() == [6, *shape]


def test_what_a_loop_reads_has_any_shape_that_it_appends() -> None:
    def doubling(n: Any) -> Any:
        parts = [tf.ones([2])]
        for _ in tf.range(n):
            parts.append(tf.concat([parts[-1], parts[-1]], 0))
        return tf.shape(parts[-1]), tf.concat(parts, 0)

    def two_shapes(n: Any) -> Any:
        parts, total = [], 0
        for i in tf.range(n):
            parts.append(tf.ones([2]))
            total += tf.shape(parts[i])[0]
            parts.append(tf.ones([4]))
        return total, tf.concat(parts, 0)

    def in_branches(n: Any) -> Any:
        parts = []
        for i in tf.range(n):
            if i % 2 == 0:
                parts.append(tf.ones([2]))
            else:
                parts.append(tf.ones([4]))
        return tf.concat(parts, 0), tf.shape(parts[0]), tf.shape(parts[1])

    for f in (doubling, two_shapes, in_branches):
        agree(f, tf.constant(3))
