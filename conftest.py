"""Names that every doctest may use without importing them; no test touches the user's cache."""

import os

import numpy as np
import pytest

os.environ["WEFT_CACHE_DIR"] = ""  # compiled code is not kept, unless a test says where

import weft as tf


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["tf"] = tf
    doctest_namespace["np"] = np
