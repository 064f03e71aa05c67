"""`tf.autograph`: Python control flow on tensors becomes graph control flow."""
