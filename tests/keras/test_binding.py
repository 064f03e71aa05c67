"""Keras is the real one, bound to Weft, and nothing else in the process notices."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def run(program: str, **environment: str) -> tuple[str, str]:
    """What a program prints, and the last line of its errors."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    errors = done.stderr.strip().splitlines()
    return done.stdout, errors[-1] if errors else ""


def test_nothing_is_called_tensorflow() -> None:
    out, _ = run(
        """
        import sys
        import weft as tf
        assert not any(name.split(".")[0] == "keras" for name in sys.modules)
        model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        print(model(tf.ones([1, 3])).shape)
        print([name for name in sys.modules if name.split(".")[0] == "tensorflow"])
        print(tf.keras.version(), tf.keras.config.backend())
        """
    )
    assert out == "(1, 2)\n[]\n3.15.1 tensorflow\n"


def test_modules_below_it_are_imported_by_name() -> None:
    out, errors = run(
        """
        import weft.keras.layers as layers
        from weft.keras import Model, ops
        from weft.keras.layers import Dense
        import keras
        print(Dense is keras.layers.Dense, layers.Dense is Dense, Model is keras.Model)
        """
    )
    assert (out, errors) == ("True True True\n", "")


def test_a_tensorflow_of_somebody_else_is_left_alone() -> None:
    out, _ = run(
        """
        import sys, types
        other = sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        import weft as tf
        tf.keras.layers.Dense(2)(tf.ones([1, 3]))
        import tensorflow
        print(tensorflow is other, dir(other) == dir(types.ModuleType("tensorflow")))
        """
    )
    assert out == "True True\n"


def test_keras_for_another_backend_is_refused() -> None:
    _, error = run("import keras, weft.keras", KERAS_BACKEND="numpy")
    assert error == (
        "weft.errors.UnsupportedError: tf.keras: Keras 3.15.1 was imported before, with the "
        "backend 'numpy', and can be loaded once in a process. Import it from Weft first: `import "
        "weft.keras`, before anything that says `import keras`."
    )


def test_another_backend_in_the_environment_is_refused() -> None:
    _, error = run("import weft.keras", KERAS_BACKEND="jax")
    assert error == (
        "weft.errors.UnsupportedError: tf.keras runs on Weft through Keras' TensorFlow backend, "
        "but KERAS_BACKEND is 'jax' in the environment. Unset it, or import keras itself for that "
        "backend."
    )


def test_keras_is_missing() -> None:
    _, error = run(
        """
        from importlib import metadata
        def version(name):
            raise metadata.PackageNotFoundError(name)
        metadata.version = version
        import weft as tf
        tf.keras
        """
    )
    assert error == (
        "ModuleNotFoundError: tf.keras is Keras 3, which is not installed. Install it with: pip "
        "install 'weft[keras]'"
    )


def test_an_untested_version_is_refused_and_can_be_tried() -> None:
    program = """
        from importlib import metadata
        metadata.version = lambda name: "3.99.0"
        import weft as tf
        print(tf.keras.layers.Dense.__name__)
        """
    _, error = run(program)
    assert error == (
        "weft.errors.UnsupportedError: Keras 3.99.0 is installed, and Weft was tested with Keras "
        "3.15. Install that one (pip install 'weft[keras]'), or set WEFT_KERAS_ANY_VERSION=1 in "
        "the environment to try Keras 3.99.0."
    )
    out, error = run(program, WEFT_KERAS_ANY_VERSION="1")
    assert (out, error) == ("Dense\n", "")


def test_programs_that_say_tensorflow() -> None:
    out, errors = run(
        """
        import weft
        weft.install_as_tensorflow()
        weft.install_as_tensorflow()
        import tensorflow as tf
        import tensorflow.data.experimental
        from tensorflow.keras.layers import Dense
        from tensorflow.python.eager import context
        import keras
        print(tf.__version__, weft.__version__ != tf.__version__, Dense is keras.layers.Dense)
        print(tf.data.Dataset is weft.data.Dataset, tf.Tensor is weft.Tensor)
        try:
            import tensorflow.nothing_like_that
        except ModuleNotFoundError as error:
            print(error)
        """
    )
    assert out == "2.21.0 True True\nTrue True\nNo module named 'tensorflow.nothing_like_that'\n"
    assert errors == ""


def test_a_loaded_tensorflow_is_not_replaced() -> None:
    _, error = run(
        """
        import sys, types
        sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        import weft
        weft.install_as_tensorflow()
        """
    )
    assert error.startswith(
        "weft.errors.UnsupportedError: weft.install_as_tensorflow: TensorFlow itself was imported "
        "before (<module 'tensorflow'>)"
    )


@pytest.mark.parametrize("name", ["python.nothing", "__internal__.nothing"])
def test_private_names_that_are_not_there(name: str) -> None:
    _, error = run(
        f"""
        import weft
        weft.install_as_tensorflow()
        import tensorflow as tf
        tf.{name}
        """
    )
    assert error.startswith("AttributeError")
    assert "nothing" in error
