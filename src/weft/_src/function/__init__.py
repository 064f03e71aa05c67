"""`tf.function`: one Python function, traced once per kind of arguments."""
