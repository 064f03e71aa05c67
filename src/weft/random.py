"""`tf.random`: random numbers."""
