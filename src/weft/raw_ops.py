"""`tf.raw_ops`: the ops under TensorFlow's names and with its arguments, by keyword only.

Each is made when it is asked for, so that importing this costs nothing.
"""

from typing import Any as _Any

from weft._src.public.missing import missing_name as _missing_name
from weft._src.raw_ops import making as _making

__all__ = _making.names()  # noqa: PLE0605 - a list, of the registry and the table


def __getattr__(name: str) -> _Any:
    made = None if name.startswith("_") else _making.make(name)
    if made is None:
        raise _missing_name(__name__, name, _making.names())
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return _making.names()
