"""Loads Keras bound to Weft: once in a process, when it is first asked for."""

from __future__ import annotations

import os
import pkgutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, metadata
from importlib.util import find_spec
from types import ModuleType

from weft._src.core.frames import hide
from weft._src.errors import UnsupportedError
from weft._src.keras.changes import CHANGES
from weft._src.keras.hook import BoundPackage

# Keras reads private names of TensorFlow, which may be others in its next version.
TESTED = "3.15"
_ANY_VERSION = "WEFT_KERAS_ANY_VERSION"

_lock = threading.RLock()


def keras() -> ModuleType:
    """The module `keras`, for which `tensorflow` is Weft."""
    with _lock:
        _check_version()
        bind_keras()
        with _backend():
            return import_module("keras")


def as_in_tensorflow() -> ModuleType:
    """Keras with the names that `tf.keras` has in TensorFlow: a few of Keras 2 are among them."""
    keras()
    found = import_module("keras._tf_keras.keras")
    for module in pkgutil.iter_modules(found.__path__):
        if not hasattr(found, module.name):  # `saving` is there, and Keras 3.15 forgets to say so
            import_module(f"{found.__name__}.{module.name}")
    return found


def bind_keras() -> None:
    """From now on `import keras` gives Keras bound to Weft; it must not have been imported yet."""
    with _lock:
        if any(isinstance(finder, BoundPackage) for finder in sys.meta_path):
            return
        if "keras" in sys.modules:
            raise _loaded_before()
        sys.meta_path.insert(0, BoundPackage("keras", CHANGES))
        _hide_frames()


def _check_version() -> None:
    try:
        found = metadata.version("keras")
    except metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            "tf.keras is Keras 3, which is not installed. Install it with: "
            "pip install 'weft[keras]'",
            name="keras",
        ) from None
    if found.rpartition(".")[0] != TESTED and not os.environ.get(_ANY_VERSION):
        raise UnsupportedError(
            f"Keras {found} is installed, and Weft was tested with Keras {TESTED}. Install that "
            f"one (pip install 'weft[keras]'), or set {_ANY_VERSION}=1 in the environment to try "
            f"Keras {found}."
        )


def _loaded_before() -> Exception:
    """Keras has looked at its backend when it was imported; that cannot be changed any more."""
    loaded = sys.modules["keras"]
    config = sys.modules.get("keras.src.backend.config")
    backend = config.backend() if config is not None else "unknown"
    version = getattr(loaded, "__version__", "")
    return UnsupportedError(
        f"tf.keras: Keras {version} was imported before, with the backend {backend!r}, and can be "
        "loaded once in a process. Import it from Weft first: `import weft.keras`, before anything "
        "that says `import keras`."
    )


@contextmanager
def _backend() -> Iterator[None]:
    """Keras takes its TensorFlow backend, whatever its own file of settings says."""
    chosen = os.environ.get("KERAS_BACKEND")
    if chosen not in (None, "", "tensorflow"):
        raise UnsupportedError(
            f"tf.keras runs on Weft through Keras' TensorFlow backend, but KERAS_BACKEND is "
            f"{chosen!r} in the environment. Unset it, or import keras itself for that backend."
        )
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        yield
    finally:
        if chosen is None:
            del os.environ["KERAS_BACKEND"]
        else:
            os.environ["KERAS_BACKEND"] = chosen


def _hide_frames() -> None:
    """What a user sees of an error is his own code, and the message of Keras."""
    found = find_spec("keras")
    for folder in found.submodule_search_locations or () if found is not None else ():
        hide(folder)
