"""Making, reshaping and joining tensors."""
