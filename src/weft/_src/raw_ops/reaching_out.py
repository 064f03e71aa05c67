"""Which raw ops a loaded model may not run: those that reach out of it, or are missing."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

import weft as tf
from weft._src.errors import UnsupportedError

# The old form of branches and loops: nodes that pass tensors on or not.
_OF_TENSORFLOW_1 = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"})
# What reaches out of the model: files, other programs, Python.
_OUTSIDE = frozenset(
    {
        *("ReadFile", "WriteFile", "MatchingFiles", "ReaderReadV2", "WholeFileReaderV2"),
        *("TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset", "TextLineDatasetV2"),
        *("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "CSVDataset", "CSVDatasetV2"),
        *("SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "MergeV2Checkpoints"),
        *("PyFunc", "PyFuncStateless", "EagerPyFunc", "PrintV2", "Print"),
        *("SaveDataset", "SaveDatasetV2", "LoadDataset", "SnapshotDataset", "SnapshotDatasetV2"),
        *("WriteSummary", "WriteScalarSummary", "CreateSummaryFileWriter", "LogSummary"),
        *("InitializeTableFromTextFileV2", "InitializeTableFromTextFile"),
    }
)
_TABLES_OF_FILES = frozenset({"InitializeTableFromTextFileV2", "InitializeTableFromTextFile"})
_PRINTS = frozenset({"PrintV2", "Print"})


_CACHES = frozenset({"CacheDataset", "CacheDatasetV2"})
# What may read its weights from a file.
_VOCABULARIES = frozenset({"FixedUnigramCandidateSampler"})


def own_file(model: str, path: str) -> str | None:
    """The real path of a file, if it lies in the folder `assets` of a model, and that in it.

    Links are followed first: one that leads out of the model, or is its folder of assets, makes no
    file the model's own.
    """
    folder = os.path.join(os.path.realpath(model), "assets")
    found = os.path.realpath(path)
    if os.path.realpath(folder) != folder or found == folder:
        return None
    return found if os.path.commonpath([folder, found]) == folder else None


def check_files(op: str, arguments: dict[str, Any], model: str) -> None:
    """A table is filled from files of the model only; other ops read and write no files."""
    stream = arguments.get("output_stream", "") if op in _PRINTS else ""
    if str(stream).startswith("file:"):
        raise UnsupportedError(f"A model wants to print into {stream}; allow_io=True lets it.")
    if op in _VOCABULARIES and arguments.get("vocab_file"):
        raise UnsupportedError(
            f"A model wants to read {arguments['vocab_file']!r}; allow_io=True lets it."
        )
    if op not in _TABLES_OF_FILES | _CACHES:
        return
    name = tf.get_static_value(arguments["filename"])
    path = "" if name is None else os.fsdecode(bytes(np.ravel(name)[0]))
    if op in _CACHES:
        if name is None or path:
            raise UnsupportedError(
                f"A model wants to keep a dataset in {path or 'a file that is not known'!r}; "
                "allow_io=True lets it."
            )
    elif not path or own_file(model, path) is None:
        raise UnsupportedError(
            f"A table of a model is to be filled from {path or 'a file that is not known'!r}, "
            "which is not among the assets of the model; allow_io=True lets it."
        )


@functools.cache
def problem_of(op: str, allow_io: bool) -> str | None:
    """Why an op cannot run; None if it can."""
    if op in _OF_TENSORFLOW_1:
        return (
            "branches and loops of TensorFlow 1; save the model again with TensorFlow 2, with "
            "tf.compat.v1.enable_control_flow_v2()"
        )
    if op in _OUTSIDE and not allow_io and op not in _TABLES_OF_FILES | _PRINTS:
        return "it reaches out of the model (files, Python); allow_io=True lets it"
    if not hasattr(tf.raw_ops, op):
        return "Weft does not have it"
    return None
