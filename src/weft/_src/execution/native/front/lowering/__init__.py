"""From the nodes of a graph to values of loop nests: a rule per op, a file per family."""
