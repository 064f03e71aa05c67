"""The workloads of `benchmarks.native`, written for each peer: a setup and a statement to time."""
