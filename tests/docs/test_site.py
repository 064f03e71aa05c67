"""The documentation builds as a site, and its pages lead to each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]


class _Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.without_text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places.add(found.get("id") or "")
        link = found.get("href") or found.get("src")
        if tag in ("a", "img", "link", "script") and link:
            self.links.append(link)
        if tag == "img" and not found.get("alt") and "twemoji" not in (found.get("class") or ""):
            self.without_text.append(str(found.get("src")))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Page]:
    site = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {page: _Page(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}


def test_every_public_namespace_has_a_page(pages: dict[Path, _Page]) -> None:
    names = {page.stem for page in pages if page.parent.name == "api"}
    assert {"tf", "nn", "linalg", "data", "experimental.numpy", "raw_ops"} - names == {"raw_ops"}
    assert len(names) > 50


def test_links_lead_somewhere(pages: dict[Path, _Page]) -> None:
    wrong = []
    for page, found in pages.items():
        if page.name == "404.html":  # its links are those of a server
            continue
        for link in found.links:
            target, place = urldefrag(link)
            if re.match(r"[a-z]+:", target):
                continue
            there = (page.parent / unquote(target)).resolve() if target else page
            if not there.exists() or (
                place and there in pages and place not in pages[there].places
            ):
                wrong.append(f"{page.name}: {link}")
    assert not wrong


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, _Page]) -> None:
    foreign = {
        link
        for page, found in pages.items()
        for link in re.findall(r'(?:src|href)="(https?://[^"]+)"', page.read_text(encoding="utf-8"))
        if link.endswith((".js", ".css", ".woff2", ".svg", ".png"))
    }
    assert not foreign


def test_pictures_say_what_they_show(pages: dict[Path, _Page]) -> None:
    assert [src for found in pages.values() for src in found.without_text] == []
