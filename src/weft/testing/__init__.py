"""Helpers for tests, of Weft itself and of programs that use it."""

from weft.testing.gradients import check_grads as check_grads
from weft.testing.retracing import assert_max_traces as assert_max_traces
