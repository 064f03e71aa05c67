"""`tf.compat.v1.logging`: how much is logged, and messages of one's own."""

from weft._src.compat.logging_v1 import (
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    WARN,
    debug,
    error,
    fatal,
    get_verbosity,
    info,
    log,
    set_verbosity,
    warn,
    warning,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_verbosity",
    "info",
    "log",
    "set_verbosity",
    "warn",
    "warning",
]

_open_namespace(__name__)
