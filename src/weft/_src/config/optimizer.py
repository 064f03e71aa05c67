"""`tf.config.optimizer`: whether functions become machine code."""

from __future__ import annotations

from typing import Any

from weft._src.core.flags import flags


def set_jit(enabled: Any) -> None:
    """Says whether functions are compiled: at their first call (True), never (False), or when worth
    it.

    Without this call they run on NumPy first, and are compiled when that is worth it;
    "autoclustering" goes back to that.

    Args:
      enabled: True, False (or ""), or "autoclustering".

    Raises:
      ValueError: if it is something else.

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

    Returns:
      "autoclustering" also if functions are compiled only when that is worth it, as by default.

    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    """
    return "" if flags.execution == "numpy" else "autoclustering"
