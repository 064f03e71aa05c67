"""Which tier runs functions, or whether they run as plain Python."""

from __future__ import annotations

from types import ModuleType

from weft._src.core.flags import flags


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes calls of a `tf.function` run its Python body itself, for debugging.

    Args:
      run_eagerly: whether that is to be so from now on, for all functions.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    flags.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly() -> bool:
    """Whether functions run their Python body itself.

    Returns:
      What `run_functions_eagerly` has set; False at first.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return flags.run_functions_eagerly


class ConfigModule(ModuleType):
    """The module `weft.config`: `weft.config.execution` can be read and set."""

    @property
    def execution(self) -> str:
        """Which tier runs functions: "auto", "numpy", "native", "xla" or "verify"."""
        return flags.execution

    @execution.setter
    def execution(self, tier: str) -> None:
        flags.execution = tier
