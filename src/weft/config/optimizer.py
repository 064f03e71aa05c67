"""`tf.config.optimizer`: whether functions become machine code."""

from __future__ import annotations

import sys
from typing import Any as _Any

from weft.errors import _missing_name


def set_jit(enabled: _Any) -> None:
    """True: functions are compiled at their first call. False: they are never compiled.

    Without this call they run on NumPy first, and are compiled when that is worth it.

    >>> tf.config.optimizer.set_jit("autoclustering")
    """
    if enabled not in (True, False, "autoclustering", ""):
        raise ValueError(
            f"tf.config.optimizer.set_jit: enabled must be True, False or 'autoclustering', got "
            f"{enabled!r}."
        )
    tiers = {True: "native", False: "numpy", "": "numpy", "autoclustering": "auto"}
    _config().execution = tiers[enabled]


def get_jit() -> str:
    """Says "autoclustering" if functions are compiled, else "".

    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    """
    return "" if _config().execution == "numpy" else "autoclustering"


def _config() -> _Any:
    # The package this module belongs to; users set `execution` on it.
    return sys.modules["weft.config"]


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
