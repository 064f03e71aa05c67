"""An event file that is only ever appended to, a whole record at a time."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref

from weft._src.core.resources import Resource
from weft._src.errors import FailedPreconditionError, ResourceExhaustedError
from weft._src.fileio.paths import file_errors
from weft._src.fileio.records import framed
from weft._src.summary.events import file_start

_numbers = itertools.count()


class EventFile(Resource):
    """Where a summary writer writes.

    Each event goes to the operating system at once, in one piece: a program that is killed loses
    none that were written, and leaves no half of one in front of others.
    """

    __slots__ = ("_closer", "_descriptor", "_lock", "folder", "name", "path")

    def __init__(self, folder: str, suffix: str) -> None:
        self.folder = folder
        self.name = "writer"
        parts = (int(time.time()), socket.gethostname(), os.getpid(), next(_numbers))
        numbered = ".".join([str(part) for part in parts])
        self.path = os.path.join(folder, f"events.out.tfevents.{numbered}{suffix}")
        self._lock = threading.Lock()
        with file_errors("create_file_writer", self.path):
            os.makedirs(folder, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._closer = weakref.finalize(self, os.close, self._descriptor)
        self.append(file_start())

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return not self._closer.alive

    def append(self, event: bytes) -> None:
        """Writes one event."""
        record = framed(event)
        with self._lock, file_errors("tf.summary", self.path):
            self._check_open()
            written = os.write(self._descriptor, record)
            if written < len(record):
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
                raise ResourceExhaustedError(
                    None, None, f"tf.summary: {self.path}: there is no room for another event."
                )

    def flush(self) -> None:
        """Nothing waits to be written; says so if the file is closed."""
        with self._lock:
            self._check_open()

    def close(self) -> None:
        """Puts everything on the disk and closes the file; nothing happens the second time."""
        with self._lock:
            if self._closer.alive:
                with file_errors("tf.summary", self.path):
                    os.fsync(self._descriptor)
                self._closer()

    def _check_open(self) -> None:
        if self.closed:
            raise FailedPreconditionError(
                None, None, f"tf.summary: the writer of {self.path} is closed. Make another one."
            )

    def __repr__(self) -> str:
        return f"<EventFile {self.path}>"
