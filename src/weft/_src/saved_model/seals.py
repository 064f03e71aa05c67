"""Checksums in a `saved_model.pb` that Weft wrote: two fields behind the message.

Their numbers are none of the message's own, so TensorFlow passes over them. They are in the file
itself, and not in one beside it: then no moment exists at which one is new and the other old.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from weft._src.errors import ParseError
from weft._src.fileio.crc32c import crc32c
from weft._src.messages.wire import contents, varint
from weft._src.saving.sorted_table import damaged

FILE = "saved_model.pb"
_ASSETS = "assets"
_LISTED, _SEAL = 22341, 22342  # the numbers of the fields
_LISTED_KEY = varint(_LISTED << 3 | 2)
_SEAL_KEY = varint(_SEAL << 3 | 5)
_LENGTH = len(_SEAL_KEY) + 4


def sealed(message: bytes, folder: str) -> bytes:
    """A message with the checksums of the assets in a folder, and one of everything."""
    lines = []
    for directory, _, names in os.walk(os.path.join(folder, _ASSETS)):
        for name in names:
            path = os.path.join(directory, name)
            where = os.path.relpath(path, os.path.join(folder, _ASSETS))
            lines.append(f"{crc32c(Path(path).read_bytes()):08x} {where}")
    listed = "\n".join(sorted(lines)).encode(errors="surrogateescape")
    content = message + (_LISTED_KEY + varint(len(listed)) + listed if listed else b"")
    return content + _SEAL_KEY + crc32c(content).to_bytes(4, "little")


def is_sealed(data: bytes) -> bool:
    """Whether there are checksums: TensorFlow's files have none."""
    return data[-_LENGTH:-4] == _SEAL_KEY


def verify(data: bytes, folder: str) -> None:
    """DataLossError if the file, or one of the assets, is not as Weft wrote it."""
    if not is_sealed(data):
        return
    path = os.path.join(folder, FILE)
    content = memoryview(data)[:-_LENGTH]
    _compare(path, int.from_bytes(data[-4:], "little"), crc32c(content))
    try:
        texts = contents(bytes(content), _LISTED, FILE)
    except ParseError:
        raise damaged(path, "it is no SavedModel") from None
    for line in b"\n".join(texts).decode(errors="surrogateescape").splitlines():
        written, _, name = line.partition(" ")
        home = os.path.realpath(os.path.join(folder, _ASSETS))
        asset = os.path.realpath(os.path.join(home, name))
        if not asset.startswith(f"{home}{os.sep}") or not re.fullmatch("[0-9a-f]{8}", written):
            raise damaged(path, f"{line!r} is not the checksum of an asset")
        if not os.path.isfile(asset):
            raise damaged(folder, f"the asset {name!r} is missing")
        _compare(asset, int(written, 16), crc32c(Path(asset).read_bytes()))


def _compare(file: str, written: int, found: int) -> None:
    if found != written:
        raise damaged(
            file,
            f"its checksum is {found:#010x}, and {written:#010x} was written (a program that edits "
            f"a SavedModel has to drop field {_SEAL})",
        )
