"""`tensorflow.python.autograph`: what a module of TensorFlow Probability imports of it.

Its automatic batching of programs is built from parts of TensorFlow's AutoGraph. It cannot be used
with Weft, and is not needed by anything else of the library.
"""

from __future__ import annotations


class Base:
    """The base of a class that is never used."""
