"""Machine code for what NumPy does slowly with pixels, loaded once that has been worth it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from weft._src.core.flags import flags
from weft._src.execution import forking

if TYPE_CHECKING:
    from weft._src.execution.native.pixel_loops import PixelLoops

_WORTH_LOADING = 0.2  # seconds that NumPy takes; loading takes about as long


class _Loops:
    """Counts the time that NumPy takes."""

    def __init__(self) -> None:
        self.seconds = 0.0  # a race between threads does no harm

    def after(self, seconds: float) -> PixelLoops | None:
        """The machine code, if all that NumPy did, and would do now in `seconds`, is worth it."""
        if flags.execution == "numpy":
            return None
        self.seconds += seconds
        if self.seconds < _WORTH_LOADING and flags.execution != "native":
            return None
        return _loaded()


loops = _Loops()


@functools.cache
def _loaded() -> PixelLoops | None:
    """The machine code, None where it cannot run. LLVM is imported when it is needed first."""
    with forking.lock:
        from weft._src.execution.native import pixel_loops
    return pixel_loops.load()
