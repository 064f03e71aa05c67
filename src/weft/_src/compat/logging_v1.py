"""`tf.compat.v1.logging`: how much is logged, and messages of one's own."""

from __future__ import annotations

from typing import Any

from weft._src.ops.host.logger import get_logger as _get_logger

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50

_LEVELS = {"DEBUG": DEBUG, "INFO": INFO, "WARN": WARN, "ERROR": ERROR, "FATAL": FATAL}


def set_verbosity(v: Any) -> None:
    """Messages below this level are not logged.

    Args:
      v: a level: a number, such as `tf.compat.v1.logging.WARN`, or one of the names "DEBUG",
        "INFO", "WARN", "ERROR" and "FATAL".

    Raises:
      ValueError: if it is neither.

    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    >>> tf.compat.v1.logging.get_verbosity()
    40
    >>> tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
    """
    level = _LEVELS.get(v, v) if isinstance(v, str) else v
    if not isinstance(level, int):
        raise ValueError(
            f"tf.compat.v1.logging.set_verbosity: expected a level, a number or one of "
            f"{', '.join(_LEVELS)}, got {v!r}."
        )
    _get_logger().setLevel(level)


def get_verbosity() -> int:
    """The level below which messages are not logged.

    Returns:
      A number, as `set_verbosity` takes it.

    >>> tf.compat.v1.logging.get_verbosity() <= tf.compat.v1.logging.FATAL
    True
    """
    return _get_logger().getEffectiveLevel()


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level; `args` go into its `%` places.

    Args:
      level: a number, such as `tf.compat.v1.logging.WARN`.
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.log(tf.compat.v1.logging.INFO, "step %d", 3)
    """
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level DEBUG.

    Args:
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.debug("step %d", 3)
    """
    log(DEBUG, msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level INFO.

    Args:
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.info("step %d", 3)
    """
    log(INFO, msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level WARN.

    Args:
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.warning("step %d", 3)
    """
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level ERROR.

    Args:
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.error("step %d", 3)
    """
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level FATAL.

    Args:
      msg: the message, with `%` places.
      *args: the values for them.
      **kwargs: what `logging.Logger.log` takes, such as `exc_info`.

    >>> tf.compat.v1.logging.fatal("step %d", 3)
    """
    log(FATAL, msg, *args, **kwargs)
