"""Names that every doctest may use without importing them."""

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["tf"] = tf
    doctest_namespace["np"] = np
