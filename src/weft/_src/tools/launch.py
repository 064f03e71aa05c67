"""`weft launch -n 4 train.py`: a job of several workers on this machine, watched.

Every worker gets TF_CONFIG, so `tf.distribute.MultiWorkerMirroredStrategy` finds the others. Lines
that they print are shown with their number. If one dies, it is named and the others are ended; if
it was killed, and not by an error of its own, or asks for it by its exit code, the job is started
again, and goes on from what the program has saved.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any

from weft._src.saving.preemption import RESTART

_COLOURS = (36, 33, 35, 32, 34, 31)
_GRACE = 5.0  # seconds that workers have to end by themselves
_PAUSE = 0.05


class Job:
    """The workers of one start."""

    def __init__(self, command: Sequence[str], count: int, out: IO[str]) -> None:
        self._out = out
        self._writing = threading.Lock()
        addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
        token = secrets.token_hex(16)
        self.workers = [self._start(command, addresses, i, token) for i in range(count)]
        self._readers = [self._show(i, worker) for i, worker in enumerate(self.workers)]

    def _start(
        self, command: Sequence[str], addresses: list[str], number: int, token: str
    ) -> subprocess.Popen[str]:
        environment = os.environ | {
            "TF_CONFIG": tf_config(addresses, number),
            "WEFT_JOB_TOKEN": token,
            "PYTHONUNBUFFERED": "1",
        }
        return subprocess.Popen(
            list(command),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def _show(self, number: int, worker: subprocess.Popen[str]) -> threading.Thread:
        """A thread that prints a worker's lines behind its number."""
        label = f"[{number}]"
        if self._out.isatty():
            label = f"\x1b[{_COLOURS[number % len(_COLOURS)]}m{label}\x1b[0m"

        def copy() -> None:
            assert worker.stdout is not None
            for line in worker.stdout:
                self.say(f"{label} {line.rstrip()}")

        thread = threading.Thread(target=copy, name=f"weft launch {number}", daemon=True)
        thread.start()
        return thread

    def say(self, line: str) -> None:
        """Prints a line as a whole."""
        with self._writing:
            print(line, file=self._out, flush=True)

    def wait(self) -> tuple[int, int] | None:
        """Waits for all workers; the number and the code of the first that failed, or None."""
        while True:
            codes = [worker.poll() for worker in self.workers]
            # What was killed comes before those that fail because of it.
            failed = [(i, code) for i, code in enumerate(codes) if code]
            if failed:
                return min(failed, key=lambda found: found[1] > 0)
            if all(code == 0 for code in codes):
                self._finish()
                return None
            time.sleep(_PAUSE)

    def end(self) -> list[int]:
        """Ends what still runs: politely, and then not; the numbers of those that did not react."""
        stuck = []
        deadline = time.monotonic() + _GRACE
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
        for number, worker in enumerate(self.workers):
            try:
                worker.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                stuck.append(number)
                worker.kill()
                worker.wait()
        self._finish()
        return stuck

    def _finish(self) -> None:
        for worker, reader in zip(self.workers, self._readers, strict=True):
            reader.join(_GRACE)
            if worker.stdout is not None and not reader.is_alive():
                worker.stdout.close()


def tf_config(addresses: list[str], number: int) -> str:
    """The value of TF_CONFIG for a worker."""
    return json.dumps(
        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": number}}
    )


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses now; all are found before one is given back."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def described(code: int) -> str:
    """How a process has ended, in words."""
    if code == RESTART:
        return "has saved what it needs to be started again"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def launch(command: Sequence[str], count: int, restarts: int, out: IO[str] | None = None) -> int:
    """Runs a job until it is done, or has failed more often than it may be started again."""
    stream = sys.stdout if out is None else out
    for start in range(restarts + 1):
        job = Job(command, count, stream)
        try:
            with _forwarded(job) as is_to_end:
                failure = job.wait()
        except BaseException:
            job.end()
            raise
        if failure is None:
            return 0
        stuck = job.end()
        number, code = failure
        if stuck and code > 0:  # one that was stopped, or hangs: the others missed it
            number, code = stuck[0], -signal.SIGKILL
            job.say(f"weft launch: worker {number} did not react any more; all were ended.")
        else:
            job.say(f"weft launch: worker {number} {described(code)}; the others were ended.")
        if code > 0 and code != RESTART:  # an error of the program, which would come again
            return code
        if is_to_end:  # the machine is needed for something else
            return RESTART
        if start < restarts:
            job.say(f"weft launch: the job starts again ({start + 1} of {restarts}).")
    return 1


@contextlib.contextmanager
def _forwarded(job: Job) -> Iterator[list[bool]]:
    """Workers are told if this process is to end, so that they can save; yields whether it is."""
    is_to_end: list[bool] = []

    def forward(*_: Any) -> None:
        is_to_end.append(True)
        for worker in job.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)

    if threading.current_thread() is not threading.main_thread():  # no signals arrive there
        yield is_to_end
        return
    before = signal.signal(signal.SIGTERM, forward)
    try:
        yield is_to_end
    finally:
        signal.signal(signal.SIGTERM, before)


def several_machines(command: Sequence[str], count: int) -> list[str]:
    """What to type on several machines."""
    config = tf_config([f"HOST{i}:12345" for i in range(count)], 0)
    return [
        "On several machines start each worker by hand, with its own index:",
        f"  TF_CONFIG='{config}' {' '.join(command)}",
    ]


def run(options: Any) -> int:
    """The command."""
    command = [sys.executable, options.script, *options.arguments]
    if options.print_command:
        print("\n".join(several_machines(command, options.n)))
        return 0
    return launch(command, options.n, options.restarts)
