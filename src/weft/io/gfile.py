"""Files and folders: `tf.io.gfile`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.io.filesystem import (
    GFile as GFile,
    copy as copy,
    exists as exists,
    get_registered_schemes as get_registered_schemes,
    glob as glob,
    isdir as isdir,
    join as join,
    listdir as listdir,
    makedirs as makedirs,
    mkdir as mkdir,
    remove as remove,
    rename as rename,
    rmtree as rmtree,
    stat as stat,
    walk as walk,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
