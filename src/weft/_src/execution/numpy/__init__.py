"""The NumPy tier: a graph as generated, readable Python source; one plan for all shapes."""
