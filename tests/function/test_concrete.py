"""Concrete functions: one trace, its signature, and calls that are checked."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import weft as tf


def double(a: tf.Tensor) -> tf.Tensor:
    return a + a


def test_concrete_functions_are_traces() -> None:
    f = tf.function(lambda x: tf.abs(x))
    assert f.get_concrete_function(1) is not f.get_concrete_function(2)
    one, two = (f.get_concrete_function(tf.constant(i)) for i in (1, 2))
    assert one is two


def test_calls_by_position_and_name() -> None:
    strings = tf.function(double).get_concrete_function(tf.TensorSpec(None, tf.string))
    assert strings(tf.constant("a")).numpy() == b"aa"
    assert strings(a=tf.constant("b")).numpy() == b"bb"
    assert strings("c").numpy() == b"cc"
    with pytest.raises(tf.errors.InvalidArgumentError, match="'a' must be string, got int32"):
        strings(tf.constant(1))


def test_spec_names_are_argument_names_too() -> None:
    f = tf.function(double).get_concrete_function(tf.TensorSpec([None], name="foo"))
    assert f(foo=tf.constant([1.0])).numpy().tolist() == [2]
    assert f.inputs[0].name == "foo:0"


def test_wrong_shapes_are_refused() -> None:
    f = tf.function(double).get_concrete_function(tf.TensorSpec([None, 3]))
    with pytest.raises(ValueError, match=r"'a' must have shape \(None, 3\), got \(2, 4\)"):
        f(tf.zeros([2, 4]))


def test_python_arguments_are_fixed_and_may_be_left_out() -> None:
    f = tf.function(lambda x, k=2, *, flag=True: x * k if flag else x)
    concrete = f.get_concrete_function(tf.TensorSpec([]), k=3)
    assert concrete(tf.constant(2.0)).numpy() == 6
    assert concrete(tf.constant(2.0), 3).numpy() == 6
    assert concrete(tf.constant(2.0), k=3, flag=True).numpy() == 6
    with pytest.raises(TypeError, match="'k' was traced as 3 and is fixed to it, got 4"):
        concrete(tf.constant(2.0), k=4)
    with pytest.raises(TypeError, match="'x' is missing"):
        concrete()
    with pytest.raises(TypeError, match="4 arguments by position where it takes 2"):
        concrete(1.0, 2.0, 3.0, 4.0)


def test_structured_arguments() -> None:
    f = tf.function(lambda d, k: d["a"] + d["b"][0] * k)
    spec = {"a": tf.TensorSpec([]), "b": [tf.TensorSpec([])]}
    concrete = f.get_concrete_function(spec, 10)
    assert concrete({"a": tf.constant(1.0), "b": [tf.constant(2.0)]}).numpy() == 21
    with pytest.raises(TypeError, match="'d'"):
        concrete({"a": tf.constant(1.0)})


def test_what_it_shows() -> None:
    v = tf.Variable(1.0)
    frozen = tf.Variable(2.0, trainable=False)
    c = tf.constant(3.0)
    f = tf.function(lambda x, k: {"y": x * v + c * frozen, "n": None})
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32), 7)
    assert concrete.structured_input_signature == ((tf.TensorSpec([None], name="x"), 7), {})
    assert concrete.output_dtypes == {"y": tf.float32, "n": None}
    assert concrete.output_shapes == {"y": tf.TensorShape([None]), "n": None}
    assert concrete.structured_outputs["n"] is None
    assert [t.shape for t in concrete.outputs] == [tf.TensorShape([None])]
    assert len(concrete.captured_inputs) == 3
    assert [w is v for w in concrete.variables] == [True, False]
    assert [w is v for w in concrete.trainable_variables] == [True]
    assert len(concrete.inputs) == 4
    assert concrete.name.startswith("__inference_")
    assert "Mul" in concrete.function_def
    assert str(concrete).splitlines()[:3] == [
        "ConcreteFunction Input Parameters:",
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)",
        "  k (POSITIONAL_OR_KEYWORD): Literal[7]",
    ]
    assert repr(concrete).startswith("<ConcreteFunction <lambda>(x: TensorSpec(")
    names = [n.op for n in concrete.graph.as_graph_def().node]
    assert "ReadVariableOp" in names


def test_input_signature_is_one_trace() -> None:
    traces = []

    @tf.function(input_signature=(tf.TensorSpec([None], tf.int32),))
    def next_collatz(x: tf.Tensor) -> tf.Tensor:
        traces.append(x)
        return tf.where(tf.equal(x % 2, 0), x // 2, 3 * x + 1)

    assert next_collatz(tf.constant([1, 2])).numpy().tolist() == [4, 1]
    assert next_collatz([3, 4, 5]).numpy().tolist() == [10, 2, 16]
    assert next_collatz(np.array([6], np.int32)).numpy().tolist() == [3]
    for wrong in (tf.constant([[1, 2]]), tf.constant([1.0]), "text", 1):
        with pytest.raises(ValueError, match="'x' must be int32 of shape") as e:
            next_collatz(wrong)
        assert isinstance(e.value, TypeError)
    assert len(traces) == 1
    assert traces[0].shape.as_list() == [None]
    assert next_collatz.input_signature == (tf.TensorSpec([None], tf.int32),)
    assert next_collatz.get_concrete_function() is next_collatz.get_concrete_function([1])


def test_input_signature_of_any_number_of_arguments_before_named_ones() -> None:
    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([2])])
    def f(*tensors, scale=3.0):
        return tensors[0] * tensors[1] * scale

    np.testing.assert_array_equal(f(2.0, [1.0, 2.0]), [6.0, 12.0])
    np.testing.assert_array_equal(
        f.get_concrete_function()(2.0, tf.constant([1.0, 2.0])), [6.0, 12.0]
    )
    with pytest.raises(ValueError, match="input_signature has 2 specs, 1 arguments were given"):
        f(2.0)


def test_input_signature_must_fit_the_function() -> None:
    with pytest.raises(TypeError, match="takes 1 arguments"):
        tf.function(lambda x: x, input_signature=[tf.TensorSpec([])] * 2)
    with pytest.raises(TypeError, match="'y', which has no default"):
        tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])
    with pytest.raises(TypeError, match="tf.TensorSpec objects, got 3"):
        tf.function(lambda x: x, input_signature=[3])
    with pytest.raises(
        TypeError, match=r"must be a list or tuple with one tf\.TensorSpec .* got 5"
    ):
        tf.function(lambda x: x, input_signature=5)


def test_nests_that_do_not_fit_an_input_signature() -> None:
    spec = tf.TensorSpec([None], tf.int32)

    @tf.function(input_signature=[{"a": spec, "b": (spec,)}])
    def f(d: dict[str, Any]) -> Any:
        return d["a"] + d["b"][0]

    assert f({"a": [1, 2], "b": ([3, 4],)}).numpy().tolist() == [4, 6]
    with pytest.raises(TypeError, match=r"'d' must be a nest like \{'a': .* the keys \['a'\]"):
        f({"a": [1]})
    with pytest.raises(TypeError, match=r"'d' must be a nest like .*, got 3\."):
        f(3)
    with pytest.raises(TypeError, match=r"d\['b'\]\" must be a nest like \(TensorSpec"):
        f({"a": [1], "b": []})


def test_nested_input_signature() -> None:
    spec = [{"a": tf.TensorSpec([None]), "b": tf.TensorSpec([], tf.int32)}]
    f = tf.function(lambda d: d["a"] * tf.cast(d["b"], tf.float32), input_signature=spec)
    assert f({"a": [1.0, 2.0], "b": 3}).numpy().tolist() == [3, 6]
    assert f({"a": [1.0], "b": 3}).numpy().tolist() == [3]
    assert f.experimental_get_tracing_count() == 1


def test_the_most_specific_trace_wins() -> None:
    f = tf.function(lambda x: x)
    middle = f.get_concrete_function(tf.TensorSpec([None, 3]))
    general = f.get_concrete_function(tf.TensorSpec([None, None]))
    assert f.get_concrete_function(tf.zeros([2, 4])) is general
    assert f.get_concrete_function(tf.zeros([2, 3])) is middle
    f(tf.zeros([5, 3]))
    f(tf.zeros([5, 5]))
    assert f.experimental_get_tracing_count() == 2
    anything = f.get_concrete_function(tf.TensorSpec(None))
    assert f.get_concrete_function(tf.zeros([2])) is anything


def test_reduce_retracing() -> None:
    for option in ("reduce_retracing", "experimental_relax_shapes"):
        f = tf.function(lambda x: x + 1, **{option: True})
        for n in range(1, 6):
            assert f(tf.zeros([n, 3])).shape == [n, 3]
        assert f.experimental_get_tracing_count() == 2


def test_follow_type_hints() -> None:
    def f(x: tf.Tensor, k: int) -> tf.Tensor:
        return x * k

    hinted = tf.function(f, experimental_follow_type_hints=True)
    assert [int(hinted(i, 2)) for i in range(4)] == [0, 2, 4, 6]
    assert hinted.experimental_get_tracing_count() == 1


def test_composite_values_by_value_and_by_spec() -> None:
    f = tf.function(lambda s: tf.convert_to_tensor(s) * 2.0)
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4], tf.int64), tf.constant([5, 3]))
    assert f(slices).numpy()[4].tolist() == [2, 2, 2]
    spec = tf.IndexedSlicesSpec([5, 3], tf.float32, tf.int64, tf.int32, [None])
    concrete = f.get_concrete_function(spec)
    assert [t.shape.as_list() for t in concrete.inputs] == [[None, 3], [None], [2]]
    g = tf.function(lambda ta: ta.stack())
    array = tf.TensorArray(tf.float32, size=1).write(0, [1.0, 2.0])
    assert g(array).numpy().tolist() == [[1, 2]]
    assert g.get_concrete_function(tf.TensorArraySpec([2], tf.float32)).outputs[0].shape == [
        None,
        2,
    ]


def test_inputs_have_the_names_of_arguments() -> None:
    x = tf.constant(1.0)
    f = tf.function(lambda a, b=2, *args, k=3, **kwargs: a)
    concrete = f.get_concrete_function(x, {"x": x, "y": [x, 5]}, x, x, k=x, z=x)
    names = [t.name for t in concrete.inputs]
    assert names == ["a:0", "b:0", "b_1:0", "args_0:0", "args_1:0", "k:0", "z:0"]

    def spec(name: str) -> tf.TensorSpec:
        return tf.TensorSpec([], name=name)

    assert concrete.structured_input_signature == (
        (spec("a"), {"x": spec("b_x"), "y": [spec("b_y_0"), 5]}, spec("args_0"), spec("args_1")),
        {"k": spec("k"), "z": spec("z")},
    )
    given = f.get_concrete_function(tf.TensorSpec([], name="given"))
    assert given.structured_input_signature == ((spec("given"), 2), {"k": 3})


def test_function_types() -> None:
    @tf.function
    def f(x: Any, n: Any = 3, *, z: Any) -> Any:
        return {"a": x + n, "b": z}

    found = f.get_concrete_function(tf.TensorSpec([2]), z=tf.TensorSpec([], tf.int32)).function_type
    assert isinstance(found, tf.types.experimental.FunctionType)
    assert list(found.parameters) == ["x", "n", "z"]
    assert found.parameters["x"].annotation == tf.TensorSpec([2])
    assert found.parameters["z"].kind.name == "KEYWORD_ONLY"
    assert str(found).startswith("(x: TensorSpec(shape=(2,), dtype=tf.float32, name=None), n: Lite")
    assert found.output == {"a": tf.TensorSpec([2]), "b": tf.TensorSpec([], tf.int32)}
    assert f.function_type.output is None
    assert isinstance(f, tf.types.experimental.Callable)


def test_parameters_that_are_optional() -> None:
    f = tf.function(lambda x, y=3, *a, z, w=2, **k: x)
    kinds = {name: p.optional for name, p in f.function_type.parameters.items()}
    assert kinds == {"x": False, "y": True, "a": False, "z": False, "w": True, "k": False}
    traced = f.get_concrete_function(tf.TensorSpec([2]), z=1).function_type
    assert [p.optional for p in traced.parameters.values()] == [False] * 4
    y = f.function_type.parameters["y"].replace(default=inspect.Parameter.empty)
    assert not y.optional


def test_function_types_of_collected_arguments() -> None:
    @tf.function
    def f(x: Any, *args: Any, **kwargs: Any) -> Any:
        return x + args[0]["k"] + kwargs["q"]

    scalar = tf.TensorSpec([])
    found = f.get_concrete_function(scalar, {"k": scalar}, q=scalar).function_type
    assert [(p.name, p.kind.name) for p in found.parameters.values()] == [
        ("x", "POSITIONAL_ONLY"), ("args_0", "POSITIONAL_ONLY"), ("q", "KEYWORD_ONLY"),
    ]  # fmt: skip
    assert found.parameters["args_0"].annotation == {"k": scalar}
    v = tf.Variable(1.0)
    captured = tf.function(lambda x: x + v).get_concrete_function(scalar).function_type.captures
    assert [spec.dtype for spec in captured.values()] == [tf.resource]


def test_a_signature_is_part_of_the_type() -> None:
    spec = tf.TensorSpec([None], name="foo")
    f = tf.function(lambda x: x, input_signature=[spec])
    assert f.function_type.parameters["x"].annotation == spec


def test_inputs_one_by_one_whatever_they_stand_in() -> None:
    @tf.function
    def f(d: Any) -> Any:
        return d["a"] - d["b"]

    unnamed = f.get_concrete_function({"a": tf.TensorSpec([]), "b": tf.TensorSpec([])})
    assert float(unnamed(tf.constant(3.0), tf.constant(2.0))) == 1.0
    named = tf.function(f.python_function).get_concrete_function(
        {"a": tf.TensorSpec([], name="p"), "b": tf.TensorSpec([], name="q")}
    )
    assert float(named(q=tf.constant(3.0), p=tf.constant(5.0))) == 2.0
    assert float(named(tf.constant(3.0), q=tf.constant(2.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="'p' must be float32, got int32"):
        named(tf.constant(3), tf.constant(2.0))
    for wrong in ([tf.constant(1.0)], [tf.constant(1.0)] * 3, [1.0, 2.0]):
        with pytest.raises(TypeError, match="f\\(d: "):
            named(*wrong)


def test_an_argument_is_named_by_its_parameter_before_its_spec() -> None:
    x = tf.TensorSpec([], name="x")
    difference = tf.function(lambda x, y: x - y).get_concrete_function(x, x)
    assert difference(x=tf.constant(5.0), y=tf.constant(2.0)).numpy() == 3.0
    named = tf.function(lambda a, b: a - b).get_concrete_function(x, tf.TensorSpec([], name="y"))
    assert named(x=tf.constant(5.0), y=tf.constant(2.0)).numpy() == 3.0
