"""Fuzzers: random programs, graphs, calls and files, held against something that knows better.

    python -m fuzzing programs --seed 0 --count 1000
    python -m fuzzing --list

A fuzzer is a function from a seed to None, or to a report of what went wrong with that seed. The
same seed gives the same case for ever, so a seed in a report is all that is needed to see it again.
Tests run a fixed sample of each.
"""
