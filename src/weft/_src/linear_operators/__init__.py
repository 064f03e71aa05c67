"""`tf.linalg.LinearOperator`: matrices that are known by their structure."""
