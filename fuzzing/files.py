"""Mutated files: every parser either reads them or says by name what is wrong with them.

A seed is a parser and a hundred inputs. They run in a child process, so that a crash, too, is
something that can be reported. A finding is made small and printed as a program.
"""

from __future__ import annotations

import mmap
import os
import pickle
import random
import resource
import select
import signal
import time
import traceback
from typing import NamedTuple

from fuzzing.mutations import mutated
from fuzzing.parsers import Parser, chosen
from weft._src.core import memory

INPUTS = 100  # of one seed
SECONDS = 1.0  # that an input may take
MOST_BYTES = 64 * 2**20  # that reading an input may take
_LARGEST_RESULT = 16 * 2**20  # larger ones are refused by name
_TRIES = 600  # to make a finding smaller


class Failure(NamedTuple):
    """What went wrong: a short name of it, which shrinking keeps, and the whole story."""

    kind: str
    story: str


def inputs_of(seed: int) -> tuple[Parser, list[bytes]]:
    """The parser and the inputs of a seed."""
    rng = random.Random(seed)
    parser = chosen(rng)
    samples = parser.samples
    return parser, [mutated(rng, rng.choice(samples), rng.choice(samples)) for _ in range(INPUTS)]


def check_file(seed: int) -> str | None:
    """Mutated files: each parser reads them, or refuses them by name.

    None if all is well, else a program that shows what is not.
    """
    parser, inputs = inputs_of(seed)
    failed = in_child(parser, inputs)
    if failed is None:
        return None
    at, failure = failed
    small = shrunk(parser, inputs[at], failure.kind)
    return (
        f"files {seed}, {parser.name}: {failure.kind}\n{failure.story}\n"
        f"{parser.reproduction(small)}\n"
    )


check_file.inputs = INPUTS  # type: ignore[attr-defined]


def failure_of(parser: Parser, data: bytes, most: float = SECONDS) -> Failure | None:
    """Runs a parser in this process, for `most` seconds at most; None if it does what it may."""
    before, started = _most_used(), time.thread_time()
    try:
        with memory.limited_to(_LARGEST_RESULT):
            parser.run(data)
    except parser.allowed as error:
        if " failed: " in str(error) and not isinstance(
            error.__cause__, (*parser.allowed, type(None))
        ):
            return Failure(f"nameless {type(error.__cause__).__name__}", str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return Failure(type(error).__name__, traceback.format_exc())
    seconds, used = time.thread_time() - started, _most_used() - before
    if used > MOST_BYTES:  # first: what takes much memory takes time for it, too
        return Failure("large", f"{len(data)} bytes took {memory.in_words(used)}")
    if seconds > most:
        return Failure("slow", f"{len(data)} bytes took {seconds:.1f} s")
    return None


def _most_used() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_child(parser: Parser, inputs: list[bytes]) -> tuple[int, Failure] | None:
    """The first input with which a parser fails, run in a child process, which may crash."""
    parser.run  # noqa: B018 - what is done once is done here
    place = mmap.mmap(-1, 8)  # where the child says which input it is at
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.write(writing, pickle.dumps(_first(parser, inputs, place)))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answered = bool(select.select([pipe], [], [], 10 + SECONDS * len(inputs))[0])
        if not answered:
            os.kill(child, signal.SIGKILL)
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    at = int.from_bytes(place[:8], "little")
    if not answered:
        return at, Failure("hangs", f"{len(inputs[at])} bytes did not end")
    if os.WIFSIGNALED(status) or not answer:
        return at, Failure("crash", f"the process ended with status {status}")
    found: tuple[int, Failure] | None = pickle.loads(answer)
    return found


def _first(parser: Parser, inputs: list[bytes], place: mmap.mmap) -> tuple[int, Failure] | None:
    for at, data in enumerate(inputs):
        place[:8] = at.to_bytes(8, "little")
        failure = failure_of(parser, data)
        if failure is not None:
            return at, failure
    return None


def shrunk(parser: Parser, data: bytes, kind: str) -> bytes:
    """Fewer bytes with which a parser fails in the same way."""
    tries = 0
    size = len(data) // 2
    while size and tries < _TRIES:
        at = 0
        while at < len(data) and tries < _TRIES:
            fewer = data[:at] + data[at + size :]
            failed = in_child(parser, [fewer])
            tries += 1
            if failed is not None and failed[1].kind == kind:
                data = fewer
            else:
                at += size
        size //= 2
    return data
