"""Gradients: the backward sweep, the tape, and what is built on them. Public as `tf.autodiff`."""
