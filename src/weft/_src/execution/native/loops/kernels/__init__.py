"""Steps of a program that are no loop nests: checks, matrix products, branches, loops."""
