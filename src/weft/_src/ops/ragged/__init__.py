"""Ragged tensors: rows of different lengths, held as all their values and where the rows end."""
