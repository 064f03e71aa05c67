"""tf.function: what is called, how arguments bind, when it is traced."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import re
import weakref
from collections import namedtuple

import attrs
import numpy as np
import pytest

import weft as tf


class Counter:
    """A traced function and how often its body ran."""

    def __init__(self, fn: object, **options: object) -> None:
        self.count = 0

        @functools.wraps(fn)  # type: ignore[arg-type]
        def counted(*args: object, **kwargs: object) -> object:
            self.count += 1
            return fn(*args, **kwargs)  # type: ignore[operator]

        self.function = tf.function(counted, **options)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.function(*args, **kwargs)


def test_tracing_happens_once_per_dtype_and_shape() -> None:
    f = Counter(lambda x: x + x)
    assert f(tf.constant(1)).numpy() == 2
    assert f(tf.constant(5)).numpy() == 10
    assert f(tf.constant(1.5)).numpy() == 3
    assert f(tf.constant("a")).numpy() == b"aa"
    assert f(tf.constant([1, 2])).numpy().tolist() == [2, 4]
    assert f(np.array([3, 4], np.int32)).numpy().tolist() == [6, 8]  # counts as a tensor
    assert f.count == 4
    assert f.function.experimental_get_tracing_count() == 4


@pytest.mark.parametrize(
    ("first", "second", "traces"),
    [
        (1, 1, 1),
        (1, 2, 2),
        (1, 1.0, 2),
        (1, True, 2),
        (0.0, -0.0, 2),
        (float("nan"), float("nan"), 1),
        ("a", "a", 1),
        ("a", b"a", 2),
        (None, None, 1),
        ([1, 2], [1, 2], 1),
        ([1, 2], (1, 2), 2),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ({"a": 1}, {"b": 1}, 2),
        (tf.float32, tf.float32, 1),
        (tf.float32, tf.float64, 2),
        (np.float32(1), np.float32(2), 1),
        ([tf.constant(1), 2], [tf.constant(3), 2], 1),
        ([tf.constant(1), 2], [tf.constant(3), 4], 2),
        (tf.TensorShape([1]), tf.TensorShape([1]), 1),
    ],
)
def test_what_counts_as_the_same(first: object, second: object, traces: int) -> None:
    f = Counter(lambda x: 1)
    f(first)
    f(second)
    f(first)
    assert f.count == traces


def test_namedtuples_attrs_and_objects() -> None:
    Point = namedtuple("Point", "x y")

    @attrs.define
    class Box:
        a: object

    class Thing:
        pass

    f = Counter(lambda p: p)
    out = f(Point(tf.constant(1.0), tf.constant(2.0)))
    assert isinstance(out, Point)
    f(Point(tf.constant(3.0), tf.constant(4.0)))
    assert f.count == 1
    assert isinstance(f(Box(tf.constant(1.0))), Box)
    g = Counter(lambda t: 1)
    one, two = Thing(), Thing()
    g(one)
    g(one)
    g(two)
    assert g.count == 2


def test_binding_comes_first() -> None:
    f = Counter(lambda x, y=2, *, z=3: x + y * 10 + z * 100)
    one = tf.constant(1)
    results = {
        int(f(one)),
        int(f(one, 2)),
        int(f(x=one)),
        int(f(one, z=3, y=2)),
        int(f(y=2, x=one)),
        int(f(z=3, y=2, x=one)),
    }
    assert results == {321}
    assert f.count == 1
    assert int(f(one, z=4)) == 421
    assert f.count == 2


def test_keywords_in_any_order_reach_their_parameters() -> None:
    f = Counter(lambda a, b, c: a * 100 + b * 10 + c)
    a, b, c = tf.constant(1), tf.constant(2), tf.constant(3)
    for _ in range(2):
        assert int(f(a, b, c)) == int(f(c=c, b=b, a=a)) == int(f(a, c=c, b=b)) == 123
    assert f.count == 1


def test_variadic_parameters() -> None:
    f = Counter(lambda *args, **kwargs: sum(args) + kwargs["k"] * 10 - kwargs.get("m", 0))
    for _ in range(2):
        assert int(f(tf.constant(1), tf.constant(2), k=tf.constant(3))) == 33
        assert int(f(m=tf.constant(1), k=tf.constant(3))) == 29
        assert int(f(k=tf.constant(3), m=tf.constant(1))) == 29
    assert f.count == 2


def test_wrong_arguments() -> None:
    f = tf.function(lambda x, y: x)
    with pytest.raises(TypeError, match="missing argument 'y'"):
        f(1)
    with pytest.raises(TypeError, match="unexpected argument 'z'"):
        f(1, 2, z=3)
    with pytest.raises(TypeError, match=r"argument 'y' holds a set, which is not hashable"):
        f(1, [{1, 2}])


def test_decorator_forms() -> None:
    @tf.function
    def plain(x: object) -> object:
        """Doc."""
        return x

    @tf.function(reduce_retracing=True, jit_compile=False, autograph=False)
    def optioned(x: object) -> object:
        return x

    class Callable:
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return x * 2

    assert plain.__name__ == "plain"
    assert plain.__doc__ == "Doc."
    assert plain.__wrapped__ is plain.python_function
    assert list(inspect.signature(plain).parameters) == ["x"]
    assert optioned(tf.constant(1)).numpy() == 1
    assert tf.function(functools.partial(lambda a, b: a - b, 5))(tf.constant(2)).numpy() == 3
    assert tf.function(Callable())(tf.constant(2)).numpy() == 4
    assert tf.function(plain)(tf.constant(3)).numpy() == 3
    with pytest.raises(TypeError, match="callable"):
        tf.function(3)


def test_methods_trace_per_instance_and_let_go_of_it() -> None:
    class Model:
        traces = 0

        def __init__(self, k: float) -> None:
            self.k = tf.Variable(k)

        @tf.function
        def scale(self, x: tf.Tensor, bias: float = 0.0) -> tf.Tensor:
            Model.traces += 1
            return self.k * x + bias

        @staticmethod
        @tf.function
        def static(x: tf.Tensor) -> tf.Tensor:
            return x + 1

        @classmethod
        @tf.function
        def of_class(cls, x: tf.Tensor) -> tf.Tensor:
            return x + Model.traces * 0

        __hash__ = None  # type: ignore[assignment]

    a, b = Model(2.0), Model(3.0)
    for _ in range(2):
        assert a.scale(tf.constant(5.0)).numpy() == 10
        assert b.scale(tf.constant(5.0), bias=1.0).numpy() == 16
    assert Model.traces == 2
    assert a.scale.experimental_get_tracing_count() == 1
    assert a.static(tf.constant(1)).numpy() == 2
    assert Model.of_class(tf.constant(1)).numpy() == 1
    ref = weakref.ref(a)
    del a
    gc.collect()
    assert ref() is None
    kept = Model(7.0).scale  # the bound function keeps the instance
    gc.collect()
    assert kept(tf.constant(1.0)).numpy() == 7


def test_objects_are_held_weakly() -> None:
    class Thing:
        pass

    f = tf.function(lambda t, x: x + 1)
    thing = Thing()
    f(thing, tf.constant(1))
    ref = weakref.ref(thing)
    del thing
    gc.collect()
    assert ref() is None


def test_side_effects_of_python_happen_while_tracing_only() -> None:
    seen = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        seen.append(x)
        return x

    for _ in range(5):
        f(tf.constant(1))
    assert len(seen) == 1
    assert isinstance(seen[0], tf.Tensor)
    assert tf.is_symbolic_tensor(seen[0])


def test_outputs_of_any_structure() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def f(x: tf.Tensor) -> object:
        return {"a": [x, None], "b": (1, "s"), "v": v, "n": {"k": x + 1}}

    out = f(tf.constant(1.0))
    assert out["a"][0].numpy() == 1
    assert out["a"][1] is None
    assert out["b"][0].numpy() == 1
    assert out["b"][1].numpy() == b"s"
    assert isinstance(out["v"], tf.Tensor)
    assert out["n"]["k"].numpy() == 2
    assert tf.function(lambda: None)() is None
    assert tf.function(lambda x: [x, x])(tf.constant(1))[1].numpy() == 1
    with pytest.raises(TypeError, match="must return tensors.*object"):
        tf.function(lambda: object())()


def test_arguments_must_not_be_changed() -> None:
    def dict_op(d: dict[str, object], x: object) -> object:
        d["new"] = x
        return x

    given = {"a": 1}
    with pytest.raises(ValueError, match=r"dict_op\(.*must not change its arguments.*changed d"):
        tf.function(dict_op)(given, 2)
    assert given == {"a": 1}
    with pytest.raises(ValueError, match="xs"):
        tf.function(lambda xs: xs.append(1))([1])

    def copies(d: dict[str, object]) -> object:
        d = dict(d, more=1)
        return len(d)

    assert tf.function(copies)({"a": 1}).numpy() == 2


def test_exceptions_while_tracing_leave_nothing_behind() -> None:
    fail = True

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        if fail:
            raise KeyError("oops")
        return x

    with pytest.raises(KeyError, match="oops"):
        f(tf.constant(1))
    assert tf.executing_eagerly()
    assert f.experimental_get_tracing_count() == 0
    fail = False
    assert f(tf.constant(1)).numpy() == 1


def test_run_functions_eagerly() -> None:
    f = Counter(lambda x: x + 1)
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert f.count == 2
    assert f.function.experimental_get_tracing_count() == 0


def test_init_scope_and_inside_function() -> None:
    seen = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), float(tf.constant(2.0) * 3.0)))
        return x

    f(tf.constant(1))
    assert seen == [(False, True), (True, 6.0)]
    assert not tf.inside_function()


def test_recursion() -> None:
    @tf.function
    def factorial(n: int) -> object:
        return 1 if n <= 1 else n * factorial(n - 1)

    assert factorial(5).numpy() == 120

    @tf.function
    def endless(x: tf.Tensor) -> tf.Tensor:
        return endless(x + 1)

    with pytest.raises(RecursionError, match="endless .* calls itself"):
        endless(tf.constant(1))


def module_level(x: tf.Tensor) -> tf.Tensor:
    return x * 2


traced_module_level = tf.function(module_level)


def test_copy_and_pickle() -> None:
    traced_module_level(tf.constant(1))
    clone = copy.deepcopy(traced_module_level)
    assert clone.experimental_get_tracing_count() == 0
    assert clone(tf.constant(4)).numpy() == 8
    again = pickle.loads(pickle.dumps(tf.function(module_level, reduce_retracing=True)))
    assert again(tf.constant(4)).numpy() == 8


def test_results_do_not_share_memory_with_callers_arrays() -> None:
    a = np.zeros(3, np.float32)
    out = tf.function(lambda x: x)(a)
    a[0] = 9
    assert out.numpy()[0] == 0


def test_tracing_protocol() -> None:
    class Kind(tf.types.experimental.TraceType):
        def __init__(self, tag: str) -> None:
            self.tag = tag

        def placeholder_value(self, placeholder_context: object = None) -> object:
            return Fruit(self.tag, 0)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Kind) and self.tag == other.tag

        def __hash__(self) -> int:
            return hash(self.tag)

    class Fruit:
        def __init__(self, tag: str, weight: int) -> None:
            self.tag, self.weight = tag, weight

        def __tf_tracing_type__(self, context: object) -> Kind:
            return Kind(self.tag)

    f = Counter(lambda fruit: fruit.tag)
    f(Fruit("apple", 1))
    f(Fruit("apple", 2))
    f(Fruit("pear", 1))
    assert f.count == 2


def test_methods_are_converted() -> None:
    class Model:
        @tf.function
        def sign(self, x: tf.Tensor) -> tf.Tensor:
            if x > 0:
                return 1
            return -1

    model = Model()
    assert int(model.sign(tf.constant(3.0))) == 1
    assert int(model.sign(tf.constant(-3.0))) == -1
    assert "sign (test_calling.py:" in repr(model.sign)


def test_input_signatures_of_methods_leave_self_out() -> None:
    class Model:
        traces = 0

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            Model.traces += 1
            return x * 2

    model = Model()
    assert model(tf.constant([1.0])).numpy().tolist() == [2]
    assert model([1.0, 2.0]).numpy().tolist() == [2, 4]
    assert Model.traces == 1
    with pytest.raises(ValueError, match="'x' must be float32 of shape"):
        model(tf.constant([[1.0]]))


def _mixed(a: object, /, b: object, *, c: object, d: object = 1) -> object:
    return a


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "missing arguments 'a', 'b', 'c'"),
        ((1,), {"a": 2, "b": 3, "c": 4}, "unexpected argument 'a'"),
        ((1, 2), {"b": 3, "c": 4}, "given twice: 'b'"),
        ((1, 2, 3), {"c": 4}, "3 arguments by position where it takes 2"),
        ((1,), {"bb": 2, "cc": 3}, "missing arguments 'b', 'c'; unexpected arguments 'bb', 'cc'"),
        ((1, 2, 3), {"e": 4}, "missing argument 'c'; unexpected argument 'e'; 3 arguments by"),
    ],
)
def test_all_that_is_wrong_with_arguments_is_told(
    args: tuple[int, ...], kwargs: dict[str, int], text: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(text)):
        tf.function(_mixed)(*args, **kwargs)
    with pytest.raises(TypeError):
        _mixed(*args, **kwargs)  # type: ignore[arg-type]
