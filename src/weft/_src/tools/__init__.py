"""Looking at functions from outside of a program: drawings of graphs, and the `weft` command."""
