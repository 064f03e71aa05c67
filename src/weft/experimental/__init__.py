"""`tf.experimental`: what is not settled yet."""

from importlib import import_module as _import_module
from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.experimental import dlpack as dlpack
from weft.ops.ragged.shape import (
    DynamicRaggedShape as DynamicRaggedShape,
)

# Imported when it is used: most programs do not.
_LAZY = ("numpy",)


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        return _import_module(f"weft.experimental.{name}")
    raise _missing_name(__name__, name, (*globals(), *_LAZY))
