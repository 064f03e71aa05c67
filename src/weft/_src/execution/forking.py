"""What a fork must not meet half done: LLVM at work, and libraries that are being loaded."""

from __future__ import annotations

import os
import threading

# A process is not forked while somebody holds it: the child could never use what was interrupted.
lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
