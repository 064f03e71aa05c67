"""The version of Weft, and those of the graphs it knows."""

from __future__ import annotations

import platform

VERSION = "0.1.0"
GIT_VERSION = f"v{VERSION}"
COMPILER_VERSION = platform.python_compiler()  # Weft itself needs none: that of this Python

# Graphs say which version wrote them. This one is that of TensorFlow 2.21, whose ops Weft has.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
