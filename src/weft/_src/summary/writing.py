"""`tf.summary.write` and the summaries built on it; they run each time a graph runs, in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.context import state as context
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import (
    BOOL,
    DATA,
    FLOATING,
    RESOURCE,
    bool_,
    int64,
    string,
    uint8,
    uint16,
)
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import DTypeError
from weft._src.fileio.tensors import to_message
from weft._src.graph.names import name_scope
from weft._src.ops import rules
from weft._src.ops.control.branch import cond
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.summary import events, forms, recording
from weft._src.summary.event_file import EventFile

_DEFAULT_BUCKETS = 30

# How the value is stored, by the name that is an attribute of the op: (array, number) -> array.
_FORMS: dict[str, Callable[[Array, int], Array]] = {
    "tensor": lambda data, _: data,
    "scalar": lambda data, _: forms.scalar_form(data),
    "histogram": forms.histogram_form,
    "image": forms.image_form,
    "audio": forms.audio_form,
}


def _write_infer(
    writer: TensorSpec, record: TensorSpec, step: TensorSpec, data: TensorSpec, **_: Any
) -> TensorSpec:
    rules.check_rank("tf.summary", step, 0, name="step")
    return TensorSpec.of(bool_, ())


def _write_kernel(
    xp: ArrayNamespace,
    writer: EventFile,
    record: TensorLike,
    step: Any,
    data: Array,
    *,
    tag: str,
    metadata: bytes,
    form: str,
    number: int,
) -> Array:
    if record:
        stored = to_message(xp.asarray(_FORMS[form](xp.asarray(data), number)))
        writer.append(events.summary_event(tag, stored, metadata, int(step)))
    return xp.asarray(bool(record))


write_op = define_op(
    "WriteSummary",
    args("writer", RESOURCE) + args("record", BOOL) + args("step", {int64}) + args("tensor", DATA),
    infer=_write_infer,
    kernel=_write_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    writes=(0,),
    host_io=True,
    self_contained=True,
)


def _step(op: str, step: Any) -> Tensor:
    step = recording.get_step() if step is None else step
    if step is None:
        raise ValueError(
            f"{op}: there is no step. Give it as step=, or set one with as_default(step=...) or "
            "tf.summary.experimental.set_step(...)."
        )
    value = convert_to_tensor(step, dtype_hint=int64)
    if not value.dtype.is_integer:
        raise DTypeError(f"{op}: step must be an integer, got {step!r}.")
    return casting.cast(value, int64)


def emit(
    op: str,
    tag: str,
    data: Any,
    step: Any,
    metadata: bytes,
    form: str = "tensor",
    number: int = 0,
    name: str | None = None,
) -> Tensor:
    writer = recording.state.writer
    if writer is None or not writer.records:
        return convert_to_tensor(False)
    chosen = _step(op, step)
    record = recording.should_record_summaries()

    def written(value: Any) -> Tensor:
        out: Tensor = write_op(
            writer._handle, record, chosen, convert_to_tensor(value), tag=tag,
            metadata=metadata, form=form, number=number, name=name,
        )  # fmt: skip
        return out

    if not callable(data) or isinstance(data, Tensor):
        return written(data)
    out: Tensor = cond(record, lambda: written(data()), lambda: convert_to_tensor(False))
    return out


def write(
    tag: Any,
    tensor: TensorLike,
    step: TensorLike | None = None,
    metadata: Any = None,
    name: str | None = None,
) -> Tensor:
    """Writes a tensor under a tag; returns whether it was recorded.

    A function is called for the tensor only if it is recorded. `metadata` is a SummaryMetadata
    message, serialized or not.

    Args:
      tag: the tag, a string; name scopes do not change it.
      tensor: a tensor, what can become one, or a function of nothing that returns one.
      step: an integer; None is the default step.
      metadata: what tells TensorBoard how to show it; None is nothing.
      name: the name of the node in a graph.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step.
      DTypeError: if the step is no integer.
      TypeError: if `tag` is no string, or `metadata` no message.

    >>> tf.summary.write("x", [1.0, 2.0], step=0).numpy()  # there is no writer
    np.False_
    """
    if metadata is not None and not isinstance(metadata, bytes):
        if not hasattr(metadata, "SerializeToString"):
            raise TypeError(f"write: metadata must be a SummaryMetadata message, got {metadata!r}.")
        metadata = bytes(metadata.SerializeToString())
    return emit("write", text_of("write", "tag", tag), tensor, step, metadata or b"", name=name)


def text_of(op: str, argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{op}: {argument} must be a string, got {value!r}.")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{op}: {argument} must be text that UTF-8 can hold, got {value!r}.")
    return value


@contextlib.contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: TensorLike | None = None
) -> Iterator[tuple[str, str]]:
    """A name scope for a summary, and its tag: the name behind the name scopes around it.

    Args:
      name: the name; if it is empty, the default name is taken.
      default_name: the name in its place.
      values: accepted for compatibility.

    Returns:
      A context manager that gives the tag and the name scope, with a slash at its end.

    Raises:
      TypeError: on entering it, if the name is no string.

    >>> with tf.name_scope("layer"), tf.summary.experimental.summary_scope("x") as (tag, scope):
    ...     print(tag, scope)
    layer/x layer/x/
    """
    tag = _tag("summary_scope", name or default_name)
    with name_scope(name or default_name) as scope:
        yield tag, scope


def _tag(op: str, name: str) -> str:
    outer = "" if context.graph is None else context.graph.scope
    return f"{outer}{context.name_scope}{text_of(op, 'name', name)}"


def _described(plugin: str, op: str, description: Any) -> bytes:
    if description is not None:
        description = text_of(op, "description", description)
    return events.plugin_metadata(plugin, description=description)


def scalar(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes a number; returns whether it was recorded.

    Args:
      name: the tag, behind the name scopes around it.
      data: a number or bool, a scalar.
      step: an integer; None is the default step.
      description: a text that TensorBoard shows with it, in Markdown.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step.
      DTypeError: if `data` is text or complex, or the step is no integer.
      ShapeError: if `data` is no scalar.
      TypeError: if `name` or `description` are no strings.

    >>> import tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default():
    ...     for step in range(3):
    ...         recorded = tf.summary.scalar("loss", 1 / (step + 1), step=step)
    >>> recorded.numpy()
    np.True_
    """
    value = convert_to_tensor(data)
    if value.dtype is string or value.dtype.is_complex:
        raise DTypeError(f"scalar: data must be a number, got {value.dtype.name}.")
    rules.check_rank("scalar", value.spec, 0, name="data")
    metadata = _described("scalars", "scalar", description)
    return emit("scalar", _tag("scalar", name), value, step, metadata, "scalar")


def histogram(
    name: str, data: TensorLike, step: TensorLike | None = None, buckets: int | None = None,
    description: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes how the elements of a tensor are spread; those that are not finite are left out.

    Args:
      name: the tag, behind the name scopes around it.
      data: numbers or bools of any shape.
      step: an integer; None is the default step.
      buckets: into how many parts the range of the elements is divided; None is 30.
      description: a text that TensorBoard shows with it, in Markdown.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step, or `buckets` is negative or no integer.
      DTypeError: if `data` is text or complex, or the step is no integer.
      TypeError: if `name` or `description` are no strings.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     tf.summary.histogram("weights", tf.random.normal([100])).numpy()
    np.True_
    """
    value = convert_to_tensor(data)
    if value.dtype is string or value.dtype.is_complex:
        raise DTypeError(f"histogram: data must hold numbers, got {value.dtype.name}.")
    number = _number("histogram", "buckets", _DEFAULT_BUCKETS if buckets is None else buckets)
    metadata = _described("histograms", "histogram", description)
    return emit("histogram", _tag("histogram", name), value, step, metadata, "histogram", number)


def _number(op: str, argument: str, value: Any) -> int:
    if isinstance(value, EagerTensor) and value.dtype.is_integer and value.ndim == 0:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 20:
        raise ValueError(f"{op}: {argument} must be an integer of at least 0, got {value!r}.")
    return value


def image(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> Tensor:
    """Writes images: of shape [count, height, width, channels], the first few of them.

    Floats are intensities from 0 to 1. There are 1 (grey), 3 (RGB), 2 or 4 (the last one opacity)
    channels.

    Args:
      name: the tag, behind the name scopes around it.
      data: the images, floating, uint8 or uint16.
      step: an integer; None is the default step.
      max_outputs: how many images are written at most.
      description: a text that TensorBoard shows with it, in Markdown.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step, or `max_outputs` is negative or no integer.
      DTypeError: if `data` has another dtype, or the step is no integer.
      ShapeError: if `data` does not have four axes.
      tf.errors.InvalidArgumentError: if there are more than four channels.
      TypeError: if `name` or `description` are no strings.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     tf.summary.image("noise", tf.random.uniform([2, 8, 9, 3])).numpy()
    np.True_
    """
    value = convert_to_tensor(data)
    if value.dtype not in FLOATING | {uint8, uint16}:
        raise DTypeError(
            f"image: data must be floats from 0 to 1, or uint8 or uint16, got {value.dtype.name}."
        )
    rules.check_rank("image", value.spec, 4, name="data")
    number = _number("image", "max_outputs", max_outputs)
    metadata = _described("images", "image", description)
    return emit("image", _tag("image", name), value, step, metadata, "image", number)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: int,
    step: TensorLike | None = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes sound: of shape [clips, samples, channels], the first few clips.

    Args:
      name: the tag, behind the name scopes around it.
      data: floating numbers from -1 to 1.
      sample_rate: how many samples are a second, a positive Python integer.
      step: an integer; None is the default step.
      max_outputs: how many clips are written at most.
      encoding: only "wav", or None.
      description: a text that TensorBoard shows with it, in Markdown.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step, or a number or the encoding is out of range.
      DTypeError: if `data` has another dtype, or the step is no integer.
      ShapeError: if `data` does not have three axes.
      TypeError: if `name` or `description` are no strings.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     tf.summary.audio("noise", tf.random.uniform([2, 80, 1]), 8000).numpy()
    np.True_
    """
    value = convert_to_tensor(data)
    if value.dtype not in FLOATING:
        raise DTypeError(f"audio: data must be floats from -1 to 1, got {value.dtype.name}.")
    rules.check_rank("audio", value.spec, 3, name="data")
    if encoding is not None and not (isinstance(encoding, str) and encoding == "wav"):
        raise ValueError(f"audio: encoding must be 'wav' or None, got {encoding!r}.")
    rate = _number("audio", "sample_rate", sample_rate)
    if not rate:
        raise ValueError("audio: sample_rate must be positive, got 0.")
    number = (_number("audio", "max_outputs", max_outputs) << 32) + rate
    shown = None if description is None else text_of("audio", "description", description)
    metadata = events.plugin_metadata("audio", b"\x10\x0b", shown)  # the encoding is WAV
    return emit("audio", _tag("audio", name), value, step, metadata, "audio", number)


def _raw_infer(
    writer: TensorSpec, record: TensorSpec, step: TensorSpec, tensor: TensorSpec
) -> TensorSpec:
    rules.check_rank("tf.summary", step, 0, name="step")
    return TensorSpec.of(bool_, ())


def _raw_kernel(
    xp: ArrayNamespace, writer: EventFile, record: Any, step: Any, tensor: Any
) -> Array:
    if record:
        for summary in xp.asarray(tensor, dtype=object).reshape(-1).tolist():
            writer.append(events.raw_summary_event(summary, int(step)))
    return xp.asarray(bool(record))


write_raw_op = define_op(
    "WriteRawSummaries",
    args("writer", RESOURCE)
    + args("record", BOOL)
    + args("step", {int64})
    + args("tensor", {string}),
    infer=_raw_infer,
    kernel=_raw_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    writes=(0,),
    host_io=True,
    self_contained=True,
)


def write_raw_pb(
    tensor: TensorLike, step: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Writes serialized `Summary` messages.

    Args:
      tensor: strings, each a message.
      step: an integer; None is the default step.
      name: the name of the node in a graph.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step.
      ParseError: if a string is no such message.

    >>> tf.summary.experimental.write_raw_pb(b"", step=0).numpy()  # there is no writer
    np.False_
    """
    writer = recording.state.writer
    if writer is None or not writer.records:
        return convert_to_tensor(False)
    chosen = _step("write_raw_pb", step)
    record = recording.should_record_summaries()
    value = convert_to_tensor(tensor, dtype=string)
    out: Tensor = write_raw_op(writer._handle, record, chosen, value, name=name)
    return out


def text(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes text, which TensorBoard reads as Markdown; a tensor of strings becomes a table.

    Args:
      name: the tag, behind the name scopes around it.
      data: strings of any shape.
      step: an integer; None is the default step.
      description: a text that TensorBoard shows with it, in Markdown.

    Returns:
      A bool scalar; False if there is no default writer, or `tf.summary.record_if` says no.

    Raises:
      ValueError: if there is a writer, but no step.
      DTypeError: if `data` is no text, or the step is no integer.
      TypeError: if `name` or `description` are no strings.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     tf.summary.text("note", "**converged**").numpy()
    np.True_
    """
    value = convert_to_tensor(data)
    if value.dtype is not string:
        raise DTypeError(f"text: data must be strings, got {value.dtype.name}.")
    return emit("text", _tag("text", name), value, step, _described("text", "text", description))
