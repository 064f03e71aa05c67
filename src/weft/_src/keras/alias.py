"""`weft.install_as_tensorflow()`: programs and libraries that say `import tensorflow` get Weft."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from weft._src.errors import UnsupportedError
from weft._src.keras.binding import bind_keras
from weft._src.keras.facade import Facade, module_of, tensorflow


class _Aliases(MetaPathFinder, Loader):
    """Finds `tensorflow.data.experimental` and so on among the public names of Weft."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module below `tensorflow`; None if there is nothing of that name."""
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
