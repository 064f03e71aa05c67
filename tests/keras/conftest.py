"""Keras is loaded once; its names and seeds are fresh for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft import keras


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    keras.utils.set_random_seed(7)
    yield
    keras.backend.clear_session()
