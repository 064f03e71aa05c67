"""Where the source comes from: files, cells, doctests, zipped modules; and where there is none."""

from __future__ import annotations

import argparse
import ast
import doctest
import inspect
import linecache
import logging
import sys
import textwrap
import types
import typing
import zipfile
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft._src.autograph.pyct import source

SOURCE = """
def f(x):
    if x > 0:
        return x * 2
    return -x
g = lambda x: x * 2 if x > 0 else -x
"""


def without_source(source: str = SOURCE) -> dict[str, Any]:
    namespace: dict[str, Any] = {"tf": tf, "__name__": "typed_in"}
    exec(compile(source, "<typed in>", "exec"), namespace)
    return namespace


def test_without_source_python_code_runs_and_one_line_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    h = without_source("def h(x, n):\n    if n > 0:\n        return x * 2\n    return x")["h"]
    traced = tf.function(h)
    with caplog.at_level(logging.WARNING, logger="weft"):
        assert traced(tf.constant(2), 1).numpy() == 4
        assert traced(tf.constant(2.5), 0).numpy() == 2.5
    assert len(caplog.records) == 1
    assert "could not convert h (its source is not available" in caplog.text


def test_a_tensor_as_a_bool_then_says_so() -> None:
    f = without_source()["f"]
    with pytest.raises(TypeError, match="(?s)could not convert f, because its source is not avail"):
        tf.function(f)(tf.constant(1))


def test_cells_of_notebooks() -> None:
    name = "<ipython-input-3-abcdef>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOURCE, name, "exec"), namespace)
    for function in (namespace["f"], namespace["g"]):
        assert [int(tf.function(function)(tf.constant(x))) for x in (3, -3)] == [6, 3]


def test_doctests() -> None:
    text = """
    >>> import weft as tf
    >>> @tf.function
    ... def f(x):
    ...     if x > 0:
    ...         return x * 2
    ...     return -x
    >>> [int(f(tf.constant(x))) for x in (3, -3)]
    [6, 3]
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "a_doctest", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_zipped_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("module_in_a_zip.py", SOURCE)
    monkeypatch.syspath_prepend(str(archive))
    import module_in_a_zip  # type: ignore[import-not-found]

    for function in (module_in_a_zip.f, module_in_a_zip.g):
        assert [int(tf.function(function)(tf.constant(x))) for x in (3, -3)] == [6, 3]
    del sys.modules["module_in_a_zip"]


def test_indented_and_decorated_definitions() -> None:
    class Outer:
        class Inner:
            @staticmethod
            @tf.function(
                reduce_retracing=True,
            )
            def f(
                x: Any,
                y: Any = 3,
            ) -> Any:
                text = """
        not indented
"""
                if x > y:
                    return x + len(text)
                return x

    assert int(Outer.Inner.f(tf.constant(1))) == 1
    assert int(Outer.Inner.f(tf.constant(5))) > 5


def test_two_functions_of_one_name_in_one_definition() -> None:
    def f(x: Any) -> Any:
        def f(x: Any) -> Any:
            return x * 2 if x > 0 else x

        return f(x) + 1

    assert [int(tf.function(f)(tf.constant(x))) for x in (3, -3)] == [7, -2]


def test_library_code_is_not_converted() -> None:
    module = types.ModuleType("json")
    namespace = {"__name__": "json"}
    name = "<json copy>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), name)
    exec(compile(SOURCE, name, "exec"), namespace)
    module.__dict__.update(namespace)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(module.f)(tf.constant(1))


BLOCKS = '''
def closed_below(x):
    return (x
)

def dead_code(x):
    return x
    y = 1

def only_a_docstring():
    """Nothing else."""

def generator_in_name_only():
    return
    yield

def commented(x):
    y = x
    # the last line is code
    return y
    # and this is none

class Methods:
    def method(self, x):
        def inner(y):
            return y + x
        return inner
    attribute = 3
'''


def test_the_lines_of_a_function_are_those_that_the_tokenizer_finds() -> None:
    name = "<blocks>"
    linecache.cache[name] = (len(BLOCKS), None, BLOCKS.splitlines(keepends=True), name)
    own: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(BLOCKS, name, "exec"), own)
    modules = [vars(m) for m in (argparse, ast, doctest, inspect, textwrap, typing, zipfile)]
    spaces = [own, vars(own["Methods"]), *modules, *map(vars, (ast.NodeVisitor, zipfile.ZipFile))]
    found = 0
    for function in [f for space in spaces for f in space.values() if inspect.isfunction(f)]:
        if function.__name__ == "<lambda>" or not linecache.getlines(function.__code__.co_filename):
            continue
        lines = source._lines_from(function)
        expected = source._parse(inspect.getblock(lines), function.__code__.co_firstlineno)
        made = source._tree(function.__code__, lines)
        attributes = {"include_attributes": True}
        assert ast.dump(made, **attributes) == ast.dump(expected, **attributes), function
        found += 1
    assert found > 200
