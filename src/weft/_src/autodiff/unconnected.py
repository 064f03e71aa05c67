"""What is given for a source that the target does not depend on."""

from __future__ import annotations

import enum


class UnconnectedGradients(enum.StrEnum):
    """What the gradient of something unconnected is: `NONE` or `ZERO`."""

    NONE = "none"
    ZERO = "zero"
