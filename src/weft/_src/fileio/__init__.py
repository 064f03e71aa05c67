"""Files, records and serialized data: `tf.io`."""
