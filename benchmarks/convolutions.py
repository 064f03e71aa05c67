"""Convolutions of ResNet-50 and MobileNetV2, forward and backward, beside TensorFlow and torch.

A ratio is the time of the better peer to Weft's: the libraries take turns, and the best of some
short rounds counts. `python -m benchmarks.convolutions --batch 1,8,32` prints every layer, with the
geometric mean and the worst of each group; as a group of `python -m benchmarks` it takes a batch
of 8 and prints these only. "Backward" are both gradients of a layer. With `--threads 1` processor
time is compared.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from dataclasses import dataclass

from benchmarks.harness import Peers, Row, Session, in_turns, microseconds

ROUNDS, SECONDS = 5, 0.04
KINDS = ("forward", "backward")


@dataclass(frozen=True)
class Layer:
    """A square image, its channels, those of the result, the window and how far it moves."""

    net: str
    size: int
    inputs: int
    outputs: int
    window: int = 1
    stride: int = 1
    depthwise: bool = False

    @property
    def title(self) -> str:
        """What it is called in tables."""
        kind = "depthwise" if self.depthwise else f"to {self.outputs}"
        step = f"/{self.stride}" if self.stride > 1 else ""
        return f"{self.window}x{self.window}{step} {self.size}x{self.size}x{self.inputs} {kind}"

    @property
    def group(self) -> str:
        """Which kind of work it is."""
        if self.depthwise:
            return "depthwise"
        return "1x1" if self.window == 1 else f"{self.window}x{self.window}"

    @property
    def text(self) -> str:
        """As the arguments of `prepare`."""
        pad = (self.window - 1) // 2
        sizes = (self.size, self.inputs, self.outputs, self.window, self.stride, pad)
        return f"{sizes}, {self.depthwise}"


def _net(name: str, rows: list[tuple[int, ...]]) -> list[Layer]:
    return [Layer(name, *row[:5], depthwise=row[2] == 0) for row in rows]


# size, inputs, outputs (0: depthwise), window, stride
RESNET = _net("ResNet-50", [
    (224, 3, 64, 7, 2),
    (56, 64, 64, 1), (56, 64, 64, 3), (56, 64, 256, 1), (56, 256, 64, 1),
    (56, 256, 128, 1, 2), (28, 128, 128, 3), (28, 128, 512, 1), (28, 512, 128, 1),
    (56, 256, 512, 1, 2), (28, 512, 256, 1, 2), (14, 256, 256, 3), (14, 256, 1024, 1),
    (14, 1024, 256, 1), (28, 512, 1024, 1, 2), (14, 1024, 512, 1, 2), (7, 512, 512, 3),
    (7, 512, 2048, 1), (7, 2048, 512, 1), (14, 1024, 2048, 1, 2),
])  # fmt: skip
MOBILENET = _net("MobileNetV2", [
    (224, 3, 32, 3, 2), (112, 32, 0, 3), (112, 32, 16, 1), (112, 16, 96, 1), (112, 96, 0, 3, 2),
    (56, 96, 24, 1), (56, 24, 144, 1), (56, 144, 0, 3), (56, 144, 24, 1), (56, 144, 0, 3, 2),
    (28, 144, 32, 1), (28, 32, 192, 1), (28, 192, 0, 3), (28, 192, 32, 1), (28, 192, 0, 3, 2),
    (14, 192, 64, 1), (14, 64, 384, 1), (14, 384, 0, 3), (14, 384, 64, 1), (14, 384, 96, 1),
    (14, 96, 576, 1), (14, 576, 0, 3), (14, 576, 96, 1), (14, 576, 0, 3, 2), (7, 576, 160, 1),
    (7, 160, 960, 1), (7, 960, 0, 3), (7, 960, 160, 1), (7, 960, 320, 1), (7, 320, 1280, 1),
])  # fmt: skip
LAYERS = [*RESNET, *MOBILENET]

_ARRAYS = """
import numpy as np
def arrays(batch, size, inputs, outputs, window, stride, pad, depthwise):
    rng = np.random.default_rng(0)
    f = lambda *shape: rng.standard_normal(shape, dtype='float32')
    out = (size + 2 * pad - window) // stride + 1
    last = (inputs, 1) if depthwise else (inputs, outputs)
    results = inputs if depthwise else outputs
    return f(batch, size, size, inputs), f(window, window, *last), f(batch, out, out, results)
"""
_TF = """
tf.config.threading.set_intra_op_parallelism_threads(THREADS)
def prepare(batch, kind, sizes, depthwise):
    x, w, g = map(tf.constant, arrays(batch, *sizes, depthwise))
    stride, pad = sizes[-2:]
    strides, padding = [1, stride, stride, 1], [[0, 0], [pad, pad], [pad, pad], [0, 0]]
    if depthwise:
        forward = lambda x, w: tf.nn.depthwise_conv2d(x, w, strides, padding)
        kind_of = tf.raw_ops.DepthwiseConv2dNativeBackpropInput, \\
            tf.raw_ops.DepthwiseConv2dNativeBackpropFilter
    else:
        forward = lambda x, w: tf.nn.conv2d(x, w, strides, padding)
        kind_of = tf.raw_ops.Conv2DBackpropInput, tf.raw_ops.Conv2DBackpropFilter
    options = dict(strides=strides, padding='EXPLICIT' if pad else 'VALID')
    if pad:
        options['explicit_paddings'] = [0, 0, pad, pad, pad, pad, 0, 0]
    def backward(x, w, g):
        dx = kind_of[0](input_sizes=tf.shape(x), filter=w, out_backprop=g, **options)
        return dx, kind_of[1](input=x, filter_sizes=tf.shape(w), out_backprop=g, **options)
    if kind == 'forward':
        fn, given = tf.function(forward, jit_compile=JIT), (x, w)
    else:
        fn, given = tf.function(backward, jit_compile=JIT), (x, w, g)
    global call
    call = lambda: fn(*given)
    call()
"""
_TORCH = """
import torch
torch.set_num_threads(THREADS)
def prepare(batch, kind, sizes, depthwise):
    x, w, g = map(torch.tensor, arrays(batch, *sizes, depthwise))
    inputs, stride, pad = sizes[1], *sizes[-2:]
    x, g = [v.permute(0, 3, 1, 2) for v in (x, g)]
    w = w.permute(2, 3, 0, 1) if depthwise else w.permute(3, 2, 0, 1)
    form = torch.contiguous_format if FIRST else torch.channels_last
    x, w, g = [v.contiguous(memory_format=form) for v in (x, w, g)]
    groups = inputs if depthwise else 1
    def forward():
        return torch.conv2d(x, w, None, stride, pad, 1, groups)
    def backward():
        return torch.ops.aten.convolution_backward(
            g, x, w, None, [stride, stride], [pad, pad], [1, 1], False, [0, 0], groups,
            [True, True, False])
    global call
    call = torch.inference_mode()(forward if kind == 'forward' else backward)
    call()
"""


def _setups(threads: int) -> dict[str, tuple[str, str]]:
    """The interpreter and the setup of each that takes part."""
    texts = {
        "weft": ("weft", f"import weft as tf{_ARRAYS}{_TF}".replace("JIT", "True")),
        "TensorFlow": (
            "tensorflow", f"import tensorflow as tf{_ARRAYS}{_TF}".replace("JIT", "None")
        ),
        "torch": ("torch", f"{_ARRAYS}{_TORCH}".replace("FIRST", "False")),
        "torch, channels first": ("torch", f"{_ARRAYS}{_TORCH}".replace("FIRST", "True")),
    }  # fmt: skip
    return {
        who: (python, text.replace("THREADS", str(threads)))
        for who, (python, text) in texts.items()
    }


@dataclass
class Cell:
    """What was measured for one layer."""

    layer: Layer
    batch: int
    kind: str
    times: dict[str, float]

    @property
    def ratio(self) -> float | None:
        """The time of the better peer to Weft's."""
        others = [t for who, t in self.times.items() if who != "weft"]
        return min(others) / self.times["weft"] if others else None

    @property
    def line(self) -> str:
        """As a line of a table."""
        ratio = "   -  " if self.ratio is None else f"{self.ratio:5.2f}x"
        shown = ", ".join(f"{who} {microseconds(t)}" for who, t in self.times.items())
        return f"{ratio}  {self.batch:3} {self.kind:8}  {self.layer.title:32} {shown}"


def measure(
    peers: Peers, layers: list[Layer], batches: list[int], kinds: list[str], threads: int = 2
) -> list[Cell]:
    """A cell for each layer, batch and kind; printed as they come."""
    here = Peers({"weft": sys.executable, **peers.interpreters})
    cells = []
    with contextlib.ExitStack() as stack:
        sessions: dict[str, Session] = {}
        for who, (python, setup) in _setups(threads).items():
            session = stack.enter_context(here.session(python, setup))
            if session is not None:
                session.clock = "process_time" if threads == 1 else "perf_counter"
                sessions[who] = session
        for batch in batches:
            for layer in layers:
                for kind in kinds:
                    timers = {}
                    for who, session in sessions.items():
                        session.time(f"prepare({batch}, {kind!r}, {layer.text})", 1)
                        timers[who] = session.timer("call()", SECONDS)
                    cell = Cell(layer, batch, kind, in_turns(timers, ROUNDS))
                    print(cell.line, flush=True)
                    cells.append(cell)
    return cells


def summary(cells: list[Cell]) -> list[Row]:
    """The geometric mean and the worst of each net, batch and kind, and of each kind of work."""
    rows = []
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        where = f"batch {cell.batch}, {cell.kind}"
        groups.setdefault(f"convolutions of {cell.layer.net}, {where}", []).append(cell)
    for cell in cells:
        groups.setdefault(f"convolutions {cell.layer.group}, {cell.kind}", []).append(cell)
    for name, found in groups.items():
        ratios = [cell.ratio for cell in found if cell.ratio is not None]
        if not ratios:
            rows.append(Row(name, None, ">= 1"))
            continue
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        worst = min(found, key=lambda cell: cell.ratio or 0.0)
        detail = f"geometric mean of {len(ratios)}; worst {worst.ratio:.2f}x, {worst.layer.title}"
        rows.append(Row(name, mean, ">= 1", detail))
    return rows


def run(peers: Peers) -> list[Row]:
    """The summary of a batch of 8."""
    return summary(measure(peers, LAYERS, [8], list(KINDS)))


def main() -> None:
    """Every layer, then the summary."""
    from benchmarks.harness import print_table

    parser = argparse.ArgumentParser(prog="python -m benchmarks.convolutions", description=__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--batch", default="1,8,32")
    parser.add_argument("--kind", default=",".join(KINDS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="layers whose title contains this")
    options = parser.parse_args()
    peers = Peers(dict(item.split("=", 1) for item in options.peer))
    wanted = options.only.split(",")
    layers = [
        layer for layer in LAYERS
        if any(w in f"{layer.net} {layer.group} {layer.title}" for w in wanted)
    ]  # fmt: skip
    batches = [int(batch) for batch in options.batch.split(",")]
    cells = measure(peers, layers, batches, options.kind.split(","), options.threads)
    print_table(summary(cells))


if __name__ == "__main__":
    main()
