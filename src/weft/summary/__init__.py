"""Event files for TensorBoard: `tf.summary`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.summary import experimental as experimental
from weft.summary.recording import (
    record_if as record_if,
    should_record_summaries as should_record_summaries,
)
from weft.summary.tracing import (
    graph as graph,
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from weft.summary.writer import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
)
from weft.summary.writing import (
    histogram as histogram,
    image as image,
    scalar as scalar,
    text as text,
    write as write,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
