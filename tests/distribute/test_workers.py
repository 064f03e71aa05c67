"""Several processes: collectives over sockets, and what happens when one of them fails."""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from support import replica_programs as programs, worker_program
from weft._src.core.flags import flags
from weft._src.distribute.process_group import ProcessGroup
from weft._src.distribute.worker_replicas import check_alike
from weft._src.execution.xla import runtime
from weft._src.tools import launch as launching
from weft._src.tools.launch import free_ports, launch, tf_config
from weft.errors import UnavailableError, UnsupportedError

WORKER = Path(worker_program.__file__)


def addresses(count: int) -> list[str]:
    return [f"127.0.0.1:{port}" for port in free_ports(count)]


def together(count: int, work: Callable[[ProcessGroup], Any], **options: Any) -> list[Any]:
    """What members of a group give, or raise; here they are threads."""
    places = addresses(count)
    results: list[Any] = [None] * count

    def member(number: int) -> None:
        group = None
        try:
            group = ProcessGroup(places, number, **{"join_seconds": 20.0, **options})
            results[number] = work(group)
        except Exception as error:  # noqa: BLE001 - compared by the test
            results[number] = error
        finally:
            if group is not None:
                group.close()

    threads = [threading.Thread(target=member, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


# --- collectives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64, tf.bfloat16.as_numpy_dtype])
def test_sums_and_means(dtype: Any) -> None:
    def work(group: ProcessGroup) -> list[Any]:
        mine = [np.full((2, 3), group.number + 1).astype(dtype), np.array(group.number, dtype)]
        total = group.all_reduce(group.number, mine, "SUM")
        first = group.all_reduce(group.number, mine, "FIRST")
        mean = group.all_reduce(group.number, mine[:1], "MEAN")
        return [*total, *first, *mean]

    for found in together(3, work):
        assert [x.dtype for x in found] == [dtype] * 5
        wanted = [np.full((2, 3), 6), 3, np.full((2, 3), 1), 0, np.full((2, 3), 2)]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, np.asarray(b).astype(dtype))


def test_joins_of_parts_that_differ() -> None:
    def work(group: ProcessGroup) -> Any:
        mine = np.arange(group.number + 1, dtype=np.int32)
        return [x.tolist() for (x,) in group.all_gather(group.number, [mine])]

    assert together(3, work) == [[[0], [0, 1], [0, 1, 2]]] * 3


def test_shapes_that_differ_are_an_error_for_all() -> None:
    def work(group: ProcessGroup) -> Any:
        return group.all_reduce(group.number, [np.zeros(group.number + 1)], "SUM")

    for error in together(2, work):
        assert isinstance(error, ValueError)
        assert "must have one shape" in str(error)


def test_different_collectives_are_an_error() -> None:
    def work(group: ProcessGroup) -> Any:
        if group.number:
            return group.all_gather(group.number, [np.zeros(1)])
        return group.all_reduce(group.number, [np.zeros(1)], "SUM")

    for error in together(2, work):
        assert "all must take part in the same collectives" in str(error)


# --- beginning -----------------------------------------------------------------------------------


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UnavailableError, match=f"cannot listen at {place}.* Is another job"):
            ProcessGroup([place, "127.0.0.1:1"], 0, join_seconds=5.0)


def test_a_worker_that_never_comes() -> None:
    places = addresses(2)
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=r"worker 1 \(127.0.0.1:\d+\) did not come in time"):
        ProcessGroup(places, 0, join_seconds=0.5)
    with pytest.raises(UnavailableError, match="worker 1 cannot reach worker 0"):
        ProcessGroup(places, 1, join_seconds=0.5)
    assert time.monotonic() - started < 10


def test_strangers_are_not_let_in() -> None:
    places = addresses(2)
    found: list[Any] = []

    def member(number: int, token: str) -> None:
        try:
            ProcessGroup(places, number, join_seconds=2.0, token=token).close()
        except UnavailableError as error:
            found.append(str(error))

    server = threading.Thread(target=member, args=(0, "right"))
    server.start()
    for _ in range(50):  # somebody who speaks another language, as soon as the port is open
        try:
            with socket.create_connection(("127.0.0.1", int(places[0].split(":")[1]))) as link:
                link.sendall(b"GET / HTTP/1.1\r\n\r\n")
            break
        except OSError:
            time.sleep(0.05)
    member(1, "wrong")
    server.join(30)
    assert "it belongs to another job" in found[0]
    assert "did not come in time" in found[1]


def test_what_a_program_must_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{nonsense")
    with pytest.raises(ValueError, match="TF_CONFIG must be JSON like"):
        tf.distribute.MultiWorkerMirroredStrategy()
    monkeypatch.setenv("TF_CONFIG", tf_config(["a:1", "b:1"], 7))
    with pytest.raises(ValueError, match="the task has index 7, and there are 2 workers"):
        tf.distribute.MultiWorkerMirroredStrategy()
    config = json.loads(tf_config(["a:1", "b:1"], 0))
    config["task"]["type"] = "ps"
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(UnsupportedError, match="it must be a 'chief' or a 'worker'"):
        tf.distribute.MultiWorkerMirroredStrategy()
    with pytest.raises(UnsupportedError, match="MultiWorkerMirroredStrategy trains on several"):
        tf.distribute.ParameterServerStrategy()


def test_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver
    with pytest.raises(RuntimeError, match="SLURM has not set 'SLURM_NTASKS'.* srun"):
        resolver()
    for name, value in {
        "SLURM_NTASKS": "5",
        "SLURM_PROCID": "3",
        "SLURM_STEP_NODELIST": "n[08-09],m1",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
    }.items():
        monkeypatch.setenv(name, value)
    found = resolver(port_base=70)
    assert found.cluster_spec().as_dict() == {
        "worker": ["n08:70", "n08:71", "n09:70", "n09:71", "m1:70"]
    }
    assert (found.task_type, found.task_id) == ("worker", 3)


# --- failing -------------------------------------------------------------------------------------


def test_a_worker_that_leaves() -> None:
    def work(group: ProcessGroup) -> Any:
        if group.number == 2:
            time.sleep(0.3)
            group.close()
            return None
        return group.all_reduce(group.number, [np.zeros(3)], "SUM")

    started = time.monotonic()
    first, second, _ = together(3, work)
    assert time.monotonic() - started < 10
    for error in (first, second):
        assert isinstance(error, UnavailableError)
        assert "Start the job again" in str(error)
    assert "the connection to worker 2 is lost" in str(first)


def test_a_worker_that_is_stopped() -> None:
    """SIGSTOP closes no connection: only its silence tells."""
    places = addresses(2)
    code = (
        "import sys, json, numpy as np\n"
        "from weft._src.distribute.process_group import ProcessGroup\n"
        "group = ProcessGroup(json.loads(sys.argv[1]), 1)\n"
        "print('here', flush=True)\n"
        "group.all_reduce(1, [np.ones(2)], 'SUM'); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, json.dumps(places)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    with other:
        group = ProcessGroup(places, 0, heartbeat_seconds=1.5, join_seconds=30.0)
        assert other.stdout is not None
        other.stdout.readline()
        assert group.all_reduce(0, [np.ones(2)], "SUM")[0].tolist() == [2.0, 2.0]
        other.send_signal(signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(UnavailableError, match="worker 1 was silent for 1.5 s"):
            group.all_reduce(0, [np.ones(2)], "SUM")
        assert time.monotonic() - started < 10
        other.kill()


# --- jobs ----------------------------------------------------------------------------------------


def job(*arguments: str, count: int = 2, restarts: int = 0) -> tuple[int, str]:
    out = io.StringIO()
    code = launch([sys.executable, *arguments], count, restarts, out)
    return code, out.getvalue()


def test_training_equals_one_process(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, json\n"
        f"sys.path.insert(0, {str(WORKER.parents[1])!r})\n"
        "import weft as tf\n"
        "from support import replica_programs as programs\n"
        "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n"
        "print(json.dumps(programs.flat(programs.training(strategy, batch=8))))\n"
        "keras = tf.keras\n"
        "keras.utils.set_random_seed(3)\n"
        "x = tf.random.stateless_normal([32, 4], [1, 2]).numpy()\n"
        "with strategy.scope():\n"
        "    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])\n"
        "    model.compile('sgd', 'mse')\n"
        "history = model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0, shuffle=False)\n"
        "print(json.dumps(history.history['loss']))\n"
    )
    code, text = job(str(script))
    assert code == 0, text
    lines = [line.partition("] ")[2] for line in text.splitlines()]
    assert len(set(lines)) == 2  # both workers say the same
    code, text = job(str(script), count=1)
    alone = [line.partition("] ")[2] for line in text.splitlines()]
    for line, wanted in zip(sorted(set(lines), key=len), sorted(alone, key=len), strict=True):
        for a, b in zip(json.loads(line), json.loads(wanted), strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-5)


@pytest.mark.parametrize("kind", ["workers", "xla_workers"])
def test_workers_with_several_replicas(kind: str) -> None:
    """Two workers with two replicas each against four in one process."""
    if kind == "xla_workers" and not runtime.spans_processes():
        pytest.skip("jax 0.12 is needed, and Python 3.12 for that")
    names = ["training", "aggregation", "collectives", "random_numbers", "loops_over_datasets"]
    code, text = job(programs.__file__, ",".join(names), "2", kind)
    assert code == 0, text
    lines = [line for line in text.splitlines() if "Gloo" not in line]  # what jax says
    found = [[json.loads(x[4:]) for x in lines if x.startswith(f"[{i}] [")] for i in (0, 1)]
    strategy = programs.strategy_of(4)
    functions = programs.PROGRAMS | {"loops_over_datasets": programs.loops_over_datasets}
    wanted = [programs.flat(functions[name](strategy)) for name in names]
    programs.strategy_of(1)

    def check(i: int, first: Any, second: Any) -> None:
        for a, b in zip([*first, *second], wanted[i], strict=True):
            np.testing.assert_allclose(a, b, 2e-5, 2e-5, err_msg=names[i])

    assert found[0][0] == found[1][0]  # what all have together is the same to the last bit
    check(0, found[0][0], [])
    # What replicas have of their own, and then what all have.
    check(1, found[0][1][:4], found[1][1])
    check(2, found[0][2][:8], found[1][2])
    for call in range(3):
        own = [worker[3][4 * call : 4 * call + 4] for worker in found]
        for a, b in zip([*own[0], *own[1]], wanted[3][8 * call : 8 * call + 8], strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    np.testing.assert_allclose(found[1][4][:2], wanted[4][:2], rtol=1e-5)


def test_what_workers_cannot_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config(addresses(2), 0))
    monkeypatch.setattr(flags, "execution", "xla")
    monkeypatch.setattr(runtime, "version", lambda: "0.10.2")
    cpu = tf.config.list_physical_devices("CPU")[0]
    one = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(cpu, [one] * 2)
    try:
        with pytest.raises(UnsupportedError, match="has 2 devices, and jax 0.10.2 hangs with sev"):
            tf.distribute.MultiWorkerMirroredStrategy()
    finally:
        tf.config.set_logical_device_configuration(cpu, [one])
    for error in together(2, lambda group: check_alike((group, group.number), group.number + 1)):
        assert "must have the same number of devices; they have 1, 2" in str(error)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
def test_a_lost_worker_and_the_job_that_goes_on(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_HEARTBEAT_SECONDS", "3")
    monkeypatch.setattr(launching, "_GRACE", 1.0)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    started = time.monotonic()
    code, text = job(str(WORKER), str(whole), "-1", how)
    assert code == 0, text
    took = time.monotonic() - started
    wanted = [line for line in text.splitlines() if "final" in line]
    started = time.monotonic()
    code, text = job(str(WORKER), str(broken), "7", how, restarts=1)
    assert code == 0, text
    # Two starts and a silence, not an endless one; how long a start takes is the machine's matter.
    assert time.monotonic() - started < 30 + 4 * took
    if how == "SIGKILL":
        assert "worker 1 was killed by SIGKILL; the others were ended." in text
    else:
        assert "worker 1 was silent for 3 s" in text
        assert "worker 1 did not react any more; all were ended." in text
    assert "the job starts again (1 of 1)" in text
    assert re.search("goes on at [67]", text)  # whether worker 0 could save step 7 is chance
    assert sorted(line for line in text.splitlines() if "final" in line) == sorted(wanted)


def test_an_error_of_the_program_ends_the_job(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "import json, os, sys, time\n"
        "if json.loads(os.environ['TF_CONFIG'])['task']['index'] == 1: sys.exit(3)\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    code, text = job(str(script), restarts=5)
    assert (code, time.monotonic() - started < 20) == (3, True)
    assert text == "weft launch: worker 1 ended with exit code 3; the others were ended.\n"


def test_the_line_for_several_machines(capsys: pytest.CaptureFixture[str]) -> None:
    from weft._src.tools.cli import main

    assert main(["launch", "-n", "2", "--print-command", "train.py", "--rate", "3"]) == 0
    text = capsys.readouterr().out
    assert '"worker": ["HOST0:12345", "HOST1:12345"]' in text
    assert text.rstrip().endswith("train.py --rate 3")
