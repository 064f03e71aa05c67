"""The examples in docstrings print what they say.

Not pytest's own doctests: these look for classes by their `__module__`, which is the public path
and not the module that is searched.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft import _src

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Finder(doctest.DocTestFinder):
    """Finds what is written in a module, whatever its `__module__` says."""

    def _from_module(self, module: ModuleType, object: Any) -> bool:
        if isinstance(object, FunctionType):
            return object.__globals__["__name__"] == module.__name__
        if inspect.isclass(object):
            return inspect.unwrap(object).__module__ == module.__name__
        return super()._from_module(module, object)  # type: ignore[misc]


def examples() -> dict[str, doctest.DocTest]:
    found = {}
    names = [module.name for module in pkgutil.walk_packages(_src.__path__, "weft._src.")]
    for name in names:
        module = importlib.import_module(name)
        for test in Finder().find(module, extraglobs={"tf": tf, "np": np}):
            if test.examples:
                found[test.name.removeprefix("weft._src.")] = test
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    runner.run(EXAMPLES[name], out=said.append)
    assert runner.failures == 0, "".join(said)


def test_examples_of_functions_classes_and_methods_are_found() -> None:
    assert len(EXAMPLES) > 900
    assert "ops.reduce.sums.reduce_sum" in EXAMPLES
    assert "autodiff.tape.GradientTape" in EXAMPLES
    assert "data.transforms.batching.BatchingMethods.batch" in EXAMPLES
