"""`tf.experimental`: what is not settled yet."""
