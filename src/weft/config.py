"""Settings of the whole program; public as `tf.config`."""

from __future__ import annotations


class _Flags:
    """Read on every call of a traced function, so plain attributes of one object."""

    __slots__ = ("run_functions_eagerly",)

    def __init__(self) -> None:
        self.run_functions_eagerly = False


flags = _Flags()


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
