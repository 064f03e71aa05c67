"""What the system tells about processors."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft._src.core import processors


@pytest.fixture(autouse=True)
def _anew() -> None:
    processors.second_cache_bytes.cache_clear()


def _describe(folder: Path, caches: list[tuple[str, str]]) -> str:
    for number, (level, size) in enumerate(caches):
        cache = folder / f"index{number}"
        cache.mkdir()
        (cache / "level").write_text(f"{level}\n")
        (cache / "size").write_text(f"{size}\n")
    return str(folder)


@pytest.mark.parametrize(
    ("caches", "size"),
    [
        ([("1", "48K"), ("1", "32K"), ("2", "1280K"), ("3", "49152K")], 1280 << 10),
        ([("1", "32K"), ("3", "8192K")], 512 << 10),
        ([("2", "much")], 512 << 10),
        ([], 512 << 10),
    ],
)
def test_the_second_level_cache(
    caches: list[tuple[str, str]], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "_CACHES", _describe(tmp_path, caches))
    assert processors.second_cache_bytes() == size
    processors.second_cache_bytes.cache_clear()
