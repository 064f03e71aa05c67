"""Event files for TensorBoard: `tf.summary`."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.summary.recording import record_if, should_record_summaries
from weft._src.summary.tracing import graph, trace_export, trace_off, trace_on
from weft._src.summary.writer import SummaryWriter, create_file_writer, create_noop_writer, flush
from weft._src.summary.writing import audio, histogram, image, scalar, text, write
from weft.summary import experimental

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
]

_open_namespace(__name__)
