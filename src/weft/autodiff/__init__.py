"""Gradients: the backward sweep and the tape."""
