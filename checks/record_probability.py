"""Records what TensorFlow Probability computes on TensorFlow, for tests/probability.

Run it in an environment with TensorFlow, tf-keras and TensorFlow Probability:
`PATH/bin/python checks/record_probability.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tests" / "probability"


def main() -> None:
    """Runs the program of the tests with TensorFlow."""
    recorded = FOLDER / "recorded" / "distributions.json"
    command = [sys.executable, str(FOLDER / "distributions.py"), "tensorflow", str(recorded)]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
