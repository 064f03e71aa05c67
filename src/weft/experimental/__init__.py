"""`tf.experimental`: what is not settled yet."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.data.core.optional import Optional
from weft._src.ops.ragged.partition import RowPartition
from weft._src.ops.ragged.shape import DynamicRaggedShape
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.experimental import dlpack

if _TYPE_CHECKING:
    from weft.experimental import numpy as numpy


__all__ = ["DynamicRaggedShape", "Optional", "RowPartition", "dlpack", "numpy"]

# Imported when it is used: most programs do not.
_LAZY = {"numpy": "weft.experimental.numpy"}

_open_namespace(__name__, lazy=_LAZY)
