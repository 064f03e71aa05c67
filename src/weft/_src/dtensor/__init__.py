"""`tf.experimental.dtensor`: tensors and variables that several devices have together."""
