"""Whether tracebacks leave out the frames of Weft itself: a setting of the thread."""

from __future__ import annotations

from weft._src.core.tracebacks import setting


def enable_traceback_filtering() -> None:
    """Leaves frames of Weft and of code it generated out of tracebacks, which is the default.

    Holds for the current thread. The environment variable WEFT_TRACEBACK_FILTERING=0 shows all
    frames in all threads of a program, unless they call this function.

    >>> tf.debugging.enable_traceback_filtering()
    """
    setting.filtering = True


def disable_traceback_filtering() -> None:
    """Shows all frames in tracebacks of the current thread, for looking into Weft itself.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    False
    >>> tf.debugging.enable_traceback_filtering()
    """
    setting.filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Whether frames of Weft itself are left out of tracebacks.

    Returns:
      True or False, for the current thread.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return setting.filtering
