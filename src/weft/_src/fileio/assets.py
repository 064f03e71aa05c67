"""Files that belong to a model."""

from __future__ import annotations

import os
from typing import Any

from weft._src.core.context import init_scope
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import string
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.fileio.paths import path_text
from weft._src.state.tracking import Trackable


class Asset(Trackable):
    """A file that `tf.saved_model.save` copies into the model.

    Functions use `asset_path`; in a loaded model it is the path of the copy.

    Args:
      path: the file.

    Raises:
      TypeError: if the path is no text.

    >>> asset = tf.saved_model.Asset("words.txt")
    >>> asset.asset_path.numpy()
    b'words.txt'
    """

    def __init__(self, path: Any) -> None:
        self._path = path_text("tf.saved_model.Asset", path)
        with init_scope():
            made = convert_to_tensor(os.fsencode(self._path), string)
        assert isinstance(made, EagerTensor)
        self._asset_path = made

    @property
    def asset_path(self) -> Tensor:
        """The path, a string tensor."""
        return self._asset_path

    def __repr__(self) -> str:
        return f"<Asset {self._path!r}>"
