"""The public namespace: explicit, documented, with examples, and helpful about what is missing."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft
import weft as tf
from weft import _src
from weft._src.public.tensorflow_names import INSTEAD, NAMES

NAMESPACES = {
    name.replace("weft", "tf", 1): importlib.import_module(name)
    for name in [
        "weft",
        *(
            module.name
            for module in pkgutil.walk_packages(tf.__path__, "weft.")
            if "._src" not in module.name
            and module.name not in ("weft.__main__", "weft.keras")  # Keras is not ours
        ),
    ]
}
# Names that are there when they are used.
RAW_OPS = NAMESPACES.pop("tf.raw_ops")


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


# What Weft has and TensorFlow does not, by namespace.
OWN: dict[str, str] = {
    "": "explain explain_gradient export install_as_tensorflow load no_retrace progress save "
    "testing tools",
    "config": "execution",
    "errors": "ArgumentError AssertionFailedError DTypeError FixedDTypeError "
    "InaccessibleTensorError LoopConversionError ParseError RetraceError ShapeError "
    "SignatureError UnsupportedError "
    "error_code_from_exception_type exception_type_from_error_code",
    "nest": "flatten_with_paths",
    "types.experimental": "DTypeLike ShapeLike",
}


# Classes of NumPy and Python under the names TensorFlow has for them.
# Dtypes of tf.experimental.numpy are NumPy's own classes.
FOREIGN = {
    f"tf.experimental.numpy.{name}"
    for name in tf.experimental.numpy.__all__
    if inspect.isclass(getattr(tf.experimental.numpy, name))
    and issubclass(getattr(tf.experimental.numpy, name), np.generic)
}
FOREIGN |= {f"tf.types.experimental.{kind}Like" for kind in ("DType", "Shape", "Tensor")}


# Classes that have another name inside; before Python 3.13 sources are looked for by name.
RENAMED = {f"tf.{kind}_initializer" for kind in ("constant", "ones", "zeros")}
RENAMED |= {f"tf.random_{kind}_initializer" for kind in ("normal", "uniform")} | {"tf.Operation"}


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
        for name in dir(module):
            value = getattr(module, name)
            if id(value) in seen or "." in getattr(value, "__qualname__", ""):
                continue  # seen, or a method under a second name
            if inspect.isfunction(value) or inspect.isclass(value):
                seen.add(id(value))
                yield f"{prefix}.{name}", value


def test_public_functions_are_documented_with_an_example() -> None:
    without = [
        name
        for name, value in public_functions()
        if inspect.isfunction(value)
        and ">>>" not in (value.__doc__ or "")
        and not name.startswith("tf.experimental.numpy.")  # NumPy's documentation holds
    ]
    assert without == []


def test_public_things_come_from_weft() -> None:
    foreign = [
        f"{name} is of {value.__module__}"
        for name, value in public_functions()
        if f"tf{value.__module__.removeprefix('weft')}" not in NAMESPACES and name not in FOREIGN
    ]
    assert foreign == []


def test_public_functions_of_ops_take_a_name() -> None:
    families = tuple(
        f"weft._src.ops.{name}" for name in ("elementwise", "arrays", "reduce", "linalg")
    )
    without = [
        name
        for name, value in public_functions()
        if inspect.isfunction(value)
        and value.__globals__["__name__"].startswith(families)
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


def test_names_that_will_not_come_say_what_there_is_instead() -> None:
    for path, text in INSTEAD.items():
        namespace, _, name = path.rpartition(".")
        assert name in NAMES[namespace].split(), path
        owner = lookup(namespace) if namespace else tf
        with pytest.raises(AttributeError, match=rf"does not have tf\.{path}\. {re.escape(text)}"):
            getattr(owner, name)


OF_KERAS = {"initializers", "keras", "losses", "metrics", "optimizers"}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_namespaces_list_public_names_only(namespace: str) -> None:
    module = NAMESPACES[namespace]
    listed = dir(module)
    # What is part of Keras is listed, but not imported by a star: it need not be installed.
    of_keras = OF_KERAS if module is tf else set()
    assert listed == sorted({*module.__all__, *of_keras})
    assert len(listed) == len(set(listed))
    hidden = {name for name in vars(module) if not name.startswith("_")} - set(listed)
    assert hidden == set(), "imported as a private name, or to be listed"
    assert [name for name in listed if not hasattr(module, name)] == []


@pytest.mark.parametrize("namespace", sorted(NAMES))
def test_names_are_those_of_tensorflow_or_said_to_be_our_own(namespace: str) -> None:
    module = NAMESPACES.get(f"tf.{namespace}" if namespace else "tf")
    if module is None:
        return
    own = set(dir(module)) - set(NAMES[namespace].split()) - {"__version__"}
    assert own == set(OWN.get(namespace, "").split())


def test_raw_ops_list_the_ops() -> None:
    """Also those of modules that are loaded later."""
    for module in pkgutil.walk_packages(_src.__path__, "weft._src."):
        importlib.import_module(module.name)
    assert dir(RAW_OPS) == sorted(RAW_OPS.__all__)
    assert {"AddV2", "MatMul", "Where"} <= set(dir(RAW_OPS))


def test_sources_are_found() -> None:
    for name, value in public_functions():
        if name in FOREIGN or (name in RENAMED and sys.version_info < (3, 13)):
            continue
        source = inspect.getsource(value)
        if inspect.isclass(value):
            assert source.startswith(("class ", "@")), name
        else:
            assert inspect.unwrap(value).__code__.co_name.strip("<>") in source, name


def test_signatures_of_classes_are_their_own() -> None:
    assert list(inspect.signature(tf.TensorSpec).parameters)[:2] == ["shape", "dtype"]
    assert next(iter(inspect.signature(tf.GradientTape).parameters)) == "persistent"

    class Sub(tf.Module):
        """A class of a user."""

        def __init__(self, units: int) -> None:
            super().__init__()

    assert list(inspect.signature(Sub).parameters) == ["units"]
    assert "A class of a user" in inspect.getsource(Sub)


def test_public_things_can_be_pickled_by_their_path() -> None:
    lost = []
    for name, value in public_functions():
        try:
            found = pickle.loads(pickle.dumps(value))
        except (pickle.PicklingError, AttributeError) as error:
            lost.append(f"{name}: {error}")
        else:
            assert found is value
    assert lost == []


def test_no_module_has_the_name_of_one_of_pythons() -> None:
    inside = pkgutil.walk_packages(weft._src.__path__, "weft._src.")
    shadows = [m.name for m in inside if m.name.rpartition(".")[2] in sys.stdlib_module_names]
    assert shadows == []


def test_a_star_import_gives_the_public_names() -> None:
    program = (
        "import builtins; from weft import *; "
        "builtins.print(function.__module__, data.Dataset.__module__, bool)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["weft", "weft.data", "<dtype:", "'bool'>"]
