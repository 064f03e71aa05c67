"""The Python blocks of the documentation run, and print what their comments say."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def promised(code: str) -> list[str]:
    """What comments behind a `print`, and under one that has none, say will be printed."""
    found: list[str] = []
    prints = False
    for line in code.splitlines():
        behind = re.match(r"\s*print\(.*\)  # (.*)$", line)
        under = re.match(r"# (.*)$", line) if prints else None
        if behind or under:
            found.append((behind or under)[1].strip())  # type: ignore[index]
        prints = bool(re.match(r"print\(.*\)$", line)) or (prints and under is not None)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, like the cells of a notebook."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        # As many empty lines as stand above it: errors then name the line of the page.
        source = "\n" * line + block[1]
        name = f"<{page.name}, block at line {line + 1}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            exec(compile(source, name, "exec"), namespace)
        said = [comment.strip() for comment in re.findall(r"#(.*)$", block[1], re.MULTILINE)]
        unsaid = [printed for printed in out.getvalue().splitlines() if printed.strip() not in said]
        assert not unsaid, f"{name} printed {unsaid}, its comments say {said}"
        printed = {text.strip() for text in out.getvalue().splitlines()}
        missing = [text for text in promised(block[1]) if text not in printed]
        assert not missing, f"{name} does not print {missing}"


def test_there_are_blocks() -> None:
    assert sum(len(BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 5
