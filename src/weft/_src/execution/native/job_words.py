"""The text of machine code that is given a job: an array of words, each with a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft._src.execution.native.machine.support import LAYOUT


def with_job(text: str, words: Sequence[str]) -> str:
    """Writes out `<ptr name>` and `<i64 name>`, which load a word, and `<offset bytes data>`.

    `<array name>` is where the elements of an array lie, whose address as an object is the word.
    `<word name>` is the number of a word.
    """

    def load(found: re.Match[str]) -> str:
        name = found[2].replace(" ", ".")
        place = f"%{name}.p = getelementptr i64, ptr %job, i64 {words.index(found[2])}"
        if found[1] == "array":
            place += (
                f"\n%{name}.object = load ptr, ptr %{name}.p\n%{name}.data = getelementptr i8, "
            )
            place += f"ptr %{name}.object, i64 {LAYOUT['array data']}"
            return f"{place}\n%{name} = load ptr, ptr %{name}.data"
        return f"{place}\n%{name} = load {found[1]}, ptr %{name}.p"

    text = re.sub(r"<(ptr|i64|array) ([a-z ]+)>", load, text)
    text = re.sub(r"<word ([a-z ]+)>", lambda found: str(words.index(found[1])), text)
    for field in ("type", "bytes size", "bytes hash", "bytes data"):
        text = text.replace(f"<offset {field}>", str(LAYOUT[field]))
    return text
