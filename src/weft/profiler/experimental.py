"""`tf.profiler.experimental`: a trace of what runs, for trace viewers."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.summary.profiler import Profile, ProfilerOptions, Trace, start, stop

__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]

_open_namespace(__name__)
