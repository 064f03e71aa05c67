"""What pytest needs to run Keras' own tests on Weft: Keras bound to it, and what may fail."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from weft import keras

KNOWN = Path(__file__).parent / "keras_known_failures.txt"
MARKERS = (
    "large",
    "requires_trainable_backend",
    "requires_tpu",
    "skip_multi_device",
    "multi_device",
)


def _skip_if_backend(name: str, reason: str) -> Any:
    return pytest.mark.skipif(keras.backend.backend() == name, reason=reason)


# Keras' tests have a conftest.py that is not in its package.
conftest = ModuleType("conftest")
vars(conftest)["skip_if_backend"] = _skip_if_backend
sys.modules["conftest"] = conftest


class _Missing(ModuleType):
    """A package that some tests of a file need: these are skipped, and the others run.

    Both are other libraries' backends and loaders, which Weft has no extra for: their tests are
    no tests of Weft.
    """

    # SciPy asks whether its arrays are of this class, as soon as there is a torch.
    Tensor = type("Tensor", (), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"needs {self.__name__}")


for _names in (("grain",), ("torch", "torch.nn", "torch.nn.functional")):
    if find_spec(_names[0]) is None:
        sys.modules.update({name: _Missing(name) for name in _names})


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", f"{marker}: of Keras")


def known_failures() -> dict[str, str]:
    """The reason by test; a line is `path::Class::test  reason`, and `#` begins a comment."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    found = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return dict(found)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = known_failures()
    for item in items:
        name = item.nodeid.rpartition("keras/src/")[2]
        if name in known:
            item.add_marker(pytest.mark.xfail(reason=known[name], strict=True))
        if item.get_closest_marker("requires_tpu") or item.get_closest_marker("multi_device"):
            item.add_marker(pytest.mark.skip(reason="needs other devices"))
