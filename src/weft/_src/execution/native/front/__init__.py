"""From a graph to operations on blocks: shapes made known, loops found, ops lowered."""
