"""The ops: a registry, and one block per op in a package per family."""

from weft._src.ops import dispatch as dispatch  # calling an op needs it
