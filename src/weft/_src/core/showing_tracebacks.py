"""Hides Weft's frames where tracebacks are shown: by Python, by threads, by IPython, by pytest."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from weft._src.core.tracebacks import hide_before_showing, setting


def install() -> None:
    """From now on tracebacks of uncaught exceptions are shown without Weft's frames."""
    shell = _ipython_shell()
    if shell is None:
        _install_in_python()
    elif not shell.custom_exceptions:  # there can be one such handler only: do not replace another
        shell.set_custom_exc((Exception,), _show_in_ipython)
    _install_in_threads()
    hide_in_pytest()


def hide_in_pytest() -> None:
    """Marks the modules of Weft that are loaded: pytest leaves their frames out."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "weft":
            vars(module).setdefault("__tracebackhide__", _is_hidden)


def _is_hidden(_: Any) -> bool:
    return setting.filtering


def _install_in_python() -> None:
    show = sys.excepthook

    def show_users_frames(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        is_whole = trace is error.__traceback__
        hide_before_showing(error)
        show(kind, error, error.__traceback__ if is_whole else trace)

    sys.excepthook = show_users_frames


def _install_in_threads() -> None:
    show = threading.excepthook

    def show_users_frames(args: Any) -> None:
        if args.exc_value is not None:
            hide_before_showing(args.exc_value)
            parts = (args.exc_type, args.exc_value, args.exc_value.__traceback__, args.thread)
            args = threading.ExceptHookArgs(parts)
        show(args)

    threading.excepthook = show_users_frames


def _ipython_shell() -> Any:
    """The shell of the IPython or notebook that this program runs in, if it does."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _show_in_ipython(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> Any:
    hide_before_showing(error)
    return shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)
