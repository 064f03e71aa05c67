"""Programs that are asked to end: they save, end, and go on when they are started again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from support import preempted_program
from weft._src.tools.launch import launch

PROGRAM = str(Path(preempted_program.__file__))
E = tf.distribute.experimental


def started(folder: Path, how: str, ask_at: int = -1) -> tuple[int, str]:
    command = [sys.executable, PROGRAM, str(folder), how, str(ask_at)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout + done.stderr


def final(text: str) -> list[str]:
    return sorted({line[line.index("final") :] for line in text.splitlines() if "final" in line})


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    code, text = started(tmp_path_factory.mktemp("whole"), "signal")
    assert code == 0, text
    return final(text)


@pytest.mark.parametrize("how", ["signal", "watcher", "scope", "grace"])
def test_it_saves_ends_and_goes_on(how: str, tmp_path: Path, uninterrupted: list[str]) -> None:
    code, text = started(tmp_path, how, 7)
    assert code == 42, text
    assert "A worker was asked to end: saving a checkpoint." in text
    (saved,) = (tmp_path / "saved").glob("ckpt-*.index")
    assert saved.stem == ("ckpt-2" if how == "grace" else "ckpt-1")
    code, text = started(tmp_path, how, 7)
    assert code == 0, text
    (begins,) = re.findall(r"begins at (\d+)", text)
    if how == "grace":  # it saved at once, went on, and saved once more
        assert 8 < int(begins) < 20
    else:
        assert int(begins) == (8 if how == "scope" else 7)
    assert how == "scope" or "runs 20" in text
    assert final(text) == uninterrupted


def test_all_workers_save_if_one_is_asked(tmp_path: Path) -> None:
    import io

    found = []
    for name, ask_at in (("whole", -1), ("asked", 7)):
        folder = tmp_path / name
        folder.mkdir()
        out = io.StringIO()
        command = [sys.executable, PROGRAM, str(folder), "signal", str(ask_at)]
        assert launch(command, 2, 1, out) == 0, out.getvalue()
        found.append(out.getvalue())
    assert "begins at 7" not in found[0]
    assert "[0] begins at 7" in found[1]
    assert "[1] begins at 7" in found[1]
    assert "has saved what it needs to be started again" in found[1]
    assert final(found[0]) == final(found[1])
    assert len(final(found[0])) == 1


def test_a_launcher_that_is_asked_tells_its_workers(tmp_path: Path) -> None:
    code = (
        "import sys, time, weft as tf\n"
        "v = tf.Variable(0)\n"
        "h = tf.distribute.experimental.PreemptionCheckpointHandler(\n"
        "    None, tf.train.Checkpoint(v=v), sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "while True: h.run(lambda: time.sleep(0.01))\n"
    )
    script = tmp_path / "train.py"
    script.write_text(code)
    arguments = ["launch", "-n", "1", "--restarts", "3", str(script), str(tmp_path / "saved")]
    command = [sys.executable, "-m", "weft", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        for line in launcher.stdout:
            if "ready" in line:
                launcher.send_signal(signal.SIGTERM)
                break
        rest = launcher.stdout.read()
        assert launcher.wait(60) == 42
    assert "starts again" not in rest
    assert list((tmp_path / "saved").glob("ckpt-1.index"))


# --- in this process -----------------------------------------------------------------------------


def handler(folder: Path, config: Any = None, **objects: Any) -> Any:
    return E.PreemptionCheckpointHandler(None, tf.train.Checkpoint(**objects), folder, config)


def test_a_program_may_go_on(tmp_path: Path) -> None:
    v, saved, ended = tf.Variable(0), [], []
    config = E.TerminationConfig(
        exit_fn=lambda: ended.append(int(v)),
        save_fn=lambda *args, **kwargs: saved.append((int(v), args, kwargs)),
    )
    made = handler(tmp_path / "never", config, v=v)
    before = signal.getsignal(signal.SIGTERM)
    try:
        for i in range(5):
            if i in (1, 3):
                signal.raise_signal(signal.SIGTERM)
            made.run(lambda: v.assign_add(1))
        signal.raise_signal(signal.SIGTERM)
        made.save_checkpoint_if_preempted(1, x=2)
    finally:
        made.close()
    assert ended == [1, 3, 5]
    assert saved == [(1, (), {}), (3, (), {}), (5, (1,), {"x": 2})]
    assert made.total_run_calls == 5
    assert not (tmp_path / "never").exists()
    assert signal.getsignal(signal.SIGTERM) != before


def test_a_manager_keeps_what_it_keeps(tmp_path: Path) -> None:
    v = tf.Variable(3)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=2)
    config = E.TerminationConfig(exit_fn=lambda: None)
    made = E.PreemptionCheckpointHandler(None, manager, termination_config=config)
    try:
        for _ in range(3):
            signal.raise_signal(signal.SIGTERM)
            made.run(lambda: v.assign_add(1))
    finally:
        made.close()
    assert len(manager.checkpoints) == 2
    v.assign(0)
    again = E.PreemptionCheckpointHandler(None, manager)
    again.close()
    assert (v.numpy(), again.total_run_calls) == (5, 2)


def test_wrong_use(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs checkpoint_dir"):
        E.PreemptionCheckpointHandler(None, checkpoint)
    with pytest.raises(TypeError, match="a tf.train.Checkpoint or a tf.train.CheckpointManager"):
        E.PreemptionCheckpointHandler(None, tf.Variable(1), tmp_path)
    with pytest.raises(TypeError, match="exit_fn must be a function, got 3"):
        E.TerminationConfig(exit_fn=3)
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        E.TerminationConfig(grace_period=-1)
    made = handler(tmp_path, v=tf.Variable(1))
    with made.watch_preemption_scope(), pytest.raises(NotImplementedError, match="nobody counts"):
        print(made.total_run_calls)
    made.close()
    problems: list[Exception] = []

    def in_a_thread() -> None:
        try:
            handler(tmp_path, v=tf.Variable(1))
        except RuntimeError as error:
            problems.append(error)

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert "must be made in the main thread" in str(problems[0])


def test_a_watcher_works_in_any_thread(tmp_path: Path) -> None:
    ended: list[float] = []
    config = E.TerminationConfig(
        termination_watcher_fn=lambda: True, exit_fn=lambda: ended.append(time.monotonic())
    )

    def train() -> None:
        made = handler(tmp_path, config, v=tf.Variable(1))
        deadline = time.monotonic() + 30
        while not ended and time.monotonic() < deadline:
            made.run(lambda: time.sleep(0.01))
        made.close()

    thread = threading.Thread(target=train)
    thread.start()
    thread.join(60)
    assert len(ended) == 1
