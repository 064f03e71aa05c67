"""`tensorflow.python.framework.tensor_util`: an export archive looks for variables it has to track."""

from __future__ import annotations

from weft import is_tensor as is_tf_type
