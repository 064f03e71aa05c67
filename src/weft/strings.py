"""`tf.strings`: operations on strings."""
