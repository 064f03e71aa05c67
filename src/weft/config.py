"""Settings of the whole program; public as `tf.config`."""

from __future__ import annotations

import os


class _Flags:
    """Read on every call of a traced function, so plain attributes of one object."""

    __slots__ = ("deterministic", "run_functions_eagerly", "threads")

    def __init__(self) -> None:
        self.run_functions_eagerly = False
        self.deterministic = False
        self.threads = 0  # that share large loops; 0: as many as there are processors


flags = _Flags()

# Which tier runs functions: "auto" (NumPy first, machine code when it is worth it), "numpy",
# "native" (compiled at the first call), or "verify" (every call also runs natively and on the
# reference interpreter, and their difference is an error). Set it as
# `weft.config.execution = "numpy"`.
execution = os.environ.get("WEFT_EXECUTION", "auto")


def execution_wanted() -> str:
    """The tier that is set, checked."""
    if execution not in ("auto", "numpy", "native", "verify"):
        raise ValueError(
            "weft.config.execution must be 'auto', 'numpy', 'native' or 'verify', got "
            f"{execution!r}."
        )
    return execution


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes calls of a `tf.function` run its Python body itself, for debugging.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    flags.run_functions_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run their Python body itself.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return flags.run_functions_eagerly
