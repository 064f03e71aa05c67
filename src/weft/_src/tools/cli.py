"""The `weft` command: looks at traced functions, saved files and the machine, and starts jobs."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from weft._src.core import timeline
from weft._src.core.flags import flags
from weft._src.core.location import user_location
from weft._src.function.explain import Explanation, explain
from weft._src.graph.passes import optimize
from weft._src.graph.printer import graph_as_data
from weft._src.tools import (
    completion,
    doctor,
    drawing,
    generated_code,
    graph_page,
    launch,
    showing_files,
    timeline_page,
)
from weft._src.tools.target import Program, Target, TargetError
from weft._src.tools.terminal import paint, speak


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # What follows `--` belongs to the program that is looked at.
    end = given.index("--") if "--" in given else len(given)
    options = parser().parse_args(given[:end])
    options.program = given[end + 1 :]
    return speak(lambda: int(options.run(options)), debug=options.debug)


def parser() -> argparse.ArgumentParser:
    """All that the command understands."""
    made = argparse.ArgumentParser(
        prog="weft",
        description="Looks at traced functions, saved files and this machine; starts jobs.",
        epilog='Shell completion: eval "$(weft completion bash)"',
    )
    made.add_argument("--version", action="version", version=f"weft {_version()}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    explained = _of_function(commands, "explain", "the traces of functions, and why each was made")
    explained.add_argument(
        "--html", metavar="FILE", help="a page with a timeline of traces, compilations and calls"
    )
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
    drawn.add_argument("--html", metavar="FILE", help="the same as -o FILE")
    drawn.add_argument("--optimized", action="store_true", help="the graph after all passes")
    drawn.set_defaults(run=_graph)
    for name, run, text in (
        ("show", _show, "what is in a checkpoint, a safetensors file or a SavedModel"),
        ("check", _check, "what of a SavedModel or a safetensors file cannot be used here"),
    ):
        looked = _command(commands, name, text)
        looked.add_argument("path", metavar="PATH", help="a checkpoint, or a folder")
        looked.set_defaults(run=run)
    _launch_command(commands)
    _command(commands, "doctor", "versions, processor, and tiers").set_defaults(run=_doctor)
    completed = _command(commands, "completion", "the completion of this command, for a shell")
    completed.add_argument("shell", choices=completion.SHELLS)
    completed.set_defaults(run=_completion)
    return made


def _version() -> str:
    return str(sys.modules["weft"].__version__)  # above this layer, so not imported


def _launch_command(commands: Any) -> None:
    text = "starts several workers of a program on this machine, and watches them"
    launched = _command(commands, "launch", text)
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
    launched.set_defaults(run=_launch)


def _launch(options: argparse.Namespace) -> int:
    options.arguments += options.program  # what follows --, where somebody wrote it
    return launch.run(options)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, got {text!r}")
    return int(text)


def _command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.add_argument("--debug", action="store_true", help="errors with their tracebacks")
    made.add_argument("--json", action="store_true", help="as JSON, for other programs")
    return made


def _of_function(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    made = _command(commands, name, text)
    made.add_argument(
        "target",
        metavar="FILE::function",
        help="may be dotted: FILE::model.step" + ("; FILE alone for all" * (name == "explain")),
    )
    made.add_argument(
        "--arg", action="append", default=[], metavar="EXPRESSION",
        help="an argument to trace with, as Python: 'tf.TensorSpec([None])' (one for each)",
    )  # fmt: skip
    made.add_argument(
        "--main",
        action="store_true",
        help="run the file as a program first, with the arguments that follow --",
    )
    return made


def _print_json(data: Any) -> int:
    print(json.dumps(data, indent=2, default=str))
    return 0


# --- explain -------------------------------------------------------------------------------------


def _explain(options: argparse.Namespace) -> int:
    with _watched(options.html is not None or options.json) as events:
        code, told = _explanations(options)
    if options.html is not None:
        page = timeline_page.page(options.target, events, told)
        Path(options.html).write_text(page, encoding="utf-8")
        print(f"{options.html}: {len(events.events)} events")
    elif options.json:
        _print_json(
            {
                "functions": [_as_data(name, explanation) for name, explanation in told],
                "timeline": [event._asdict() for event in events.events],
            }
        )
    else:
        print("\n\n".join([_coloured(explanation) for _, explanation in told]))
    return code


def _explanations(options: argparse.Namespace) -> tuple[int, list[tuple[str, Explanation]]]:
    """The exit code of the program, and what there is to say about its functions."""
    if "::" not in options.target:
        program = Program(options.target, as_main=options.main, arguments=options.program)
        found = list(program.functions())
        if not found:
            raise TargetError(
                f"{options.target} has no traced functions. Name one as {options.target}::function."
            )
        return program.exit_code, [(name, explain(traced)) for name, traced in found]
    target = Target(options.target, run_main=options.main, arguments=options.program)
    instances = target.function._bound.values()
    if options.arg or not (target.function._list_all_concrete_functions() or instances):
        target.concrete(options.arg)
    return target.program.exit_code, [(target.name, explain(target.function))]


@contextlib.contextmanager
def _watched(wanted: bool) -> Iterator[timeline.Timeline]:
    """Notes traces, compilations and, if it is wanted, calls."""
    with timeline.watching() as events:
        if wanted:
            flags.watch_calls(_note_call)
        try:
            yield events
        finally:
            if flags.call_watcher is _note_call:
                flags.watch_calls(None)


def _note_call(concrete: Any, call: Callable[[], Any]) -> Any:
    started, where = time.perf_counter(), user_location()
    try:
        return call()
    finally:
        timeline.note("call", concrete.graph.name, started, where)


def _as_data(name: str, told: Explanation) -> dict[str, Any]:
    return {"name": name, "title": told.title, "notes": told.notes, "traces": told.traces}


def _coloured(told: Explanation) -> str:
    """The text of an explanation, as `print` would show it, in colour."""
    lines = repr(told).splitlines()
    return "\n".join([paint(lines[0], "bold"), *[_coloured_line(line) for line in lines[1:]]])


def _coloured_line(line: str) -> str:
    word = line.strip()
    if word.startswith("why:") and not word.endswith("first call"):
        return paint(line, "yellow")
    if word.startswith("remedy:"):
        return paint(line, "green")
    return paint(line, "dim") if word.startswith("called from") else line


# --- code and graphs -----------------------------------------------------------------------------


def _code(options: argparse.Namespace) -> int:
    target = Target(options.target, run_main=options.main, arguments=options.program)
    made = {stage: _stage(target, stage, options.arg) for stage in options.stage or _STAGES}
    if options.json:
        return _print_json(made)
    for stage, text in made.items():
        print(paint(f"# --- {stage} " + "-" * (72 - len(stage)), "cyan"))
        print(text)
    return 0


_STAGES = generated_code.STAGES


def _stage(target: Target, stage: str, arguments: list[str]) -> str:
    if stage == "converted":
        return generated_code.converted_code(target.function)
    if stage == "generated":
        return generated_code.generated_code(target.concrete(arguments))
    inputs = target.inputs(arguments)
    return generated_code.native_code(target.concrete(arguments), inputs)


def _graph(options: argparse.Namespace) -> int:
    target = Target(options.target, run_main=options.main, arguments=options.program)
    graph = target.concrete(options.arg).graph
    if options.optimized:
        graph = optimize(graph)
    output = options.output or options.html
    if options.json:
        return _print_json(graph_as_data(graph))
    if output is None:
        print(graph)
        return 0
    path = Path(output)
    if path.suffix not in (".svg", ".html"):
        raise TargetError(f"-o takes a file that ends in .svg or .html, got {output!r}.")
    draw = drawing.graph_svg if path.suffix == ".svg" else graph_page.graph_html
    path.write_text(draw(graph, target.name), encoding="utf-8")
    print(f"{path}: {len(graph.nodes)} nodes")
    return 0


# --- files and the machine -----------------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    return _print_lines(options, showing_files.shown(options.path))


def _check(options: argparse.Namespace) -> int:
    _print_lines(options, showing_files.checked(options.path))
    return 0 if showing_files.is_fine(options.path) else 1


def _print_lines(options: argparse.Namespace, lines: Iterator[str]) -> int:
    if options.json:
        return _print_json({"path": options.path, "lines": list(lines)})
    for line in lines:
        print(line)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    rows, well = doctor.report()
    if options.json:
        _print_json({"well": well, **dict(rows)})
    else:
        width = max([len(name) for name, _ in rows])
        for name, text in rows:
            print(f"{paint(f'{name:<{width}}', 'bold')}  {_rated(text)}")
    return 0 if well else 1


def _rated(text: str) -> str:
    if text == doctor.WORKS:
        return paint(text, "green")
    return paint(text, "red") if text.startswith(("FAILS", "gives WRONG")) else text


def _completion(options: argparse.Namespace) -> int:
    print(completion.script(options.shell, parser()), end="")
    return 0
