"""The public namespace: explicit, documented, with examples, and helpful about what is missing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import weft as tf

NAMESPACES = {
    "tf": tf,
    "tf.math": tf.math,
    "tf.linalg": tf.linalg,
    "tf.nn": tf.nn,
    "tf.random": tf.random,
    "tf.strings": tf.strings,
    "tf.bitwise": tf.bitwise,
    "tf.debugging": tf.debugging,
    "tf.ragged": tf.ragged,
    "tf.sets": tf.sets,
    "tf.signal": tf.signal,
    "tf.sparse": tf.sparse,
    "tf.test": tf.test,
    "tf.data": tf.data,
    "tf.data.experimental": tf.data.experimental,
    "tf.io": tf.io,
    "tf.io.gfile": tf.io.gfile,
    "tf.summary": tf.summary,
    "tf.summary.experimental": tf.summary.experimental,
    "tf.train": tf.train,
}

# The core set: what a program may rely on from the first release.
CORE = """
abs acos acosh add argmax argmin argsort as_dtype as_string asin asinh atan atanh boolean_mask
broadcast_to case cast clip_by_value complex concat cond constant convert_to_tensor cos cosh cumsum
divide einsum ensure_shape equal exp expand_dims eye fill floor gather gather_nd greater
greater_equal identity is_tensor less less_equal linspace logical_and logical_not logical_or matmul
maximum minimum multiply negative norm not_equal numpy_function one_hot ones ones_like pad pow print
py_function range rank reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min
reduce_prod reduce_sum reshape reverse round scatter_nd shape sigmoid sign sin sinh size slice sort
split sqrt square squeeze stack stop_gradient strided_slice subtract switch_case tan tanh
tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
tensor_scatter_nd_update tensordot tile transpose truediv unstack where while_loop zeros zeros_like
Assert DType GradientTape Graph Operation Tensor TensorArray TensorShape TensorSpec TypeSpec
Variable function init_scope
math.ceil math.floordiv math.floormod math.log math.log1p math.expm1 math.is_nan math.rsqrt
math.top_k math.erf math.softplus math.reduce_std math.reduce_variance
linalg.band_part linalg.cholesky linalg.diag linalg.diag_part linalg.inv linalg.matmul linalg.norm
linalg.solve linalg.trace
nn.relu nn.softmax nn.log_softmax nn.softmax_cross_entropy_with_logits nn.dropout nn.conv2d
nn.sparse_softmax_cross_entropy_with_logits nn.sigmoid_cross_entropy_with_logits nn.max_pool2d
nn.avg_pool2d nn.moments nn.batch_normalization nn.embedding_lookup nn.top_k nn.bias_add
random.normal random.uniform random.set_seed random.shuffle random.categorical random.Generator
random.stateless_normal random.stateless_uniform
strings.join strings.length strings.as_string strings.substr
""".split()


def lookup(path: str) -> Any:
    value: Any = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("path", CORE)
def test_core_names_exist(path: str) -> None:
    assert lookup(path) is not None


def public_functions() -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for prefix, module in NAMESPACES.items():
        for name, value in vars(module).items():
            if name.startswith("_") or isinstance(value, ModuleType) or id(value) in seen:
                continue
            if inspect.isfunction(value) or inspect.isclass(value):
                seen.add(id(value))
                yield f"{prefix}.{name}", value


def test_public_functions_are_documented_with_an_example() -> None:
    without = [
        name
        for name, value in public_functions()
        if inspect.isfunction(value) and ">>>" not in (value.__doc__ or "")
    ]
    assert without == []


def test_public_things_come_from_weft() -> None:
    foreign = [
        name for name, value in public_functions() if not value.__module__.startswith("weft")
    ]
    assert foreign == []


def test_public_functions_of_ops_take_a_name() -> None:
    families = ("weft.ops.math", "weft.ops.array", "weft.ops.reduce", "weft.ops.linalg")
    without = [
        name
        for name, value in public_functions()
        if inspect.isfunction(value)
        and value.__module__.startswith(families)
        and "name" not in inspect.signature(value).parameters
    ]
    assert set(without) <= {"tf.broadcast_static_shape", "tf.broadcast_dynamic_shape"}


def test_missing_names_say_so() -> None:
    with pytest.raises(AttributeError, match=r"does not have tf\.reduce_summ .*'reduce_sum'"):
        _ = tf.reduce_summ
    with pytest.raises(AttributeError, match=r"tf\.nn\.rellu .*'relu'"):
        _ = tf.nn.rellu
    assert not hasattr(tf, "no_such_thing_at_all")


def test_names_of_tensorflow_1_say_what_there_is_instead() -> None:
    with pytest.raises(AttributeError, match=r"tf\.Session\. There are no sessions"):
        _ = tf.Session
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.to_float\. Use tf\.cast"):
        _ = tf.compat.v1.to_float
    with pytest.raises(AttributeError, match=r"tf\.log, but it has tf\.math\.log\."):
        _ = tf.log
    with pytest.raises(AttributeError, match=r"v1\.reduce_sum, but it has tf\.reduce_sum\."):
        _ = tf.compat.v1.reduce_sum
