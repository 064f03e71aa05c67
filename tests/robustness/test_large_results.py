"""What does not fit into memory is refused before it is made, with its shape, dtype and size."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft._src.core import memory

N = 2**20
EXHAUSTED = tf.errors.ResourceExhaustedError
CLAIMED = tf.make_tensor_proto(1.0, shape=[N]).SerializeToString()

# Each makes at least four megabytes out of next to nothing.
CASES: dict[str, Callable[[], Any]] = {
    "eye": lambda: tf.eye(N),
    "fill": lambda: tf.fill([N], 1.0),
    "zeros": lambda: tf.zeros([N, 2]),
    "strings": lambda: tf.zeros([N], tf.string),
    "range": lambda: tf.range(N),
    "range of floats": lambda: tf.range(0.0, 1.0, 1e-6),
    "linspace": lambda: tf.linspace(0.0, 1.0, N),
    "tile": lambda: tf.tile([1.0, 2.0], [N]),
    "repeat": lambda: tf.repeat([1.0, 2.0], N),
    "pad": lambda: tf.pad([1.0], [[N, 0]]),
    "one_hot": lambda: tf.one_hot([1, 2], N),
    "diag": lambda: tf.linalg.diag(tf.fill([2**14], 1.0)),
    "tensor_diag": lambda: tf.linalg.tensor_diag(tf.fill([2**14], 1.0)),
    "sum of a row and a column": lambda: tf.fill([2**15, 1], 1.0) + tf.fill([1, 2**15], 1.0),
    "matmul": lambda: tf.matmul(tf.fill([2**13, 1], 1.0), tf.fill([1, 2**13], 1.0)),
    "einsum": lambda: tf.einsum("i,j->ij", tf.fill([2**13], 1.0), tf.fill([2**13], 1.0)),
    "tensordot": lambda: tf.tensordot(tf.fill([2**13], 1.0), tf.fill([2**13], 1.0), 0),
    "random.normal": lambda: tf.random.normal([N]),
    "stateless_uniform": lambda: tf.random.stateless_uniform([N], [1, 2]),
    "gamma": lambda: tf.random.gamma([N], 1.0),
    "poisson": lambda: tf.random.poisson([N], 1.0),
    "categorical": lambda: tf.random.categorical([[0.5, 0.5]], N),
    "sequence_mask": lambda: tf.sequence_mask([1, 2], 8 * N),
    "sparse.to_dense": lambda: tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], [N])),
    "bincount": lambda: tf.math.bincount([1], minlength=N),
    "histogram": lambda: tf.histogram_fixed_width([0.5], [0.0, 1.0], nbins=N),
    "scatter_nd": lambda: tf.scatter_nd([[1]], [1.0], [N]),
    "unsorted_segment_sum": lambda: tf.math.unsorted_segment_sum([1.0], [0], N),
    "segment_sum": lambda: tf.math.segment_sum([1.0], [N]),
    "dynamic_stitch": lambda: tf.dynamic_stitch([[0, N]], [[1.0, 2.0]]),
    "decode_raw": lambda: tf.io.decode_raw(b"ab", tf.uint8, fixed_length=4 * N),
    "parse_tensor": lambda: tf.io.parse_tensor(CLAIMED, tf.float32),
    "rfft": lambda: tf.signal.rfft([1.0], [2 * N]),
    "frame": lambda: tf.signal.frame(tf.fill([2**15], 1.0), 2**12, 1),
    "confusion_matrix": lambda: tf.math.confusion_matrix([1], [2**14]),
    "ragged.range": lambda: tf.ragged.range([N]).values,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _little_memory() -> Iterator[None]:
    with memory.limited_to(2**21):
        yield


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "graph"])
def test_refused(name: str, traced: bool) -> None:
    function = tf.function(CASES[name]) if traced else CASES[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(EXHAUSTED, match=r"a result of shape .* and dtype .* takes .*iB, but 2.0 M"):
        function()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024  # KiB


@pytest.mark.parametrize("method", ["nearest", "bilinear", "area", "lanczos3", "bicubic"])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "graph"])
def test_resized(method: str, traced: bool) -> None:
    def resized(x: Any) -> Any:
        return tf.image.resize(x, [N, 3], method)

    function = tf.function(resized) if traced else resized
    with pytest.raises(EXHAUSTED, match=r"a result .* takes .*iB, but 2.0 M"):
        function(tf.ones([1, 2, 3, 1]))


def test_the_text() -> None:
    text = (
        r"fill: a result of shape \[1048576, 3\] and dtype float64 takes 24.0 MiB, but 2.0 MiB of "
        r"memory are available. Make it smaller, or in parts."
    )
    with pytest.raises(EXHAUSTED, match=text):
        tf.fill([N, 3], tf.constant(1.0, tf.float64))


def test_sizes_that_are_known_at_the_call_only() -> None:
    function = tf.function(lambda n: tf.fill([n], 1.0), jit_compile=False)
    assert function(tf.constant(3)).shape == [3]
    with pytest.raises(EXHAUSTED, match=r"fill: a result of shape \[1048576\]"):
        function(tf.constant(N))


@pytest.mark.parametrize("body", ["cond", "while"])
def test_in_branches_and_loops(body: str) -> None:
    @tf.function
    def function(n: Any) -> Any:
        x = tf.constant(0.0)
        if body == "cond":
            if n > 3:
                x = tf.reduce_sum(tf.fill([n, 2], 1.0))
        else:
            for _ in tf.range(2):
                x += tf.reduce_sum(tf.fill([n, 2], 1.0))
        return x

    function(tf.constant(2))
    with pytest.raises(EXHAUSTED, match="fill: a result of shape"):
        function(tf.constant(N))


def test_machine_code() -> None:
    @tf.function(jit_compile=True)
    def function(x: Any) -> Any:
        return x[:, None] * x[None, :]

    with pytest.raises(EXHAUSTED, match=r"Mul: .* \[2048, 2048\] and dtype float32") as caught:
        function(tf.fill([2**11], 1.0))
    assert str(caught.value).endswith("in function\n      return x[:, None] * x[None, :]")
    assert function(tf.fill([5], 2.0)).numpy().sum() == 100


def test_machine_code_of_a_trace_whose_sizes_are_unknown() -> None:
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
    def function(x: Any) -> Any:
        return x[:, None] * x[None, :]

    assert function(tf.fill([5], 2.0)).numpy().sum() == 100
    with pytest.raises(EXHAUSTED, match=r"Mul: .* \[2048, 2048\] and dtype float32") as caught:
        function(tf.fill([2**11], 1.0))
    assert str(caught.value).endswith("in function\n      return x[:, None] * x[None, :]")


def test_views_take_no_memory() -> None:
    wide = tf.broadcast_to(1.0, [N, 100])
    assert tf.reshape(wide, [100, N])[3, 5].numpy() == 1
    assert tf.transpose(wide).shape == [100, N]


def test_batches() -> None:
    element = tf.constant([1.0])
    padded = tf.data.Dataset.from_tensors(element).repeat(2).padded_batch(2, [N])
    with pytest.raises(EXHAUSTED, match=r"padded_batch: a result of shape \[2, 1048576\]"):
        next(iter(padded))


def test_compressed_data_that_swells() -> None:
    with pytest.raises(EXHAUSTED, match="decode_compressed: a result of more than"):
        tf.io.decode_compressed(zlib.compress(bytes(2**24)), "ZLIB")


def test_a_claimed_shape_costs_no_more_than_it_has() -> None:
    # A list of Python numbers would take a hundred times this memory, and a minute.
    with memory.limited_to(2**40):
        claimed = tf.make_tensor_proto(1.5, shape=[2**22]).SerializeToString()
        assert len(claimed) < 30
        assert tf.io.parse_tensor(claimed, tf.float32).numpy()[-1] == 1.5


# --- what there is -------------------------------------------------------------------------------


@contextlib.contextmanager
def system(monkeypatch: pytest.MonkeyPatch, root: Path, files: dict[str, str]) -> Iterator[None]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(memory, "_MACHINE", root / "meminfo")
    monkeypatch.setattr(memory, "_PROCESS", root / "self")
    monkeypatch.setattr(memory, "_CONTROL_GROUPS", root / "cgroup")
    with memory.limited_to(2**62):
        yield


MACHINE = {"meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\nSwapFree: 500 kB\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8500 * 1024),
        (  # the group around has less left than the inner one, and pages that can be dropped
            {
                "self/cgroup": "0::/a/b\n",
                "cgroup/a/b/memory.max": "max\n",
                "cgroup/a/memory.max": "4000000\n",
                "cgroup/a/memory.current": "3000000\n",
                "cgroup/a/memory.stat": "anon 5\ninactive_file 200000\n",
            },
            1200000,
        ),
        (  # seen from inside of a container
            {
                "self/cgroup": "0::/not/here\n",
                "cgroup/memory.max": "2000000\n",
                "cgroup/memory.current": "500000\n",
            },
            1500000,
        ),
        (
            {
                "self/cgroup": "9:cpu:/x\n4:memory:/docker/1\n",
                "cgroup/memory/docker/1/memory.limit_in_bytes": "3000000\n",
                "cgroup/memory/docker/1/memory.usage_in_bytes": "1000000\n",
            },
            2000000,
        ),
        (  # more in use than allowed
            {
                "self/cgroup": "0::/\n",
                "cgroup/memory.max": "1000\n",
                "cgroup/memory.current": "2000\n",
            },
            0,
        ),
    ],
)
def test_available(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str], expected: int
) -> None:
    with system(monkeypatch, tmp_path, MACHINE | files):
        assert memory.available() == expected


def test_nothing_is_refused_where_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with system(monkeypatch, tmp_path, {}):
        assert memory.available() == 2**62


def test_the_limit_of_a_process() -> None:
    script = """
import resource
import weft as tf
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
try:
    tf.zeros([2**33])
except tf.errors.ResourceExhaustedError as error:
    print(str(error).partition("\\n")[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "fill: a result of shape [8589934592] and dtype float32 takes 32.0 GiB, but "
    )
