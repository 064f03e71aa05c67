"""`tensorflow.python.framework.tensor_util`: an export archive asks what is a tensor."""

from __future__ import annotations

import weft as tf

is_tf_type = tf.is_tensor
