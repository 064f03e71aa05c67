"""What `tf.explain` says of why a function is on a tier."""

from __future__ import annotations

import os


def off_by_setting(tier: str) -> str:
    """That a setting decides, which one, and how to change it."""
    variable = os.environ.get("WEFT_EXECUTION")
    where = (
        f"WEFT_EXECUTION={tier} in the environment"
        if variable == tier
        else f"weft.config.execution was {tier!r} at the first call"
    )
    return f"off: {where}. Set weft.config.execution = 'auto' before the function is traced"


def slower(native: float, numpy: float) -> str:
    """Why machine code that is there is not used."""
    than = (
        f"slower than NumPy by {native / max(numpy, 1e-9):.2f}x"
        if native > numpy
        else "NumPy is as fast"
    )
    return f"{than}: {numpy * 1e6:.1f} us with NumPy against {native * 1e6:.1f} us"
