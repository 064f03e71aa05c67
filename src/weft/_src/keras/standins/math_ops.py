"""`tensorflow.python.ops.math_ops`: `keras.ops.isclose` takes a public function from here."""

from __future__ import annotations

from weft.math import is_nan as is_nan
