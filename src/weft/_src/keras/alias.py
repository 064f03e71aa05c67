"""`weft.install_as_tensorflow()`: programs and libraries that say `import tensorflow` get Weft."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import weft
from weft._src.errors import UnsupportedError
from weft._src.keras.binding import bind_keras
from weft._src.keras.facade import Facade, module_of, tensorflow

_KERAS = "tf_keras"
# Names that modules of TensorFlow Probability use while they are imported.
_OF_KERAS_2: dict[str, dict[str, Any]] = {
    f"{_KERAS}.__internal__": {
        "utils": SimpleNamespace(register_symbolic_tensor_type=lambda cls: None)
    }
}


class _Keras(Facade):
    """`tf_keras`, which TensorFlow Probability imports: the Keras there is.

    It is imported when something of it is used; private parts of Keras 2 are empty.
    """

    __all__ = (
        "Model", "Sequential", "activations", "backend", "constraints", "initializers", "layers",
        "losses", "metrics", "models", "optimizers", "regularizers", "utils",
    )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name not in self.__all__:
            return super().__getattr__(name)
        return getattr(weft.keras, name)


class _Aliases(MetaPathFinder, Loader):
    """Finds `tensorflow.data.experimental` and so on among the public names of Weft."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module below `tensorflow`; None if there is nothing of that name."""
        if fullname.partition(".")[0] == _KERAS:
            return ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith("tensorflow."):
            return None
        try:
            found = module_of(fullname)
        except ModuleNotFoundError:
            return None
        is_module = isinstance(found, ModuleType)
        return ModuleSpec(fullname, self, is_package=True) if is_module else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module of its own, since Python writes into what it has found."""
        if spec.name.partition(".")[0] == _KERAS:
            kind = _Keras if spec.name == _KERAS else Facade
            return kind(spec.name, None, _OF_KERAS_2.get(spec.name))
        found = module_of(spec.name)
        return found if isinstance(found, Facade) else Facade(spec.name, found)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install_as_tensorflow() -> None:
    """From now on `import tensorflow` gives Weft, in this process.

    For programs and libraries that cannot say `import weft as tf`. `tensorflow.__version__` is the
    version of TensorFlow whose interface Weft has; `import keras` gives Keras bound to Weft.
    Calling it again changes nothing. (The example changes the process for good, so that it is
    tried in one of its own, and not with the others.)

    Raises:
      UnsupportedError: if TensorFlow itself, or Keras for another backend, was imported before.

    >>> tf.install_as_tensorflow()  # doctest: +SKIP
    >>> import tensorflow  # doctest: +SKIP
    >>> tensorflow.constant(1.0) + 1.0  # doctest: +SKIP
    <tf.Tensor: shape=(), dtype=float32, numpy=2.0>
    """
    found = sys.modules.get("tensorflow")
    if found is tensorflow():
        return
    if found is not None:
        raise UnsupportedError(
            "weft.install_as_tensorflow: TensorFlow itself was imported before "
            f"({getattr(found, '__file__', found)}). Call it before anything imports tensorflow."
        )
    bind_keras()
    sys.modules["tensorflow"] = tensorflow()
    sys.meta_path.insert(0, _Aliases())
