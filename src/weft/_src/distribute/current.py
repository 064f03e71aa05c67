"""Where a thread is: in the scope of which strategy, and inside or outside of its replicas."""

from __future__ import annotations

import threading
from typing import Any


class Current(threading.local):
    """Which strategy a thread is in, and whether it is outside of its replicas."""

    def __init__(self) -> None:
        self.strategy: Any = None
        self.across_replicas = False
        # Whether the function of one of several replicas is being traced.
        self.in_replica = False
        # Whether variables are changed by values that all replicas agree on already.
        self.is_updating = False


current = Current()
