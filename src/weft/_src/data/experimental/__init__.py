"""What stands behind `tf.data.experimental`."""
