"""`tf.print`: prints each time the graph runs, in program order."""

from __future__ import annotations

import logging
import sys
from typing import Any

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA
from weft._src.core.growing import GrowingList
from weft._src.core.tensor import Array, Tensor, is_tensor
from weft._src.ops.host.formatting import as_bytes, as_shown, format_exactly
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.ragged.text import as_text
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, define_op, each
from weft._src.ops.sparse.tensor import SparseTensor

_MARK = "\0"  # encloses the number of a tensor in the template
_ITSELF = "\0\0"  # the mark as it stands in texts of the user: an empty number
_BARE = "="  # before the number: text that is never quoted


def _slot(number: int, kind: str = "") -> str:
    return f"{_MARK}{kind}{number}{_MARK}"


def _print_kernel(
    xp: ArrayNamespace, *values: Array, template: str, summarize: int, end: str, stream: str
) -> tuple[()]:
    # A string on its own is printed bare; among other things it is quoted, as TensorFlow does.
    quote = template != _slot(0)
    pieces = template.split(_MARK)
    for i in range(1, len(pieces), 2):
        if not pieces[i]:
            pieces[i] = _MARK
            continue
        bare = pieces[i].startswith(_BARE)
        value = xp.asarray(values[int(pieces[i].lstrip(_BARE))])
        pieces[i] = format_exactly(value, summarize, quote_scalars=quote and not bare)
    _write("".join(pieces) + end, stream)
    return ()


def _write(text: str, stream: str) -> None:
    # Looked up when printing: notebooks and tests exchange sys.stdout and sys.stderr.
    if stream.startswith("file://"):
        with open(stream[len("file://") :], "ab") as file:
            file.write(as_bytes(text))
    elif stream.startswith("log:"):
        logging.getLogger("weft").log(int(stream[4:]), as_shown(text).rstrip("\n"))
    else:
        out = sys.stdout if stream == "stdout" else sys.stderr
        out.write(as_shown(text))
        out.flush()


print_op = define_op(
    "PrintV2",
    each("*input", DATA),
    infer=lambda *xs, template, summarize, end, stream: (),
    kernel=_print_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    outputs=0,
    host_io=True,
    self_contained=True,
)


def print(*inputs: Any, **kwargs: Any) -> None:
    """Prints tensors and Python values, each time the enclosing graph runs.

    Args:
      *inputs: tensors, Python values, or lists, tuples and dicts of them.
      **kwargs: `output_stream` is sys.stderr (the default), sys.stdout, "file://path" or a logging
        level; `summarize` says how many elements are shown at each end of an axis (3; -1 means
        all); `sep` stands between the inputs (a space), `end` behind them (a new line); and `name`.

    Raises:
      ValueError: if there is no such stream, or other keyword arguments are given.

    >>> import sys
    >>> tf.print("x =", tf.constant([1.5, 2.0]), output_stream=sys.stdout)
    x = [1.5 2]
    """
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    summarize = kwargs.pop("summarize", 3)
    separator, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"tf.print does not take the arguments {sorted(kwargs)}.")
    limit = -1 if summarize is None else int(summarize)
    tensors: list[Tensor] = []
    template = separator.replace(_MARK, _ITSELF).join(
        [_template(value, tensors, limit) for value in inputs]
    )
    print_op(
        *tensors,
        template=template,
        summarize=limit,
        end=end,
        stream=stream,
        name=name,
    )


def _template(value: Any, tensors: list[Tensor], limit: int) -> str:
    """The text of a value with slots where tensors belong; nests print as Python prints them."""
    if isinstance(value, GrowingList):
        raise value.refusal("print")
    if isinstance(value, RaggedTensor):
        tensors.append(as_text(value, limit))
        return _slot(len(tensors) - 1, _BARE)
    if is_tensor(value):
        if isinstance(value, IndexedSlices) and value.dense_shape is not None:
            value = convert_to_tensor(value)
        slots = []
        for component in nest.flatten(value, expand_composites=True):
            slots.append(_slot(len(tensors)))
            tensors.append(convert_to_tensor(component))
        if isinstance(value, SparseTensor):
            return "SparseTensor(indices={}, values={}, shape={})".format(*slots)
        return " ".join(slots)
    if isinstance(value, dict):
        value = {key: value[key] for key in sorted(value)}
    if nest.is_nested(value):
        return repr(
            nest.map_structure(lambda leaf: _Shown(_leaf_template(leaf, tensors, limit)), value)
        )
    return (value if isinstance(value, str) else repr(value)).replace(_MARK, _ITSELF)


def _leaf_template(value: Any, tensors: list[Tensor], limit: int) -> str:
    return (
        _template(value, tensors, limit)
        if is_tensor(value)
        else repr(value).replace(_MARK, _ITSELF)
    )


class _Shown:
    """A leaf whose repr is the given text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _stream_name(stream: Any) -> str:
    if stream is sys.stdout or stream is sys.__stdout__ or stream == "stdout":
        return "stdout"
    if stream is sys.stderr or stream is sys.__stderr__ or stream == "stderr":
        return "stderr"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if isinstance(stream, int):
        return f"log:{stream}"
    level = logging.getLevelNamesMapping().get(getattr(stream, "__name__", "").upper())
    if level is not None:
        return f"log:{level}"
    raise ValueError(
        "tf.print: output_stream must be sys.stdout, sys.stderr, 'file://path' or a logging "
        f"level, got {stream!r}."
    )
