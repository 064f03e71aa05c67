"""Benchmarks: Weft beside its peers, in one run, as ratios."""
