"""What stands behind `tf.raw_ops`: the ops under TensorFlow's names, by keyword only."""
