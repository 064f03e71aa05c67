"""`python -m benchmarks [--peer tensorflow=PATH/bin/python ...]`."""

from __future__ import annotations

import argparse

from benchmarks import (
    batching,
    busy,
    choices,
    compiling,
    conversion,
    convolutions,
    datasets,
    examples,
    foundations,
    functions,
    gradients,
    image,
    keras_training,
    large_arrays,
    lookup,
    lowered,
    native,
    networks,
    ops,
    pipelines,
    recurrent,
    saved_models,
    saving,
    scaling,
    strings,
    sweep,
    time_to_result,
    tracing,
    transformers,
)
from benchmarks.harness import Peers, print_table

MODULES = (
    foundations, functions, tracing, conversion, gradients, batching, native, convolutions,
    transformers, recurrent, lowered, scaling, large_arrays, networks,
    compiling, choices, busy, ops, sweep, strings, image, lookup, examples, datasets, pipelines,
    saving, keras_training, saved_models,
    time_to_result,
)  # fmt: skip


def main() -> None:
    """Runs every benchmark and prints one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help="the interpreter of an environment in which a peer is installed",
    )
    modules = {m.__name__.rpartition(".")[2]: m for m in MODULES}
    parser.add_argument("--only", choices=modules, help="just one of the groups")
    options = parser.parse_args()
    peers = Peers(dict(item.split("=", 1) for item in options.peer))
    chosen = [modules[options.only]] if options.only else MODULES
    tables = [module.run(peers) for module in chosen]
    print_table([row for rows in tables for row in rows])


if __name__ == "__main__":
    main()
