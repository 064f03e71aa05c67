"""Settings of the whole suite."""

import signal

from weft._src.graph import passes

passes.check_passes = True

# What is started in the background of a shell ignores Ctrl-C, and so would all it starts; some
# tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
