"""The text of machine code that is given a job: an array of words, each with a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft._src.execution.native.machine.support import LAYOUT


def with_job(text: str, words: Sequence[str]) -> str:
    """Writes out `<ptr name>` and `<i64 name>`, which load a word, and `<offset bytes data>`.

    `<word name>` is the number of a word.
    """

    def load(found: re.Match[str]) -> str:
        name = found[2].replace(" ", ".")
        place = f"%{name}.p = getelementptr i64, ptr %job, i64 {words.index(found[2])}"
        return f"{place}\n%{name} = load {found[1]}, ptr %{name}.p"

    text = re.sub(r"<(ptr|i64) ([a-z ]+)>", load, text)
    text = re.sub(r"<word ([a-z ]+)>", lambda found: str(words.index(found[1])), text)
    for field in ("type", "bytes size", "bytes data"):
        text = text.replace(f"<offset {field}>", str(LAYOUT[field]))
    return text
