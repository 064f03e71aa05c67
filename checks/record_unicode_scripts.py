"""Writes src/weft/_src/ops/strings/script_runs.py: the script of every code point, run by run.

    PYTHON_WITH_TENSORFLOW checks/record_unicode_scripts.py

TensorFlow (ICU) numbers scripts as `tf.strings.unicode_script` gives them.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np

PLACE = Path(__file__).parent.parent / "src/weft/_src/ops/strings/script_runs.py"
HEAD = '''"""The script of every code point, as checks/record_unicode_scripts.py wrote it.

Each word is how far a run is from the beginning of the one before, in base 36, and its script.
"""

from __future__ import annotations

RUNS = """
'''


def base36(number: int) -> str:
    """A number in digits and letters."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    while number or not out:
        number, rest = divmod(number, 36)
        out = digits[rest] + out
    return out


def main() -> None:
    """Asks TensorFlow, and writes the runs."""
    tf = importlib.import_module("tensorflow")
    found = tf.strings.unicode_script(tf.range(0x110000)).numpy()
    starts = np.concatenate([[0], np.flatnonzero(found[1:] != found[:-1]) + 1])
    gaps = np.diff(starts, prepend=0)
    words = [f"{base36(int(gap))}:{found[start]}" for gap, start in zip(gaps, starts, strict=True)]
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 98:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    PLACE.write_text(HEAD + "\n".join([*lines, line]) + '\n"""\n', encoding="utf-8")


if __name__ == "__main__":
    main()
