"""Some of `benchmarks.programs`, for libraries that cannot run all: a setup and a statement."""
