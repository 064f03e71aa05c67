"""What tracing does when an argument is reached on another way."""

from __future__ import annotations

from typing import Any


class CapturedArgument(BaseException):
    """A function that is being traced reaches a variable which is also one of its arguments.

    Only tapes and the order of effects could tell that two inputs of the graph are one variable, so
    tracing begins anew with the variable itself as argument. No `except` of the user may stop this.
    """

    def __init__(self, variable: Any) -> None:
        super().__init__(variable)
        self.variable = variable
