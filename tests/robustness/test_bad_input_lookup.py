"""Hostile arguments to `tf.lookup`: a right answer or a clear error."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from robustness.test_bad_input import limits
from robustness.test_bad_input_data import sweep

INIT = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))

CLASSES: dict[str, dict[str, Any]] = {
    "DenseHashTable": {
        "key_dtype": tf.int64, "value_dtype": tf.int64, "default_value": 0, "empty_key": -1,
        "deleted_key": -2,
    },
    "KeyValueTensorInitializer": {"keys": ["a"], "values": [1]},
    "MutableHashTable": {"key_dtype": tf.string, "value_dtype": tf.int64, "default_value": 0},
    "StaticHashTable": {"initializer": INIT, "default_value": -1},
    "StaticVocabularyTable": {"initializer": INIT, "num_oov_buckets": 3},
    "TextFileIndex": {},
    "TextFileInitializer": {
        "filename": "words", "key_dtype": tf.string, "key_index": -2, "value_dtype": tf.int64,
        "value_index": -1,
    },
}  # fmt: skip
METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "DenseHashTable": {
        "erase": {"keys": [1]}, "export": {}, "insert": {"keys": [1], "values": [2]},
        "insert_or_assign": {"keys": [1], "values": [2]}, "lookup": {"keys": [1]},
        "remove": {"keys": [1]}, "size": {},
    },
    "MutableHashTable": {
        "export": {}, "insert": {"keys": ["a"], "values": [2]},
        "lookup": {"keys": ["a"], "dynamic_default_values": 7}, "remove": {"keys": ["a"]},
        "size": {},
    },
    "StaticHashTable": {"export": {}, "lookup": {"keys": ["a"]}, "size": {}},
    "StaticVocabularyTable": {"lookup": {"keys": ["a"]}, "size": {}},
}  # fmt: skip


def named(name: str) -> Any:
    return getattr(tf.lookup, name, None) or getattr(tf.lookup.experimental, name)


def test_every_class_and_method_is_here() -> None:
    public = {*dir(tf.lookup), *dir(tf.lookup.experimental)} - {"experimental"}
    assert public == set(CLASSES)
    for name, methods in METHODS.items():
        found = [n for n, m in inspect.getmembers(named(name), callable) if not n.startswith("_")]
        assert sorted(found) == sorted(methods)


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"TextFileIndex"}))
def test_hostile_arguments_to_classes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words").write_text("a\nb\n")

    def made(*args: Any, **kwargs: Any) -> Any:
        thing = named(name)(*args, **kwargs)
        if name.endswith("Initializer"):
            return tf.lookup.StaticHashTable(thing, 0 if thing.value_dtype.is_integer else "")
        return thing

    made.__signature__ = inspect.signature(named(name))  # type: ignore[attr-defined]
    with limits():
        problems = sweep(name, made, CLASSES[name])
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_hostile_arguments_to_methods(name: str) -> None:
    for method, arguments in METHODS[name].items():
        table = named(name)(**CLASSES[name])
        with limits():
            problems = sweep(f"{name}.{method}", getattr(table, method), arguments)
        assert not problems, "\n".join(problems)
