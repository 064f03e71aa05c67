"""Hostile arguments to datasets and to `tf.io`: a right answer or a clear error, nothing else.

As in test_bad_input: one valid call of each, every argument of it replaced by each hostile value.
What a dataset's method gives is consumed as well, a few elements of it.
"""

from __future__ import annotations

import inspect
import itertools
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from robustness.test_bad_input import ALLOWED, HOSTILE, SWEEP_ALL, limits

D = tf.data.Dataset
RANGE = D.range(7)
SPEC = tf.TensorSpec([], tf.int32)


def same(x: Any, *_: Any) -> Any:
    return x


def positive(x: Any, *_: Any) -> Any:
    return x > 0


METHODS: dict[str, dict[str, Any]] = {
    "range": {"args": (3,)},
    "counter": {},
    "from_tensors": {"tensors": [1, 2]},
    "from_tensor_slices": {"tensors": [1, 2]},
    "from_generator": {"generator": lambda *_: [1, 2], "output_signature": SPEC},
    "list_files": {"file_pattern": os.path.join(os.path.dirname(__file__), "*.py")},
    "random": {"seed": 1},
    "zip": {"datasets": (RANGE, RANGE)},
    "choose_from_datasets": {"datasets": [RANGE], "choice_dataset": D.range(1)},
    "sample_from_datasets": {"datasets": [RANGE, RANGE]},
    "load": {"path": "nothing"},
    "concatenate": {"dataset": RANGE},
    "enumerate": {},
    "take": {"count": 2},
    "skip": {"count": 2},
    "shard": {"num_shards": 2, "index": 0},
    "repeat": {"count": 2},
    "map": {"map_func": same},
    "filter": {"predicate": positive},
    "take_while": {"predicate": positive},
    "unique": {},
    "rejection_resample": {"class_func": lambda x: x % 2, "target_dist": [0.5, 0.5]},
    "scan": {"initial_state": np.int64(0), "scan_func": lambda s, x: (s, x)},
    "ignore_errors": {},
    "reduce": {"initial_state": np.int64(0), "reduce_func": same},
    "flat_map": {"map_func": lambda x: D.range(x)},
    "interleave": {"map_func": lambda x: D.range(x)},
    "window": {"size": 2},
    "group_by_window": {"key_func": same, "reduce_func": lambda k, d: d, "window_size": 2},
    "shuffle": {"buffer_size": 3},
    "batch": {"batch_size": 2},
    "unbatch": {},
    "rebatch": {"batch_size": 2},
    "padded_batch": {"batch_size": 2},
    "ragged_batch": {"batch_size": 2},
    "sparse_batch": {"batch_size": 2, "row_shape": []},
    "bucket_by_sequence_length": {
        "element_length_func": same, "bucket_boundaries": [3], "bucket_batch_sizes": [2, 2],
    },
    "cache": {},
    "prefetch": {"buffer_size": 2},
    "apply": {"transformation_func": same},
    "with_options": {"options": tf.data.Options()},
    "get_single_element": {},
    "cardinality": {},
    "as_numpy_iterator": {},
    "options": {},
}  # fmt: skip
WRITES = {"save", "snapshot"}  # to files; tested in tests/io

FILES: dict[str, dict[str, Any]] = {
    "decode_base64": {"input": "aGVsbG8"},
    "decode_compressed": {"bytes": b"abc"},
    "decode_csv": {"records": ["1,a"], "record_defaults": [[0], [""]]},
    "decode_json_example": {"json_examples": "{}"},
    "decode_raw": {"input_bytes": [b"ab"], "out_type": tf.uint8},
    "deserialize_many_sparse": {
        "serialized_sparse": tf.io.serialize_many_sparse(tf.sparse.from_dense([[1, 0]])).numpy(),
        "dtype": tf.int32,
    },
    "encode_base64": {"input": "hello"},
    "match_filenames_once": {"pattern": "*.nothing"},
    "matching_files": {"pattern": "*.nothing"},
    "parse_example": {
        "serialized": [b""], "features": {"a": tf.io.FixedLenFeature([], tf.int64, 1)},
    },
    "parse_sequence_example": {
        "serialized": [b""], "sequence_features": {"a": tf.io.VarLenFeature(tf.int64)},
        "context_features": {"b": tf.io.FixedLenFeature([], tf.int64, 1)},
    },
    "parse_single_sequence_example": {
        "serialized": b"", "sequence_features": {"a": tf.io.VarLenFeature(tf.int64)},
        "context_features": {"b": tf.io.FixedLenFeature([], tf.int64, 1)},
    },
    "parse_single_example": {
        "serialized": b"", "features": {"a": tf.io.FixedLenFeature([], tf.int64, 1)},
    },
    "decode_proto": {
        "bytes": [tf.train.Int64List(value=[1, 2]).SerializeToString()],
        "message_type": "tensorflow.Int64List", "field_names": ["value"],
        "output_types": [tf.int64],
    },
    "encode_proto": {
        "sizes": [[1]], "values": [tf.constant([[1, 2]], tf.int64)], "field_names": ["value"],
        "message_type": "tensorflow.Int64List",
    },
    "parse_tensor": {"serialized": tf.io.serialize_tensor(1).numpy(), "out_type": tf.int32},
    "read_file": {"filename": __file__},
    "serialize_many_sparse": {"sp_input": tf.sparse.from_dense([[1, 0]])},
    "serialize_sparse": {"sp_input": tf.sparse.from_dense([[1, 0]])},
    "serialize_tensor": {"tensor": [1, 2]},
    "write_file": {"filename": "written", "contents": "text"},
    "write_graph": {"graph_or_graph_def": tf.Graph(), "logdir": ".", "name": "g", "as_text": True},
}  # fmt: skip


def test_every_method_and_function_is_here() -> None:
    methods = {name for name in dir(D) if not name.startswith("_")} - {"element_spec"}
    assert methods - {"dataset_class"} == set(METHODS) | WRITES
    public = [n for n in dir(tf.io) if not n.startswith("_")]
    functions = {n: f for n in public if inspect.isfunction(f := getattr(tf.io, n))}
    written = {n: inspect.unwrap(f).__globals__["__name__"] for n, f in functions.items()}
    # Those that decode and encode are in test_bad_input.py.
    assert {n for n in functions if not written[n].startswith("weft._src.media")} == set(FILES)


def consumed(result: Any) -> None:
    if isinstance(result, D):
        for element in itertools.islice(result, 3):
            specs = tf.nest.flatten(result.element_spec)
            for leaf, spec in zip(tf.nest.flatten(element), specs, strict=True):
                assert spec.is_compatible_with(leaf)


def outcome(call: Callable[[], Any], words: set[str]) -> str | None:
    try:
        consumed(call())
    except ALLOWED as error:
        text = str(error).lower()
        if not any(word.lower() in text for word in words) and "cannot convert" not in text:
            return f"{type(error).__name__} names nothing: {error}"
    except Exception as error:  # noqa: BLE001 - that is the question
        return f"{type(error).__name__}: {error}"
    return None


def sweep(name: str, function: Any, valid: dict[str, Any]) -> list[str]:
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "name")]
    words = {
        name,
        name.rpartition("_")[2],
        "dataset",
        "csv",
        "tensor",
        "dtype",
        "does not fit",
        *parameters,
    }
    problems = []
    for parameter, (label, value) in itertools.product(parameters, HOSTILE.items()):
        key = zlib.crc32(f"{name} {parameter} {label}".encode())
        if label == "self-containing" or (not SWEEP_ALL and key % 2):
            continue
        arguments = {**valid, parameter: value}
        args = arguments.pop("args", ())
        if parameter == "args" and name != "from_generator":
            args = (value,)
        if name == "from_generator":
            arguments["args"] = args
            args = ()
        arguments.pop("kwargs", None)
        found = outcome(lambda: function(*args, **arguments), words)  # noqa: B023
        if found is not None:
            problems.append(f"{name}({parameter}=<{label}>): {found}")
    return problems


@pytest.mark.parametrize("name", sorted(METHODS))
def test_hostile_arguments_to_datasets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = RANGE.batch(2) if name in ("unbatch", "rebatch") else RANGE
    with limits():
        problems = sweep(name, getattr(base, name), METHODS[name])
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", sorted(FILES))
def test_hostile_arguments_to_io(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with limits():
        problems = sweep(name, getattr(tf.io, name), FILES[name])
    assert not problems, "\n".join(problems)
