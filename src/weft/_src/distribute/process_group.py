"""The processes of a job, joined by sockets: worker 0 adds up, and sends the sums to all.

A message is a header (JSON, with its length before it) and arrays as they lie in memory. Besides
the connection for collectives, each worker has one on which both sides say every few seconds that
they are there. If one is silent for too long, or a connection breaks, everybody's connections are
closed, and whoever waits in a collective gets an UnavailableError that names the worker.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.distribute.groups import check_alike, combined
from weft._src.errors import DeadlineExceededError, UnavailableError

Array = np.ndarray[Any, Any]

_LENGTH = struct.Struct("!Q")
_LARGEST_HEADER = 1 << 24
_PROTOCOL = 1
_HERE, _GOODBYE = b".", b"!"  # what is said on the connection for signs of life
_ADVICE = "Start the job again; tf.train.Checkpoint has what was saved."


class ProcessGroup:
    """A worker's part in a job of several.

    addresses: "host:port" of all workers; worker 0 listens at the first.
    number: which of them this process is.
    join_seconds: how long to wait for all to come.
    heartbeat_seconds: after how long a silent worker counts as dead.
    collective_seconds: how long a collective waits for workers that are alive.
    token: what all must know, so that no stranger takes part.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        number: int,
        *,
        join_seconds: float = 60.0,
        heartbeat_seconds: float = 30.0,
        collective_seconds: float = 600.0,
        token: str = "",
    ) -> None:
        self.size = len(addresses)
        self.number = number
        self._addresses = list(addresses)
        self._heartbeat, self._patience = heartbeat_seconds, collective_seconds
        self._token = token
        self._problem: str | None = None
        self._closed = False
        self._guard = threading.Lock()
        self._turn = threading.RLock()  # one collective at a time
        self._links: dict[int, socket.socket] = {}  # for collectives, by the number of the other
        self._pulses: dict[int, socket.socket] = {}  # for signs of life
        deadline = time.monotonic() + join_seconds
        if number == 0:
            self._gather(deadline)
        else:
            self._join(deadline)
        for other, pulse in self._pulses.items():
            for work in (self._beat, self._listen):
                name = f"weft heartbeat {other}"
                threading.Thread(target=work, args=(other, pulse), name=name, daemon=True).start()

    # --- coming together ---------------------------------------------------------------------

    def _gather(self, deadline: float) -> None:
        """Worker 0 waits for two connections of each other worker."""
        host, port = _parts(self._addresses[0])
        try:
            server = socket.create_server((host, port), backlog=2 * self.size)
        except OSError as error:
            raise UnavailableError(
                None,
                None,
                f"Worker 0 cannot listen at {self._addresses[0]}: {error.strerror or error}. Is "
                "another job using the port? Choose another one in TF_CONFIG.",
            ) from None
        with server:
            while len(self._links) + len(self._pulses) < 2 * (self.size - 1):
                server.settimeout(max(deadline - time.monotonic(), 0.001))
                try:
                    link, _ = server.accept()
                    self._welcome(link, deadline)
                except TimeoutError:
                    raise self._nobody_came() from None

    def _welcome(self, link: socket.socket, deadline: float) -> None:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        _tune(link)
        try:
            hello, _ = _receive(link)
        except (OSError, ValueError):  # somebody else, such as a scanner of ports
            link.close()
            return
        table = self._pulses if hello.get("pulse") else self._links
        other, problem = hello.get("number"), None
        if hello.get("protocol") != _PROTOCOL or hello.get("token") != self._token:
            problem = "it belongs to another job, or to another version of Weft"
        elif hello.get("size") != self.size:
            problem = f"it counts {hello.get('size')} workers, and worker 0 counts {self.size}"
        elif not isinstance(other, int) or not 0 < other < self.size or other in table:
            problem = f"there is a worker {other!r} already, or none of that number"
        _send(link, {"refused": problem})
        if problem is not None:
            link.close()
            return
        link.settimeout(None)
        table[other] = link  # type: ignore[index]

    def _nobody_came(self) -> UnavailableError:
        there = set(self._links) & set(self._pulses)
        missing = [i for i in range(1, self.size) if i not in there]
        names = ", ".join(f"{i} ({self._addresses[i]})" for i in missing)
        self._shut()
        return UnavailableError(
            None, None, f"The job does not begin: worker {names} did not come in time."
        )

    def _join(self, deadline: float) -> None:
        for pulse, table in ((False, self._links), (True, self._pulses)):
            link = self._connect(deadline)
            hello = {
                "protocol": _PROTOCOL, "number": self.number, "size": self.size, "pulse": pulse,
                "token": self._token,
            }  # fmt: skip
            try:
                _send(link, hello)
                answer, _ = _receive(link)
            except OSError as error:
                link.close()
                raise UnavailableError(
                    None, None, f"Worker 0 did not answer: {error}. {_ADVICE}"
                ) from None
            if answer["refused"] is not None:
                link.close()
                raise UnavailableError(
                    None, None, f"Worker 0 refuses worker {self.number}: {answer['refused']}."
                )
            link.settimeout(None)
            table[0] = link

    def _connect(self, deadline: float) -> socket.socket:
        while True:
            left = deadline - time.monotonic()
            try:
                link = socket.create_connection(
                    _parts(self._addresses[0]), timeout=max(left, 0.001)
                )
                _tune(link)
                return link
            except OSError as error:
                if left <= 0.2:
                    raise UnavailableError(
                        None,
                        None,
                        f"The job does not begin: worker {self.number} cannot reach worker 0 at "
                        f"{self._addresses[0]}: {error}.",
                    ) from None
                time.sleep(0.1)

    # --- signs of life -----------------------------------------------------------------------

    def _beat(self, other: int, pulse: socket.socket) -> None:
        while not self._closed:
            try:
                pulse.sendall(_HERE)
            except OSError:
                return
            time.sleep(self._heartbeat / 5)

    def _listen(self, other: int, pulse: socket.socket) -> None:
        while not self._closed:
            try:
                pulse.settimeout(self._heartbeat)
                signs = pulse.recv(64)
                if _GOODBYE in signs:  # what it has sent before may still be on its way
                    return
                if not signs:
                    self._fail(f"worker {other} is gone")
                    return
            except TimeoutError:
                self._fail(f"worker {other} was silent for {self._heartbeat:g} s")
                return
            except OSError:
                self._fail(f"the connection to worker {other} is lost")
                return

    def _fail(self, problem: str) -> None:
        """Nobody goes on without one of them: what waits for a message gets none any more."""
        with self._guard:
            if self._closed:
                return
            self._problem = self._problem or problem
        self._shut()

    def close(self) -> None:
        """Leaves the job, which is no failure."""
        for pulse in self._pulses.values():
            with contextlib.suppress(OSError):
                pulse.sendall(_GOODBYE)
        self._shut()

    def _shut(self) -> None:
        with self._guard:
            self._closed = True
        for link in (*self._links.values(), *self._pulses.values()):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _unavailable(self, other: int, error: Exception) -> UnavailableError:
        problem = self._problem or f"the connection to worker {other} is lost ({error})"
        self._fail(problem)
        return UnavailableError(
            None,
            None,
            f"A collective of worker {self.number} failed: {problem}. {_ADVICE}",
        )

    # --- collectives -------------------------------------------------------------------------

    def all_reduce(self, number: int, arrays: Sequence[Array], how: str) -> list[Array]:
        """The sums ("SUM"), means ("MEAN") or the arrays of worker 0 ("FIRST")."""
        own = [np.asarray(x, order="C") for x in arrays]
        slots = self._exchanged({"op": "reduce", "how": how}, own)
        if slots is None:
            return self._answer()
        try:
            check_alike(slots)
        except ValueError as error:
            self._tell_all({"error": str(error)}, [])
            raise
        totals = [combined([part[i] for part in slots], how) for i in range(len(own))]
        self._tell_all({}, totals)
        return totals

    def all_gather(self, number: int, arrays: Sequence[Array]) -> list[list[Array]]:
        """The arrays of all workers, in the order of their numbers."""
        own = [np.asarray(x, order="C") for x in arrays]
        slots = self._exchanged({"op": "gather"}, own)
        if slots is None:
            flat = self._answer()
        else:
            flat = [x for part in slots for x in part]
            self._tell_all({}, flat)
        return [flat[i * len(own) : (i + 1) * len(own)] for i in range(self.size)]

    def barrier(self) -> None:
        """Waits until all workers are here."""
        self.all_gather(self.number, [])

    def _exchanged(self, header: dict[str, Any], own: list[Array]) -> list[list[Array]] | None:
        """What all workers bring, for worker 0; None for the others, who have sent theirs."""
        if self._closed:
            raise self._unavailable(0, OSError("closed"))
        with self._turn:
            if self.number:
                self._guarded(0, lambda link: _send(link, header, own))
                return None
            slots = [own]
            for other in range(1, self.size):
                found, arrays = self._guarded(other, _receive)
                if {k: found.get(k) for k in header} != header:
                    text = (
                        f"worker {other} is at {found.get('op')!r} and worker 0 at "
                        f"{header['op']!r}; all must take part in the same collectives"
                    )
                    self._tell_all({"error": text}, [])
                    raise ValueError(text)
                slots.append(arrays)
            return slots

    def _answer(self) -> list[Array]:
        with self._turn:
            header, arrays = self._guarded(0, _receive)
        if "error" in header:
            raise ValueError(header["error"])
        return arrays

    def _tell_all(self, header: dict[str, Any], arrays: list[Array]) -> None:
        with self._turn:
            for other in range(1, self.size):
                self._guarded(other, lambda link: _send(link, header, arrays))

    def _guarded(self, other: int, work: Any) -> Any:
        link = self._links[other]
        try:
            link.settimeout(self._patience)
            return work(link)
        except TimeoutError:
            self._fail(f"worker {other} did not come to a collective")
            raise DeadlineExceededError(
                None,
                None,
                f"Worker {self.number} waited {self._patience:g} s for worker {other} in a "
                "collective. It is alive, and does something else.",
            ) from None
        except (OSError, ValueError, KeyError) as error:
            raise self._unavailable(other, error) from None


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise ValueError(f"An address of a worker must be 'host:port', got {address!r}.")
    return host.strip("[]"), int(port)


def _tune(link: socket.socket) -> None:
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _send(link: socket.socket, header: dict[str, Any], arrays: Sequence[Array] = ()) -> None:
    kinds = [[dtypes.from_numpy(x.dtype).name, list(x.shape)] for x in arrays]
    text = json.dumps({**header, "kinds": kinds}).encode()
    link.sendall(_LENGTH.pack(len(text)) + text)
    for x in arrays:
        if x.nbytes:
            link.sendall(x.reshape(-1).view(np.uint8).data)


def _receive(link: socket.socket) -> tuple[dict[str, Any], list[Array]]:
    (length,) = _LENGTH.unpack(_exactly(link, bytearray(_LENGTH.size)))
    if length > _LARGEST_HEADER:
        raise ValueError("not a message of Weft")
    header = json.loads(bytes(_exactly(link, bytearray(length))))
    arrays = []
    for name, shape in header.pop("kinds"):
        x = np.empty(shape, dtypes.as_dtype(name).numpy_dtype)
        if x.nbytes:
            _exactly(link, x.reshape(-1).view(np.uint8))
        arrays.append(x)
    return header, arrays


def _exactly(link: socket.socket, into: Any) -> Any:
    view = memoryview(into)
    done = 0
    while done < len(view):
        count = link.recv_into(view[done:])
        if not count:
            raise ConnectionResetError("it was closed")
        done += count
    return into
