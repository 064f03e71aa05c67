"""Helpers for tests, of Weft itself and of programs that use it."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.testing.gradients import check_grads
from weft._src.testing.retracing import assert_max_traces

__all__ = ["assert_max_traces", "check_grads"]

_open_namespace(__name__)
