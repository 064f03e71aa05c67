"""The `weft` command: looks at the traced functions of a file, and starts jobs of workers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft._src.errors import OpError
from weft._src.function.explain import explain
from weft._src.graph.passes import optimize
from weft._src.tools import doctor, drawing, generated_code, launch, showing_files
from weft._src.tools.showing_files import NothingToShowError
from weft._src.tools.target import Target, TargetError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit generated_code."""
    options = _parser().parse_args(arguments)
    try:
        result: int = options.run(options)
    except (TargetError, NothingToShowError, OpError) as error:
        print(f"weft: {error}", file=sys.stderr)
        return 2
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="weft",
        description="Looks at traced functions: their traces, code and graphs. Starts jobs.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    explained = _of_function(commands, "explain", "the traces of a function, and why each was made")
    explained.set_defaults(run=_explain)
    coded = _of_function(commands, "code", "the code made of a function")
    coded.add_argument(
        "--stage",
        choices=generated_code.STAGES,
        action="append",
        help="only this stage: what AutoGraph wrote, the NumPy plan, or LLVM (may be repeated)",
    )
    coded.set_defaults(run=_code)
    drawn = _of_function(commands, "graph", "the graph of a function, drawn or as text")
    drawn.add_argument("-o", "--output", help="a file to write: .svg or .html; text without it")
    drawn.add_argument("--optimized", action="store_true", help="the graph after all passes")
    drawn.set_defaults(run=_graph)
    for name, run, text in (
        ("show", _show, "what is in a checkpoint, a safetensors file or a SavedModel"),
        ("check", _check, "what of a SavedModel or a safetensors file cannot be used here"),
    ):
        looked = commands.add_parser(name, help=text, description=text)
        looked.add_argument("path", metavar="PATH", help="a checkpoint, or a folder")
        looked.set_defaults(run=run)
    text = "starts several workers of a program on this machine, and watches them"
    launched = commands.add_parser("launch", help=text, description=text)
    launched.add_argument(
        "-n", type=_count, required=True, metavar="COUNT", help="how many workers"
    )
    launched.add_argument(
        "--restarts", type=int, default=3, help="how often, if a worker was killed (3)"
    )
    launched.add_argument(
        "--print-command", action="store_true", help="only what to type on several machines"
    )
    launched.add_argument("script", metavar="FILE", help="the program")
    launched.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    launched.set_defaults(run=launch.run)
    doctored = commands.add_parser("doctor", help="versions, processor, and tiers")
    doctored.set_defaults(run=_doctor)
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, got {text!r}")
    return int(text)


def _show(options: argparse.Namespace) -> int:
    for line in showing_files.shown(options.path):
        print(line)
    return 0


def _check(options: argparse.Namespace) -> int:
    for line in showing_files.checked(options.path):
        print(line)
    return 0 if showing_files.is_fine(options.path) else 1


def _of_function(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("target", metavar="FILE::function", help="may be dotted: FILE::model.step")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="EXPRESSION",
        help="an argument to trace with, as Python: 'tf.TensorSpec([None])' (one for each)",
    )  # fmt: skip
    parser.add_argument("--main", action="store_true", help="run the file as a program first")
    return parser


def _explain(options: argparse.Namespace) -> int:
    target = Target(options.target, run_main=options.main)
    if options.arg or not target.function._list_all_concrete_functions():
        target.concrete(options.arg)
    print(explain(target.function))
    return 0


def _code(options: argparse.Namespace) -> int:
    target = Target(options.target, run_main=options.main)
    for stage in options.stage or generated_code.STAGES:
        print(f"# --- {stage} " + "-" * (72 - len(stage)))
        if stage == "converted":
            print(generated_code.converted_code(target.function))
        elif stage == "generated":
            print(generated_code.generated_code(target.concrete(options.arg)))
        else:
            inputs = target.inputs(options.arg)
            print(generated_code.native_code(target.concrete(options.arg), inputs))
    return 0


def _graph(options: argparse.Namespace) -> int:
    target = Target(options.target, run_main=options.main)
    graph = target.concrete(options.arg).graph
    if options.optimized:
        graph = optimize(graph)
    if options.output is None:
        print(graph)
        return 0
    path = Path(options.output)
    if path.suffix not in (".svg", ".html"):
        raise TargetError(f"-o takes a file that ends in .svg or .html, got {options.output!r}.")
    draw = drawing.graph_svg if path.suffix == ".svg" else drawing.graph_html
    path.write_text(draw(graph, target.name), encoding="utf-8")
    print(f"{path}: {len(graph.nodes)} nodes")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    text, well = doctor.report()
    print(text)
    return 0 if well else 1
