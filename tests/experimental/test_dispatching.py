"""Dispatch of public functions to functions of users; compared with TensorFlow 2.21."""

import inspect
import threading
from collections.abc import Iterator
from typing import Any, List  # noqa: UP035 - what programs for TensorFlow say

import numpy as np
import pytest

import weft as tf
from weft._src.experimental import elementwise_apis

dispatch_for_api = tf.experimental.dispatch_for_api


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


MASKED = Masked([1.0, -2.0], [True, False])
PLAIN = tf.constant([3.0, 4.0])


@pytest.fixture
def register() -> Iterator[Any]:
    """Registers functions for the time of a test."""
    registered = []

    def add(decorator: Any, function: Any) -> Any:
        registered.append(decorator(function))
        return function

    yield add
    for function in registered:
        try:
            tf.experimental.unregister_dispatch_for(function)
        except ValueError:
            assert function.__name__ == "gone"


def plain(x: Any) -> Any:
    return x.values if isinstance(x, Masked) else x


def test_one_function(register: Any) -> None:
    def add(x: Any, y: Any, name: Any = None) -> Any:
        return "mine", plain(x) + plain(y), name

    register(dispatch_for_api(tf.add, {"x": Masked}, {"x": tf.Tensor, "y": Masked}), add)
    for args in ((MASKED, MASKED), (MASKED, PLAIN), (PLAIN, MASKED), (MASKED, 3.0)):
        assert tf.add(*args)[0] == "mine"
    assert tf.add(y=MASKED, x=MASKED, name="q")[2] == "q"
    assert tf.math.add(MASKED, MASKED)[0] == "mine"
    np.testing.assert_array_equal(tf.add(PLAIN, PLAIN), [6, 8])
    with pytest.raises(ValueError, match="dispatch_for_api"):
        tf.add(3.0, MASKED)


def test_the_public_function_stays_what_it_was(register: Any) -> None:
    from weft import exp  # imported before anything is registered

    before = exp.__code__, inspect.signature(exp), exp.__doc__, inspect.getsource(exp)
    one = register(dispatch_for_api(tf.exp, {"x": Masked}), lambda x: "mine")
    assert exp(MASKED) == "mine"
    assert exp is tf.exp
    assert inspect.signature(exp) == before[1]
    np.testing.assert_allclose(exp(x=PLAIN, name="n"), np.exp([3.0, 4.0]), rtol=1e-6)
    with pytest.raises(TypeError, match=r"exp\(\) missing 1 required positional argument: 'x'"):
        exp()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        exp(PLAIN, z=3)
    one.__name__ = "gone"
    tf.experimental.unregister_dispatch_for(one)
    assert (exp.__code__, inspect.signature(exp), exp.__doc__, inspect.getsource(exp)) == before
    assert exp.__kwdefaults__ is None


def test_functions_with_closures(register: Any) -> None:
    assert tf.map_fn.__code__.co_freevars
    mine = lambda fn, elems, **_: "mine"  # noqa: E731
    with pytest.raises(ValueError, match="must have the parameters of map_fn"):
        dispatch_for_api(tf.map_fn, {"elems": Masked})(mine)
    names = ", ".join(n for n in inspect.signature(tf.map_fn).parameters)
    scope: dict[str, Any] = {}
    defaults = ", ".join(f"{n}=None" if i > 1 else n for i, n in enumerate(names.split(", ")))
    exec(f"def mine({defaults}): return 'mine'", scope)
    register(dispatch_for_api(tf.map_fn, {"elems": Masked}), scope["mine"])
    assert tf.map_fn(lambda x: x, MASKED) == "mine"
    np.testing.assert_array_equal(tf.map_fn(lambda x: x * 2.0, PLAIN), [6, 8])


def test_in_functions_and_by_functions_of_weft(register: Any) -> None:
    def total(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
        return tf.reduce_sum(input_tensor.values * tf.cast(input_tensor.mask, tf.float32), axis)

    register(dispatch_for_api(tf.reduce_sum, {"input_tensor": Masked}), total)
    f = tf.function(lambda x: tf.reduce_sum(x, 0))
    assert float(f(MASKED)) == 1.0
    loop = tf.function(lambda x: tf.cond(x.mask[0], lambda: tf.reduce_sum(x), lambda: 0.0))
    assert float(loop(MASKED)) == 1.0
    with tf.GradientTape() as tape:
        tape.watch(MASKED)
        y = tf.reduce_sum(MASKED)
    np.testing.assert_array_equal(tape.gradient(y, MASKED).values, [1, 0])


def test_lists(register: Any) -> None:
    def concat(values: Any, axis: Any, name: Any = "concat") -> Any:
        return len(values), axis, name

    register(dispatch_for_api(tf.concat, {"values": List[Masked]}), concat)  # noqa: UP006
    assert tf.concat([MASKED, MASKED], 0) == (2, 0, "concat")
    assert tf.concat((MASKED,), axis=1)[:2] == (1, 1)
    with pytest.raises(ValueError, match="Cannot convert"):
        tf.concat([MASKED, PLAIN], 0)
    np.testing.assert_array_equal(tf.concat([PLAIN, PLAIN], 0), [3, 4, 3, 4])

    def stack(values: Any, axis: Any = 0, name: Any = "stack") -> Any:
        return len(values)

    register(dispatch_for_api(tf.stack, {0: list[Masked | tf.Tensor]}), stack)
    assert tf.stack([MASKED, PLAIN]) == 2
    assert tf.stack([PLAIN, PLAIN]).shape == [2, 2]


def test_annotations_are_signatures(register: Any) -> None:
    def mine(x: Masked, name: Any = None) -> str:
        return "mine"

    mine.__annotations__ = {"x": Masked}
    register(dispatch_for_api(tf.sin), mine)
    assert tf.sin(MASKED) == "mine"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: dispatch_for_api(len, {"x": Masked}), ValueError, "only public functions"),
        (lambda: dispatch_for_api(tf.sin, [Masked]), TypeError, "must be a dict"),
        (lambda: dispatch_for_api(tf.sin, {"x": Masked})(3), TypeError, "decorates a function"),
        (lambda: dispatch_for_api(tf.sin)(lambda x: x), ValueError, "pass a signature"),
        (lambda: dispatch_for_api(tf.sin, {"z": Masked})(lambda x: x), ValueError, "parameter 'z'"),
        (lambda: dispatch_for_api(tf.sin, {5: Masked})(lambda x: x), ValueError, "parameter 5"),
        (lambda: dispatch_for_api(tf.sin, {"x": 3})(lambda x: x), ValueError, "annotation 3"),
        (lambda: dispatch_for_api(tf.sin, {"x": Masked})(lambda v: v), ValueError, "parameters of"),
        (
            lambda: tf.experimental.unregister_dispatch_for(len),
            ValueError,
            "is not registered by any",
        ),
        (
            lambda: tf.experimental.dispatch_for_unary_elementwise_apis(3),
            ValueError,
            "does not understand the annotation 3",
        ),
        (
            lambda: tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(3),
            TypeError,
            "decorates a function",
        ),
    ],
)
def test_mistakes(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
    np.testing.assert_allclose(tf.sin(PLAIN), np.sin([3.0, 4.0]), rtol=1e-6)


def test_two_functions_for_one_call(register: Any) -> None:
    one = register(dispatch_for_api(tf.cos, {"x": Masked}), lambda x: 1)
    register(dispatch_for_api(tf.cos, {"x": Masked}), lambda x: 2)
    with pytest.raises(ValueError, match="fit 2 functions that were registered"):
        tf.cos(MASKED)
    one.__name__ = "gone"
    tf.experimental.unregister_dispatch_for(one)
    assert tf.cos(MASKED) == 2


def test_unary(register: Any) -> None:
    def each(api: Any, x: Masked) -> Masked:
        return Masked(api(x.values), x.mask)

    register(tf.experimental.dispatch_for_unary_elementwise_apis(Masked), each)
    np.testing.assert_array_equal(tf.abs(MASKED).values, [1, 2])
    assert tf.cast(MASKED, tf.float64).values.dtype is tf.float64
    np.testing.assert_array_equal(tf.clip_by_value(MASKED, 0.0, 0.5).values, [0.5, 0])
    np.testing.assert_allclose(tf.nn.leaky_relu(MASKED, alpha=0.5).values, [1, -1])
    np.testing.assert_array_equal(tf.nn.relu(features=MASKED).values, [1, 0])
    np.testing.assert_array_equal((-MASKED).values, [-1, 2])
    np.testing.assert_array_equal(abs(MASKED).values, [1, 2])
    np.testing.assert_array_equal(tf.abs(PLAIN), PLAIN)
    with pytest.raises(ValueError, match="is registered for Masked already"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api, x: x)


def test_binary_and_operators(register: Any) -> None:
    def both(api: Any, x: Any, y: Any) -> Masked:
        return Masked(api(plain(x), plain(y)), [True, True])

    kinds = (Masked, Masked | tf.Tensor)
    register(tf.experimental.dispatch_for_binary_elementwise_apis(*kinds), both)
    register(
        tf.experimental.dispatch_for_binary_elementwise_apis(tf.Tensor, Masked),
        lambda api, x, y: both(api, x, y),
    )
    np.testing.assert_array_equal(tf.maximum(MASKED, PLAIN).values, [3, 4])
    np.testing.assert_array_equal(tf.maximum(PLAIN, MASKED, name="n").values, [3, 4])
    np.testing.assert_array_equal((MASKED + PLAIN).values, [4, 2])
    np.testing.assert_array_equal((PLAIN + MASKED).values, [4, 2])
    np.testing.assert_array_equal((PLAIN - MASKED).values, [2, 6])
    np.testing.assert_array_equal((PLAIN / MASKED).values, [3, -2])
    np.testing.assert_array_equal((MASKED * MASKED).values, [1, 4])
    np.testing.assert_array_equal((MASKED**MASKED).values, [1, 0.25])
    np.testing.assert_array_equal((MASKED < PLAIN).values, [True, True])
    np.testing.assert_array_equal((PLAIN < MASKED).values, [False, False])
    assert bool(Masked([1.0, -2.0], [True, False]) == MASKED)  # equality is the type's own
    f = tf.function(lambda x, y: (x + y, y + x, x * x))
    for got, want in zip(f(MASKED, PLAIN), ([4, 2], [4, 2], [1, 4]), strict=True):
        np.testing.assert_array_equal(got.values, want)


def test_operators_that_nobody_registered() -> None:
    for call in (
        lambda: MASKED + MASKED,
        lambda: MASKED + PLAIN,
        lambda: PLAIN + MASKED,
        lambda: 1.0 + MASKED,
        lambda: MASKED < PLAIN,
        lambda: -MASKED,
        lambda: abs(MASKED),
        lambda: ~MASKED,
        lambda: MASKED @ MASKED,
    ):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_operators_of_the_class_itself() -> None:
    class Money(tf.experimental.ExtensionType):
        amount: tf.Tensor

        def __add__(self, other: Any) -> Any:
            return Money(self.amount + other)

        __radd__ = __add__

    assert float((Money(1.0) + 2.0).amount) == 3.0
    assert float((tf.constant(2.0) + Money(1.0)).amount) == 3.0


def test_assertions(register: Any) -> None:
    def compare(api: Any, x: Masked, y: Masked) -> Any:
        return api(x.values, y.values)

    decorator = tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    register(decorator, compare)
    tf.debugging.assert_equal(MASKED, MASKED)
    with pytest.raises(tf.errors.InvalidArgumentError, match="why"):
        tf.debugging.assert_less(MASKED, MASKED, message="why")


def test_ragged_tensors_and_composites_of_users(register: Any) -> None:
    register(dispatch_for_api(tf.tan, {"x": tf.RaggedTensor}), lambda x: "ragged")
    assert tf.tan(tf.ragged.constant([[1.0], []])) == "ragged"

    class Plain:
        pass

    register(dispatch_for_api(tf.tan, {"x": Plain}), lambda x: "plain")
    with pytest.raises(ValueError, match="Cannot convert"):
        tf.tan(Plain())


def test_every_elementwise_function_is_there_once() -> None:
    for table in ("UNARY", "BINARY", "BINARY_ASSERTIONS"):
        names = getattr(elementwise_apis, table)
        found = elementwise_apis.functions(names)
        assert len(found) == len(names.split())
        for function in found:
            count = 1 if table == "UNARY" else 2
            kinds = [p.kind for p in inspect.signature(function).parameters.values()][:count]
            assert kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * count


def test_registering_while_others_call(register: Any) -> None:
    stop, errors = threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            try:
                assert float(tf.square(tf.constant(3.0))) == 9.0
            except Exception as e:  # noqa: BLE001 - whatever it is, the test tells
                errors.append(e)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        handler = dispatch_for_api(tf.square, {"x": Masked})(lambda x: "mine")
        assert tf.square(MASKED) == "mine"
        tf.experimental.unregister_dispatch_for(handler)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
