"""The process in which a program is timed: a script for any library's interpreter.

Knows nothing but the standard library, and that NumPy comes with each of the libraries. A job comes
in as JSON, the answer goes out as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import types
from collections.abc import Callable
from typing import Any

LOOK_EVERY = 0.25  # seconds between looks at the clock, so that looking costs nothing
RECENT = 1.0  # seconds at the end that tell what a call takes now
GRACE = 2.0  # seconds of calls after the first one, whose compiling may be beyond the limit
CHECKED = 3  # calls before results are compared: variables have changed by then


def main() -> None:
    """Does the job that stands in the first line of the input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is no answer
    print(json.dumps(answer(json.loads(sys.stdin.readline()))), file=answers, flush=True)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Times a program, or gives its results in short."""
    module = types.ModuleType("program")
    sys.modules["program"] = module
    names = module.__dict__
    seconds = {"import": _run(job["import"], job["file"], names)}
    after_import = _resident()
    own_after_import = after_import - _of_files()
    seconds |= {part: _run(job[part], job["file"], names) for part in ("data", "setup")}
    if job["check"]:
        return {"results": _results(job["statement"], job["state"], names)}
    times = timed(_loop(job["statement"], names), job["marks"], job["limit"])
    version = getattr(sys.modules[job["library"]], "__version__", "")
    about = eval(job["about"], names)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"import": seconds["import"], "setup": seconds["setup"], **times} | {
        "version": version,
        "about": about,
        "peak": most - after_import,
        "most": most,
        "own": most - _of_files() - own_after_import,
    }


def _resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _of_files() -> int:
    """Bytes of that which are pages of libraries as they lie on disk, for all who load them."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[2]) * resource.getpagesize()


def _run(text: str, file: str, names: dict[str, Any]) -> float:
    """Seconds that a part of the program takes."""
    code = compile(text, file, "exec")
    started = time.perf_counter()
    exec(code, names)
    return time.perf_counter() - started


def _loop(statement: str, names: dict[str, Any]) -> Callable[[int], None]:
    """Runs the statement so many times, with nothing in between."""
    text = f"def _loop(number):\n    for _ in range(number):\n        {statement}"
    exec(text, names)
    return names.pop("_loop")


def timed(loop: Callable[[int], None], marks: list[int], limit: float) -> dict[str, Any]:
    """Seconds from the start until each mark, as far as the limit allows, and those of a call."""
    reached: dict[int, float] = {}
    points = [(0, 0.0)]
    started = time.perf_counter()
    for mark in marks:
        while (done := points[-1][0]) < mark:
            number = min(mark - done, _fitting(points))
            loop(number)
            points.append((done + number, time.perf_counter() - started))
            if points[-1][1] > max(limit, points[1][1] + GRACE):
                break
        if points[-1][0] < mark:
            break
        reached[mark] = points[-1][1]
    done, elapsed = points[-1]
    return {"reached": reached, "done": done, "elapsed": elapsed, "per_call": _recent(points)}


def _fitting(points: list[tuple[int, float]]) -> int:
    """How many calls can be made until the next look at the clock."""
    if len(points) == 1:
        return 1
    (before, start), (done, now) = points[-2:]
    return max(1, int(LOOK_EVERY * (done - before) / max(now - start, 1e-9)))


def _recent(points: list[tuple[int, float]]) -> float:
    """What a call took at the end; the first one counts only if there is no other."""
    done, now = points[-1]
    since, start = points[1] if len(points) > 2 else points[0]
    for earlier, then in points[2:-1]:
        if now - then < RECENT:
            break
        since, start = earlier, then
    return (now - start) / (done - since)


def _results(statement: str, state: str, names: dict[str, Any]) -> list[list[float]]:
    """The arrays a program gives after some calls, each as a few numbers that tell it apart."""
    code = compile(statement, "statement", "eval")
    for _ in range(CHECKED):
        result = eval(code, names)
    return [_digest(leaf) for leaf in _leaves([result, eval(state, names)])]


def _leaves(nest: Any) -> list[Any]:
    if nest is None:
        return []
    if isinstance(nest, (list, tuple)):
        return [leaf for item in nest for leaf in _leaves(item)]
    return [nest]


def _digest(tensor: Any) -> list[float]:
    """Independent of the layout: root mean square, mean, quantiles."""
    import numpy as np

    tensor = tensor.detach() if hasattr(tensor, "detach") else tensor
    array = np.asarray(tensor).astype("float64")
    quantiles = np.quantile(array, [0, 0.25, 0.5, 0.75, 1])
    return [float(np.sqrt(np.mean(array**2))), float(np.mean(array)), *map(float, quantiles)]


if __name__ == "__main__":
    main()
