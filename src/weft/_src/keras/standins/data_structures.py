"""`tensorflow.python.trackable.data_structures`: TensorFlow wraps lists that are attributes of
layers, and Keras registers the wrappers as nests. Weft leaves lists as they are, so nothing is
ever one of these.
"""

from __future__ import annotations

from typing import Any


class ListWrapper(list[Any]):
    """A list that TensorFlow would have wrapped."""


class _DictWrapper(dict[Any, Any]):
    """A dict that TensorFlow would have wrapped."""
