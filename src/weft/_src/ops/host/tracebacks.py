"""Whether tracebacks leave out the frames of Weft itself: a setting of the thread."""

from __future__ import annotations

import threading


class _Setting(threading.local):
    def __init__(self) -> None:
        self.filtering = True


_setting = _Setting()


def enable_traceback_filtering() -> None:
    """Leaves frames of Weft itself out of tracebacks.

    >>> tf.debugging.enable_traceback_filtering()
    """
    _setting.filtering = True


def disable_traceback_filtering() -> None:
    """Shows all frames in tracebacks.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    False
    >>> tf.debugging.enable_traceback_filtering()
    """
    _setting.filtering = False


def is_traceback_filtering_enabled() -> bool:
    """Whether frames of Weft itself are left out of tracebacks.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return _setting.filtering
