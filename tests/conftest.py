"""Settings of the whole suite."""

from weft.graph import passes

passes.check_passes = True
