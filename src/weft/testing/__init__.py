"""Helpers for tests, of Weft itself and of programs that use it."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.testing.gradients import check_grads as check_grads
from weft.testing.retracing import assert_max_traces as assert_max_traces


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
