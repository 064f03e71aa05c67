"""Numbers on the levels that few bits can tell apart: made, read back, and simulated in floats."""
