"""What stands behind `tf.config`: devices, threads, which tier runs functions."""
