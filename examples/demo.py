"""All stories, one after the other: `make demo`, or `python examples/demo.py`.

Prints a table of what was measured and writes `demo/report.html`.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import control_dependencies
import control_flow
import gaussian_fit
import inspecting_graphs
import keras_regression
import polymorphism
import regression
import report
import saved_models
import side_effects
import tensorboard_export
from telling import BOLD, PLAIN, Story, table

STORIES = (
    gaussian_fit,
    polymorphism,
    side_effects,
    control_dependencies,
    control_flow,
    regression,
    inspecting_graphs,
    tensorboard_export,
    keras_regression,
    saved_models,
)
REPORT = Path(__file__).resolve().parents[1] / "demo" / "report.html"


def main() -> None:
    """Tells the stories."""
    logging.basicConfig(format="%(levelname)s: %(message)s")
    started = time.perf_counter()
    told = []
    for module in STORIES:
        story = Story(module.TITLE)
        module.tell(story)
        told.append(story)
    seconds = time.perf_counter() - started
    print(f"\n{BOLD}What it costs{PLAIN}\n")
    print(table([timing for story in told for timing in story.timings]))
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(report.page(told, seconds), encoding="utf-8")
    print(f"\nThe report, with all graphs drawn: {REPORT}\nAll of it took {seconds:.0f} s.")


if __name__ == "__main__":
    main()
