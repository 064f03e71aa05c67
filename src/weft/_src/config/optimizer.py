"""`tf.config.optimizer`: whether functions become machine code."""

from __future__ import annotations

from typing import Any

from weft._src.core.flags import flags


def set_jit(enabled: Any) -> None:
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
    flags.execution = tiers[enabled]


def get_jit() -> str:
    """Says "autoclustering" if functions are compiled, else "".

    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    """
    return "" if flags.execution == "numpy" else "autoclustering"
