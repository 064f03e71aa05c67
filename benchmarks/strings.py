"""Regular expressions over a million short strings, beside TensorFlow's."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Peers, Row, in_turns, microseconds, timer_of

ROUNDS, SECONDS = 5, 0.1

_STRINGS = """
import random
rng = random.Random(0)
letters = "abcdefgh 0123456789.<>-"
words = ["".join(rng.choices(letters, k=rng.randint(3, 14))) for _ in range(1_000_000)]
x = tf.constant(words)
"""

# Simple ones, ones with groups, ones that take for ever if they are run by going back and forth.
PATTERNS = (r"\w+", r"[a-f]+\d+.*", r"<[^>]+>", r"(\w+)[ .-](\w+)", r"(a+)+b", r"\d{2,3}|[x-z]")


def run(peers: Peers) -> list[Row]:
    """Rows for each pattern: matching, replacing by text, by the match, by a group."""
    rows = []
    namespace: dict[str, Any] = {}
    exec(f"import weft as tf\n{_STRINGS}", namespace)
    with peers.session("tensorflow", f"import tensorflow as tf\n{_STRINGS}") as tensorflow:
        for pattern in PATTERNS:
            for statement in (
                f"tf.strings.regex_full_match(x, r'{pattern}')",
                f"tf.strings.regex_replace(x, r'{pattern}', '-')",
                rf"tf.strings.regex_replace(x, r'{pattern}', r'<\0>')",
                *[rf"tf.strings.regex_replace(x, r'{pattern}', r'\1')"] * ("(" in pattern),
            ):
                ours = eval(f"lambda: {statement}", namespace)
                timers = {"Weft": timer_of(ours, SECONDS)}
                if tensorflow is not None:
                    timers["TensorFlow"] = tensorflow.timer(statement, SECONDS)
                times = in_turns(timers, ROUNDS)
                theirs = times.get("TensorFlow")
                ratio = None if theirs is None else times["Weft"] / theirs
                detail = ", ".join([f"{microseconds(t)} ({who})" for who, t in times.items()])
                rows.append(Row(f"{statement} / TensorFlow", ratio, "<= 2", detail))
    return rows
