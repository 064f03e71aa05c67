"""`tf.compat`: strings in the form one wants, and names of TensorFlow 1."""
