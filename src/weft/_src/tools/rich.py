"""What notebooks show: tensors with range and picture, functions, graphs, datasets, modules.

Every piece is HTML that stands alone and takes its colours from the page around it, light or dark.
"""

from __future__ import annotations

import base64
import html as html_text
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft._src.core.tensor import Array, EagerTensor
from weft._src.data.core.base import DatasetBase
from weft._src.data.core.stage import INFINITE, UNKNOWN, Stage
from weft._src.data.core.traced import Call
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.explain import explain
from weft._src.function.methods import BoundFunction
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.graph.ir import Graph
from weft._src.graph.printer import type_text
from weft._src.media import png_writing
from weft._src.state.module import Module
from weft._src.state.variable import Variable
from weft._src.tools.drawing import graph_svg

_MOST_ROWS, _MOST_COLUMNS = 8, 8
_SMALLEST_PICTURE, _LARGEST_PICTURE = 8, 4096  # pixels along a side
_SHOWN_PIXELS = 160
_MOST_NODES = 200  # that are drawn
_BORDER = "border:1px solid color-mix(in srgb,currentColor 25%,transparent)"
_CELL = f"{_BORDER};padding:2px 8px;text-align:right"
_SOFT = "opacity:.7"


def html(value: Any) -> str | None:
    """What to show of a value; None if there is nothing better than its text."""
    for kind, show in _SHOWN:
        if isinstance(value, kind):
            return show(value)
    return None


def _escaped(text: Any) -> str:
    return html_text.escape(str(text))


def _titled(title: str, *parts: str) -> str:
    return f"<div><div><b>{_escaped(title)}</b></div>{''.join(parts)}</div>"


def _soft(text: str) -> str:
    return f'<div style="{_SOFT}">{_escaped(text)}</div>'


# --- tensors -------------------------------------------------------------------------------------


def _tensor(tensor: EagerTensor) -> str | None:
    if not tensor.dtype.is_numpy_compatible:
        return None
    return _titled(f"tf.Tensor {tensor.dtype.name} {tensor.shape}", *_of_array(tensor._value))


def _variable(variable: Variable) -> str | None:
    if not isinstance(variable.handle, EagerTensor):
        return None  # of a graph: it has no value
    kind = "trainable" if variable.trainable else "not trainable"
    title = f"tf.Variable {variable.name!r} {variable.dtype.name} {variable.shape}, {kind}"
    return _titled(title, *_of_array(np.asarray(variable.numpy())))


def _of_array(array: Array) -> Iterator[str]:
    told = _range(array)
    if told:
        yield _soft(told)
    picture = _picture(array)
    if picture is not None:
        yield picture
    elif array.ndim <= 2 and array.size:
        yield _table(array)
    else:
        text = np.array2string(array, threshold=60, edgeitems=2, max_line_width=100)
        yield f"<pre>{_escaped(text)}</pre>"


def _range(array: Array) -> str:
    """The smallest, largest and mean value, and how many are none."""
    if array.dtype.kind not in "iufb" or array.size < 2:
        return ""
    values = array.astype(np.float64) if array.dtype.kind != "f" else array
    fine = values[np.isfinite(values)]
    if not fine.size:
        return "no finite values"
    told = f"from {np.min(fine):.6g} to {np.max(fine):.6g}, mean {np.mean(fine):.6g}"
    odd = array.size - fine.size
    return told if not odd else f"{told}; {odd} of {array.size} are NaN or infinite"


def _table(array: Array) -> str:
    """Numbers in rows and columns; of large tables the corners."""
    rows = array.reshape(1, -1) if array.ndim < 2 else array
    down, across = _places(rows.shape[0], _MOST_ROWS), _places(rows.shape[1], _MOST_COLUMNS)
    lines = []
    for i in down:
        cells = ["…" if i is None or j is None else _number(rows[i, j]) for j in across]
        lines.append("".join([f'<td style="{_CELL}">{_escaped(cell)}</td>' for cell in cells]))
    body = "".join([f"<tr>{line}</tr>" for line in lines])
    return f'<table style="border-collapse:collapse">{body}</table>'


def _places(size: int, most: int) -> list[int | None]:
    if size <= most:
        return list(range(size))
    half = most // 2
    return [*range(half), None, *range(size - half, size)]


def _number(value: Any) -> str:
    if isinstance(value, bytes):
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:37]}..."
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _picture(array: Array) -> str | None:
    """An image, if the shape and the numbers are those of one."""
    pixels = _pixels(array)
    if pixels is None:
        return None
    data = base64.b64encode(png_writing.encode(pixels)).decode("ascii")
    height, width = pixels.shape[:2]
    scale = max(1, _SHOWN_PIXELS // max(height, width))
    return (
        f'<img alt="the tensor as an image of {width} x {height} pixels" '
        f'width="{width * scale}" style="image-rendering:pixelated;max-width:100%" '
        f'src="data:image/png;base64,{data}"/>'
    )


def _pixels(array: Array) -> Array | None:
    """Bytes of height, width and channels; None if it is no image."""
    if array.ndim == 2 and array.dtype == np.uint8:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.shape[-1] not in (1, 3, 4):
        return None
    if not all(_SMALLEST_PICTURE <= side <= _LARGEST_PICTURE for side in array.shape[:2]):
        return None
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "f" and array.size and array.min() >= 0.0 and array.max() <= 1.0:
        return np.rint(np.ascontiguousarray(array) * 255).astype(np.uint8)
    return None


# --- functions and graphs ------------------------------------------------------------------------


def _function(function: Any) -> str:
    told: str = explain(function)._repr_html_()
    return told


def _concrete(concrete: ConcreteFunction) -> str:
    return _titled(
        f"ConcreteFunction {concrete.graph.name}",
        _soft(concrete.pretty_printed_signature(verbose=False)),
        _graph(concrete.graph),
    )


def _graph(graph: Graph) -> str:
    count = len(graph.nodes)
    if count <= _MOST_NODES:
        return f'<div style="overflow-x:auto">{graph_svg(graph)}</div>'
    inputs = ", ".join([f"{x.name}: {type_text(x.spec)}" for x in graph.inputs])
    return _titled(
        f"graph {graph.name}({inputs})",
        _soft(f"{count} nodes; weft.tools.drawing.graph_html draws them all"),
    )


# --- datasets ------------------------------------------------------------------------------------


def _dataset(dataset: DatasetBase) -> str:
    if not isinstance(dataset._variant, EagerTensor):
        return _titled(repr(dataset))
    spec = _escaped(repr(dataset.element_spec))
    return _titled(
        f"{type(dataset).__name__}: {_cardinality(dataset._stage)}",
        f"<div><code>{spec}</code></div>",
        _pipeline(dataset._stage),
    )


def _cardinality(stage: Stage) -> str:
    number = stage.cardinality()
    if number == INFINITE:
        return "endless"
    return "some elements" if number == UNKNOWN else f"{number} elements"


def _pipeline(stage: Stage) -> str:
    """A box for each stage, sources on the left."""
    inputs = [value for _, value in _parts(stage) if isinstance(value, Stage)]
    inputs += [
        inner
        for _, value in _parts(stage)
        if isinstance(value, (list, tuple))
        for inner in value
        if isinstance(inner, Stage)
    ]
    before = "".join([f"<div>{_pipeline(inner)}</div>" for inner in inputs])
    name = type(stage).__name__.removesuffix("Stage")
    details = ", ".join([f"{key}={value}" for key, value in _settings(stage)])
    box = (
        f'<div style="{_BORDER};border-radius:6px;padding:4px 10px;margin:3px">'
        f"<b>{_escaped(name)}</b>"
        + (f'<div style="{_SOFT};font-size:85%">{_escaped(details)}</div>' if details else "")
        + f'<div style="{_SOFT};font-size:85%">{_cardinality(stage)}</div></div>'
    )
    arrow = '<div aria-hidden="true">→</div>' if inputs else ""
    return (
        '<div style="display:inline-flex;align-items:center;flex-wrap:wrap">'
        f"<div>{before}</div>{arrow}{box}</div>"
    )


def _parts(stage: Stage) -> Iterator[tuple[str, Any]]:
    """What a stage holds, by name."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(stage).__mro__]
    names = [name for group in slots for name in ((group,) if isinstance(group, str) else group)]
    for name in dict.fromkeys([*names, *getattr(stage, "__dict__", {})]):
        if not name.startswith("_") and hasattr(stage, name):
            yield name, getattr(stage, name)


def _settings(stage: Stage) -> Iterator[tuple[str, str]]:
    """What the user said about a stage: numbers and flags, and names of functions."""
    for name, value in _parts(stage):
        if isinstance(value, (bool, int, float, str)) and value is not False:
            yield name, str(value)
        elif isinstance(value, Call):
            yield name, value.traced.name


# --- modules -------------------------------------------------------------------------------------


def _module(module: Module) -> str:
    rows = [
        (v.name, v.dtype.name, str(v.shape), str(v.shape.num_elements() or 0), str(v.trainable))
        for v in module.variables
    ]
    total = sum([v.shape.num_elements() or 0 for v in module.variables])
    inner = ", ".join([m.name for m in module.submodules])
    parts = [_rows(("variable", "dtype", "shape", "numbers", "trainable"), rows)] if rows else []
    parts += [_soft(f"modules inside: {inner}")] if inner else []
    functions = [
        name
        for kind in type(module).__mro__
        for name, value in vars(kind).items()
        if isinstance(value, PolymorphicFunction)
    ]
    parts += [_soft(f"traced methods: {', '.join(dict.fromkeys(functions))}")] if functions else []
    title = f"{type(module).__name__} {module.name!r}: {len(rows)} variables, {total:,} numbers"
    return _titled(title, *parts)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join([f'<th scope="col" style="{_CELL}">{_escaped(t)}</th>' for t in head])
    body = "".join(
        [
            "<tr>" + "".join([f'<td style="{_CELL}">{_escaped(c)}</td>' for c in row]) + "</tr>"
            for row in rows
        ]
    )
    return f'<table style="border-collapse:collapse"><tr>{titles}</tr>{body}</table>'


_SHOWN: tuple[tuple[type, Callable[[Any], str | None]], ...] = (
    (EagerTensor, _tensor),
    (Variable, _variable),
    (PolymorphicFunction, _function),
    (BoundFunction, _function),
    (ConcreteFunction, _concrete),
    (Graph, _graph),
    (DatasetBase, _dataset),
    (Module, _module),
)
