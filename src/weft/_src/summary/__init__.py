"""Event files for TensorBoard: `tf.summary`."""
