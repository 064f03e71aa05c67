"""`python -m fuzzing NAME --seed S --count N`: runs one of the fuzzers."""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
from pathlib import Path

from fuzzing import campaign

# Where each fuzzer is; a module is imported only when it is asked for.
FUZZERS = {
    "programs": "fuzzing.programs:check_program",
    "gradients": "fuzzing.programs:check_gradients",
    "modes": "fuzzing.modes:check_modes",
    "graphs": "fuzzing.native_graphs:check_graph",
    "xla": "fuzzing.xla_graphs:check_xla_graph",
    "batching": "fuzzing.batching:check_batching",
    "ops": "fuzzing.ops:check_op",
    "functions": "fuzzing.ops:check_function",
    "misfits": "fuzzing.misfits:check_misfit",
    "indices": "fuzzing.indices:check_indices",
    "patterns": "fuzzing.patterns:check_pattern",
    "files": "fuzzing.files:check_file",
}


def named(name: str) -> campaign.Check:
    """The fuzzer of a name."""
    module, _, function = FUZZERS[name].partition(":")
    return getattr(importlib.import_module(module), function)


def main(arguments: list[str] | None = None) -> int:
    """Runs a fuzzer and prints what it found; 1 if that is anything."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("name", nargs="?", choices=FUZZERS)
    parser.add_argument("--list", action="store_true", help="what fuzzers there are")
    parser.add_argument("--seed", type=int, help="of the first case (the date, if not given)")
    parser.add_argument("--count", type=int, default=300, help="how many cases")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--table", action="store_true", help="how often each op was compared")
    parser.add_argument("--least", type=int, default=0, metavar="TIMES",
        help="of ops: go on with those that were compared less often on a tier")  # fmt: skip
    parser.add_argument("--counts", type=Path, metavar="FILE",
        help="of ops: what earlier runs compared is read there, the sum written")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.list or options.name is None:
        for name in FUZZERS:
            summary = (named(name).__doc__ or "").partition("\n")[0]
            print(f"{name:12} {summary}")
        return 0
    if options.name != "ops" and (options.counts is not None or options.least):
        parser.error("--counts and --least are for ops.")
    os.environ["WEFT_CACHE_DIR"] = ""  # compiled code of random programs is of no use to anybody
    seed = campaign.seed_of_today() if options.seed is None else options.seed
    check = named(options.name)
    seeds = range(seed, seed + options.count)
    if options.counts is None and not options.least:
        outcome = campaign.run(check, seeds, seconds=options.seconds)
    else:
        outcome = _run_counting(check, seeds, options)
    if options.table:
        print(importlib.import_module(FUZZERS[options.name].partition(":")[0]).summary())
    print(f"{options.name}: {outcome}, seeds from {seed}")
    return 1 if outcome.reports else 0


def _run_counting(
    check: campaign.Check, seeds: range, options: argparse.Namespace
) -> campaign.Outcome:
    from fuzzing import ops

    keep = None
    if options.counts is not None:
        ops.read_counts(options.counts)
        keep = functools.partial(ops.write_counts, options.counts)
    outcome = campaign.run(check, seeds, seconds=options.seconds, keep=keep)
    while options.least and (more := ops.seeds_of_rare_cells(seeds.stop, options.least)):
        outcome += campaign.run(check, more, keep=keep)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
