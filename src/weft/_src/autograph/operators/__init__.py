"""Operators decide at run time: stage the construct in the graph, or do what Python does."""
