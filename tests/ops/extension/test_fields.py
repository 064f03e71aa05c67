"""Fields of extension types: annotations and what they accept, as TensorFlow 2.21 does."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np
import pytest

import weft as tf
from weft._src.ops.extension.fields import ImmutableDict

ExtensionType = tf.experimental.ExtensionType


class Top(ExtensionType):
    x: tf.Tensor
    n: int = 2


class Linked(ExtensionType):
    """Annotations are strings here: one names the class itself."""

    value: int
    rest: Linked | None = None


def with_field(annotation: Any) -> Any:
    body = {"__annotations__": {"f": annotation}, "__module__": __name__, "__qualname__": "T"}
    return type(ExtensionType)("T", (ExtensionType,), body)


@pytest.mark.parametrize(
    ("annotation", "given", "held"),
    [
        (tf.TensorShape, [1, None], tf.TensorShape([1, None])),
        (tf.TensorShape, 3, tf.TensorShape([3])),
        (tf.DType, "float32", tf.float32),
        (tf.DType, np.float32, tf.float32),
        (int, 1, 1),
        (int, True, True),
        (float, 1.5, 1.5),
        (bool, False, False),
        (str, "a", "a"),
        (bytes, b"a", b"a"),
        (None, None, None),
        (np.int32, np.int32(3), np.int32(3)),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, ...], (), ()),
        (tuple[int, str], (1, "a"), (1, "a")),
        (tuple[()], (), ()),
        (Mapping[str, int], {"a": 1}, ImmutableDict({"a": 1})),
        (Mapping[int, tuple[int, ...]], {1: [2]}, ImmutableDict({1: (2,)})),
        (Union[int, str], "a", "a"),  # noqa: UP007
        (Optional[int], None, None),  # noqa: UP045
        (int | None, 3, 3),
        ("int", 3, 3),
    ],
)
def test_values_of_plain_fields(annotation: Any, given: Any, held: Any) -> None:
    value = with_field(annotation)(given)
    assert value.f == held
    assert type(value.f) is type(held)
    assert value._type_spec.f == held


@pytest.mark.parametrize(
    ("annotation", "given", "words"),
    [
        (int, 1.0, "f: expected int, got 1.0 of type float."),
        (int, np.int32(3), "f: expected int, got np.int32(3) of type int32."),
        (int, tf.constant(3), "f: expected int, got"),
        (float, 1, "f: expected float, got 1 of type int."),
        (bool, 1, "f: expected bool"),
        (str, b"a", "f: expected str"),
        (None, 1, "f: expected NoneType"),
        (tuple[int, ...], (1, "a"), "f[1]: expected int, got 'a' of type str."),
        (tuple[int, ...], 3, "f: expected a tuple, got 3"),
        (tuple[int, str], (1,), "f: expected a tuple of length 2"),
        (Mapping[str, int], {1: 1}, "key of f: expected str"),
        (Mapping[str, int], {"a": "b"}, "f['a']: expected int"),
        (Mapping[str, int], 3, "f: expected a mapping"),
        (Union[int, str], 1.5, "f: expected int or str, got 1.5"),  # noqa: UP007
        (tf.Tensor, object(), "f: expected a tensor"),
        (tf.Tensor, tf.ragged.constant([[1], [2, 3]]), "f: expected a tensor"),
        (tf.RaggedTensor, [1], "f: expected RaggedTensor, got [1] of type list."),
        (tf.SparseTensor, [1], "f: expected SparseTensor"),
        (tf.DType, "nothing", "f: expected a dtype"),
        (tf.TensorShape, "no", "f: expected a shape"),
        (Top, 3, "f: expected Top, got 3 of type int."),
        (tf.TensorSpec([None], tf.float32), [[1.0]], "f: expected float32 of shape (None,)"),
        (tf.TensorSpec([None], tf.float32), ["a"], "f: expected float32 of shape (None,)"),
    ],
)
def test_values_that_do_not_fit(annotation: Any, given: Any, words: str) -> None:
    with pytest.raises(TypeError) as error:
        with_field(annotation)(given)
    assert str(error.value).startswith(words)


@pytest.mark.parametrize(
    "annotation",
    [list, dict, tuple, list[int], dict[str, int], Any, object, np.ndarray, complex, type,
     tf.Variable, tf.TensorSpec, tf.TypeSpec],
)  # fmt: skip
def test_annotations_that_fields_cannot_have(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"T.f: a field cannot be annotated with"):
        with_field(annotation)


def test_tensors_are_converted() -> None:
    class Several(ExtensionType):
        one: tf.Tensor
        many: tuple[tf.Tensor, ...]
        named: Mapping[str, tf.Tensor]
        either: int | tf.Tensor
        fixed: tf.TensorSpec([None], tf.float32)  # type: ignore[valid-type]

    value = Several([1.0, 2.0], (3, [4, 5]), {"b": 6, "a": "x"}, 7, [8])
    assert value.one.dtype is tf.float32
    assert [t.shape.rank for t in value.many] == [0, 1]
    assert value.named["a"].dtype is tf.string
    assert value.either == 7
    assert value.fixed.dtype is tf.float32
    assert len(tf.nest.flatten(value, expand_composites=True)) == 6


def test_mappings_are_taken_apart_in_the_order_of_their_keys() -> None:
    class Named(ExtensionType):
        parts: Mapping[str, tf.Tensor]

    a, b = Named({"a": 1, "b": 2.0}), Named({"b": 2.0, "a": 1})
    assert a._type_spec == b._type_spec
    assert hash(a._type_spec) == hash(b._type_spec)
    assert [t.numpy() for t in tf.nest.flatten(b, expand_composites=True)] == [1, 2.0]
    swapped = tf.nest.map_structure(lambda t: t + 1, b, expand_composites=True)
    assert list(swapped.parts) == ["b", "a"]
    assert swapped.parts["a"].numpy() == 2


def test_construction() -> None:
    assert Top([1]).n == 2
    assert Top(n=5, x=1).n == 5
    assert str(inspect.signature(Top)) == "(x, n=2)"
    assert str(inspect.signature(Top.Spec)) == "(x, n)"
    with pytest.raises(TypeError, match=r"Top.__init__\(\) missing 1 required .*'x'"):
        Top()
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        Top(1, q=3)
    with pytest.raises(TypeError, match=r"Top.Spec.__init__\(\) missing"):
        Top.Spec()
    with pytest.raises(TypeError, match=r"x: expected a tf.TensorSpec, got 3"):
        Top.Spec(3, 4)
    with pytest.raises(TypeError, match="ExtensionType is a base class"):
        ExtensionType()


def test_values_do_not_change() -> None:
    value = Top(1)
    for change in (
        lambda: setattr(value, "n", 3),
        lambda: setattr(value, "other", 3),
        lambda: delattr(value, "n"),
        lambda: setattr(value._type_spec, "n", 3),
    ):
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_constructors_of_users() -> None:
    class Doubled(ExtensionType):
        x: tf.Tensor
        n: int

        def __init__(self, x: Any) -> None:
            self.x = x
            self.n = 2

    assert Doubled([1, 2]).x.shape == [2]
    assert str(inspect.signature(Doubled)) == "(x: 'Any') -> 'None'"

    class Forgets(ExtensionType):
        x: tf.Tensor
        n: int

        def __init__(self) -> None:
            self.x = 1

    with pytest.raises(ValueError, match="Forgets.__init__ must set the field n"):
        Forgets()

    class Invents(ExtensionType):
        x: tf.Tensor

        def __init__(self) -> None:
            self.y = 1

    with pytest.raises(AttributeError, match="Invents.y: it is no field"):
        Invents()


def test_validation() -> None:
    class Vector(ExtensionType):
        x: tf.Tensor

        def __validate__(self) -> None:
            self.x.shape.assert_has_rank(1)

    assert Vector([1]).x.shape == [1]
    with pytest.raises(ValueError, match="rank 1"):
        Vector(1)


def test_inheritance() -> None:
    class More(Top):
        z: str = "z"

        def twice(self) -> Any:
            return self.x * 2

    more = More(3, z="w")
    assert tf.experimental.extension_type.as_dict(more) == {"x": more.x, "n": 2, "z": "w"}
    assert more.twice().numpy() == 6
    assert isinstance(more, Top)
    assert issubclass(More.Spec, Top.Spec)


def test_fields_behind_a_default_are_given_by_name() -> None:
    class Late(ExtensionType):
        n: int = 1
        x: tf.Tensor

    assert Late(x=3).n == 1
    assert str(inspect.signature(Late)) == "(n=1, *, x)"


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ({"x": 3}, ValueError, "T.x has a value and no type. Annotate it: `x: int = 3`."),
        ({"__annotations__": {"Spec": int}}, ValueError, "T: a field cannot be called Spec."),
        ({"__annotations__": {"_type_spec": int}}, ValueError, "a field cannot be called"),
        ({"__annotations__": {"x": int}, "x": "a"}, TypeError, "The default of T.x: expected int"),
        ({"Spec": 3}, ValueError, "T.Spec must be a class inside of the class, got 3."),
        (
            {"Spec": type("Spec", (tf.experimental.ExtensionTypeSpec,), {})},
            ValueError,
            "T.Spec must not be derived from",
        ),
    ],
)
def test_classes_that_cannot_be(body: dict[str, Any], error: type, words: str) -> None:
    body = {"__module__": __name__, "__qualname__": "T", **body}
    with pytest.raises(error) as found:
        type(ExtensionType)("T", (ExtensionType,), body)
    assert words in str(found.value)


def test_annotations_that_name_nothing() -> None:
    Unknown = with_field("NoSuchThing")
    with pytest.raises(TypeError, match="names something that is not known"):
        Unknown(3)


def test_annotations_may_name_what_is_local() -> None:
    Local = tf.Tensor

    class Uses(ExtensionType):
        x: Local

    assert Uses([1, 2]).x.shape == [2]

    class Later(ExtensionType):
        x: Other | None  # noqa: F821 - not there yet

    with pytest.raises(TypeError, match="'Other' is not defined"):
        Later(None)


def test_bad_annotations_that_are_strings_are_found_at_once() -> None:
    with pytest.raises(TypeError, match="Bad.x: a field cannot be annotated with list"):

        class Bad(ExtensionType):
            x: list[int]


def test_annotations_that_are_strings() -> None:
    chain = Linked(1, Linked(2))
    assert chain.rest.value == 2
    assert chain.rest.rest is None


def test_equality() -> None:
    assert bool(Top([1.0, 2.0]) == Top([1.0, 2.0])) is True
    assert bool(Top([1.0, 2.0]) == Top([1.0, 3.0])) is False
    assert bool(Top([1.0, 2.0]) != Top([1.0, 3.0])) is True
    assert (Top([1.0, 2.0]) == Top([1.0])) is False
    assert (Top([1.0]) == Top([1.0], 3)) is False
    assert (Top([1]) == Top([1.0])) is False
    assert (Top([1]) == 3) is False
    assert (Top([1]) != 3) is True

    class Empty(ExtensionType):
        pass

    assert bool(Empty() == Empty())


@pytest.mark.parametrize("shape", [[3], [None], None])
def test_equality_in_functions(shape: Any) -> None:
    spec = Top.Spec(tf.TensorSpec(shape, tf.float32), 2)

    @tf.function(input_signature=[spec, spec])
    def equal(a: Any, b: Any) -> Any:
        return a == b

    assert bool(equal(Top([1.0, 2.0, 3.0]), Top([1.0, 2.0, 3.0])))
    assert not bool(equal(Top([1.0, 2.0, 3.0]), Top([1.0, 2.0, 4.0])))
    if shape != [3]:
        assert not bool(equal(Top([1.0, 2.0, 3.0]), Top([1.0])))
    if shape is None:
        assert not bool(equal(Top([1.0, 2.0, 3.0]), Top([[1.0, 2.0, 3.0]])))


def test_representation() -> None:
    spec = "Top.Spec(x=TensorSpec(shape=(), dtype=tf.int32, name=None), n=2)"
    assert repr(Top(1)._type_spec) == spec
    assert repr(Top(1)) == "Top(x=<tf.Tensor: shape=(), dtype=int32, numpy=1>, n=2)"


def test_copies_and_pickles() -> None:
    value = Top([1.0, 2.0], 7)
    for made in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert bool(made == value)
    assert pickle.loads(pickle.dumps(value._type_spec)) == value._type_spec


def test_as_dict_wants_an_extension_type() -> None:
    with pytest.raises(TypeError, match="as_dict takes a tf.experimental.ExtensionType, got 3"):
        tf.experimental.extension_type.as_dict(3)  # type: ignore[arg-type]
