"""Keras 3 on Weft: the real, unmodified package, for which `tensorflow` is Weft."""
