"""Sparse tensors: the elements that are there, and where they are."""
