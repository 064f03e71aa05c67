"""The file `checkpoint` of a folder: what checkpoints there are, and which is the newest."""

from __future__ import annotations

import ast
import os
import re
import time
from typing import Any

from weft._src.core.aliases import PathLike
from weft._src.messages.checkpoints import CheckpointState
from weft._src.saving.files import is_there
from weft._src.saving.writing import write_text

_LINE = re.compile(r'^\s*(\w+)\s*:\s*(?:"((?:[^"\\]|\\.)*)"|([-+.\deE]+))\s*$')


def state_file(folder: str, latest_filename: str | None = None) -> str:
    """Where it is."""
    return os.path.join(folder, latest_filename or "checkpoint")


def update_checkpoint_state(
    folder: str,
    newest: str,
    all_paths: list[str],
    timestamps: list[float] | None = None,
    last_preserved: float | None = None,
    latest_filename: str | None = None,
) -> None:
    """Writes it anew."""
    lines = [f'model_checkpoint_path: "{_text(_relative(newest, folder))}"']
    lines += [f'all_model_checkpoint_paths: "{_text(_relative(p, folder))}"' for p in all_paths]
    for stamp in timestamps or ():
        lines.append(f"all_model_checkpoint_timestamps: {stamp!r}")
    if last_preserved is not None:
        lines.append(f"last_preserved_timestamp: {last_preserved!r}")
    write_text(state_file(folder, latest_filename), "\n".join(lines) + "\n")


def _relative(path: str, folder: str) -> str:
    here = os.path.dirname(os.path.abspath(path)) == os.path.abspath(folder)
    return os.path.basename(path) if here else os.path.abspath(path)


def _text(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


def get_checkpoint_state(checkpoint_dir: PathLike, latest_filename: str | None = None) -> Any:
    """What the file `checkpoint` of a folder says.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file; None is "checkpoint".

    Returns:
      A message with `model_checkpoint_path`, the newest, `all_model_checkpoint_paths`, and when
      they were written; None if there is no such file, or it cannot be read.

    >>> _ = tf.train.Checkpoint(v=tf.Variable(1.0)).save("states/c")
    >>> tf.train.get_checkpoint_state("states").model_checkpoint_path
    'states/c-1'
    """
    folder = os.fsdecode(checkpoint_dir)
    try:
        with open(state_file(folder, latest_filename), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    found: dict[str, list[Any]] = {}
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        name, text, number = match.groups()
        try:
            value = ast.literal_eval(f'"{text}"') if text is not None else float(number)
        except (ValueError, SyntaxError):
            return None
        if isinstance(value, float) != name.endswith(("timestamp", "timestamps")):
            return None
        found.setdefault(name, []).append(value)
    paths = found.get("model_checkpoint_path")
    if not paths:
        return None
    return CheckpointState(
        model_checkpoint_path=_absolute(paths[-1], folder),
        all_model_checkpoint_paths=[
            _absolute(path, folder) for path in found.get("all_model_checkpoint_paths", paths)
        ],
        all_model_checkpoint_timestamps=found.get("all_model_checkpoint_timestamps", []),
        last_preserved_timestamp=found.get("last_preserved_timestamp", [0.0])[-1],
    )


def _absolute(path: str, folder: str) -> str:
    return path if os.path.isabs(path) else os.path.join(folder, path)


def latest_checkpoint(checkpoint_dir: PathLike, latest_filename: str | None = None) -> str | None:
    """The newest checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that says so; None is "checkpoint".

    Returns:
      Its prefix, for `restore`; None if there is none.

    >>> _ = tf.train.Checkpoint(v=tf.Variable(1.0)).save("latest/c")
    >>> tf.train.latest_checkpoint("latest")
    'latest/c-1'
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not is_there(state.model_checkpoint_path):
        return None
    return str(state.model_checkpoint_path)


def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Any = None,
) -> Any:
    """Gives new checkpoints of a folder as they appear.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: seconds that pass at least between two of them.
      timeout: seconds after which the wait for a new one ends; None waits for ever.
      timeout_fn: called when a wait has ended; if it returns True, the iterator ends. Without it,
        it ends at once.

    Returns:
      An iterator over prefixes.

    >>> _ = tf.train.Checkpoint(v=tf.Variable(1.0)).save("iterator/c")
    >>> list(tf.train.checkpoints_iterator("iterator", timeout=0))
    ['iterator/c-1']
    """
    seen = None
    while True:
        found = _wait_for_new(checkpoint_dir, seen, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        started = time.monotonic()
        seen = found
        yield found
        rest = min_interval_secs - (time.monotonic() - started)
        if rest > 0:
            time.sleep(rest)


def _wait_for_new(folder: Any, seen: str | None, timeout: float | None) -> str | None:
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(folder)
        if found is not None and found != seen:
            return found
        if until is not None and time.monotonic() >= until:
            return None
        time.sleep(0.05 if until is None else max(min(0.05, until - time.monotonic()), 0.0))
